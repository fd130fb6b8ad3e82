"""The running physics: time, joints, poses and contacts of one home with the robot in it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.domain.states import ObjectState
from memory_node.sim.physics.furniture import Form, Item, MechanismKind, Part
from memory_node.sim.physics.home import HomePlan
from memory_node.sim.physics.model import ARM_JOINTS, BASE_JOINTS, FINGER_JOINTS, compile_home, joint_name, moving_body

FINGER_BODIES = tuple(name.replace("_joint", "_link") for name in FINGER_JOINTS)
# The robot's first posture: arm folded beside the head's view, tool down, torso raised.
CARRY = (0.348, -1.6, -0.392, -0.817, -1.802, 2.226, 2.127, 0.545)


# Largest gap between touching bodies (m).
_RESTS_M = 0.025


class Simulation:
    """One home. Poses are in the home's frame, which is physics' truth; nothing here has noise.

    Thread-safe by its `lock`: hold it to read several values of one moment.
    """

    def __init__(self, plan: HomePlan) -> None:
        self.plan = plan
        self.items: Mapping[str, Item] = {item.id: item for item in plan.items}
        self.model = compile_home(plan)
        self.data = mujoco.MjData(self.model)
        self.lock = threading.RLock()
        model = self.model
        joints = {model.joint(index).name: index for index in range(model.njnt)}
        # Looked up many times a second, which the model's own accessors by name are slow for.
        self._address = {name: int(model.jnt_qposadr[index]) for name, index in joints.items()}
        self._dof = {name: int(model.jnt_dofadr[index]) for name, index in joints.items()}
        self._actuator = {model.actuator(index).name: index for index in range(model.nu)}
        self.item_of_body = self._find_bodies()
        self.robot_bodies = frozenset(index for index in range(1, self.model.nbody) if index not in self.item_of_body)
        for name, value in zip(BASE_JOINTS, plan.start):
            self._place(name, value)
        for name, value in zip(ARM_JOINTS, CARRY):
            self._place(name, value)
        self._place("head_tilt_joint", 0.7)
        mujoco.mj_forward(self.model, self.data)

    @property
    def time_s(self) -> float:
        """Simulated seconds since the start."""
        return float(self.data.time)

    def step(self, duration_s: float) -> None:
        """Let so much time pass."""
        with self.lock:
            steps = round(duration_s / self.model.opt.timestep)
            mujoco.mj_step(self.model, self.data, steps)

    # --- joints --------------------------------------------------------------------------------

    def position(self, joint: str) -> float:
        """Return the position of a joint, in m or rad."""
        return float(self.data.qpos[self._address[joint]])

    def positions(self, joints: Iterable[str]) -> FloatArray:
        """Return the positions of joints, in m or rad."""
        with self.lock:
            return np.asarray(self.data.qpos[[self._address[name] for name in joints]])

    def velocity(self, joint: str) -> float:
        """Return the velocity of a joint, in m/s or rad/s."""
        return float(self.data.qvel[self._dof[joint]])

    def command(self, joint: str, position: float) -> None:
        """Set what the servo of a joint of the robot shall hold, in m or rad."""
        self.data.ctrl[self._actuator[joint]] = position

    def limit_force(self, joint: str, force_n: float) -> None:
        """Set the greatest force of a joint's servo."""
        self.model.actuator_forcerange[self._actuator[joint]] = [-force_n, force_n]

    # --- poses -----------------------------------------------------------------------------------

    def base_pose(self) -> Pose:
        """Return home_T_base."""
        x, y, yaw = self.positions(BASE_JOINTS)
        return Pose.planar(float(x), float(y), float(yaw))

    def body_pose(self, name: str) -> Pose:
        """Return home_T_body."""
        body = self.data.body(name)
        return _pose(body.xpos, body.xmat)

    def site_pose(self, name: str) -> Pose:
        """Return home_T_site."""
        site = self.data.site(name)
        return _pose(site.xpos, site.xmat)

    def box(self, item_id: str) -> OrientedBox:
        """Return the smallest upright box, turned as the item is, that holds all of its parts as they are now."""
        with self.lock:
            item = self.items[item_id]
            yaw = self.body_pose(item_id).yaw_rad
            corners = [self._corners(item_id, item.parts)]
            if item.mechanism is not None:
                corners.append(self._corners(moving_body(item), item.mechanism.parts))
        points = np.vstack(corners)
        turn = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
        local = np.column_stack([points[:, :2] @ turn.T, points[:, 2]])
        low, high = local.min(axis=0), local.max(axis=0)
        middle = 0.5 * (low + high)
        return OrientedBox(np.array([*(middle[:2] @ turn), middle[2]]), high - low, yaw)

    # --- mechanisms and contacts -------------------------------------------------------------------

    def opening(self, item_id: str) -> float:
        """Return how far an item's mechanism is moved, in m or rad."""
        return self.position(joint_name(self.items[item_id]))

    def is_moved(self, item_id: str) -> bool:
        """Return whether an item's drawer or door is open, or its button pressed."""
        mechanism = self.items[item_id].mechanism
        return mechanism is not None and self.opening(item_id) >= mechanism.moved

    def touching(self, body: str) -> frozenset[str]:
        """Return the ids of the items that touch a body of the robot now."""
        with self.lock:
            wanted = self.model.body(body).id
            pairs = self.model.geom_bodyid[self.data.contact.geom]
            mine = (pairs == wanted).any(axis=1)
            others = np.where(pairs[mine, 0] == wanted, pairs[mine, 1], pairs[mine, 0])
            return frozenset(self.item_of_body[int(one)] for one in others if int(one) in self.item_of_body)

    def in_hand(self) -> str:
        """Return the id of the movable thing that both fingers touch, "" for none."""
        both = self.touching(FINGER_BODIES[0]) & self.touching(FINGER_BODIES[1])
        return next((one for one in sorted(both) if not self.items[one].fixed), "")

    def supports(self, item_id: str, carrier_id: str) -> bool:
        """Return whether a thing rests on or in another: within its outline, between its ground and its top."""
        box, carrier = self.box(item_id), self.box(carrier_id)
        if item_id == self.in_hand():
            return False
        inside = carrier.contains(np.array([[*box.center[:2], carrier.center[2]]]), _RESTS_M)
        return bool(inside[0]) and carrier.bottom_m - _RESTS_M <= box.bottom_m <= carrier.top_m + _RESTS_M

    def is_clear(self, item_id: str, position: FloatArray) -> bool:
        """Return whether a thing could stand at a position (its frame's): on furniture as high, touching nothing."""
        box = self.box(item_id)
        offset = position - self.body_pose(item_id).position
        moved = OrientedBox(box.center + offset, box.size, box.yaw_rad)
        reach = 0.5 * float(np.hypot(*box.size[:2]))
        below = carried = False
        for other in self.items.values():
            if other.id == item_id or not other.class_name:
                continue
            around = self.box(other.id)
            over = around.contains(np.array([[*moved.center[:2], around.center[2]]]), -reach)[0]
            carried |= bool(over) and abs(around.top_m - box.bottom_m) < _RESTS_M and other.fixed
            apart = float(np.linalg.norm(around.center[:2] - moved.center[:2]))
            beside = abs(around.top_m - box.bottom_m) >= _RESTS_M and around.top_m > box.bottom_m
            below |= beside and apart < reach + 0.5 * float(np.hypot(*around.size[:2])) + _RESTS_M
        return carried and not below

    def place_item(self, item_id: str, pose: Pose) -> None:
        """Put a movable thing somewhere, at rest: what a person does who carries it."""
        with self.lock:
            name = joint_name(self.items[item_id])
            address, velocity = self._address[name], self._dof[name]
            x, y, z, w = pose.quaternion
            self.data.qpos[address : address + 7] = [*pose.position, w, x, y, z]
            self.data.qvel[velocity : velocity + 6] = 0.0
            self._wake()

    def move_mechanism(self, item_id: str, position: float) -> None:
        """Bring a drawer or door to a position, in m or rad: what a person does."""
        with self.lock:
            name = joint_name(self.items[item_id])
            self.data.qpos[self._address[name]] = position
            self.data.qvel[self._dof[name]] = 0.0
            self._wake()

    # --- inside ------------------------------------------------------------------------------------

    def _place(self, joint: str, value: float) -> None:
        self.data.qpos[self._address[joint]] = value
        self.command(joint, value)

    def _wake(self) -> None:
        """Wake all bodies; resting ones fall asleep again."""
        mujoco.mj_forward(self.model, self.data)

    def _find_bodies(self) -> dict[int, str]:
        found = {}
        for item in self.items.values():
            found[self.model.body(item.id).id] = item.id
            if item.mechanism is not None:
                found[self.model.body(moving_body(item)).id] = item.id
        return found

    def _corners(self, body: str, parts: tuple[Part, ...]) -> FloatArray:
        """Return points (n, 3) in the home whose hull holds the parts of a body."""
        local = [_extent(part) for part in parts]
        return self.body_pose(body).apply(np.vstack(local)) if local else np.empty((0, 3))


