from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.step import EpisodeSummary, FirstScene, StepRecord
from memory_node.episodes.past_attempt import ATTEMPTS
from memory_node.lessons.config import GRAPHS, ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import LESSONS, Lesson
from memory_node.lessons.long_term import ExperienceAnswer, ExperienceQuery

StepMaker = Callable[..., StepRecord]
SECOND_NS = 1_000_000_000


class ListedLog:
    """An `ExperienceLog` that keeps what it is given."""

    def __init__(self) -> None:
        self.episodes: dict[str, EpisodeSummary] = {}
        self.steps: list[StepRecord] = []
        self.documents: dict[str, dict[str, dict[str, Any]]] = {ATTEMPTS: {}, LESSONS: {}}

    def put_episode(self, episode: EpisodeSummary) -> None:
        self.episodes[episode.id] = episode

    def put_step(self, step: StepRecord) -> None:
        self.steps.append(step)

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        self.documents[kind].update((key, values) for key, values, _ in documents)

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        for key in ids:
            self.documents[kind].pop(key, None)


@pytest.fixture
def log() -> ListedLog:
    return ListedLog()


@pytest.fixture
def experience(log: ListedLog) -> Iterator[Experience]:
    made = Experience(ExperienceConfig(), log, now_ns=lambda: 100 * SECOND_NS)
    yield made
    made.close()


def learn(
    experience: Experience, steps: Sequence[StepRecord], success: bool, task: str = "slice", seen: tuple[str, ...] = ()
) -> None:
    episode = steps[0].episode_id
    experience.start(f"{task} it", task, episode, first=FirstScene("kitchen", seen))
    for step in steps:
        experience.record(step)
    future = experience.end(episode, success)
    future.result(timeout=10)


def slicing(step: StepMaker, episode: str) -> list[StepRecord]:
    return [
        step("SliceObject", "Bread", fails="not_holding", episode=episode, index=0),
        step("PickupObject", "Knife", held="Knife", episode=episode, index=1),
        step("SliceObject", "Bread", held="Knife", episode=episode, index=2),
        step("PutObject", "Knife", "CounterTop", episode=episode, index=3),
    ]


def test_two_successes_of_a_task_share_a_procedure(experience: Experience, step: StepMaker) -> None:
    learn(experience, slicing(step, "e1"), success=True)
    learn(experience, slicing(step, "e2"), success=True)
    texts = [g.text for g in experience.ask(ExperienceQuery(task_type="slice")).lessons]
    assert any("PickupObject, then SliceObject, then PutObject" in text for text in texts)


def test_failed_transition_is_recalled_for_the_same_task(experience: Experience, step: StepMaker) -> None:
    learn(experience, slicing(step, "e1"), success=False)
    answer = experience.ask(ExperienceQuery(task_type="slice", objects=("Bread",)))
    assert [t.action for t in answer.failed_before] == ["SliceObject(Bread)"]
    assert answer.experiences[0].failure_causes == (
        "SliceObject(Bread): not_holding, for want of holding_tool(what cuts)",
    )


def test_counts_move_only_for_lessons_that_were_given(experience: Experience, step: StepMaker, log: ListedLog) -> None:
    for episode in ("e0", "e1"):
        learn(experience, slicing(step, episode), success=True)
    experience.start("slice the bread", "slice", "e2")
    (given,) = experience.ask(ExperienceQuery(task_type="slice", episode_id="e2")).lessons
    experience.note_given([given.id], "e2")
    learn(experience, slicing(step, "e2"), success=True)
    learn(experience, slicing(step, "e3"), success=True)
    assert log.documents[LESSONS][given.id]["given"] == {"total": 1.0, "trials": 1}


def test_failure_of_an_older_attempt_is_recalled_when_the_task_is_tried_again(
    experience: Experience, step: StepMaker
) -> None:
    learn(experience, [step("OpenObject", "Safe", fails="too_far", episode="e0", index=0)], success=False)
    for number in range(1, 6):
        learn(experience, slicing(step, f"e{number}")[1:], success=True)
    answer = experience.ask(ExperienceQuery(task_type="slice", objects=("Bread",)))
    assert "e0" not in [record.episode_id for record in answer.experiences]
    assert [t.action for t in answer.failed_before] == ["OpenObject(Safe)"]


def test_planners_word_for_a_failure_is_a_cause(experience: Experience, log: ListedLog) -> None:
    experience.start("slice it", "slice", "e1")
    future = experience.end("e1", False, "no knife in this home")
    future.result(10.0)
    assert log.documents[ATTEMPTS]["e1"]["failure_causes"] == ("no knife in this home",)


def test_question_without_an_id_is_about_the_episode_that_began_last(experience: Experience, step: StepMaker) -> None:
    experience.start("of a planner that died", "clean", "e1")
    experience.start("of its successor", "slice", "e2")
    experience.record(step("PickupObject", "Knife", held="Knife", episode="e2", index=0, room="hall"))
    answer = experience.ask(ExperienceQuery())
    assert answer.room == "hall"
    assert answer.working_memory.held_object == "Knife"


