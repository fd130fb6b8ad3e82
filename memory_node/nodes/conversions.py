"""The one place where a ROS message becomes a domain object or the reverse."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, PoseWithCovariance, Transform, TransformStamped, Vector3
from geometry_msgs.msg import Pose as PoseMsg
from robot_memory import msg as rm
from robot_memory.action import ExecuteSkill
from sensor_msgs.msg import CameraInfo
from std_msgs.msg import Header

from memory_node.domain.answer import AnswerStatus, ObjectAnswer, RankedArea, Recollection
from memory_node.domain.geometry import FloatArray, Intrinsics, OrientedBox, Pose
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
from memory_node.domain.step import StepRecord

NS = 1_000_000_000
_STATUSES = (AnswerStatus.OK, AnswerStatus.UNKNOWN, AnswerStatus.FRAME_NOT_VERIFIED, AnswerStatus.PROBABLY_GONE)
_HELD = {None: 0, True: 1, False: 2}


# --- stamps and geometry -------------------------------------------------------------------------


def stamp_to_msg(stamp_ns: int) -> Time:
    """Return nanoseconds as a Time."""
    return Time(sec=stamp_ns // NS, nanosec=stamp_ns % NS)


def stamp_from_msg(msg: Time) -> int:
    """Return a Time in nanoseconds."""
    return int(msg.sec) * NS + int(msg.nanosec)


def header(stamp_ns: int, frame_id: str = "map") -> Header:
    """Return a Header."""
    return Header(stamp=stamp_to_msg(stamp_ns), frame_id=frame_id)


def point_to_msg(xyz: Iterable[float]) -> Point:
    """Return (x, y[, z]) as a Point."""
    x, y, z = (*map(float, xyz), 0.0)[:3]
    return Point(x=x, y=y, z=z)


def point_from_msg(msg: Point | Vector3) -> tuple[float, float, float]:
    """Return a Point or Vector3 as (x, y, z)."""
    return (float(msg.x), float(msg.y), float(msg.z))


def vector_to_msg(xyz: Iterable[float]) -> Vector3:
    """Return (x, y, z) as a Vector3."""
    x, y, z = map(float, xyz)
    return Vector3(x=x, y=y, z=z)


def pose_to_msg(pose: Pose) -> PoseMsg:
    """Return a Pose message."""
    msg = PoseMsg(position=point_to_msg(pose.position))
    q = msg.orientation
    q.x, q.y, q.z, q.w = map(float, pose.quaternion)
    return msg


def pose_from_msg(msg: PoseMsg) -> Pose:
    """Return a domain Pose; an all-zero quaternion, ROS's "unset", is the identity."""
    q = np.array([msg.orientation.x, msg.orientation.y, msg.orientation.z, msg.orientation.w])
    return Pose(np.array(point_from_msg(msg.position)), q if q.any() else np.array([0.0, 0.0, 0.0, 1.0]))


def transform_from_msg(msg: Transform) -> Pose:
    """Return a Transform as the Pose `header_frame_T_child_frame`."""
    q = msg.rotation
    return Pose(np.array(point_from_msg(msg.translation)), np.array([q.x, q.y, q.z, q.w]))


def transform_to_msg(pose: Pose, parent: str, child: str, stamp_ns: int) -> TransformStamped:
    """Return `parent_T_child` as a TransformStamped."""
    msg = TransformStamped(header=header(stamp_ns, parent), child_frame_id=child)
    msg.transform.translation = vector_to_msg(pose.position)
    q = msg.transform.rotation
    q.x, q.y, q.z, q.w = map(float, pose.quaternion)
    return msg


def _box_pose_to_msg(center: FloatArray, yaw_rad: float, covariance: FloatArray) -> PoseWithCovariance:
    msg = PoseWithCovariance(pose=pose_to_msg(Pose.planar(center[0], center[1], yaw_rad, center[2])))
    full = np.zeros((6, 6))
    full[:3, :3] = covariance
    msg.covariance = full.ravel()
    return msg


def _covariance_from_msg(msg: PoseWithCovariance) -> FloatArray:
    return np.asarray(msg.covariance, dtype=np.float64).reshape(6, 6)[:3, :3].copy()