def _extent(part: Part) -> FloatArray:
    """Return points (n, 3) in the body's frame: a box's corners, or a ring around a round part."""
    if part.form is Form.BOX:
        signs = np.array(np.meshgrid([-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0])).reshape(3, -1).T
        points = signs * np.array(part.half)
        cos, sin = np.cos(part.yaw_rad), np.sin(part.yaw_rad)
        x, y = points[:, 0].copy(), points[:, 1].copy()
        points[:, 0], points[:, 1] = cos * x - sin * y, sin * x + cos * y
        return np.asarray(points + np.array(part.at))
    if part.form is Form.CYLINDER:
        half: NDArray[np.float64] = np.array([part.half[0], part.half[0], part.half[1]])
    else:
        half = np.array(part.half)
    angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(24)])
    if part.form is Form.CYLINDER:
        up = np.array([0.0, 0.0, 1.0])
        rings = np.vstack([ring + up, ring - up])
    else:
        turned = ring[:, [2, 0, 1]]
        rings = np.vstack([ring, turned, ring[:, [0, 2, 1]]])
    return np.asarray(rings * half + np.array(part.at))


def _pose(position: FloatArray, matrix: FloatArray) -> Pose:
    whole = np.eye(4)
    whole[:3, :3] = np.asarray(matrix).reshape(3, 3)
    whole[:3, 3] = position
    return Pose.from_matrix(whole)


