"""What is read ahead of a reply: guessed from what stood before, and gone again where it was wrong."""

import json
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import BaseModel

from memory_node.llm.chat import Message
from memory_node.llm.json_reply import json_form
from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.llama.native_model import Row
from memory_node.llm.llama.prefix_slots import Slot
from memory_node.llm.llama.reply_guesses import ReadAhead, ReplyGuesses

Embedded = Callable[..., LlamaModel]


class Step(BaseModel):
    delivery: Literal["experience", "nothing"]
    goal: Literal["GoToObject(kettle 1)", "OpenObject(fridge 1)"]


ASKED = [Message("system", "You help a robot. Answer with JSON."), Message("user", "The kettle is dirty. What now?")]


def test_nothing_is_guessed_where_nothing_stood_before() -> None:
    assert list(ReplyGuesses().behind([1, 2, 3], [9])) == []


def test_prompt_says_how_a_copied_line_goes_on() -> None:
    guesses = ReplyGuesses()
    assert list(guesses.behind([1, 2, 3, 4, 5], [7, 2, 3])) == [4, 5]
    assert list(guesses.behind([1, 3, 4, 5, 6], [7, 3])) == [4, 5]  # one token that stood before is weak evidence


def test_longer_match_counts_more_and_of_equal_ones_the_latest_reply() -> None:
    guesses = ReplyGuesses()
    guesses.keep([1, 2, 3, 4])
    guesses.keep([8, 2, 3, 5])
    assert list(guesses.behind([], [7, 2, 3])) == [5]
    assert list(guesses.behind([], [1, 2, 3])) == [4]


def test_beginning_of_a_reply_counts_as_a_match() -> None:
    guesses = ReplyGuesses()
    guesses.keep([1, 2, 3, 1, 9])
    assert list(guesses.behind([], [1])) == [2, 3, 1, 9]


class CountingMemory:
    """Logits that name the token that they stand behind."""

    def __init__(self) -> None:
        self.passes: list[list[tuple[int, int]]] = []
        self.cuts: list[int] = []

    def compute(self, rows: Sequence[Row]) -> NDArray[np.float32]:
        self.passes.append([(token, position) for token, position, _, _ in rows])
        return np.array([[token] for token, *_ in rows], dtype=np.float32)

    def cut(self, sequence: int, start: int) -> None:
        self.cuts.append(start)


def test_right_guesses_save_passes_and_wrong_ones_are_cut() -> None:
    memory, slot = CountingMemory(), Slot(0, tokens=[100, 101])
    reply = ReadAhead(memory, slot, lambda said: [2, 3, 4] if said == [1] else [])  # type: ignore[arg-type]
    assert [float(reply.behind(token)[0]) for token in (1, 2, 3, 9)] == [1, 2, 3, 9]
    reply.close()
    assert memory.passes == [[(1, 2), (2, 3), (3, 4), (4, 5)], [(9, 5)]]
    assert memory.cuts == [5]
    assert slot.tokens == [100, 101, 1, 2, 3, 9]


def test_guesses_that_were_not_said_leave_no_trace() -> None:
    memory, slot = CountingMemory(), Slot(0, tokens=[100])
    reply = ReadAhead(memory, slot, lambda said: [2, 3])  # type: ignore[arg-type]
    reply.behind(1)
    reply.close()
    assert memory.cuts == [2]
    assert slot.tokens == [100, 1]


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_guesses_change_no_reply_and_save_passes(embedded: Embedded, monkeypatch, temperature: float) -> None:
    passes: list[int] = []

    def said(guessing: bool) -> list[str]:
        model = embedded(temperature=temperature, seed=3)
        native = model.engine.native
        model.engine.forget()
        with monkeypatch.context() as patch:
            compute = native.compute
            patch.setattr(native, "compute", lambda rows, _=None: (passes.append(len(rows)), compute(rows))[1])
            if not guessing:
                patch.setattr(ReplyGuesses, "behind", lambda *_: ())
            return [model.reply(ASKED, form=json_form(Step)).text for _ in range(2)]

    plain, plain_passes = said(guessing=False), len(passes)
    assert said(guessing=True) == plain
    assert len(passes) - plain_passes < 0.8 * plain_passes
    assert json.loads(plain[0])["delivery"] in ("experience", "nothing")