def intrinsics_from_msg(msg: CameraInfo) -> Intrinsics:
    """Return the pinhole part of a CameraInfo (images are expected rectified)."""
    return Intrinsics(fx=msg.k[0], fy=msg.k[4], cx=msg.k[2], cy=msg.k[5], width=msg.width, height=msg.height)


def intrinsics_to_msg(intrinsics: Intrinsics, stamp_ns: int, frame_id: str) -> CameraInfo:
    """Return a CameraInfo without distortion."""
    i = intrinsics
    msg = CameraInfo(header=header(stamp_ns, frame_id), width=i.width, height=i.height, distortion_model="plumb_bob")
    msg.d = [0.0] * 5
    msg.k = np.array([i.fx, 0.0, i.cx, 0.0, i.fy, i.cy, 0.0, 0.0, 1.0])
    msg.r = np.eye(3).ravel()
    msg.p = np.array([i.fx, 0.0, i.cx, 0.0, 0.0, i.fy, i.cy, 0.0, 0.0, 0.0, 1.0, 0.0])
    return msg


# --- states and skills ---------------------------------------------------------------------------


def states_to_msg(states: Iterable[StateBelief]) -> list[rm.StateBelief]:
    """Return state beliefs as messages."""
    return [
        rm.StateBelief(state=str(s.state), probability=s.probability, confirmed=stamp_to_msg(s.confirmed_ns))
        for s in states
    ]


def states_from_msg(msgs: Iterable[rm.StateBelief]) -> tuple[StateBelief, ...]:
    """Return messages as state beliefs.

    Raises:
        ValueError: a state that is not in ObjectState.
    """
    return tuple(StateBelief(ObjectState(m.state), m.probability, stamp_from_msg(m.confirmed)) for m in msgs)


def change_to_msg(change: StateChange) -> rm.StateChange:
    """Return a StateChange message."""
    return rm.StateChange(
        stamp=stamp_to_msg(change.stamp_ns),
        object_id=change.object_id,
        object_class=change.object_class,
        added=[str(s) for s in change.added],
        removed=[str(s) for s in change.removed],
        held=_HELD[change.held],
        support=change.support_id,
        inside=change.inside,
        position_known=change.position is not None,
        position=point_to_msg(change.position or (0.0, 0.0, 0.0)),
        created_from=change.created_from,
        destroyed=change.destroyed,
        source=change.source,
        probability=change.probability,
    )


def change_from_msg(msg: rm.StateChange) -> StateChange:
    """Return a domain StateChange.

    Raises:
        ValueError: an unknown state, or `held` outside its constants.
    """
    held = {code: value for value, code in _HELD.items()}
    if msg.held not in held:
        raise ValueError(f"StateChange.held: expected 0, 1 or 2, got {msg.held}")
    return StateChange(
        object_id=msg.object_id,
        object_class=msg.object_class,
        stamp_ns=stamp_from_msg(msg.stamp),
        added=tuple(ObjectState(s) for s in msg.added),
        removed=tuple(ObjectState(s) for s in msg.removed),
        held=held[msg.held],
        support_id=msg.support,
        inside=msg.inside,
        position=point_from_msg(msg.position) if msg.position_known else None,
        created_from=msg.created_from,
        destroyed=msg.destroyed,
        source=msg.source or "user",
        probability=msg.probability,
    )


def call_to_msg(call: SkillCall) -> rm.SkillCall:
    """Return a SkillCall message."""
    return rm.SkillCall(skill=call.skill, arguments=list(call.arguments))


def call_from_msg(msg: rm.SkillCall) -> SkillCall:
    """Return a domain SkillCall.

    Raises:
        InvalidValueError: it names no skill.
    """
    return SkillCall(msg.skill, tuple(msg.arguments))


def skill_result_to_msg(result: SkillResult, held_object: str) -> ExecuteSkill.Result:
    """Return the result of an ExecuteSkill goal."""
    return ExecuteSkill.Result(
        success=result.success,
        reason=str(result.reason),
        message=result.message,
        object_id=result.object_id,
        duration=result.duration_s,
        distance=result.distance_m,
        explored_areas=result.explored_areas,
        held_object=held_object,
        changes=[change_to_msg(change) for change in result.changes],
    )


