"""The Fetch (kinematics and meshes of the gymnasium-robotics wheel) and a home, compiled into one MuJoCo model."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np

from memory_node.domain.errors import ResourceMissingError
from memory_node.sim.physics.furniture import Form, Item, Mechanism, MechanismKind, Part
from memory_node.sim.physics.home import HomePlan

PREFIX = "robot0:"
BASE_JOINTS = ("base_x", "base_y", "base_yaw")
# The planning group `arm` is, as in Fetch's own MoveIt configuration `arm_with_torso`, the torso and seven joints.
ARM_JOINTS = (
    "torso_lift_joint",
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "upperarm_roll_joint",
    "elbow_flex_joint",
    "forearm_roll_joint",
    "wrist_flex_joint",
    "wrist_roll_joint",
)
HEAD_JOINTS = ("head_pan_joint", "head_tilt_joint")
FINGER_JOINTS = ("r_gripper_finger_joint", "l_gripper_finger_joint")
TOOL = "tool_link"
CAMERA = "head_camera"

# What collides with what: the robot's links with everything but each other.
ROBOT_BITS, WORLD_BITS = (2, 1), (1, 3)

FINGER_TRAVEL_M = 0.05
# The tool frame is between the fingertips: from the gripper's link along its x axis, 5 mm short of the tips.
_TOOL_AHEAD_M = 0.0335

_UNUSED_BODIES = ("mocap", "estop_link", "external_camera_body_0", "gripper_camera_link")
# (proportional gain, force limit) of each position servo; N m and N. Each is critically damped by its actuator.
_SERVOS = {
    "base_x": (150000.0, 900.0),
    "base_y": (150000.0, 900.0),
    "base_yaw": (30000.0, 400.0),
    "torso_lift_joint": (60000.0, 900.0),
    "shoulder_pan_joint": (1800.0, 60.0),
    "shoulder_lift_joint": (2200.0, 130.0),
    "upperarm_roll_joint": (1200.0, 75.0),
    "elbow_flex_joint": (1500.0, 65.0),
    "forearm_roll_joint": (600.0, 30.0),
    "wrist_flex_joint": (600.0, 26.0),
    "wrist_roll_joint": (300.0, 12.0),
    "head_pan_joint": (100.0, 10.0),
    "head_tilt_joint": (100.0, 10.0),
}
_ARMATURE = {"torso_lift_joint": 20.0, "base_x": 5.0, "base_y": 5.0, "base_yaw": 2.0}
_FINGER_GAIN = 4000.0
# MuJoCo's joints take coefficients of a polynomial; ours are linear.
_THREE = np.array([1.0, 0.0, 0.0])


def fetch_assets() -> Path:
    """Return the folder of gymnasium-robotics' assets.

    Raises:
        ResourceMissingError: the extra `physics` is not installed.
    """
    found = find_spec("gymnasium_robotics")
    if found is None or not found.submodule_search_locations:
        raise ResourceMissingError("the Fetch is in the wheel gymnasium-robotics: pip install 'robot_memory[physics]'")
    return Path(next(iter(found.submodule_search_locations))) / "envs" / "assets"


def fetch_spec() -> mujoco.MjSpec:
    """Return a model that holds the robot alone, at the origin, with servos for all of its joints."""
    assets = fetch_assets()
    spec = mujoco.MjSpec.from_string(
        f'<mujoco><compiler angle="radian" meshdir="{assets}/stls/fetch" texturedir="{assets}/textures"/>'
        f'<include file="{assets}/fetch/shared.xml"/>'
        f'<worldbody><include file="{assets}/fetch/robot.xml"/></worldbody></mujoco>'
    )
    for equality in list(spec.equalities):
        spec.delete(equality)
    for exclude in list(spec.excludes):  # of links that never collide with each other here
        spec.delete(exclude)
    for texture in list(spec.textures):  # a skybox and a block that this home does not have
        spec.delete(texture)
    for name in _UNUSED_BODIES:
        spec.delete(spec.body(PREFIX + name))
    for camera in list(spec.cameras):
        spec.delete(camera)
    _rename(spec)
    _make_base(spec)
    for body in spec.bodies[1:]:
        body.gravcomp = 1.0
        for geom in body.geoms:
            geom.contype, geom.conaffinity = ROBOT_BITS
    _make_joints(spec)
    _make_gripper(spec)
    _make_tool_and_camera(spec)
    return spec


def _rename(spec: mujoco.MjSpec) -> None:
    for elements in (spec.bodies, spec.joints, spec.geoms, spec.sites):
        for one in elements:
            one.name = one.name.removeprefix(PREFIX)


def _make_base(spec: mujoco.MjSpec) -> None:
    """Give the base the joints of a body that moves on the floor."""
    base = spec.body("base_link")
    for joint in list(base.joints):
        spec.delete(joint)
    base.pos = [0.0, 0.0, 0.0]
    kinds = (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE)
    for name, kind, axis in zip(BASE_JOINTS, kinds, ([1, 0, 0], [0, 1, 0], [0, 0, 1])):
        base.add_joint(name=name, type=kind, axis=axis, armature=_ARMATURE[name])


def _make_joints(spec: mujoco.MjSpec) -> None:
    for name, (gain, limit) in _SERVOS.items():
        joint = spec.joint(name)
        joint.damping, joint.stiffness = _THREE * 2.0, _THREE * 0.0
        joint.armature = _ARMATURE.get(name, 0.3)
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=gain, dampratio=1.0)
        actuator.forcerange, actuator.forcelimited = [-limit, limit], True


def _make_gripper(spec: mujoco.MjSpec) -> None:
    """Couple the fingers, as Fetch's are, and drive each of them."""
    for name in FINGER_JOINTS:
        joint = spec.joint(name)
        joint.armature, joint.damping, joint.range = 0.5, _THREE * 20.0, [0.0, FINGER_TRAVEL_M]
        body = joint.parent
        body.mass, body.inertia = 0.1, [1e-4, 1e-4, 1e-4]
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=_FINGER_GAIN, dampratio=1.0)
        actuator.forcerange, actuator.forcelimited = [-20.0, 20.0], True
        for geom in body.geoms:
            geom.friction, geom.condim, geom.priority = [1.2, 0.02, 0.002], 4, 1
    coupling = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1=FINGER_JOINTS[0], name2=FINGER_JOINTS[1])
    coupling.objtype = mujoco.mjtObj.mjOBJ_JOINT
    coupling.data[:5] = [0.0, 1.0, 0.0, 0.0, 0.0]


