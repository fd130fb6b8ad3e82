import cv2
import numpy as np
import pytest
from sensor_msgs.msg import CompressedImage

from memory_node.domain.answer import AnswerStatus, ObjectAnswer, RankedArea
from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.scene import (
    Area,
    Floor,
    Relation,
    RelationKind,
    Room,
    SceneEvent,
    SceneEventKind,
    SceneObject,
    SceneSnapshot,
)
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.lessons.lesson import Lesson, LessonKind, Tally, Wording
from memory_node.nodes import conversions
from memory_node.perception.detection import Detection

# Probabilities that float32 holds exactly, so that equality can be asked for.
HALF, QUARTER = 0.5, 0.25
STAMP_NS = 1_790_000_000_123_456_789
COVARIANCE = np.diag([0.01, 0.02, 0.03])
STATES = (StateBelief(ObjectState.CLEANED, HALF, STAMP_NS),)


def mug(object_id: str = "01") -> SceneObject:
    return SceneObject(
        id=object_id,
        class_probabilities={"Mug": 0.75, "Cup": QUARTER},
        box=OrientedBox(np.array([1.0, -2.0, 0.5]), np.array([0.1, 0.2, 0.3]), np.pi / 4),
        covariance=COVARIANCE,
        existence=HALF,
        first_seen_ns=1,
        last_seen_ns=STAMP_NS,
        last_missed_ns=5,
        times_seen=7,
        area_id="a1",
        support_id="t1",
        inside=True,
        anchor="k1",
        states=STATES,
        attributes={"description": "a blue mug"},
    )


def assert_same_object(one: SceneObject, other: SceneObject) -> None:
    assert np.allclose(one.box.corners(), other.box.corners(), atol=1e-9)
    assert np.allclose(one.covariance, other.covariance)
    for name in (
        "id",
        "class_probabilities",
        "existence",
        "states",
        "last_seen_ns",
        "times_seen",
        "inside",
        "anchor",
        "description",
    ):
        assert getattr(one, name) == getattr(other, name), name


def test_pose_at_45_degrees_survives() -> None:
    pose = Pose.planar(1.0, 2.0, np.pi / 4, 0.5)
    assert np.allclose(conversions.pose_from_msg(conversions.pose_to_msg(pose)).matrix, pose.matrix)
    message = conversions.transform_to_msg(pose, "map", "base_link", STAMP_NS)
    assert message.child_frame_id == "base_link"
    assert np.allclose(conversions.transform_from_msg(message.transform).matrix, pose.matrix)


def test_scene_graph_survives() -> None:
    scene = SceneSnapshot(
        stamp_ns=STAMP_NS,
        floors=(Floor("f", "ground", HALF),),
        rooms=(Room("r", "kitchen", "f", (1.0, 2.0), 12.5, True),),
        areas=(Area("a1", "area 1", (0.5, 1.5), "f", "r", 9),),
        objects=(mug(),),
        relations=(Relation("a1", RelationKind.NAVIGABLE, "a2", 1.5, HALF),),
        frame_verified=False,
        version=42,
    )
    back = conversions.snapshot_from_msg(conversions.snapshot_to_msg(scene))
    assert_same_object(back.objects[0], scene.objects[0])
    for name in ("stamp_ns", "floors", "rooms", "areas", "relations", "frame_verified", "version", "frame_id"):
        assert getattr(back, name) == getattr(scene, name), name


@pytest.mark.parametrize("success", [None, True, False])
def test_episode_survives(success: bool | None) -> None:
    episode = EpisodeSummary("e1", "bring me the mug", "fetch", 5, STAMP_NS, success, 2, "robot_1")
    assert conversions.episode_from_msg(conversions.episode_to_msg(episode)) == episode


def test_lesson_survives() -> None:
    lesson = Lesson(
        "k",
        LessonKind.WHERE,
        (Wording("", "Look into the fridge first."),),
        task_types=frozenset({"fetch"}),
        object_classes=frozenset({"Mug", "Cup"}),
        given=Tally(2.0, 3),
        helped_ns=STAMP_NS,
        evidence_for=("e1",),
        support=4,
    )
    assert conversions.lesson_from_msg(conversions.lesson_to_msg(lesson)) == lesson


