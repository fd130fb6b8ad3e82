"""Where base and arm tried a thing earlier decides where they try it next."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from bridge_parts import SmallRobot, performer, run
from robot_memory import srv
from ros_peer import RosPeer
from running_memory import running_memory

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.skill import FailureReason, PoseKind, SkillCall, SkillFailure, SkillResult, TriedPose
from memory_node.domain.step import StepRecord
from memory_node.nodes import conversions
from memory_node.nodes.skill_bridge.outcome import EarlierPoses, SkillRun, tried
from memory_node.nodes.skill_bridge.target import Target


class OneSided(SmallRobot):
    """Its arm finds a way to the apple only from far along the table."""

    def move(self, map_T_link: Pose, run: SkillRun) -> None:
        if self.pose.position[0] < 2.1:
            raise SkillFailure(FailureReason.UNREACHABLE, "no way")


def fetched(robot: SmallRobot, earlier: Iterable[TriedPose]) -> SkillResult:
    """Drive to the apple and pick it up."""
    skills = performer(robot, earlier=EarlierPoses(lambda _: earlier), repositions=3)
    assert skills.execute(SkillCall("GoToObject", ("Apple",)), run()).success
    return skills.execute(SkillCall("PickupObject", ("Apple",)), run())


def test_base_goes_at_once_where_the_arm_found_a_way() -> None:
    first, second = OneSided(3.0), OneSided(3.0)
    first.pose = second.pose = Pose.planar(1.0, 1.6, 0.0)
    before = fetched(first, ())
    assert before.success
    stands = [one.worked for one in before.tried if one.kind is PoseKind.STAND_OFF]
    assert stands[-1]
    assert not any(stands[:-1])
    assert len(stands) > 1
    assert fetched(second, before.tried).success
    assert (len(second.drives), len(first.drives)) == (1, len(stands))


def test_base_does_not_go_back_to_where_the_arm_found_no_way() -> None:
    robot = SmallRobot(arm_m=0.0)
    result = fetched(robot, ())
    assert result.reason is FailureReason.UNREACHABLE
    places = [tuple(pose.position[:2].round(2)) for pose in robot.drives]
    assert len(set(places)) == len(places) == 4


def test_grasp_that_closed_on_nothing_is_tried_last() -> None:
    robot = SmallRobot(3.0, misses=1)
    failed = performer(robot).execute(SkillCall("PickupObject", ("Apple",)), run())
    (missed,) = [one for one in failed.tried if one.kind is PoseKind.GRASP]
    assert not missed.worked
    known = EarlierPoses(lambda _: failed.tried)
    again = performer(SmallRobot(3.0), earlier=known).execute(SkillCall("PickupObject", ("Apple",)), run())
    (held,) = [one for one in again.tried if one.kind is PoseKind.GRASP]
    assert held.worked
    assert held.numbers != missed.numbers


def box_target(name: str, x_m: float, yaw_rad: float) -> Target:
    box = OrientedBox(np.array([x_m, 0.0, 0.5]), np.array([0.4, 0.3, 0.2]), yaw_rad)
    return Target(name, "Box", box)


def test_what_worked_with_another_of_the_class_turns_with_the_thing() -> None:
    one, other = box_target("one", 0.0, 0.0), box_target("other", 3.0, np.pi / 2)
    worked = tried(PoseKind.STAND_OFF, one, Pose.planar(-1.0, 0.0, 0.0, 0.5), True)
    before, beside = Pose.planar(3.0, -1.0, np.pi / 2, 0.5), Pose.planar(2.0, 0.0, 0.0, 0.5)
    order = EarlierPoses(lambda _: [worked]).ordered(PoseKind.STAND_OFF, other, [beside, before], lambda pose: pose)
    assert order == [before, beside]
    assert (
        EarlierPoses(lambda _: [worked]).ordered(PoseKind.SPOT, other, [beside, before], lambda pose: pose)[0] is beside
    )


def test_thing_itself_counts_more_than_its_class_and_the_last_try_most() -> None:
    one, other = box_target("one", 0.0, 0.0), box_target("other", 0.0, 0.0)
    pose, rest = Pose.planar(-1.0, 0.0, 0.0, 0.5), Pose.planar(1.0, 0.0, np.pi, 0.5)

    def first(*earlier: TriedPose) -> Pose:
        return EarlierPoses(lambda _: earlier).ordered(PoseKind.STAND_OFF, one, [rest, pose], lambda at: at)[0]

    worked, failed = (tried(PoseKind.STAND_OFF, one, pose, worked) for worked in (True, False))
    assert first(failed, worked) is pose
    assert first(worked, failed) is rest
    assert first(worked, tried(PoseKind.STAND_OFF, other, pose, False)) is rest
    assert first(worked, worked, tried(PoseKind.STAND_OFF, other, pose, False)) is pose


@pytest.mark.parametrize("values", [{}, {"kind": "hover"}, {"kind": "grasp", "numbers": [1.0]}])
def test_stored_values_that_are_no_pose_are_refused(values: dict[str, object]) -> None:
    whole = {"kind": "grasp", "object_id": "a", "object_class": "Mug", "numbers": [0.0] * 7, "worked": True}
    assert TriedPose.from_dict(whole).kind is PoseKind.GRASP
    with pytest.raises(InvalidValueError, match="tried pose"):
        TriedPose.from_dict({**values, "worked": True} if values else values)


def test_poses_go_with_a_step_through_the_memory_node_and_outlive_it(peer: RosPeer, tmp_path: Path) -> None:
    pose = TriedPose(PoseKind.GRASP, "", "Apple", (0.0, 0.1, 0.2, 0.0, 0.0, 0.0, 1.0), True)
    database = str(tmp_path / "memory.db")
    with running_memory(peer.domain_id, database):
        episode = peer.call(srv.StartEpisode, "memory/start_episode", instruction="pick up the apple").episode_id
        step = StepRecord(episode, 0, SkillCall("PickupObject", ("Apple",)), True, FailureReason.NONE, 7, tried=(pose,))
        assert peer.call(srv.RecordStep, "memory/record_step", step=conversions.step_to_msg(step)).success
    with running_memory(peer.domain_id, database):
        for posed_with, count in (("Apple", 1), ("Mug", 0)):
            deeds = peer.call(srv.RecallPast, "memory/recall_past", posed_with=posed_with).tried
            assert [conversions.deed_from_msg(deed).tried for deed in deeds] == [(pose,)] * count
