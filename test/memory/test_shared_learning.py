"""A robot knows what the other robots of its site have learnt, without a restart."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import StepRecord
from memory_node.memory import RobotMemory
from memory_node.store.config import StoreConfig
from memory_node.store.forget_plan import ForgetRequest
from memory_node.store.store import open_store

SECOND_NS = 1_000_000_000
Open = Callable[..., RobotMemory]


def test_what_another_robot_learnt_is_known_while_memory_runs(open_at: Open, tmp_path: Path) -> None:
    teacher = open_at()
    opened = SkillCall("OpenObject", ("Safe",))
    teacher.episodes.start("take the coin for Zenobia", "hold", "e1")
    failed = StepRecord("e1", 0, opened, False, FailureReason.TOO_FAR, 100 * SECOND_NS)
    teacher.episodes.record(failed)
    done = replace(failed, index=1, success=True, reason=FailureReason.NONE)
    teacher.episodes.record(done)
    taken = replace(done, index=2, action=SkillCall("PickupObject", ("Coin",)), relations=("Coin in Safe",))
    teacher.episodes.record(taken)
    lit = replace(done, index=3, action=SkillCall("ToggleOn", ("DeskLamp",)))
    teacher.episodes.record(lit)
    teacher.episodes.end("e1", True)
    assert teacher.experience.wait_settled(10.0)
    teacher.close()

    pupil = open_at(database="other.db", robot_id="r2")
    elsewhere = StoreConfig(journal_path=str(tmp_path / "r1.pending"))
    with (
        open_store(tmp_path / "memory.db", "r1") as theirs,
        open_store(tmp_path / "other.db", "r1", config=elsewhere) as here,
    ):
        for kind in ("lesson", "experience_record"):
            here.append(theirs.documents(kind))
        here.append([*theirs.steps(), *theirs.episodes()]).wait()
        wait_until(lambda: pupil.take_over_changes() > 0)
        figures = pupil.experience.figures()
        learnt = ("experience.steps", "experience.attempts", "experience.lessons")
        assert [figures[name] for name in learnt] == [4, 1, 2]
        assert pupil.experience.ways_to("take the coin for Zenobia")
        assert "found at Safe" in pupil.context("take the coin", 1000).text
        assert "Zenobia" in pupil.context("take the coin", 1000).text
        here.forget(ForgetRequest(label="Zenobia"))
        wait_until(lambda: pupil.take_over_changes() > 0)
        assert "Zenobia" not in pupil.context("take the coin", 1000).text
        here.forget(ForgetRequest(from_ns=99 * SECOND_NS, until_ns=101 * SECOND_NS))
        wait_until(lambda: pupil.take_over_changes() == 0 and not pupil.experience.knows("e1"))
        assert "Look first at: Safe" not in pupil.context("take the coin", 1000).text
        assert not pupil.experience.ways_to("take the coin for Zenobia")


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
