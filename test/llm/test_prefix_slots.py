import random

import numpy as np
import pytest

from memory_node.llm.errors import TooLongError
from memory_node.llm.llama.prefix_slots import PrefixSlots


class Cells:
    """An attention memory that keeps lists of tokens."""

    def __init__(self) -> None:
        self.sequences: dict[int, list[int]] = {}

    def cut(self, sequence: int, start: int) -> None:
        del self.sequences.setdefault(sequence, [])[start:]

    def saved(self, sequence: int) -> np.ndarray:
        return np.array(self.sequences[sequence], dtype=np.uint8)

    def restore(self, sequence: int, state: np.ndarray) -> None:
        assert not self.sequences.get(sequence), "only an empty sequence takes back"
        self.sequences[sequence] = state.tolist()

    def read(self, slot, tokens: list[int]) -> None:
        """Do what the engine does with a slot."""
        added = tokens[len(slot.tokens) :]
        self.sequences.setdefault(slot.sequence, []).extend(added)
        slot.tokens += added


@pytest.fixture
def cells() -> Cells:
    return Cells()


def test_longer_prompt_goes_on_where_the_one_before_ended(cells: Cells) -> None:
    slots = PrefixSlots(cells, 2, 100)
    cells.read(slots.take("", [1, 2, 3], 10), [1, 2, 3])
    assert slots.take("", [1, 2, 3, 4], 10).tokens == [1, 2, 3]


def test_same_prompt_is_read_again_from_its_last_token(cells: Cells) -> None:
    slots = PrefixSlots(cells, 2, 100)
    cells.read(slots.take("", [1, 2, 3], 10), [1, 2, 3])
    assert slots.take("", [1, 2, 3], 10).tokens == [1, 2]


def test_two_uses_keep_their_prompts_beside_each_other(cells: Cells) -> None:
    slots = PrefixSlots(cells, 2, 100)
    one, two = [1, *range(10, 30)], [1, *range(40, 60)]
    cells.read(slots.take("", one, 10), one)
    cells.read(slots.take("", two, 10), two)
    assert slots.take("", [*one, 7], 10).tokens == one
    assert slots.take("", [*two, 7], 10).tokens == two


def test_beginning_read_with_another_adapter_is_not_taken(cells: Cells) -> None:
    slots = PrefixSlots(cells, 2, 100)
    cells.read(slots.take("a", [1, 2, 3], 10), [1, 2, 3])
    assert slots.take("b", [1, 2, 3, 4], 10).tokens == []


def test_prompt_that_was_unused_for_longest_goes_first(cells: Cells) -> None:
    slots = PrefixSlots(cells, 3, 50)
    first, second = list(range(20)), list(range(100, 120))
    for prompt in (first, second, first):
        cells.read(slots.take("", prompt, 0), prompt)
    third = list(range(200, 220))
    cells.read(slots.take("", third, 0), third)
    assert slots.take("", [*first, 1], 0).tokens == first
    assert slots.take("", [*second, 1], 0).tokens == []


def test_prompt_beyond_the_window_is_refused_with_the_figures(cells: Cells) -> None:
    with pytest.raises(TooLongError, match="95 tokens and 10 for the reply; the model's window has 100"):
        PrefixSlots(cells, 2, 100).take("", list(range(95)), 10)


def test_random_prompts_never_exceed_the_cells_nor_mix_tokens(cells: Cells) -> None:
    chance = random.Random(1)
    slots, kept = PrefixSlots(cells, 4, 200), {}
    prompts = [[chance.randrange(3) for _ in range(chance.randrange(1, 120))] for _ in range(12)]
    for _ in range(400):
        prompt, adapter = chance.choice(prompts)[: chance.randrange(1, 120)], chance.choice("ab")
        slot = slots.take(adapter, prompt, 20)
        assert slot.tokens == prompt[: len(slot.tokens)]
        assert len(slot.tokens) < len(prompt)
        cells.read(slot, prompt)
        assert cells.sequences[slot.sequence] == prompt
        kept[id(slot)] = slot
        assert sum(len(one.tokens) for one in kept.values()) <= 200


def test_only_the_prompt_that_is_read_lies_in_the_memory(cells: Cells) -> None:
    slots = PrefixSlots(cells, 3, 100)
    for begin in (10, 40, 70):
        prompt = list(range(begin, begin + 20))
        cells.read(slots.take("", prompt, 0), prompt)
        assert cells.sequences == {0: prompt}
    assert slots.take("", [*range(10, 30), 1], 0).tokens == list(range(10, 30))
    assert cells.sequences == {0: list(range(10, 30))}