def test_episode_goes_on_after_a_restart_with_its_earlier_steps(
    experience: Experience, log: ListedLog, step: StepMaker
) -> None:
    experience.start("slice it", "slice", "e1")
    first, second, *_ = slicing(step, "e1")
    experience.record(first)
    reborn = Experience(ExperienceConfig(), ListedLog(), now_ns=lambda: 100 * SECOND_NS)
    reborn.load([], [], log.episodes.values())
    assert reborn.load_episodes([("e1", log.steps)]).result(timeout=10) == 0
    reborn.record(second)
    view = reborn.working_memory("e1")
    assert [s.index for s in view.window] == [0, 1]
    assert reborn.figures()["experience.steps"] == 2
    assert reborn.start("slice it", "slice", "e1") == "e1"
    reborn.close()


def test_task_type_that_becomes_known_later_is_added_once(experience: Experience, log: ListedLog) -> None:
    experience.start("slice it", "", "e1", attempt=2)
    assert experience.start("slice it", "slice", "e1") == "e1"
    experience.start("slice it", "clean", "e1")
    (episode,) = experience.running
    assert (episode.task_type, episode.attempt) == ("slice", 2)
    assert log.episodes["e1"] == episode


def test_episode_that_ended_before_a_restart_does_not_begin_again(
    experience: Experience, log: ListedLog, step: StepMaker
) -> None:
    learn(experience, slicing(step, "e1"), success=True)
    after = ListedLog()
    reborn = Experience(ExperienceConfig(), after, now_ns=lambda: 100 * SECOND_NS)
    reborn.load([], [], log.episodes.values())
    assert reborn.end("e1", True) is None
    assert reborn.start("slice it", "slice", "e1") == "e1"
    assert reborn.running == ()
    assert after.episodes == {}
    reborn.close()


def test_lesson_that_a_kill_prevented_is_drawn_after_the_restart(
    experience: Experience, log: ListedLog, step: StepMaker
) -> None:
    learn(experience, slicing(step, "e1"), success=True)
    taught = log.documents[LESSONS]
    after = ListedLog()
    reborn = Experience(ExperienceConfig(), after, now_ns=lambda: 100 * SECOND_NS)
    reborn.load([], [], log.episodes.values())
    reborn.load_episodes([("e1", log.steps)])
    assert reborn.wait_settled(10.0)
    assert (after.documents[LESSONS], list(after.documents[ATTEMPTS])) == (taught, ["e1"])
    reborn.close()


def test_telling_twice_changes_nothing(experience: Experience, step: StepMaker) -> None:
    assert experience.start("clean it", "clean", "e1") == experience.start("other", "other", "e1")
    first = step("GoToObject", "Sink", index=0)
    experience.record(first)
    experience.record(first)
    view = experience.working_memory("e1")
    assert view.steps_so_far == 1
    assert experience.end("e1", True) is not None
    assert experience.end("e1", True) is None


def test_late_step_is_put_in_its_place(experience: Experience, step: StepMaker) -> None:
    experience.start("clean it", "clean", "e1")
    experience.record(step("GoToObject", "Sink", index=0))
    experience.record(step("ToggleOn", "Faucet", index=2))
    experience.record(step("PutObject", "Apple", "SinkBasin", index=1))
    view = experience.working_memory("e1")
    assert [s.index for s in view.window] == [0, 1, 2]


def test_step_is_in_the_graph_before_its_episode_ends(experience: Experience, step: StepMaker) -> None:
    experience.start("clean it", "clean", "e1")
    for index, skill in ((0, "GoToObject"), (2, "ToggleOn"), (1, "OpenObject")):
        experience.record(step(skill, "Faucet", index=index))
    answer = experience.ask(ExperienceQuery(objects=("Faucet",)))
    assert {skill for _, skill, _, _ in answer.action_hints} == {"GoToObject", "OpenObject", "ToggleOn"}
    assert not experience.knows("e1")
    assert experience.end_abandoned(silent_s=-1.0) == ["e1"]
    assert experience.figures()["experience.steps"] == 3
    experience.forget("e1")
    assert experience.figures()["experience.steps"] == 0


def test_step_of_an_unknown_episode_is_refused(experience: Experience, step: StepMaker) -> None:
    with pytest.raises(NotFoundError, match="never started"):
        experience.record(step("GoToObject", "Sink", episode="ghost"))


def test_abandoned_episode_ends_without_a_lesson(experience: Experience, log: ListedLog, step: StepMaker) -> None:
    experience.start("clean it", "clean", "e1")
    assert experience.end_abandoned(silent_s=-1.0) == ["e1"]
    assert log.episodes["e1"].success is None
    assert log.documents[ATTEMPTS] == {}


