"""Compiles a home and the robot into one MuJoCo model."""

from __future__ import annotations

import mujoco
import numpy as np

from memory_node.sim.physics.fetch import WORLD_BITS, fetch_spec
from memory_node.sim.physics.home import HomePlan
from memory_node.sim.physics.item import Form, Item, Mechanism, MechanismKind, Part

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
