"""A language model that reads ended episodes, behind a real local server of the OpenAI protocol."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.experience.config import ExperienceConfig, LessonModelConfig
from memory_node.experience.experience import Experience
from memory_node.experience.experience_answer import ExperienceQuery
from memory_node.experience.extractor import RuleExtractor
from memory_node.experience.log import RECORDS
from memory_node.experience.refiner import open_refiner
from memory_node.llm.open_model import ModelShelf

StepMaker = Callable[..., StepRecord]
ADVICE = "Look into the Fridge for eggs before anything else."
REPLY = json.dumps(
    {
        "success": False,
        "successful_actions": ["PickupObject(Egg)"],
        "failed_actions": ["PutObject(Egg, Fridge)"],
        "success_patterns": [],
        "failure_causes": ["The door was shut and nobody opened it."],
        "insights": ["A Fridge is closed as a rule."],
        "recommendations": ["Open the Fridge first."],
        "guidelines": [{"text": ADVICE, "object_classes": ["Fridge"]}],
    }
)
CONTRADICTION = REPLY.replace('"success": false', '"success": true')


class RecordLog:
    """Keeps the last record of each episode."""

    def __init__(self) -> None:
        self.records: dict[str, dict[str, Any]] = {}

    def put_episode(self, episode: EpisodeSummary) -> None:
        pass

    def put_step(self, step: StepRecord) -> None:
        pass

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        if kind == RECORDS:
            self.records.update((key, values) for key, values, _ in documents)

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        pass


@pytest.fixture
def log() -> RecordLog:
    return RecordLog()


@pytest.fixture
def open_experience(log: RecordLog) -> Iterator[Callable[..., Experience]]:
    opened: list[Experience] = []

    def make(url: str, **config: Any) -> Experience:
        settings = ExperienceConfig(
            extractor="llm", llm=LessonModelConfig(base_url=url, **{"timeout_s": 20.0, **config})
        )
        made = Experience(
            settings, RuleExtractor(), log, lambda: 1, refiner=open_refiner(settings, ModelShelf(), load_catalogue())
        )
        opened.append(made)
        return made

    yield make
    for one in opened:
        one.close()


def fail(experience: Experience, step: StepMaker, episode: str = "e1") -> None:
    """Carry out an episode that fails at a closed fridge, and end it."""
    experience.start("put the egg away", "place", episode)
    experience.record(step("PickupObject", "Egg", held="Egg", episode=episode, index=0))
    experience.record(step("PutObject", "Egg", "Fridge", fails="closed", held="Egg", episode=episode, index=1))
    future = experience.end(episode, False)
    assert future is not None
    future.result(timeout=10.0)


def texts(experience: Experience) -> list[str]:
    return [g.text for g in experience.ask(ExperienceQuery(task_type="place", objects=("Fridge",))).guidelines]


def test_model_adds_to_what_the_rules_learnt(
    endpoint: Callable[..., Any], open_experience: Callable[..., Experience], step: StepMaker, log: RecordLog
) -> None:
    server = endpoint(REPLY)
    experience = open_experience(server.url)
    fail(experience, step)
    assert experience.wait_settled(20.0)
    assert ADVICE in texts(experience)
    assert any(text.startswith("Before PutObject, do OpenObject") for text in texts(experience))
    record = log.records["e1"]
    assert record["by"] == "language model"
    assert record["failure_causes"][1] == "The door was shut and nobody opened it."
    assert record["successful_actions"] == ("PickupObject(Egg)",)
    assert experience.figures()["lessons.llm.taken"] == 1


def test_model_is_shown_skills_steps_and_earlier_episodes(
    endpoint: Callable[..., Any], open_experience: Callable[..., Experience], step: StepMaker
) -> None:
    server = endpoint(REPLY, REPLY)
    experience = open_experience(server.url)
    fail(experience, step, "e1")
    assert experience.wait_settled(20.0)
    fail(experience, step, "e2")
    assert experience.wait_settled(20.0)
    prompt = server.prompts()
    assert "`CleanObject(object, [fixture])`" in prompt
    assert '"action": "PutObject(Egg, Fridge)"' in prompt
    assert "open_or_unlidded(receptacle)" in prompt
    assert "advice of then: Open the Fridge first." in prompt


def test_faulty_reply_is_sent_back_with_what_is_wrong(
    endpoint: Callable[..., Any], open_experience: Callable[..., Experience], step: StepMaker
) -> None:
    server = endpoint(CONTRADICTION, REPLY)
    experience = open_experience(server.url)
    fail(experience, step)
    assert experience.wait_settled(20.0)
    assert "success is False, the reply says True" in server.requests[1]["messages"][-1]["content"]
    assert ADVICE in texts(experience)
    assert experience.figures()["lessons.llm.rejected.contradiction"] == 1


def test_repairs_are_bounded_and_then_the_rules_lesson_stands_and_says_so(
    endpoint: Callable[..., Any],
    open_experience: Callable[..., Experience],
    step: StepMaker,
    log: RecordLog,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = endpoint(*["no json"] * 5)
    experience = open_experience(server.url, max_repairs=2)
    fail(experience, step)
    assert experience.wait_settled(20.0)
    assert len(server.requests) == 3
    assert log.records["e1"]["by"].startswith("rules, as the language model gave nothing: not_json")
    assert "the rules' lesson of episode e1 stands" in caplog.text
    assert [text.split(":")[0] for text in texts(experience)] == ["Before PutObject, do OpenObject(receptacle)"]
    assert experience.figures()["lessons.llm.rejected.not_json"] == 3


def test_silent_model_delays_neither_steps_nor_the_rules(
    endpoint: Callable[..., Any], open_experience: Callable[..., Experience], step: StepMaker, log: RecordLog
) -> None:
    server = endpoint(30.0, 30.0)
    experience = open_experience(server.url)
    started = time.monotonic()
    fail(experience, step, "e1")
    experience.start("put the egg away", "place", "e2")
    experience.record(step("PickupObject", "Egg", held="Egg", episode="e2", index=0))
    advised = experience.advise("e2", SkillCall("PutObject", ("Egg", "Fridge")), ("Egg",))
    assert [str(advice.source) for advice in advised] == ["episodic", "semantic"]
    assert time.monotonic() - started < 15.0
    assert experience.figures()["episodes.to_refine"] == 1
    assert log.records["e1"]["by"] == "rules"


def test_model_that_is_too_late_is_counted(
    endpoint: Callable[..., Any], open_experience: Callable[..., Experience], step: StepMaker, log: RecordLog
) -> None:
    experience = open_experience(endpoint(5.0, 5.0, 5.0).url, timeout_s=0.2)
    fail(experience, step)
    assert experience.wait_settled(20.0)
    assert experience.figures()["lessons.llm.late"] == 1
    assert log.records["e1"]["by"].startswith("rules, as the language model gave nothing")


def test_episodes_do_not_pile_up_behind_a_slow_model(
    endpoint: Callable[..., Any], open_experience: Callable[..., Experience], step: StepMaker, log: RecordLog
) -> None:
    experience = open_experience(endpoint(*[30.0] * 9).url, most_waiting=1)
    for number in range(4):
        fail(experience, step, f"e{number}")
    assert experience.figures()["episodes.to_refine"] <= 2
    assert sum("too many episodes wait" in record["by"] for record in log.records.values()) >= 2


def test_lesson_of_an_episode_that_was_forgotten_meanwhile_is_not_taken(
    endpoint: Callable[..., Any], open_experience: Callable[..., Experience], step: StepMaker
) -> None:
    server = endpoint(1.0)
    experience = open_experience(server.url, max_repairs=0)
    fail(experience, step)
    experience.forget("e1")
    assert experience.wait_settled(20.0)
    answer = experience.ask(ExperienceQuery(task_type="place", objects=("Fridge",)))
    assert (answer.guidelines, answer.experiences) == ((), ())


def test_rules_alone_ask_no_model() -> None:
    assert open_refiner(ExperienceConfig(), ModelShelf(), load_catalogue()) is None
