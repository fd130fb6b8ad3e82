"""Fetch's arm and torso by themselves: where joints bring the tool, and which joints bring it to a pose."""

from __future__ import annotations

import mujoco
import numpy as np

from memory_node.domain.geometry import FloatArray, Pose
from memory_node.sim.physics.fetch import ARM_JOINTS, TOOL, fetch_spec

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
