"""The rows of `bench compiler`, and the judge of guidance."""

import json
import random

import pytest

from benchmarks import compiler
from benchmarks.compiler_household import GuidedMoment, is_precise
from benchmarks.compiler_variants import (
    EMPTY_M,
    SHUFFLED_M,
    TEXT,
    OtherMemories,
    StaticInjection,
    retrieval_of,
)
from benchmarks.life.player import RobotPlayer
from memory_node.cli import main
from memory_node.context.brief_state import BriefState
from memory_node.context.guidance import StepObservation, TakenStep
from memory_node.context.task_memory import Entry, EntryKind, TaskMemory
from memory_node.domain.skill import SkillCall
from memory_node.sim.home_file import load_home
from memory_node.sim.robot import HomeRobot

PICK, OPEN = SkillCall("PickupObject", ("Mug",)), SkillCall("OpenObject", ("Mug",))
FIX = Entry("fix", EntryKind.REMINDER, "open it", skill="PickupObject", steps=(SkillCall("OpenObject", ("{object}",)),))


def test_static_injection_is_followed_whatever_is_believed() -> None:
    memory = TaskMemory.of([FIX])
    believed = BriefState(facts=("Mug is opened",))
    guidance = StaticInjection().compile(StepObservation(proposed=PICK), believed, memory).guidance
    assert guidance.goal == OPEN
    done = StepObservation(proposed=PICK, recent=(TakenStep(OPEN, True),))
    assert StaticInjection().compile(done, believed, memory).guidance is None


def test_controls_exchange_m() -> None:
    memories = {"a": TaskMemory.of([FIX]), "b": TaskMemory()}

    def own(episode_id: str, instruction: str, goals: tuple[str, ...]) -> TaskMemory:
        return memories[goals[0]]

    others = OtherMemories(random.Random(0))
    assert retrieval_of(TEXT, others)(own)("e", "", ("a",)) == memories["a"]
    assert retrieval_of(EMPTY_M, others)(own)("e", "", ("a",)) == TaskMemory()
    shuffled = retrieval_of(SHUFFLED_M, others)(own)
    assert shuffled("e", "", ("a",)) == TaskMemory()
    assert shuffled("e", "", ("b",)) == memories["a"]
    assert shuffled("e", "", ("a",)) == memories["b"]


def call(skill: str, *names: str) -> SkillCall:
    return SkillCall(skill, names)


def test_guidance_is_judged_by_the_home() -> None:
    robot = HomeRobot(load_home("apartment"))
    fridge = robot.world.of_class("Fridge")[0].id
    far = max(robot.world.of_class("Sofa") or list(robot.world), key=lambda thing: thing.box.center[0]).id
    robot.run(call("GoToObject", far))
    before = robot.world.revision

    def judged(proposed: SkillCall, goal: SkillCall) -> bool:
        return is_precise(GuidedMoment(robot.world, robot.body.pose, proposed, goal))

    opening = call("OpenObject", fridge)
    assert judged(opening, call("GoToObject", fridge))
    assert not judged(opening, call("GoToObject", far))
    assert not judged(opening, opening)  # it fails: the robot is too far away
    assert not judged(opening, call("PickupObject", fridge))
    assert robot.world.revision == before  # all of it was tried in copies
    robot.run(call("GoToObject", fridge))
    assert judged(opening, opening)
    assert not judged(opening, call("GoToObject", fridge))  # it is there already


def test_every_variant_has_a_row(one_task, rows_of) -> None:
    printed = rows_of("compiler", *one_task, "--compilers", "rules", "--limit", "1")
    assert [(row["variant"], row["compiler"]) for row in printed] == [
        ("none", "none"),
        ("no-faults", "none"),
        ("static", "none"),
        *[(name, "rules") for name in ("text", "no-brief-state", "no-loop-detection", "empty-m", "shuffled-m")],
    ]
    text = next(row for row in printed if row["variant"] == "text")
    assert text["executor_input_tokens"] > 0
    assert 0.0 <= text["noaction_share"] <= 1.0


def test_files_must_be_named(refusal_of) -> None:
    assert "--scenes and --tasks" in refusal_of("compiler")


def test_rows_with_latent_tokens_need_a_soft_memory(refusal_of) -> None:
    latent = ["compiler", "--on", "alfworld", "--variants", "full"]
    assert "need --soft-memory FILE" in refusal_of(*latent)
    assert "needs --games" in refusal_of(*latent, "--soft-memory", "mine.npz")
    assert "has no rows full" in refusal_of("compiler", "--on", "scienceworld", "--variants", "full")


def test_chance_stands_beside_a_model_that_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    for place in ("household", "life", "alfworld"):
        monkeypatch.setattr(compiler, f"rows_of_{place}", lambda _, variants, config: asked.append(variants) or [])
    for place, planner, stands in (
        ("household", "offline", False),
        ("household", "llm", True),
        ("life", "offline", False),
        ("life", "llm", True),
        ("alfworld", "offline", True),
    ):
        assert main(["bench", "compiler", "--on", place, "--planner", planner]) == 0
        assert (asked[-1][-2:] == ("chance", "chance-valued")) is stands


DAY = """
- id: bowl-on-the-bed
  category: lessons
  home: studio
  events:
    - do: put the bowl on the bed
      want: {at: {bowl: bed}}
    - restart: true
    - do: put the apple in the sink
      want: {at: {apple: bed}}
"""


def test_memory_is_compiled_in_several_ways_on_days(tmp_path, rows_of) -> None:
    days = tmp_path / "days.yaml"
    days.write_text(DAY)
    variants = ["none", "static", "text", "empty-m", "chance"]
    command = ["compiler", "--on", "life", "--days", str(days), "--compilers", "rules"]
    rows = {row["variant"]: row for row in rows_of(*command, "--variants", *variants)}
    assert list(rows) == variants
    assert {row["tasks"] for row in rows.values()} == {1}
    for variant in ("none", "text"):
        assert (rows[variant]["success_rate"], rows[variant]["progress"]) == (0.0, 0.5)
    for variant in ("none", "chance"):
        assert (rows[variant]["compiler_ms"], rows[variant]["noaction_share"]) == (0.0, None)
    told = [rows[variant]["executor_input_tokens"] for variant in ("none", "text", "static")]
    assert told == sorted(told), "compiled memory is shorter than all of it"
    assert told[0] < told[1]


def test_day_that_crashes_counts_as_not_done_and_is_told(tmp_path, capsys, monkeypatch) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("no planner")

    monkeypatch.setattr(RobotPlayer, "execute", crash)
    days = tmp_path / "days.yaml"
    days.write_text(DAY)
    for bench, variant in (("compiler", ["--variants", "none"]), ("stream", ["--optimizer", "rules", "--orders", "1"])):
        assert main(["bench", bench, "--on", "life", "--days", str(days), *variant, "--json"]) == 0
        told = capsys.readouterr()
        (row,) = map(json.loads, told.out.splitlines())
        assert (row["tasks"], row["success_rate"], row.get("lost", 1)) == (1, 0.0, 1)
        assert "bowl-on-the-bed crashed:" in told.err
        assert "RuntimeError: no planner" in told.err


def test_what_means_nothing_on_days_is_refused(tmp_path, refusal_of) -> None:
    days = ["--days", str(tmp_path / "days.yaml")]
    for options, said in (
        ([], "needs --days"),
        ([*days, "--orders", "2"], "no order counts"),
        ([*days, "--variants", "static", "--planner", "llm"], "a language model reads memory once"),
        ([*days, "--variants", "no-faults"], "--on life has no rows no-faults"),
    ):
        assert said in refusal_of("compiler", "--on", "life", *options)
