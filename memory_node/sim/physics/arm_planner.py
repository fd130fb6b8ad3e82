"""The arm's kinematics, and its ways to a pose of the tool or to joint positions, clear of the home."""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from memory_node.domain.geometry import FloatArray, Pose
from memory_node.sim.physics.collisions import PADDING_M, PlanningScene
from memory_node.sim.physics.model import ARM_JOINTS, TOOL, fetch_spec

_STEPS = 80
# Starts of a search, and solutions after which it ends.
_TRIES, _ENOUGH = 40, 5
_DAMPING = 0.03
_NEAR_M, _NEAR_RAD = 0.0005, 0.003
_MOST_STEP_RAD = 0.25
# Elbow up with the forearm level, as a person reaches over a table; the null space is drawn there.
_COMFORT = np.array([0.3, 0.0, -0.3, 0.0, 1.0, 0.0, 0.9, 0.0])
_COMFORT_GAIN, _FADES = 0.05, 0.9
# How much each joint's way from there counts; the wrist's last turn is free.
_DISCOMFORT = np.array([1.0, 1.0, 1.0, 0.7, 1.0, 0.5, 1.0, 0.1])


class ArmKinematics:
    """The planning group's kinematics with the base at the origin. Not thread-safe: it computes in place."""

    def __init__(self) -> None:
        self._model = fetch_spec().compile()
        self._data = mujoco.MjData(self._model)
        joints = [self._model.joint(name) for name in ARM_JOINTS]
        self._q = np.array([joint.qposadr[0] for joint in joints])
        self._dof = np.array([joint.dofadr[0] for joint in joints])
        limited = np.array([bool(self._model.jnt_limited[joint.id]) for joint in joints])
        ranges = np.array([self._model.jnt_range[joint.id] for joint in joints])
        self.low = np.where(limited, ranges[:, 0], -np.pi)
        self.high = np.where(limited, ranges[:, 1], np.pi)
        self.limited = limited
        self._turns = ~limited
        self._site = self._model.site(TOOL).id

    def tool(self, joints: FloatArray) -> Pose:
        """Return base_T_tool at joint positions (8,)."""
        self._data.qpos[self._q] = joints
        mujoco.mj_kinematics(self._model, self._data)
        matrix = np.eye(4)
        matrix[:3, :3] = self._data.site_xmat[self._site].reshape(3, 3)
        matrix[:3, 3] = self._data.site_xpos[self._site]
        return Pose.from_matrix(matrix)

    def solve(self, base_T_tool: Pose, start: FloatArray) -> FloatArray | None:
        """Return joint positions (8,) that bring the tool to a pose, found from `start`; None: not from there.

        Damped least squares (Wampler 1986) with the null space drawn to a comfortable posture.
        """
        goal, turn = base_T_tool.position, base_T_tool.axes
        joints = np.array(start, dtype=np.float64)
        jacobian = np.zeros((6, self._model.nv))
        for step in range(_STEPS):
            self._data.qpos[self._q] = joints
            mujoco.mj_kinematics(self._model, self._data)
            mujoco.mj_comPos(self._model, self._data)
            error = self._error(goal, turn)
            if np.linalg.norm(error[:3]) < _NEAR_M and np.linalg.norm(error[3:]) < _NEAR_RAD:
                return self._wrapped(joints)
            mujoco.mj_jacSite(self._model, self._data, jacobian[:3], jacobian[3:], self._site)
            own = jacobian[:, self._dof]
            inverse = own.T @ np.linalg.inv(own @ own.T + _DAMPING**2 * np.eye(6))
            # The pull fades: the damped null space is not exact, and a lasting pull keeps the tool off its goal.
            comfort = _COMFORT_GAIN * _FADES**step * -self._from_comfort(joints)
            change = inverse @ error + (np.eye(len(joints)) - inverse @ own) @ comfort
            largest = np.abs(change).max()
            if largest > _MOST_STEP_RAD:
                change *= _MOST_STEP_RAD / largest
            joints = joints + change
            joints = np.where(self._turns, joints, np.clip(joints, self.low, self.high))
        return None

    def solutions(self, base_T_tool: Pose, start: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
        """Return different solutions, found from `start`, from comfort and from random postures; easiest first.

        Easy is a posture near to the comfortable one: from there a straight way goes on.
        """
        starts = [start, _COMFORT, *(rng.uniform(self.low, self.high) for _ in range(_TRIES))]
        found: list[FloatArray] = []
        for one in starts:
            solution = self.solve(base_T_tool, one)
            if solution is not None:
                solution = self.nearest_turn(solution, start)
                if all(np.abs(solution - other).max() > 0.1 for other in found):
                    found.append(solution)
            if len(found) == _ENOUGH:
                break
        return sorted(found, key=self._discomfort)

    def _discomfort(self, joints: FloatArray) -> float:
        return float(np.linalg.norm(self._from_comfort(joints) * _DISCOMFORT))

    def _from_comfort(self, joints: FloatArray) -> FloatArray:
        return self.nearest_turn(joints, _COMFORT) - _COMFORT

    def nearest_turn(self, joints: FloatArray, to: FloatArray) -> FloatArray:
        """Return the same posture with the endless joints turned the short way from `to`."""
        way = (joints - to + np.pi) % (2.0 * np.pi) - np.pi
        return np.where(self._turns, to + way, joints)

    def _error(self, goal: FloatArray, turn: FloatArray) -> FloatArray:
        """Return the twist (6,) that is left to the goal: metres, then radians about the world's axes."""
        current = self._data.site_xmat[self._site].reshape(3, 3)
        quaternion, rotation = np.zeros(4), np.zeros(3)
        mujoco.mju_mat2Quat(quaternion, (turn @ current.T).ravel())
        mujoco.mju_quat2Vel(rotation, quaternion, 1.0)
        return np.concatenate([goal - self._data.site_xpos[self._site], rotation])

    def _wrapped(self, joints: FloatArray) -> FloatArray:
        return np.where(self._turns, (joints + np.pi) % (2.0 * np.pi) - np.pi, joints)


# Step of collision checks along a path (rad or m); distance of knots on a straight motion of the tool (m).
_CHECK_RAD = 0.03
_KNOT_M = 0.015
# Motions of the tool up to here go straight: to a grasp, back from it, a drawer's pull.
_STRAIGHT_M, _STRAIGHT_RAD = 0.5, 0.35
# Shorter motions go straight or not at all: a new posture for a centimetre is not worth it.
_ONLY_STRAIGHT_M = 0.06
_MOST_JUMP_RAD = 0.35
_GOES_ON_M = 0.1
_TREE_STEP_RAD = 0.35
# Tries of a search by trees: the number of nodes, and how far beyond start and goal joints are drawn (rad).
_TREES = ((150, 0.6), (300, 1.5), (600, np.pi))
# Goal postures that are tried; without a path to any of them planning fails, as in MoveIt after its planning time.
_POSTURES = 3
# How often postures are drawn until the hand can go on from one of them.
_DRAWS = 3


class ArmPlanner:
    """Plans as MoveIt would: inverse kinematics, a straight way where one is near, else a tree in joint space.

    Ways through joint space keep a distance from everything; where that leaves none, they may pass closer.
    """

    def __init__(self, kinematics: ArmKinematics, scene: PlanningScene, rng: np.random.Generator) -> None:
        self._kinematics = kinematics
        self._scene = scene
        self._rng = rng
        self._padding_m = 0.0

    def to_pose(self, base_T_tool: Pose, start: FloatArray) -> list[FloatArray] | None:
        """Return knots of joint positions (8,), the start first, that end with the tool at a pose; None: no way."""
        self._scene.refresh()
        way = self._straight(base_T_tool, start)
        if way is not None or self._is_short(base_T_tool, start):
            return way
        best: list[FloatArray] = []
        rest: list[FloatArray] = []
        for _ in range(_DRAWS):
            postures = self._kinematics.solutions(base_T_tool, start, self._rng)
            for goal in filter(self._scene.is_free, postures):
                (best if self._goes_on(base_T_tool, goal) else rest).append(goal)
            if best:
                break
        return self._to_one(start, best[:_POSTURES]) or self._to_one(start, rest[:_POSTURES])

    def to_joints(self, goal: FloatArray, start: FloatArray) -> list[FloatArray] | None:
        """Return knots that end at joint positions (8,); None: no way."""
        self._scene.refresh()
        goal = self._kinematics.nearest_turn(goal, start)
        return self._to_one(start, [goal]) if self._scene.is_free(goal) else None

    def _is_short(self, goal: Pose, start: FloatArray) -> bool:
        here = self._kinematics.tool(start)
        turn_rad = here.turn_rad(goal)
        near = float(np.linalg.norm(goal.position - here.position)) < _ONLY_STRAIGHT_M
        return near and turn_rad < _STRAIGHT_RAD

    def _goes_on(self, base_T_tool: Pose, joints: FloatArray) -> bool:
        """Return whether the hand can go straight on from a posture at a pose: most postures are before a grasp."""
        ahead = base_T_tool.rotation.apply([_GOES_ON_M, 0.0, 0.0])
        return self._straight(Pose(base_T_tool.position + ahead, base_T_tool.quaternion), joints) is not None

    def _straight(self, goal: Pose, start: FloatArray) -> list[FloatArray] | None:
        """Return a way on which the tool goes straight and turns evenly; None when it is far, or not free.

        The first knots may touch the thing at the hand, from which it draws back. Only on straight motions the hand may
        push movable parts.
        """
        here = self._kinematics.tool(start)
        way_m = float(np.linalg.norm(goal.position - here.position))
        turn = here.rotation.inv() * goal.rotation
        if way_m > _STRAIGHT_M or float(turn.magnitude()) > _STRAIGHT_RAD:
            return None
        count = max(int(np.ceil(way_m / _KNOT_M)), 1)
        slerp = Slerp([0.0, 1.0], Rotation.concatenate([here.rotation, goal.rotation]))
        knots, was_free = [start], self._scene.is_free(start, True)
        for share in np.arange(1, count + 1) / count:
            position = here.position + share * (goal.position - here.position)
            joints = self._kinematics.solve(Pose(position, slerp(share).as_quat()), knots[-1])
            if joints is None:
                return None
            joints = self._kinematics.nearest_turn(joints, knots[-1])
            if np.abs(joints - knots[-1]).max() > _MOST_JUMP_RAD:
                return None
            is_free = self._scene.is_free(joints, True)
            if was_free and not is_free:
                return None
            was_free = is_free or was_free
            knots.append(joints)
        return knots if self._scene.is_free(knots[-1], True) else None

    def _to_one(self, start: FloatArray, goals: list[FloatArray]) -> list[FloatArray] | None:
        """Return a way to the first goal that has one, a padded way to any of them before a closer one."""
        for padding_m in (PADDING_M, 0.0):
            self._padding_m = padding_m
            if padding_m and not self._is_free(start):
                continue
            for goal in goals:
                way = self._to_joints(start, goal) if self._is_free(goal) else None
                if way is not None:
                    return way
        return None

    def _is_free(self, joints: FloatArray) -> bool:
        return self._scene.is_free(joints, padding_m=self._padding_m)

    def _to_joints(self, start: FloatArray, goal: FloatArray) -> list[FloatArray] | None:
        if self._is_clear(start, goal):
            return [start, goal]
        for nodes, beyond_rad in _TREES if self._is_free(start) else _TREES[:1]:
            way = self._by_trees(start, goal, nodes, beyond_rad)
            if way is not None:
                return way
        return None

    def _is_clear(self, one: FloatArray, other: FloatArray) -> bool:
        count = max(int(np.ceil(np.abs(other - one).max() / _CHECK_RAD)), 1)
        return all(self._is_free(one + share * (other - one)) for share in np.arange(1, count + 1) / count)

    def _by_trees(self, start: FloatArray, goal: FloatArray, nodes: int, beyond_rad: float) -> list[FloatArray] | None:
        """Return a way by RRT-Connect (Kuffner and LaValle 2000), shortened; None when the trees do not meet."""
        trees: list[_Tree] = [_Tree(start), _Tree(goal)]
        low = np.minimum(np.minimum(start, goal) - beyond_rad, self._kinematics.high)
        high = np.maximum(np.maximum(start, goal) + beyond_rad, self._kinematics.low)
        low, high = (
            np.maximum(low, self._kinematics.low - 2 * np.pi),
            np.minimum(high, self._kinematics.high + 2 * np.pi),
        )
        limited = self._kinematics.limited
        low = np.where(limited, np.maximum(low, self._kinematics.low), low)
        high = np.where(limited, np.minimum(high, self._kinematics.high), high)
        for count in range(nodes):
            one, other = trees[count % 2], trees[1 - count % 2]
            reached = self._grow(one, self._rng.uniform(low, high), once=True)
            if reached is None:
                continue
            target = one.nodes[reached]
            met = self._grow(other, target, once=False)
            if met is not None and np.abs(other.nodes[met] - target).max() < 1e-9:
                ways = [one.way_to(reached), other.way_to(met)]
                forward, backward = ways if one is trees[0] else ways[::-1]
                return self._shortened([*forward, *backward[::-1][1:]])
        return None

    def _grow(self, tree: _Tree, target: FloatArray, once: bool) -> int | None:
        """Grow a tree towards a target by one step, or until it arrives or is stopped; return the last new node."""
        parent, last = tree.nearest(target), None
        while True:
            way = target - tree.nodes[parent]
            length = float(np.abs(way).max())
            if length < 1e-9:
                return parent
            step = tree.nodes[parent] + way * min(1.0, _TREE_STEP_RAD / length)
            if not self._is_clear(tree.nodes[parent], step):
                return last
            parent = last = tree.add(step, parent)
            if once:
                return last

    def _shortened(self, knots: list[FloatArray]) -> list[FloatArray]:
        """Return the way without knots that a straight way past them makes needless."""
        kept, index = [knots[0]], 0
        while index < len(knots) - 1:
            last = len(knots) - 1
            while last > index + 1 and not self._is_clear(knots[index], knots[last]):
                last -= 1
            kept.append(knots[last])
            index = last
        return kept


class _Tree:
    def __init__(self, root: FloatArray) -> None:
        self.nodes = [root]
        self._parents = [-1]

    def nearest(self, target: FloatArray) -> int:
        return int(np.argmin(np.abs(np.array(self.nodes) - target).max(axis=1)))

    def add(self, node: FloatArray, parent: int) -> int:
        self.nodes.append(node)
        self._parents.append(parent)
        return len(self.nodes) - 1

    def way_to(self, index: int) -> list[FloatArray]:
        way = []
        while index >= 0:
            way.append(self.nodes[index])
            index = self._parents[index]
        return way[::-1]