def test_delta_sorts_events_by_kind() -> None:
    events = [
        SceneEvent(SceneEventKind.APPEARED, 1, mug("new")),
        SceneEvent(SceneEventKind.REMOVED, 1, mug("gone")),
        SceneEvent(SceneEventKind.MERGED, 1, mug("twin"), "new"),
    ]
    message = conversions.delta_to_msg(events, STAMP_NS, 3, 4)
    assert [o.id for o in message.appeared] == ["new"]
    assert (message.removed_ids, message.merged_ids, message.merged_into_ids) == (["gone"], ["twin"], ["new"])
    assert (message.from_version, message.to_version) == (3, 4)


def test_answer_carries_the_whole_contract() -> None:
    answer = ObjectAnswer(
        object_id="01",
        object_class="Mug",
        class_probability=0.75,
        position=np.array([1.0, 2.0, 3.0]),
        covariance=COVARIANCE,
        size=np.array([0.1, 0.2, 0.3]),
        yaw_rad=HALF,
        existence=QUARTER,
        stamp_ns=STAMP_NS,
        last_seen_ns=STAMP_NS - 3_000_000_000,
        last_missed_ns=STAMP_NS - 1,
        score=HALF,
        source="short_term",
        status=AnswerStatus.PROBABLY_GONE,
        states=STATES,
        area_id="a1",
    )
    message = conversions.answer_to_msg(answer)
    back = conversions.answer_from_msg(message)
    assert message.age == pytest.approx(3.0)
    assert np.allclose(back.position, answer.position)
    assert np.allclose(back.covariance, answer.covariance)
    for name in ("status", "existence", "last_missed_ns", "states", "source", "score", "age_s", "evidence_frame"):
        assert getattr(back, name) == getattr(answer, name), name


def test_unknown_status_value_is_unknown() -> None:
    message = conversions.status_to_msg(AnswerStatus.OK)
    message.value = 99
    assert conversions.status_from_msg(message) is AnswerStatus.UNKNOWN


@pytest.mark.parametrize("held", [None, True, False])
def test_state_change_survives(held: bool | None) -> None:
    change = StateChange(
        object_id="01",
        object_class="Apple",
        stamp_ns=STAMP_NS,
        added=(ObjectState.CLEANED,),
        removed=(ObjectState.DIRTY,),
        held=held,
        support_id="SinkBasin",
        inside=True,
        position=(1.0, 2.0, 3.0),
        probability=HALF,
    )
    assert conversions.change_from_msg(conversions.change_to_msg(change)) == change


def test_skill_result_survives_and_unknown_reason_counts_as_failed_execution() -> None:
    call = SkillCall("PickupObject", ("Apple@1,2,3",))
    failed = SkillResult(call, False, FailureReason.HAND_FULL, "the hand holds Mug", "apple", 2.0, 1.5, 3)
    message = conversions.skill_result_to_msg(failed, "Mug")
    assert message.held_object == "Mug"
    assert conversions.skill_result_from_msg(call, message) == failed
    message.reason = "gremlins"
    assert conversions.skill_result_from_msg(call, message).reason is FailureReason.EXECUTION


def test_step_survives() -> None:
    step = StepRecord(
        "e1",
        2,
        SkillCall("OpenObject", ("Fridge",)),
        False,
        FailureReason.TOO_FAR,
        STAMP_NS,
        "too far",
        "Mug",
        "kitchen",
        "area 1",
        (1.0, 2.0, 0.0),
        ("Fridge",),
        ("Mug in hand",),
        HALF,
        QUARTER,
        reasoning="the mug belongs in it",
    )
    assert conversions.step_from_msg(conversions.step_to_msg(step)) == step


def test_unit_and_ranked_area_survive() -> None:
    unit = MemoryUnit("01", "Mug", np.array([1.0, 2.0, 3.0]), COVARIANCE, STAMP_NS, states=STATES, source="skill")
    back = conversions.unit_from_msg(conversions.unit_to_msg(unit))
    assert np.allclose(back.covariance, COVARIANCE)
    assert (back.object_id, back.states, back.source, back.stamp_ns) == ("01", STATES, "skill", STAMP_NS)
    area = RankedArea("a", "area 1", (1.0, 2.0), HALF, "seen there")
    assert conversions.ranked_area_from_msg(conversions.ranked_area_to_msg(area)) == area