def _make_tool_and_camera(spec: mujoco.MjSpec) -> None:
    spec.body("gripper_link").add_site(name=TOOL, pos=[_TOOL_AHEAD_M, 0.0, 0.0])
    # The view of an Azure Kinect at 4:3: wide enough to see what stands right before the robot without moving the head.
    # MuJoCo's cameras look along -z with y up; the body is the optical frame, z ahead and y down.
    optical = spec.body("head_camera_rgb_optical_frame")
    optical.add_camera(name=CAMERA, quat=[0.0, 1.0, 0.0, 0.0], fovy=74.3)


STEP_S = 0.004
_JOINT_KIND = {
    MechanismKind.SLIDE: mujoco.mjtJoint.mjJNT_SLIDE,
    MechanismKind.BUTTON: mujoco.mjtJoint.mjJNT_SLIDE,
    MechanismKind.HINGE: mujoco.mjtJoint.mjJNT_HINGE,
}
_AXIS = {
    MechanismKind.SLIDE: [1.0, 0.0, 0.0],
    MechanismKind.BUTTON: [-1.0, 0.0, 0.0],
    MechanismKind.HINGE: [0.0, 0.0, -1.0],
}
# damping, stiffness and friction of each kind of joint, and the mass that moves
_JOINT = {
    MechanismKind.SLIDE: (15.0, 0.0, 2.5, 1.5),
    MechanismKind.BUTTON: (8.0, 300.0, 0.0, 0.05),
    MechanismKind.HINGE: (1.0, 0.0, 0.4, 4.0),
}


def moving_body(item: Item) -> str:
    """Return the name of the body of an item's moving part."""
    return f"{item.id}:moving"


def joint_name(item: Item) -> str:
    """Return the name of the joint of an item: of its mechanism, or the free one of a thing."""
    return f"{item.id}:joint"


