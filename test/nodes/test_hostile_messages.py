"""Whatever a message holds, it is refused by name or becomes a value that memory works with, keeps and starts from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from nav_msgs.msg import OccupancyGrid
from nav_msgs.msg import Path as PathMsg
from robot_memory import msg as rm
from robot_memory.action import ExecuteSkill
from sensor_msgs.msg import CameraInfo, Image
from vision_msgs.msg import Detection2DArray, Detection3DArray

from benchmarks.hostile_values import messages
from memory_node.domain.errors import InputSkippedError, InvalidValueError, NotFoundError
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import SkillCall, StateChange
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.nodes import conversions
from memory_node.nodes.inputs.transform_history import TransformHistory
from memory_node.opening import open_memory

REFUSED = (InvalidValueError, InputSkippedError)
HURRIED = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def skill_result(msg: Any) -> object:
    return conversions.skill_result_from_msg(SkillCall("Explore"), msg)


def refusal_of(convert: Callable[[Any], object], message: Any) -> str:
    try:
        convert(message)
    except REFUSED as error:
        return str(error)
    return ""


@pytest.mark.timeout(600)  # it computes all the time
@pytest.mark.parametrize(
    ("kind", "convert"),
    [
        (rm.StateChange, conversions.change_from_msg),
        (rm.StepRecord, conversions.step_from_msg),
        (rm.SkillCall, conversions.call_from_msg),
        (ExecuteSkill.Result, skill_result),
        (OccupancyGrid, conversions.grid_from_msg),
        (PathMsg, conversions.path_from_msg),
        (CameraInfo, conversions.intrinsics_from_msg),
        (Image, conversions.color_from_msg),
        (Image, conversions.depth_from_msg),
        (Image, conversions.labels_from_msg),
        (Detection2DArray, conversions.detections_from_msg),
        (Detection3DArray, conversions.detections_3d_from_msg),
    ],
)
def test_message_is_refused_by_name_or_becomes_a_value(kind: type, convert: Callable[[Any], object]) -> None:
    @HURRIED
    @given(messages(kind))
    def convert_one(message: Any) -> None:
        assert len(refusal_of(convert, message)) < 1_000

    convert_one()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[RobotMemory]:
    opened = open_memory(MemoryConfig(database=str(tmp_path / "memory.db"), site="home", robot_id="r1"))
    yield opened
    opened.close()


def test_changes_that_are_taken_can_be_kept_moved_told_and_started_from(memory: RobotMemory, tmp_path: Path) -> None:
    seen = [("Mug", (1.0, 1.0, 0.8)), ("Apple", (2.0, 1.0, 0.8))]
    memory.remember([StateChange("", name, 0, position=position, source="user") for name, position in seen])
    taken: list[StateChange] = []

    def told() -> Any:
        return conversions.snapshot_to_msg(memory.scene()).objects

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(messages(rm.StateChange), st.sampled_from(["", "Mug", "Apple"]), st.sampled_from([np.pi / 4, -3.0]))
    @example(rm.StateChange(source="user", added=["isClean"], probability=1.0), "Mug", -3.0)
    def remember_one(message: Any, named: str, yaw_rad: float) -> None:
        if named:  # else nearly all of a person's changes would be refused for a name that nothing has
            message.object_id, message.object_class = "", named
        try:
            change = conversions.change_from_msg(message)
        except REFUSED:
            return
        before = told()
        try:
            memory.remember([change])
            taken.append(change)
        except (InvalidValueError, NotFoundError):  # a person named what memory cannot know
            assert change.source == "user"
            assert told() == before
        memory.remember([replace(change, source="skill")])  # an executor has names of its own
        memory.confirm_relocalization(Pose.planar(0.5, -0.5, yaw_rad))

    remember_one()
    conversions.snapshot_to_msg(memory.scene())
    known = {found.id for found in memory.scene().objects}
    assert taken
    memory.close()
    again = open_memory(MemoryConfig(database=str(tmp_path / "memory.db"), site="home", robot_id="r1"))
    try:
        assert {found.id for found in again.scene().objects} == known
        assert again.diagnostics()["store.bad_rows"] == 0
    finally:
        again.close()


def test_transforms_of_any_kind_leave_the_good_ones_in_use() -> None:
    history = TransformHistory("map", 0.2, clock_jump_s=10.0)

    @HURRIED
    @given(messages(TransformStamped), st.booleans())
    def add_one(message: Any, fixed: bool) -> None:
        try:
            if fixed:
                history.add_fixed(message)
            else:
                history.add(message)
        except REFUSED:
            pass
        history.fixed_pose("somewhere")

    add_one()