def test_camera_info_and_images_survive() -> None:
    intrinsics = Intrinsics(500.0, 510.0, 320.0, 240.0, 640, 480)
    assert conversions.intrinsics_from_msg(conversions.intrinsics_to_msg(intrinsics, 0, "cam")) == intrinsics
    depth_mm = np.array([[0, 1500], [65535, 2]], dtype=np.uint16)
    depth_m = conversions.depth_from_msg(conversions.image_to_msg(depth_mm, "16UC1", 0, "cam"))
    assert depth_m[0, 1] == pytest.approx(1.5)
    bgr = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    rgb = conversions.color_from_msg(conversions.image_to_msg(bgr, "bgr8", 0, "cam"))
    assert np.array_equal(rgb, bgr[:, :, ::-1])


def test_unknown_encoding_and_short_data_are_counted_skips() -> None:
    message = conversions.image_to_msg(np.zeros((2, 2), np.uint8), "nv21", 0, "cam")
    with pytest.raises(InputSkippedError, match="color_encoding"):
        conversions.color_from_msg(message)
    depth = conversions.image_to_msg(np.zeros((4, 4), np.float32), "32FC1", 0, "cam")
    depth.height = 400
    with pytest.raises(InputSkippedError, match="depth_size"):
        conversions.depth_from_msg(depth)


@pytest.mark.parametrize("names", [["Mug"], ["Mug", "Cup"]])
def test_classes_of_a_driver_that_leaves_its_scores_at_zero_share_one(names: list[str]) -> None:
    found = Detection(dict.fromkeys(names, 0.0), (10.0, 20.0, 30.0, 60.0), instance=1)
    (back,) = conversions.detections_from_msg(conversions.detections_to_msg([found], STAMP_NS, "cam"))
    assert back.class_scores == pytest.approx(dict.fromkeys(names, 1.0 / len(names)))


def test_detections_survive_in_the_order_of_their_instances() -> None:
    found = [Detection({"Mug": HALF}, (10.0, 20.0, 30.0, 60.0), instance=1), Detection({"Bowl": QUARTER}, instance=2)]
    message = conversions.detections_to_msg(found, STAMP_NS, "cam")
    assert message.detections[0].bbox.size_y == 40.0
    back = conversions.detections_from_msg(message)
    assert [(d.class_scores, d.instance) for d in back] == [({"Mug": HALF}, 1), ({"Bowl": QUARTER}, 2)]


def test_compressed_images_are_what_the_raw_ones_are() -> None:
    color = np.zeros((24, 32, 3), np.uint8)
    color[:, 16:] = (200, 40, 10)
    png = cv2.imencode(".png", color[:, :, ::-1])[1].tobytes()
    assert np.array_equal(conversions.color_from_msg(CompressedImage(format="rgb8; png compressed", data=png)), color)
    depth = np.full((24, 32), 1500, np.uint16)
    depth[:, :4] = 0
    coded = cv2.imencode(".png", depth)[1].tobytes()
    for message in (
        CompressedImage(format="16UC1; compressedDepth png", data=bytes(12) + coded),
        CompressedImage(format="16UC1; png compressed ", data=coded),
    ):
        read = conversions.depth_from_msg(message)
        assert np.isnan(read[:, :4]).all()
        assert np.allclose(read[:, 4:], 1.5)
    with pytest.raises(InputSkippedError, match="image_truncated"):
        conversions.color_from_msg(CompressedImage(format="jpeg", data=png[: len(png) // 2]))


def test_camera_with_a_lens_is_read_and_an_unknown_lens_refused() -> None:
    info = conversions.intrinsics_to_msg(Intrinsics(500.0, 510.0, 320.0, 240.0, 640, 480), 0, "camera")
    assert conversions.camera_from_msg(info).distortion == ()
    info.d = [0.1, -0.2, 0.0, 0.0, 0.3]
    assert conversions.camera_from_msg(info).distortion == (0.1, -0.2, 0.0, 0.0, 0.3)
    info.distortion_model = "equidistant"
    assert conversions.camera_from_msg(info).fisheye
    info.distortion_model = "spline"
    with pytest.raises(InvalidValueError, match="'spline' is not known"):
        conversions.camera_from_msg(info)