def compile_home(plan: HomePlan) -> mujoco.MjModel:
    """Return the model of a home with the robot in it; bodies are named after items."""
    spec = fetch_spec()
    _set_options(spec)
    x0, y0, x1, y1 = plan.floor
    world = spec.worldbody
    half = [0.5 * (x1 - x0), 0.5 * (y1 - y0), 0.05]
    floor = world.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_BOX, size=half)
    floor.pos, floor.rgba = [0.5 * (x0 + x1), 0.5 * (y0 + y1), -0.05], [0.55, 0.5, 0.45, 1.0]
    floor.contype, floor.conaffinity = WORLD_BITS
    for x in np.linspace(x0, x1, 5)[1::2]:
        world.add_light(pos=[float(x), 0.5 * (y0 + y1), 3.5], dir=[0.0, 0.0, -1.0], castshadow=False, cutoff=90.0)
    for name in ("base_link", "torso_fixed_link"):  # they glide over the floor
        spec.add_exclude(bodyname1="world", bodyname2=name)
    for item in plan.items:
        _add_item(spec, item)
    return spec.compile()


def _set_options(spec: mujoco.MjSpec) -> None:
    option = spec.option
    option.timestep, option.integrator = STEP_S, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    # Elliptic cones that resist sliding ten times as stiffly as penetration: what is held does not creep.
    option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10.0
    # Without these passes what is held creeps out of the hand within a minute.
    option.noslip_iterations = 4
    # What lies still is not computed until something touches it.
    option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960
    # No antialiasing: a software renderer needs twice the time for it, and a detector's masks have none.
    spec.visual.quality.offsamples = 0
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.35] * 3, [0.4] * 3
    spec.visual.map.znear, spec.visual.map.zfar = 0.01, 12.0
    spec.stat.extent = 1.0


def _add_item(spec: mujoco.MjSpec, item: Item) -> None:
    body = spec.worldbody.add_body(name=item.id, pos=list(item.at), quat=_turn(item.yaw_rad))
    for part in item.parts:
        _add_part(body, part, item)
    if item.mass_kg is not None:
        body.add_freejoint(name=joint_name(item))
        # Mass by volume of the parts, scaled to the item's.
        whole = sum(_volume(part) for part in item.parts)
        for geom, part in zip(body.geoms, item.parts):
            geom.mass = item.mass_kg * _volume(part) / whole
    if item.mechanism is not None:
        _add_mechanism(body, item, item.mechanism)


def _add_mechanism(body: mujoco.MjsBody, item: Item, mechanism: Mechanism) -> None:
    damping, stiffness, friction, mass_kg = _JOINT[mechanism.kind]
    moving = body.add_body(name=moving_body(item), pos=list(mechanism.at))
    joint = moving.add_joint(name=joint_name(item), type=_JOINT_KIND[mechanism.kind], axis=_AXIS[mechanism.kind])
    joint.range, joint.limited = [0.0, mechanism.travel], True
    linear = np.array([1.0, 0.0, 0.0])
    joint.damping, joint.stiffness = damping * linear, stiffness * linear
    joint.frictionloss, joint.armature = friction, 0.05
    for part in mechanism.parts:
        _add_part(moving, part, item)
    for geom in moving.geoms:
        geom.mass = mass_kg / len(mechanism.parts)


def _add_part(body: mujoco.MjsBody, part: Part, item: Item) -> None:
    geom = body.add_geom(type=part.form.value, pos=list(part.at), size=list(part.half), quat=_turn(part.yaw_rad))
    geom.rgba = list(part.rgba)
    geom.contype, geom.conaffinity = WORLD_BITS
    rolls = item.rolling_m > 0.0
    geom.condim = 6 if rolls and part.form is Form.ELLIPSOID else 4 if not item.fixed else 3
    geom.friction = [item.friction, 0.005, max(item.rolling_m, 0.0001)]
    geom.solref, geom.solimp = [0.012, 1.0], [0.95, 0.99, 0.001, 0.5, 2.0]


def _turn(yaw_rad: float) -> list[float]:
    return [float(np.cos(0.5 * yaw_rad)), 0.0, 0.0, float(np.sin(0.5 * yaw_rad))]


def _volume(part: Part) -> float:
    a, b, c = part.half
    return a * a * b if part.form is Form.CYLINDER else a * b * c