def skill_result_from_msg(call: SkillCall, msg: ExecuteSkill.Result) -> SkillResult:
    """Return a domain SkillResult; a reason outside the vocabulary counts as a failed execution."""
    known = msg.reason in set(FailureReason)
    reason = FailureReason(msg.reason) if known else FailureReason.EXECUTION
    if msg.success != (reason is FailureReason.NONE):
        reason = FailureReason.NONE if msg.success else FailureReason.EXECUTION
    return SkillResult(
        call=call,
        success=msg.success,
        reason=reason,
        message=msg.message,
        object_id=msg.object_id,
        duration_s=msg.duration,
        distance_m=msg.distance,
        explored_areas=msg.explored_areas,
        changes=tuple(change_from_msg(change) for change in msg.changes),
    )


def step_to_msg(step: StepRecord) -> rm.StepRecord:
    """Return a StepRecord message."""
    return rm.StepRecord(
        header=header(step.stamp_ns),
        episode_id=step.episode_id,
        index=step.index,
        action=call_to_msg(step.action),
        success=step.success,
        reason=str(step.reason),
        message=step.message,
        held_object=step.held_object,
        room=step.room,
        area=step.area,
        position=point_to_msg(step.position),
        visible=list(step.visible),
        relations=list(step.relations),
        duration=step.duration_s,
        distance=step.distance_m,
    )


def step_from_msg(msg: rm.StepRecord) -> StepRecord:
    """Return a domain StepRecord.

    Raises:
        ValueError: a reason outside the vocabulary, or no skill's name.
    """
    return StepRecord(
        episode_id=msg.episode_id,
        index=msg.index,
        action=call_from_msg(msg.action),
        success=msg.success,
        reason=FailureReason(msg.reason),
        stamp_ns=stamp_from_msg(msg.header.stamp),
        message=msg.message,
        held_object=msg.held_object,
        room=msg.room,
        area=msg.area,
        position=point_from_msg(msg.position),
        visible=tuple(msg.visible),
        relations=tuple(msg.relations),
        duration_s=msg.duration,
        distance_m=msg.distance,
    )


# --- answers -------------------------------------------------------------------------------------


def status_to_msg(status: AnswerStatus, explanation: str = "") -> rm.AnswerStatus:
    """Return an AnswerStatus message."""
    return rm.AnswerStatus(value=_STATUSES.index(status), explanation=explanation)


def status_from_msg(msg: rm.AnswerStatus) -> AnswerStatus:
    """Return a domain AnswerStatus; a value outside the constants is UNKNOWN."""
    return _STATUSES[msg.value] if msg.value < len(_STATUSES) else AnswerStatus.UNKNOWN


def answer_to_msg(answer: ObjectAnswer) -> rm.ObjectAnswer:
    """Return an ObjectAnswer message."""
    return rm.ObjectAnswer(
        header=header(answer.stamp_ns, answer.frame_id),
        status=status_to_msg(answer.status),
        object_id=answer.object_id,
        object_class=answer.object_class,
        class_probability=answer.class_probability,
        score=answer.score,
        pose=_box_pose_to_msg(answer.position, answer.yaw_rad, answer.covariance),
        size=vector_to_msg(answer.size),
        existence_probability=answer.existence,
        age=answer.age_s,
        last_seen=stamp_to_msg(answer.last_seen_ns),
        last_missed=stamp_to_msg(answer.last_missed_ns),
        evidence_frame=answer.evidence_frame,
        source=answer.source,
        area_id=answer.area_id,
        room_name=answer.room_name,
        support_id=answer.support_id,
        inside=answer.inside,
        image_path=answer.image_path,
        states=states_to_msg(answer.states),
    )


