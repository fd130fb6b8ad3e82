"""Days of life and household tasks as what a compiler is taught and rewarded by."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from memory_node.cli import main
from memory_node.context.brief_state import BriefState
from memory_node.context.guidance import Compiled, StepObservation
from memory_node.context.task_memory import TaskMemory
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.optimizer.attempt import Candidate
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.optimizer.executions import Execution, Executions, RobotExecutions
from training.robot_tasks import DaysOfLife

DAYS = """
- id: cup-on-the-bed
  category: lessons
  home: apartment
  events:
    - do: put the cup on the bed
      want: {at: {cup: bed}}
    - do: bring me the moon
      want: {at: {cup: sink_basin}}
"""


@pytest.fixture
def days(tmp_path: Path) -> Path:
    (tmp_path / "days.yaml").write_text(DAYS)
    return tmp_path / "days.yaml"


@dataclass
class Silent:
    """A compiler that delivers nothing, and counts how often it was asked."""

    asked: list[StepObservation] = field(default_factory=list)
    told: set[str] = field(default_factory=set)

    def compile(self, observation: StepObservation, state: BriefState, memory: TaskMemory) -> Compiled:
        self.asked.append(observation)
        self.told |= {entry.text for entry in memory.entries}
        return Compiled()


def test_reward_of_a_day_is_its_share_of_right_steps(days: Path) -> None:
    tasks, compiler = DaysOfLife([days], None, CachingEmbedder(MiniLmEmbedder()), 0, 0), Silent()
    try:
        assert tasks.names == ("cup-on-the-bed",)
        assert tasks.play(0, compiler).right == 0.5
        asked = len(compiler.asked)
        assert asked > 2, "it was asked at each step"
        assert tasks.play(0, compiler).right == 0.5, "a day begins with the same memory again"
        assert len(compiler.asked) == 2 * asked
        left = [path.name.startswith("patrol") for path in tasks._lives._folder.iterdir()]
        assert left == [True], "what a robot wrote is thrown away after its day"
    finally:
        tasks.close()


def test_teacher_lives_days(days: Path, tmp_path: Path) -> None:
    right = DAYS.partition("    - do: bring me the moon")[0]
    wrong = right.replace("cup-on-the-bed", "cup-on-the-moon").replace("{cup: bed}", "{cup: sink_basin}")
    days.write_text(right + wrong)
    out = tmp_path / "pairs.jsonl"
    assert main(["train", "compiler-pairs", "--on", "life", "--days", str(days), "--out", str(out)]) == 0
    pairs = [json.loads(line) for line in out.read_text().splitlines()]
    assert {pair["task"] for pair in pairs} == {"cup-on-the-bed"}, "what went wrong teaches nothing"
    assert any(json.loads(pair["reply"])["call"] >= 0 for pair in pairs)
    assert any(pair.get("unsaid") for pair in pairs)


def test_files_of_the_tasks_must_be_named(tmp_path: Path) -> None:
    assert main(["train", "compiler-pairs", "--on", "life", "--out", str(tmp_path / "pairs.jsonl")]) != 0


def test_lessons_of_an_optimizer_are_judged_by_days(days: Path) -> None:
    embedder = CachingEmbedder(MiniLmEmbedder())
    tasks, compiler = DaysOfLife([days], None, embedder, 0, 0), Silent()
    try:
        executions = Executions(RobotExecutions(tasks))
        (rollout,) = executions.rollouts([Execution(0, ())])
        assert (rollout.success, rollout.lost) == (False, ""), "one of two steps is wrong"
        assert rollout.length > 2
        assert tasks.texts == (rollout.attempt.query,) == ("bring me the moon",)
        bank = LessonBank(embedder)
        query = "put the cup on the bed"
        bank.apply(
            Candidate("Thing: cup. Look first at: desk.", None),
            (),
            replace(rollout.attempt, query=query),
            "test",
        )
        tasks.play(0, compiler, bank.retrieve(query))
        assert any("desk" in text for text in compiler.told), compiler.told
        assert executions.rollouts([Execution(0, bank.retrieve(query))])[0].success is False
    finally:
        tasks.close()
