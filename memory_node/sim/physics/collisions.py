"""Whether the arm would touch anything at given joint positions: the planning scene of the simulated MoveIt."""

from __future__ import annotations

import copy

import mujoco
import numpy as np

from memory_node.domain.geometry import FloatArray, Pose
from memory_node.sim.physics.model import ARM_JOINTS, TOOL, joint_name, moving_body
from memory_node.sim.physics.simulation import FINGER_BODIES, Simulation

# What the arm does not move.
_HAND = ("gripper_link", "wrist_roll_link")
_STANDS = ("base_link", "torso_fixed_link", "laser_link")
# Overlap that counts as a collision: the arm's links, the fingers (they may bend on what they reach for), the load.
_ARM_M, _FINGER_M, _LOAD_M = 0.001, 0.008, 0.006
# Least vertical part of the normal of a contact with something below or above.
_UPRIGHT = 0.7
# Padding of the arm's links in free motions, as MoveIt's link_padding: the servos follow a path to about this.
PADDING_M = 0.012


class PlanningScene:
    """The home as it was when the plan began, with the arm moved in it. It knows physics' own geometry, as a perfect
    octomap would."""

    def __init__(self, simulation: Simulation) -> None:
        self._model = copy.copy(simulation.model)  # its margins are the scene's own
        self._simulation = simulation
        self._data = mujoco.MjData(self._model)
        joints = [self._model.joint(name) for name in ARM_JOINTS]
        self._q = np.array([joint.qposadr[0] for joint in joints])
        still = {self._model.body(name).id for name in _STANDS}
        self._arm = np.array(
            [index in simulation.robot_bodies and index not in still for index in range(self._model.nbody)]
        )
        self._model.geom_margin[self._arm[self._model.geom_bodyid]] = PADDING_M
        self._fingers = np.isin(np.arange(self._model.nbody), [self._model.body(name).id for name in FINGER_BODIES])
        # Parts that the hand may push: the scene does not know that they move.
        hand = {self._model.body(name).id for name in (*FINGER_BODIES, *_HAND)}
        moving = {self._model.body(moving_body(one)).id for one in simulation.items.values() if one.mechanism}
        self._hand = np.isin(np.arange(self._model.nbody), list(hand))
        self._gives_way = np.isin(np.arange(self._model.nbody), list(moving))
        self._load = -1
        self._load_q = -1
        self._tool_T_load = Pose()

    def refresh(self) -> None:
        """Take the home over as it is now, and what is in the hand as part of the arm."""
        with self._simulation.lock:
            self._data.qpos[:] = self._simulation.data.qpos
            held = self._simulation.in_hand()
            self._load = self._model.body(held).id if held else -1
            if held:
                tool = self._simulation.site_pose(TOOL)
                self._tool_T_load = tool.inverse() @ self._simulation.body_pose(held)
                self._load_q = int(self._model.joint(joint_name(self._simulation.items[held])).qposadr[0])

    def is_free(self, joints: FloatArray, pushes: bool = False, padding_m: float = 0.0) -> bool:
        """Return whether the arm, and what it holds, overlaps with nothing at joint positions (8,).

        pushes: the hand may touch drawers, doors and buttons. padding_m: distance that the arm's links keep, up to
        PADDING_M.
        """
        self._data.qpos[self._q] = joints
        mujoco.mj_kinematics(self._model, self._data)
        if self._load >= 0:
            self._move_load()
            mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_collision(self._model, self._data)
        count = self._data.ncon
        if count == 0:
            return True
        bodies = self._model.geom_bodyid[self._data.contact.geom[:count]]
        depth = -self._data.contact.dist[:count]
        load = bodies == self._load
        allowed = np.full(count, np.inf)
        mine = self._arm[bodies].any(axis=1)
        allowed[mine] = -padding_m if padding_m else _ARM_M
        bends = mine & self._fingers[bodies].any(axis=1)
        if self._load >= 0:
            # Closed on a thing they give way upwards only: a finger that slides down a wall is forced open.
            bends &= np.abs(self._data.contact.frame[:count, 2]) > _UPRIGHT
        allowed[bends] = -padding_m if padding_m else _FINGER_M
        if pushes:
            allowed[self._hand[bodies].any(axis=1) & self._gives_way[bodies].any(axis=1)] = np.inf
        allowed[load.any(axis=1)] = _LOAD_M
        # The fingers press into what they hold; the rest of the arm must keep off it.
        allowed[load.any(axis=1) & self._hand[bodies].any(axis=1)] = np.inf
        return bool((depth <= allowed).all())

    def _move_load(self) -> None:
        site = self._data.site(TOOL)
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = site.xmat.reshape(3, 3), site.xpos
        pose = Pose.from_matrix(matrix) @ self._tool_T_load
        x, y, z, w = pose.quaternion
        self._data.qpos[self._load_q : self._load_q + 7] = [*pose.position, w, x, y, z]
