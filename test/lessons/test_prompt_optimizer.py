"""The optimizer that asks a language model, with models that answer what they are told to."""

from collections.abc import Sequence

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.lessons.config import OptimizerModelConfig
from memory_node.lessons.lesson import Wording
from memory_node.lessons.optimizer.attempt import Candidate
from memory_node.lessons.optimizer.prompt import PromptOptimizer, optimizer_dialogue, reply_grammar
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.lessons.whereabouts import written
from memory_node.llm.chat import Message, Reply, UnreachableError

VETTING = Vetting(load_catalogue())
ENTRY = written("m0", Wording("put a cup in bed", "Take the cup.", "e9"), "test")


class Model:
    name = "test"

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.asked: list[Sequence[Message]] = []

    def reply(self, messages, deadline=None, form=None, on_line=None) -> Reply:
        self.asked.append(messages)
        if not self.replies:
            raise UnreachableError("nobody is there")
        return Reply(self.replies.pop(0), 100, 10)

    def count_tokens(self, text: str) -> int:
        return len(text)


def proposed(model: Model, attempt, **config):
    optimizer = PromptOptimizer(model, VETTING, OptimizerModelConfig(window_tokens=20_000, **config))
    one = attempt("put a mug in cabinet", "go to shelf sees mug", "take mug from shelf")
    return optimizer.propose(one, [ENTRY])


def test_reply_is_taken_over_with_its_analysis_and_cost(attempt) -> None:
    model = Model("Shelves hold mugs.\n" + Candidate("Look for the mug on a shelf.", 0).text())
    proposal = proposed(model, attempt)
    assert proposal.candidate == Candidate("Look for the mug on a shelf.", 0)
    assert proposal.analysis == "Shelves hold mugs."
    assert (proposal.tokens_in, proposal.tokens_out, proposal.problem) == (100, 10, "")


def test_faulty_reply_goes_back_once_and_the_next_counts(attempt) -> None:
    model = Model(Candidate("Take mug 1.").text(), Candidate("Take the mug.").text())
    proposal = proposed(model, attempt)
    assert proposal.candidate == Candidate("Take the mug.")
    assert proposal.tokens_in == 200
    assert "number" in model.asked[1][-1].text


@pytest.mark.parametrize("replies", [(), ("nothing to say", Candidate("Throw the mug.").text())])
def test_model_that_gives_nothing_proposes_nothing(attempt, replies) -> None:
    proposal = proposed(Model(*replies), attempt)
    assert proposal.candidate is None
    assert proposal.problem


def test_prompt_shows_kinds_alone_and_the_numbered_entries(attempt) -> None:
    one = attempt("put a mug in cabinet", "go to shelf sees mug", "take mug from shelf")
    system, task = optimizer_dialogue(one, [ENTRY, ENTRY])
    assert "go to shelf [mug]" in task.text
    assert "0 (put a cup in bed): Take the cup." in task.text
    assert "1 (put a cup in bed): Take the cup." in task.text
    assert not any(letter.isdigit() for letter in task.text.partition("Memory:")[0])
    assert "<experience>" in system.text


def test_failure_is_asked_for_its_root_cause(attempt) -> None:
    won = optimizer_dialogue(attempt("put a mug in cabinet", "take mug from shelf"), ())[1].text
    lost = optimizer_dialogue(attempt("put a mug in cabinet", "take mug from shelf", won=False), ())[1].text
    assert "method" in won
    assert "root cause" not in won
    assert "root cause" in lost
    assert "method" not in lost


def test_long_attempt_is_shown_at_both_ends(attempt) -> None:
    one = attempt("put a mug in cabinet", *[f"open place{chr(97 + n % 26)}" for n in range(60)], "take mug from shelf")
    text = optimizer_dialogue(one, ())[1].text
    assert "(21 steps are left out)" in text
    assert text.index("open placea") < text.index("left out") < text.index("take mug from shelf")


def test_attempt_is_folded_to_fit_the_models_window_or_said_not_to_fit(attempt) -> None:
    one = attempt("put a mug in cabinet", *[f"open place{chr(97 + n % 26)}" for n in range(60)], "take mug from shelf")
    whole = sum(len(message.text) for message in optimizer_dialogue(one, ()))
    model = Model(Candidate("Take the mug.").text())
    config = OptimizerModelConfig(window_tokens=whole + 100, max_reply_tokens=200)
    assert PromptOptimizer(model, VETTING, config).propose(one, ()).candidate == Candidate("Take the mug.")
    assert "(37 steps are left out)" in model.asked[0][1].text
    silent = Model()
    small = OptimizerModelConfig(window_tokens=400, max_reply_tokens=200)
    assert "400 tokens" in PromptOptimizer(silent, VETTING, small).propose(one, ()).problem
    assert silent.asked == []


def test_grammar_lets_nothing_be_said_but_the_form() -> None:
    grammar = reply_grammar(2)
    assert "UPDATE " in grammar
    assert '"ADD"' in grammar
    assert "0-9" not in grammar
