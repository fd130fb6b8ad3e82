"""What the optimizer of memory wrote is in the store: after a restart, and until it is forgotten."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from plain_search import HashedWords

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import StepRecord
from memory_node.lessons.config import OptimizerConfig
from memory_node.lessons.whereabouts import in_plain_words
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.store.store import open_store

SECOND_NS = 1_000_000_000
TASK = "put the mug in the cabinet"
Open = Callable[..., RobotMemory]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    memories: list[RobotMemory] = []

    def make(kind: str = "rules") -> RobotMemory:
        config = MemoryConfig(database=str(tmp_path / "memory.db"), optimizer=OptimizerConfig(kind=kind))
        memories.append(open_memory(config, clock=lambda: 100 * SECOND_NS, embedder=HashedWords()))
        return memories[-1]

    yield make
    for memory in memories:
        memory.close()


DONE = (("OpenObject", "Drawer"), ("PickupObject", "Mug"), ("PutObject", "Mug", "Cabinet"))


def lived(memory: RobotMemory, episode: str = "e1", instruction: str = TASK, done: tuple = DONE) -> None:
    memory.episodes.start(instruction, "place", episode)
    for index, (skill, *arguments) in enumerate(done):
        call, where = SkillCall(skill, tuple(arguments)), ("Mug in Drawer",) if skill == "PickupObject" else ()
        stamp_ns = (index + 1) * SECOND_NS
        memory.episodes.record(StepRecord(episode, index, call, True, FailureReason.NONE, stamp_ns, relations=where))
    memory.episodes.end(episode, True)
    assert memory.experience.wait_settled(10.0)


def test_memory_is_there_after_a_restart_in_all_that_tells_of_it(opened: Open) -> None:
    first = opened()
    lived(first)
    written = first.experience.lessons()
    first.close()
    again = opened()
    assert again.experience.lessons() == written != ()
    assert in_plain_words(written[0]) in again.context(TASK, 2000).text


WASH = (("PickupObject", "Apple"), ("PutObject", "Apple", "SinkBasin"), ("ToggleOn", "Faucet"))


def test_way_of_one_thing_answers_how_another_is_done_until_it_is_forgotten(opened: Open) -> None:
    memory = opened()
    lived(memory, instruction="wash the apple", done=WASH)
    memory.close()
    memory = opened()
    told = "PickupObject(Mug) -> PutObject(Mug, SinkBasin) -> ToggleOn(Faucet)"
    answer = memory.ask("how do I wash a mug?")
    assert answer.ways == (answer.text,)
    assert answer.text.endswith(told)
    # A way that was told counts where its steps were taken, and not where something else was done.
    for number, (last, trials) in enumerate((("Faucet", 1), ("Microwave", 1)), 2):
        episode = f"e{number}"
        context = memory.context("wash the mug", 2000)
        assert f"{told} (" in context.text
        memory.episodes.start("wash the mug", "clean", episode)
        calls = [("PickupObject", "Mug"), ("PutObject", "Mug", "SinkBasin"), ("ToggleOn", last)]
        for index, (skill, *arguments) in enumerate(calls):
            call, stamp_ns = SkillCall(skill, tuple(arguments)), (90 + index) * SECOND_NS
            step = StepRecord(episode, index, call, True, FailureReason.NONE, stamp_ns)
            memory.episodes.record(step, context.id)
        memory.episodes.end(episode, True)
        assert memory.experience.wait_settled(10.0)
        (way,) = (one for one in memory.lessons() if one.situation == "wash something" and "Faucet" in one.text)
        assert way.given.trials == trials
    memory.forget(begin_ns=1, end_ns=200 * SECOND_NS)
    assert memory.ask("how do I wash a mug?").abstains


def test_forgotten_time_takes_its_memories_along(opened: Open) -> None:
    memory = opened()
    lived(memory)
    memory.forget(begin_ns=1, end_ns=200 * SECOND_NS)
    assert memory.experience.lessons() == ()
    memory.close()
    assert opened().experience.lessons() == ()


def test_without_an_optimizer_nothing_is_written(opened: Open) -> None:
    memory = opened("none")
    lived(memory)
    assert memory.experience.lessons() == ()


def test_what_an_earlier_checkout_stored_is_passed_over(opened: Open, tmp_path: Path) -> None:
    opened().close()
    way = {"key": "procedure|place", "text": "For place tasks ...", "kind": "procedure", "task_types": ["place"]}
    with open_store(tmp_path / "memory.db") as store:
        store.put_documents("guideline", [(way["key"], way, [])]).wait()
    memory = opened()
    assert memory.experience.lessons() == ()
    lived(memory)
    assert memory.experience.lessons()
