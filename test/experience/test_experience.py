from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from memory_node.domain.errors import NotFoundError
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.experience.config import ExperienceConfig
from memory_node.experience.experience import GUIDELINES, RECORDS, Experience, ExperienceQuery
from memory_node.experience.extractor import RuleExtractor

StepMaker = Callable[..., StepRecord]
SECOND_NS = 1_000_000_000


class ListedLog:
    """An `ExperienceLog` that keeps what it is given."""

    def __init__(self) -> None:
        self.episodes: dict[str, EpisodeSummary] = {}
        self.steps: list[StepRecord] = []
        self.documents: dict[str, dict[str, dict[str, Any]]] = {RECORDS: {}, GUIDELINES: {}}

    def put_episode(self, episode: EpisodeSummary) -> None:
        self.episodes[episode.id] = episode

    def put_step(self, step: StepRecord) -> None:
        self.steps.append(step)

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        self.documents[kind].update((key, values) for key, values, _ in documents)


@pytest.fixture
def log() -> ListedLog:
    return ListedLog()


@pytest.fixture
def experience(log: ListedLog) -> Iterator[Experience]:
    made = Experience(ExperienceConfig(), RuleExtractor(), log, now_ns=lambda: 100 * SECOND_NS)
    yield made
    made.close()


def learn(experience: Experience, steps: Sequence[StepRecord], success: bool, task: str = "slice") -> None:
    episode = steps[0].episode_id
    experience.start(f"{task} it", task, episode)
    for step in steps:
        experience.record(step)
    future = experience.end(episode, success)
    assert future is not None
    future.result(timeout=10)


def slicing(step: StepMaker, episode: str) -> list[StepRecord]:
    return [
        step("SliceObject", "Bread", fails="precondition", episode=episode, index=0),
        step("PickupObject", "Knife", held="Knife", episode=episode, index=1),
        step("SliceObject", "Bread", held="Knife", episode=episode, index=2),
        step("PutObject", "Knife", "CounterTop", episode=episode, index=3),
    ]


def test_what_repaired_a_failure_becomes_a_guideline(experience: Experience, step: StepMaker) -> None:
    learn(experience, slicing(step, "e1"), success=True)
    (guideline,) = experience.ask(ExperienceQuery(task_type="slice", objects=("Bread",))).guidelines
    assert guideline.text == "Before SliceObject, do PickupObject(Knife): otherwise it fails with precondition."


def test_two_successes_of_a_task_share_a_procedure(experience: Experience, step: StepMaker) -> None:
    learn(experience, slicing(step, "e1"), success=True)
    learn(experience, slicing(step, "e2"), success=True)
    texts = [g.text for g in experience.ask(ExperienceQuery(task_type="slice")).guidelines]
    assert any("PickupObject, then SliceObject, then PutObject" in text for text in texts)


def test_failed_transition_is_recalled_for_the_same_task(experience: Experience, step: StepMaker) -> None:
    learn(experience, slicing(step, "e1"), success=False)
    answer = experience.ask(ExperienceQuery(task_type="slice", objects=("Bread",)))
    assert [t.action for t in answer.failed_before] == ["SliceObject(Bread)"]
    assert answer.experiences[0].failure_causes == ("SliceObject(Bread): precondition",)


def test_counts_move_only_for_guidelines_that_were_given(
    experience: Experience, step: StepMaker, log: ListedLog
) -> None:
    learn(experience, slicing(step, "e1"), success=True)
    experience.start("slice the bread", "slice", "e2")
    (given,) = experience.ask(ExperienceQuery(task_type="slice", episode_id="e2")).guidelines
    learn(experience, slicing(step, "e2"), success=True)
    learn(experience, slicing(step, "e3"), success=True)
    assert log.documents[GUIDELINES][given.key]["trials"] == 1


def test_telling_twice_changes_nothing(experience: Experience, step: StepMaker) -> None:
    assert experience.start("clean it", "clean", "e1") == experience.start("other", "other", "e1")
    first = step("GoToObject", "Sink", index=0)
    experience.record(first)
    experience.record(first)
    view = experience.working_memory("e1")
    assert view is not None
    assert view.steps_so_far == 1
    assert experience.end("e1", True) is not None
    assert experience.end("e1", True) is None


def test_late_step_is_put_in_its_place(experience: Experience, step: StepMaker) -> None:
    experience.start("clean it", "clean", "e1")
    experience.record(step("GoToObject", "Sink", index=0))
    experience.record(step("ToggleOn", "Faucet", index=2))
    experience.record(step("PutObject", "Apple", "SinkBasin", index=1))
    view = experience.working_memory("e1")
    assert view is not None
    assert [s.index for s in view.window] == [0, 1, 2]


def test_step_of_an_unknown_episode_is_refused(experience: Experience, step: StepMaker) -> None:
    with pytest.raises(NotFoundError, match="never started"):
        experience.record(step("GoToObject", "Sink", episode="ghost"))


def test_abandoned_episode_ends_without_a_lesson(experience: Experience, log: ListedLog, step: StepMaker) -> None:
    experience.start("clean it", "clean", "e1")
    assert experience.end_abandoned(silent_s=-1.0) == ["e1"]
    assert log.episodes["e1"].success is None
    assert log.documents[RECORDS] == {}


def test_experience_survives_a_restart(experience: Experience, log: ListedLog, step: StepMaker) -> None:
    learn(experience, slicing(step, "e1"), success=True)
    reborn = Experience(ExperienceConfig(), RuleExtractor(), ListedLog(), now_ns=lambda: 100 * SECOND_NS)
    reborn.load([("e1", log.steps)], list(log.documents[RECORDS].values()), list(log.documents[GUIDELINES].values()))
    query = ExperienceQuery(room="kitchen", task_type="slice", objects=("Bread",))
    assert reborn.ask(query) == experience.ask(query)
    reborn.close()
