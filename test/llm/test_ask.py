from collections.abc import Sequence

import pytest

from memory_node.llm.ask import Question, ask
from memory_node.llm.chat import Deadline, LateError, Message, RejectedReplyError, Reply


class Parrot:
    """Says prepared things and keeps what it was shown."""

    name = "parrot"

    def __init__(self, *replies: str, whole: bool = True) -> None:
        self.replies = list(replies)
        self.whole = whole
        self.shown: list[list[Message]] = []

    def reply(self, messages: Sequence[Message], deadline=None, form=None, on_line=None) -> Reply:
        self.shown.append(list(messages))
        return Reply(self.replies.pop(0), 10, 2, whole=self.whole)

    def count_tokens(self, text: str) -> int:
        return len(text)


def number(text: str) -> int:
    if not text.isdigit():
        raise RejectedReplyError("no_number", f"expected digits, got {text!r}")
    return int(text)


QUESTION = Question((Message("user", "how many?"),), number, lambda error: f"wrong: {error}")


def test_good_reply_is_read_at_once() -> None:
    assert ask(Parrot("7"), QUESTION, Deadline(5.0), max_repairs=0) == 7


def test_faulty_reply_goes_back_with_the_error_and_only_the_last_one_is_shown() -> None:
    model, rejected, replies = Parrot("some", "many", "9"), [], []
    said = ask(model, QUESTION, Deadline(5.0), 2, on_reply=replies.append, on_rejected=rejected.append)
    assert said == 9
    assert [message.text for message in model.shown[2]] == [
        "how many?",
        "many",
        "wrong: no_number: expected digits, got 'many'",
    ]
    assert [error.reason for error in rejected] == ["no_number", "no_number"]
    assert sum(reply.tokens_in for reply in replies) == 30


def test_repairs_are_bounded_and_the_last_error_is_told() -> None:
    model = Parrot("a", "b", "c", "d")
    with pytest.raises(RejectedReplyError, match="'c'"):
        ask(model, QUESTION, Deadline(5.0), max_repairs=2)
    assert len(model.shown) == 3


def test_reply_that_was_cut_off_is_not_believed() -> None:
    with pytest.raises(RejectedReplyError) as caught:
        ask(Parrot("7", whole=False), QUESTION, Deadline(5.0), max_repairs=0)
    assert caught.value.reason == "cut_off"


def test_one_deadline_covers_all_repairs() -> None:
    model = Parrot("a", "7")
    deadline = Deadline(0.05)

    def slow(_: RejectedReplyError) -> None:
        while not deadline.passed:
            pass

    with pytest.raises(LateError):
        ask(model, QUESTION, deadline, 5, on_rejected=slow)
    assert len(model.shown) == 1


def test_huge_faulty_reply_is_not_sent_back_whole() -> None:
    model = Parrot("x" * 100_000, "7")
    ask(model, QUESTION, Deadline(5.0), max_repairs=1)
    assert len(model.shown[1][1].text) < 5000
