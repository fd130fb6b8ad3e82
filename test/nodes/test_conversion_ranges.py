"""Nothing passes the door of memory that later arithmetic would not survive; each refusal names the field."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import OccupancyGrid, Path
from robot_memory import msg as rm
from robot_memory.action import ExecuteSkill
from sensor_msgs.msg import CameraInfo
from vision_msgs.msg import Detection2D, Detection2DArray, Detection3D, Detection3DArray, ObjectHypothesisWithPose

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import ObjectReference, SkillCall
from memory_node.nodes import conversions
from memory_node.nodes.conversions.ranges import LAST_STAMP_NS

NAN, INFINITE, FAR = float("nan"), float("inf"), 1.7e308


def change(**fields: Any) -> rm.StateChange:
    made = rm.StateChange(object_id="o1", object_class="mug", probability=1.0)
    made.stamp.sec = 100
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def at(x: float) -> Any:
    made = change(position_known=True)
    made.position.x = x
    return made


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (change(stamp=Time(sec=2147483647, nanosec=4294967295)), "stamp"),
        (change(stamp=Time(sec=2147483647)), "stamp"),
        (change(stamp=Time(sec=-5)), "stamp"),
        (change(stamp=Time(nanosec=1_000_000_000)), "stamp"),
        (at(FAR), "position"),
        (at(1e300), "position"),
        (at(1.0001e5), "position"),
        (at(NAN), "position"),
        (at(-INFINITE), "position"),
        (change(probability=NAN), "probability"),
        (change(probability=-1.0), "probability"),
        (change(probability=7.0), "probability"),
        (change(object_id="../../etc/passwd"), "object_id"),
        (change(object_id="x" * 201), "object_id"),
        (change(object_id="a\nb"), "object_id"),
        (change(object_class="  \t"), "object_class"),
        (change(object_id="", object_class=""), "object_class"),
        (change(object_class="m" * 1_000_000), "object_class"),
        (change(object_class="mug\x00"), "object_class"),
        (change(added=["cleaned", "dirty"]), "added"),
        (change(added=["opened"], removed=["opened"]), "added, removed"),
        (change(added=["on fire"]), "added"),
        (change(added=["dirty"] * 5_000), "added"),
        (change(support="Table@nan,nan,nan"), "Table@nan"),
        (change(support="Table@1e9,0,0"), "Table@1e9"),
        (change(created_from="/tmp/x"), "created_from"),
        (change(source="s" * 500), "source"),
        (change(held=9), "held"),
    ],
)
def test_change_that_no_memory_survives_is_refused(message: Any, field: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^(object ')?{field}") as caught:
        conversions.change_from_msg(message)
    assert len(str(caught.value)) < 400, "what came is cut"


def test_changes_at_the_limits_are_taken() -> None:
    message = at(-1e5)
    message.stamp = conversions.stamp_to_msg(LAST_STAMP_NS)
    message.object_class, message.probability = "m" * 200, 0.0
    message.added, message.removed = ["opened", "on"], ["closed"]
    taken = conversions.change_from_msg(message)
    assert taken.stamp_ns == LAST_STAMP_NS
    assert taken.position == (-1e5, 0.0, 0.0)


def test_error_names_which_change_it_was() -> None:
    with pytest.raises(InvalidValueError, match=r"^changes\[2\]\.probability: expected 0 to 1, got nan"):
        conversions.changes_from_msg([change(), change(), change(probability=NAN)])


def test_too_many_changes_are_refused() -> None:
    assert len(conversions.changes_from_msg([change()] * 1_000)) == 1_000
    with pytest.raises(InvalidValueError, match="changes: expected at most 1000, got 1001"):
        conversions.changes_from_msg([change()] * 1_001)


def grid(resolution: float, width: int = 2, height: int = 2, x: float = 0.0) -> Any:
    made = OccupancyGrid()
    made.info.resolution, made.info.width, made.info.height = resolution, width, height
    made.info.origin.position.x = x
    made.data = np.zeros(4, np.int8)
    return made


@pytest.mark.parametrize(
    "message",
    [
        grid(1e30),
        grid(NAN),
        grid(0.0),
        grid(-0.05),
        grid(INFINITE),
        grid(0.05, 3),
        grid(0.05, 2**32 - 1),
        grid(0.05, x=FAR),
    ],
)
def test_map_that_no_planner_survives_is_refused(message: Any) -> None:
    with pytest.raises(InvalidValueError):
        conversions.grid_from_msg(message)


def camera(**fields: float) -> Any:
    made = CameraInfo(width=640, height=480)
    made.k = np.array([500.0, 0.0, 320.0, 0.0, 500.0, 240.0, 0.0, 0.0, 1.0])
    for name, value in fields.items():
        if name.startswith("k"):
            made.k[int(name[1:])] = value
        else:
            setattr(made, name, int(value))
    return made


@pytest.mark.parametrize(
    "fields",
    [{"k0": NAN}, {"k0": 0.0}, {"k4": INFINITE}, {"k2": NAN}, {"k5": 1e300}, {"width": 2**32 - 1}, {"height": 0}],
)
def test_camera_that_is_none_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(InvalidValueError):
        conversions.intrinsics_from_msg(camera(**fields))


def detections_2d(class_id: str = "mug", score: float = 0.5, side: float = 10.0, count: int = 1) -> Any:
    found = Detection2D(results=[ObjectHypothesisWithPose()])
    found.results[0].hypothesis.class_id, found.results[0].hypothesis.score = class_id, score
    found.bbox.size_x = found.bbox.size_y = side
    return Detection2DArray(detections=[found] * count)


@pytest.mark.parametrize(
    "message",
    [
        detections_2d(score=NAN),
        detections_2d(score=7.0),
        detections_2d(score=-1.0),
        detections_2d(class_id=""),
        detections_2d(class_id="   "),
        detections_2d(class_id="m" * 1_000_000),
        detections_2d(side=NAN),
        detections_2d(side=1e300),
        detections_2d(count=1_001),
    ],
)
def test_detections_that_are_none_are_refused(message: Any) -> None:
    with pytest.raises(InvalidValueError):
        conversions.detections_from_msg(message)


def detection_3d(x: float = 1.0, size: float = 0.1, w: float = 1.0, variance: float = 0.01) -> Any:
    found = Detection3D(results=[ObjectHypothesisWithPose()])
    found.results[0].hypothesis.class_id, found.results[0].hypothesis.score = "mug", 0.5
    found.bbox.center.position.x, found.bbox.center.orientation.w, found.bbox.size.x = x, w, size
    found.results[0].pose.covariance = np.full(36, variance)
    return Detection3DArray(detections=[found])


def test_sound_detection_in_space_is_taken() -> None:
    assert conversions.detections_3d_from_msg(detection_3d())[0].box.center[0] == 1.0


@pytest.mark.parametrize(
    "message",
    [
        detection_3d(x=NAN),
        detection_3d(x=FAR),
        detection_3d(size=-1.0),
        detection_3d(size=NAN),
        detection_3d(w=0.0),
        detection_3d(w=NAN),
        detection_3d(variance=NAN),
        detection_3d(variance=-1.0),
        detection_3d(variance=1e300),
    ],
)
def test_detection_in_space_that_is_none_is_refused(message: Any) -> None:
    with pytest.raises(InvalidValueError):
        conversions.detections_3d_from_msg(message)


def step(**fields: Any) -> Any:
    made = rm.StepRecord(episode_id="e1", reason="none", success=True)
    made.action.skill = "Explore"
    for name, value in fields.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"episode_id": "../x"}, "episode_id"),
        ({"index": 2**32 - 1}, "index"),
        ({"duration": NAN}, "duration"),
        ({"distance": -1.0}, "distance"),
        ({"reason": "bad luck"}, "reason"),
        ({"message": "m" * 10_001}, "message"),
        ({"message": "a\x00b"}, "message"),
        ({"visible": ["mug"] * 1_001}, "visible"),
        ({"relations": ["r" * 300]}, "relations"),
    ],
)
def test_step_that_no_memory_survives_is_refused(fields: dict[str, Any], field: str) -> None:
    conversions.step_from_msg(step())
    with pytest.raises(InvalidValueError, match=f"^{field}: expected"):
        conversions.step_from_msg(step(**fields))


@pytest.mark.parametrize(
    "argument", ["Apple@nan,nan,nan", "Apple@inf,0,0", "Apple@1e30,0,0", "Apple@1,2", "../x", "x" * 201]
)
def test_skill_is_sent_to_no_place_that_is_none(argument: str) -> None:
    with pytest.raises(InvalidValueError):
        conversions.call_from_msg(rm.SkillCall(skill="GoToObject", arguments=[argument]))


def test_exploring_may_name_every_place_of_a_large_home() -> None:
    places = ["Apple", *(f"Shelf@{number}.0,2.0,0.5" for number in range(300))]
    assert conversions.call_from_msg(rm.SkillCall(skill="Explore", arguments=places)).arguments == tuple(places)


def test_result_of_a_skill_that_is_none_is_refused() -> None:
    result = ExecuteSkill.Result(success=True, reason="none", duration=NAN)
    with pytest.raises(InvalidValueError, match=r"^duration"):
        conversions.skill_result_from_msg(SkillCall("Explore"), result)


def test_path_with_a_pose_that_is_none_is_refused() -> None:
    stamped = PoseStamped()
    stamped.pose.position.y = NAN
    with pytest.raises(InvalidValueError, match=r"^pose\.position"):
        conversions.path_from_msg(Path(poses=[stamped]))


@pytest.mark.parametrize("text", ["Apple@nan,0,0", "Apple@0,inf,0", "Apple@0,0,-1e6"])
def test_reference_to_a_place_is_finite_and_within_a_site(text: str) -> None:
    with pytest.raises(InvalidValueError, match="within 100 km"):
        ObjectReference.parse(text)