def answer_from_msg(msg: rm.ObjectAnswer) -> ObjectAnswer:
    """Return a domain ObjectAnswer."""
    pose = pose_from_msg(msg.pose.pose)
    return ObjectAnswer(
        object_id=msg.object_id,
        object_class=msg.object_class,
        class_probability=msg.class_probability,
        position=pose.position,
        covariance=_covariance_from_msg(msg.pose),
        size=np.array(point_from_msg(msg.size)),
        yaw_rad=pose.yaw_rad,
        existence=msg.existence_probability,
        stamp_ns=stamp_from_msg(msg.header.stamp),
        last_seen_ns=stamp_from_msg(msg.last_seen),
        last_missed_ns=stamp_from_msg(msg.last_missed),
        score=msg.score,
        source=msg.source,
        status=status_from_msg(msg.status),
        states=states_from_msg(msg.states),
        frame_id=msg.header.frame_id,
        evidence_frame=msg.evidence_frame,
        area_id=msg.area_id,
        room_name=msg.room_name,
        support_id=msg.support_id,
        inside=msg.inside,
        image_path=msg.image_path,
    )


def recollection_from_msg(response: Any) -> Recollection:
    """Return the response of FindObjects or RecallObjects as a Recollection."""
    answers = tuple(answer_from_msg(answer) for answer in response.answers)
    return Recollection(answers, status_from_msg(response.status), response.status.explanation)


def ranked_area_to_msg(area: RankedArea) -> rm.RankedArea:
    """Return a RankedArea message."""
    return rm.RankedArea(
        area_id=area.area_id,
        name=area.name,
        position=point_to_msg(area.position),
        probability=area.probability,
        reason=area.reason,
    )


def ranked_area_from_msg(msg: rm.RankedArea) -> RankedArea:
    """Return a domain RankedArea."""
    x, y, _ = point_from_msg(msg.position)
    return RankedArea(msg.area_id, msg.name, (x, y), msg.probability, msg.reason)


def unit_to_msg(unit: MemoryUnit) -> rm.MemoryUnit:
    """Return a MemoryUnit message."""
    return rm.MemoryUnit(
        header=header(unit.stamp_ns, unit.frame_id),
        object_id=unit.object_id,
        object_class=unit.object_class,
        position=point_to_msg(unit.position),
        covariance=unit.covariance.ravel(),
        states=states_to_msg(unit.states),
        image_path=unit.image_path,
        source=unit.source,
        area_id=unit.area_id,
        support_id=unit.support_id,
    )


def unit_from_msg(msg: rm.MemoryUnit) -> MemoryUnit:
    """Return a domain MemoryUnit."""
    return MemoryUnit(
        object_id=msg.object_id,
        object_class=msg.object_class,
        position=np.array(point_from_msg(msg.position)),
        covariance=np.asarray(msg.covariance, dtype=np.float64).reshape(3, 3),
        stamp_ns=stamp_from_msg(msg.header.stamp),
        frame_id=msg.header.frame_id,
        states=states_from_msg(msg.states),
        image_path=msg.image_path,
        source=msg.source,
        area_id=msg.area_id,
        support_id=msg.support_id,
    )


# --- scene graph ---------------------------------------------------------------------------------


def object_to_msg(obj: SceneObject) -> rm.SceneObject:
    """Return a SceneObject message."""
    classes = sorted(obj.class_probabilities.items(), key=lambda item: -item[1])
    return rm.SceneObject(
        id=obj.id,
        classes=[rm.ClassProbability(name=name, probability=p) for name, p in classes],
        pose=_box_pose_to_msg(obj.box.center, obj.box.yaw_rad, obj.covariance),
        size=vector_to_msg(obj.box.size),
        existence_probability=obj.existence,
        first_seen=stamp_to_msg(obj.first_seen_ns),
        last_seen=stamp_to_msg(obj.last_seen_ns),
        last_missed=stamp_to_msg(obj.last_missed_ns),
        times_seen=obj.times_seen,
        times_missed=obj.times_missed,
        movable=obj.movable,
        removed=obj.removed,
        area_id=obj.area_id,
        support_id=obj.support_id,
        inside=obj.inside,
        anchor=obj.anchor,
        states=states_to_msg(obj.states),
        provenance=obj.provenance,
    )