class Switches:
    """Follows the buttons; each press turns its item on or off."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._buttons = tuple(
            item.id
            for item in simulation.items.values()
            if item.mechanism is not None and item.mechanism.kind is MechanismKind.BUTTON
        )
        self._pressed: dict[str, bool] = dict.fromkeys(self._buttons, False)
        self.on: dict[str, bool] = dict.fromkeys(self._buttons, False)

    def follow(self) -> None:
        """See which buttons have been pressed since the last time."""
        for item_id in self._buttons:
            pressed = self._simulation.is_moved(item_id)
            if pressed and not self._pressed[item_id]:
                self.on[item_id] = not self.on[item_id]
            # It springs back past half of its way before it counts again.
            mechanism = self._simulation.items[item_id].mechanism
            assert mechanism is not None
            if pressed or self._simulation.opening(item_id) < 0.5 * mechanism.moved:
                self._pressed[item_id] = pressed

    def states(self, item_id: str) -> frozenset[ObjectState]:
        """Return what can be seen of an item: open or closed, on or off."""
        item = self._simulation.items[item_id]
        if item.mechanism is None:
            return frozenset()
        if item_id in self.on:
            return frozenset({ObjectState.ON if self.on[item_id] else ObjectState.OFF})
        return frozenset({ObjectState.OPENED if self._simulation.is_moved(item_id) else ObjectState.CLOSED})