def test_experience_survives_a_restart(experience: Experience, log: ListedLog, step: StepMaker) -> None:
    learn(experience, slicing(step, "e1"), success=True)
    reborn = Experience(ExperienceConfig(), ListedLog(), now_ns=lambda: 100 * SECOND_NS)
    reborn.load(log.documents[ATTEMPTS].values(), map(Lesson.from_dict, log.documents[LESSONS].values()))
    assert reborn.load_episodes([("e1", log.steps)]).result(timeout=10) == 1
    query = ExperienceQuery(room="kitchen", task_type="slice", objects=("Bread",))
    assert reborn.ask(query) == experience.ask(query)
    reborn.close()


def test_forgetting_an_episode_withdraws_all_that_it_taught(
    experience: Experience, step: StepMaker, log: ListedLog
) -> None:
    learn(experience, slicing(step, "e1"), success=True)
    experience.forget("e1")
    answer = experience.ask(ExperienceQuery(room="kitchen", task_type="slice", objects=("Bread",)))
    assert (answer.lessons, answer.experiences, answer.failed_before, answer.action_hints) == ((), (), (), ())
    assert log.documents == {ATTEMPTS: {}, LESSONS: {}}


def test_oldest_episodes_go_beyond_the_bound(step: StepMaker) -> None:
    small = Experience(ExperienceConfig(graph_steps=8), ListedLog(), now_ns=lambda: 0)
    for episode in ("e1", "e2", "e3"):
        learn(small, slicing(step, episode), success=True)
    assert small.figures()["experience.steps"] == 8
    assert small.figures()["experience.attempts"] == 2
    small.close()


def answered(step: StepMaker, **left_out: object) -> ExperienceAnswer:
    experience = Experience(ExperienceConfig.model_validate(left_out), ListedLog(), now_ns=lambda: 0)
    learn(experience, slicing(step, "e1"), success=False)
    answer = experience.ask(ExperienceQuery(room="kitchen", task_type="slice", objects=("Bread",)))
    experience.close()
    return answer


@pytest.mark.parametrize(
    ("graph", "told"),
    [
        ("rooms", "room_patterns"),
        ("actions", "failed_before action_hints"),
        ("trajectories", "experiences"),
    ],
)
def test_a_graph_that_is_left_out_tells_nothing(step: StepMaker, graph: str, told: str) -> None:
    whole, less = answered(step), answered(step, graphs=sorted(GRAPHS - {graph}))
    changed = {name for name, value in vars(whole).items() if value != vars(less)[name]}
    assert changed == set(told.split())
    assert not any(vars(less)[name] for name in changed)


def test_broken_writer_is_logged_and_later_episodes_teach(step: StepMaker, caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    fragile = Experience(ExperienceConfig(), ListedLog(), now_ns=lambda: 0, on_ended=broken)
    fragile.start("slice", "slice", "e1")
    future = fragile.end("e1", True)
    assert future is not None
    with pytest.raises(RuntimeError):
        future.result(timeout=10)
    assert "no lesson was drawn from episode e1" in caplog.text
    fragile.close()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"window": 0}, "window"),
        ({"top_k": 0}, "top_k"),
        ({"expert.parts": ["telepathic"]}, "telepathic"),
    ],
)
def test_impossible_setting_is_refused_by_name(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        ExperienceConfig.of(wrong)


def test_of_equal_attempts_those_come_first_that_began_with_the_same_in_view(
    experience: Experience, step: StepMaker
) -> None:
    for episode, seen in (("e1", ("Mug",)), ("e2", ("Pan",)), ("e3", ("Bread", "Knife"))):
        learn(experience, slicing(step, episode), success=True, seen=seen)
    experience.start("slice it", "slice", "e4", first=FirstScene("kitchen", ("Bread", "Knife")))
    answer = experience.ask(ExperienceQuery(objects=("Bread",), episode_id="e4"))
    assert [one.episode_id for one in answer.experiences] == ["e3", "e1"]


def test_reasons_and_first_state_outlast_the_process(experience: Experience, log: ListedLog, step: StepMaker) -> None:
    tried = replace(step("OpenObject", "Safe", fails="execution"), reasoning="the knife may be in it")
    learn(experience, [tried, step("PickupObject", "Knife")], success=False, seen=("Knife",))
    stored = [replace(one, reasoning="") for one in log.steps]  # as the store keeps them
    other = Experience(ExperienceConfig(), ListedLog(), now_ns=lambda: 100 * SECOND_NS)
    other.load(log.documents[ATTEMPTS].values(), ())
    other.load_episodes([("e1", stored)]).result(timeout=10)
    (failed,) = other.ask(ExperienceQuery(task_type="slice")).failed_before
    assert failed.reasoning == (("e1", "the knife may be in it"),)
    assert {"Knife", "to slice"} <= set(failed.source.facts)
    assert [one.reasoning for one in other.with_reasoning("e1", stored)] == ["the knife may be in it", ""]
    assert other.with_reasoning("e1", stored[1:]) == tuple(stored[1:])  # a step was forgotten: which one is not known
    other.close()