def object_from_msg(msg: rm.SceneObject) -> SceneObject:
    """Return a domain SceneObject (without images and history, which do not travel)."""
    pose = pose_from_msg(msg.pose.pose)
    return SceneObject(
        id=msg.id,
        class_probabilities={c.name: c.probability for c in msg.classes},
        box=OrientedBox(pose.position, np.array(point_from_msg(msg.size)), pose.yaw_rad),
        covariance=_covariance_from_msg(msg.pose),
        existence=msg.existence_probability,
        first_seen_ns=stamp_from_msg(msg.first_seen),
        last_seen_ns=stamp_from_msg(msg.last_seen),
        last_missed_ns=stamp_from_msg(msg.last_missed),
        times_seen=msg.times_seen,
        times_missed=msg.times_missed,
        movable=msg.movable,
        removed=msg.removed,
        area_id=msg.area_id,
        support_id=msg.support_id,
        inside=msg.inside,
        anchor=msg.anchor,
        states=states_from_msg(msg.states),
        provenance=msg.provenance,
    )


def snapshot_to_msg(scene: SceneSnapshot) -> rm.SceneGraph:
    """Return the whole graph as a SceneGraph message."""
    return rm.SceneGraph(
        header=header(scene.stamp_ns, scene.frame_id),
        version=scene.version,
        frame_verified=scene.frame_verified,
        floors=[rm.Floor(id=f.id, name=f.name, height=f.height_m) for f in scene.floors],
        rooms=[
            rm.Room(
                id=r.id,
                name=r.name,
                floor_id=r.floor_id,
                center=point_to_msg(r.center),
                area=r.area_m2,
                named_by_user=r.named_by_user,
            )
            for r in scene.rooms
        ],
        areas=[
            rm.Area(
                id=a.id,
                name=a.name,
                room_id=a.room_id,
                floor_id=a.floor_id,
                position=point_to_msg(a.position),
                last_viewed=stamp_to_msg(a.last_viewed_ns),
            )
            for a in scene.areas
        ],
        objects=[object_to_msg(o) for o in scene.objects],
        relations=[
            rm.Relation(
                source_id=r.source_id,
                kind=str(r.kind),
                target_id=r.target_id,
                distance=r.distance_m,
                probability=r.probability,
            )
            for r in scene.relations
        ],
    )


def snapshot_from_msg(msg: rm.SceneGraph) -> SceneSnapshot:
    """Return a SceneGraph message as a domain snapshot."""
    return SceneSnapshot(
        stamp_ns=stamp_from_msg(msg.header.stamp),
        floors=tuple(Floor(f.id, f.name, f.height) for f in msg.floors),
        rooms=tuple(
            Room(r.id, r.name, r.floor_id, point_from_msg(r.center)[:2], r.area, r.named_by_user) for r in msg.rooms
        ),
        areas=tuple(
            Area(a.id, a.name, point_from_msg(a.position)[:2], a.floor_id, a.room_id, stamp_from_msg(a.last_viewed))
            for a in msg.areas
        ),
        objects=tuple(object_from_msg(o) for o in msg.objects),
        relations=tuple(
            Relation(r.source_id, RelationKind(r.kind), r.target_id, r.distance, r.probability) for r in msg.relations
        ),
        frame_id=msg.header.frame_id,
        frame_verified=msg.frame_verified,
        version=msg.version,
    )


def delta_to_msg(events: Iterable[SceneEvent], stamp_ns: int, from_version: int, to_version: int) -> rm.SceneGraphDelta:
    """Return scene events as one SceneGraphDelta."""
    msg = rm.SceneGraphDelta(header=header(stamp_ns), from_version=from_version, to_version=to_version)
    listed = {
        SceneEventKind.APPEARED: msg.appeared,
        SceneEventKind.UPDATED: msg.updated,
        SceneEventKind.MOVED: msg.moved,
    }
    for event in events:
        if event.kind in listed:
            listed[event.kind].append(object_to_msg(event.object))
        elif event.kind is SceneEventKind.REMOVED:
            msg.removed_ids.append(event.object.id)
        elif event.kind is SceneEventKind.FORGOTTEN:
            msg.forgotten_ids.append(event.object.id)
        else:
            msg.merged_ids.append(event.object.id)
            msg.merged_into_ids.append(event.into_id)
    return msg
