"""How a language model's statements are taken over, and what becomes of replies that are none."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from benchmarks.model_extraction import ModelExtractor
from memory_node.knowledge.facts import RULES
from memory_node.knowledge.standard_step import StandardStep
from memory_node.llm.chat import Deadline, Message, Reply, ReplyForm, ignore

STEP = StandardStep("doc:0", observation="It is a town on Oahu. Many people live there.", subject="Laie")


class Scripted:
    """A ChatModel that gives prepared replies; an error among them is raised."""

    name = "scripted"

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[Sequence[Message]] = []

    def reply(
        self,
        messages: Sequence[Message],
        deadline: Deadline | None = None,
        form: ReplyForm | None = None,
        on_line: Callable[[str], None] = ignore,
    ) -> Reply:
        self.asked.append(messages)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Reply(reply, 10, 10)

    def count_tokens(self, text: str) -> int:
        return len(text)


def statements(*texts: str) -> str:
    return json.dumps({"statements": texts})


def test_statements_carry_the_models_name_and_their_source() -> None:
    (one,) = ModelExtractor(Scripted(statements("Laie is a town on Oahu."))).propositions(STEP)
    assert (one.text, one.made_by, one.sources) == ("Laie: Laie is a town on Oahu.", "scripted", ("doc:0",))


def test_what_the_step_does_not_say_is_left_out() -> None:
    extractor = ModelExtractor(Scripted(statements("Laie is a town.", "Paris hosted the Olympic games twice.")))
    assert [one.statement for one in extractor.propositions(STEP)] == ["Laie is a town."]
    assert extractor.counts.unfounded == 1


def test_faulty_reply_goes_back_once_and_then_the_rules_read_the_step() -> None:
    model = Scripted("no JSON", '{"statements": "one text"}')
    extractor = ModelExtractor(model)
    assert {one.made_by for one in extractor.propositions(STEP)} == {RULES}
    assert len(model.asked) == 2
    assert extractor.counts.failed == 1
