"""What binds is in the context of a task for somebody or with a thing, whatever else was told."""

from collections.abc import Iterator

import pytest
from knowledge_doubles import BagOfWords

from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory

VISITORS = [f"The visitor number {number} likes sandwiches with ham." for number in range(20)]


@pytest.fixture(scope="module")
def memory() -> Iterator[RobotMemory]:
    memory = open_memory(MemoryConfig(time_zone="UTC"), lambda: 10**18, BagOfWords(), embed_in_background=False)
    told = ["Marta is allergic to peanuts.", "My brother is called Luis.", "Luis doesn't eat eggs."]
    for fact in [*told, "The microwave is out of order until Saturday.", "The vase must never be moved.", *VISITORS]:
        memory.tell_fact(fact)
    yield memory
    memory.close()


def test_what_is_over_is_not_told_any_more() -> None:
    now_ns = [10**18]
    memory = open_memory(MemoryConfig(time_zone="UTC"), lambda: now_ns[0], BagOfWords(), embed_in_background=False)
    memory.tell_fact("The microwave is out of order until Saturday.")
    words = "heat up the potato in the microwave"
    assert "out of order" in memory.context(words, 800).text
    assert memory.told_facts(words)
    now_ns[0] += 8 * 86_400 * 10**9
    assert "out of order" not in memory.context(words, 800).text
    assert not memory.told_facts(words)
    assert memory.told_statements("")
    memory.close()


@pytest.mark.parametrize(
    ("instruction", "binds", "is_silent_on"),
    [
        ("Make a sandwich for Marta.", "allergic to peanuts", "eggs"),
        ("bring my brother an egg", "Luis doesn't eat eggs", "peanuts"),
        ("heat up the potato in the microwave", "microwave is out of order", "peanuts"),
        ("put the vase on the desk", "vase must never be moved", "eggs"),
    ],
)
def test_context_tells_what_binds(memory: RobotMemory, instruction: str, binds: str, is_silent_on: str) -> None:
    text = memory.context(instruction, 800).text
    known = text.partition("## What is known")[2].partition("##")[0]
    assert binds in known
    assert is_silent_on not in known
