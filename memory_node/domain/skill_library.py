"""The robot's skills and the kinds of goals as typed declarations: one source for action servers, plan validator,
readers, prompts, rules and docs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure, SkillResult
from memory_node.domain.skill_declaration import Argument, ArgumentKind, Fact, Precondition, Predicate, Skill
from memory_node.domain.states import ObjectState
from memory_node.domain.text_enum import TextEnum


def _object(description: str, name: str = "object") -> Argument:
    return Argument(name, ArgumentKind.OBJECT, description)


def _optional(description: str, name: str) -> Argument:
    return Argument(name, ArgumentKind.OBJECT, description, optional=True)


def _is(predicate: Predicate, *arguments: str, value: bool = True) -> Fact:
    return Fact(predicate, arguments, value)


def _has(state: ObjectState, argument: str = "object", value: bool = True) -> Fact:
    return Fact(Predicate.STATE, (argument,), value, state)


def _near(argument: str = "object") -> Precondition:
    return Precondition(_is(Predicate.NEAR, argument), FailureReason.TOO_FAR, f"GoToObject({argument}) first")


def _of_kind(ability: str, argument: str = "object", value: bool = True) -> Fact:
    return Fact(Predicate.KIND, (argument,), value, ability=ability)


def _kind(ability: str, argument: str = "object") -> Precondition:
    return Precondition(
        _of_kind(ability, argument), FailureReason.WRONG_OBJECT, f"choose a {ability} object as {argument}"
    )


def _tool(ability: str) -> Precondition:
    """The hand holds a thing of a kind that can do this ("cuts")."""
    fact = Fact(Predicate.HOLDING_TOOL, ability=ability)
    return Precondition(fact, FailureReason.NOT_HOLDING, f"PickupObject a tool that {ability} first")


def _accessible(argument: str = "object") -> Precondition:
    remedy = f"OpenObject what the {argument} lies in first"
    return Precondition(_is(Predicate.ACCESSIBLE, argument), FailureReason.CLOSED, remedy)


_ACCESSIBLE = _accessible()
_HAND_EMPTY = Precondition(
    _is(Predicate.HAND_EMPTY), FailureReason.HAND_FULL, "PutObject what the hand holds somewhere first"
)
_HOLDING = Precondition(_is(Predicate.HOLDING, "object"), FailureReason.NOT_HOLDING, "PickupObject(object) first")


def _not_yet(state: ObjectState, reason: FailureReason = FailureReason.PRECONDITION) -> Precondition:
    return Precondition(_has(state, value=False), reason, f"go on, it is {state} already")


def _switching(name: str, verb: str, things: str, on: bool) -> Skill:
    gained, lost = (ObjectState.ON, ObjectState.OFF) if on else (ObjectState.OFF, ObjectState.ON)
    return Skill(
        name,
        f"{verb} {things}",
        (_object("what to switch"),),
        (_kind("toggleable"), _near(), _not_yet(gained)),
        (_has(gained), _has(lost, value=False)),
        nominal_s=2.0,
        meant_for=(_of_kind("light", value=name.startswith("Switch")),),
    )


def _at_appliance(
    name: str, summary: str, state: ObjectState, lost: ObjectState, s: float, needs: tuple[Precondition, ...] = ()
) -> Skill:
    return Skill(
        name,
        f"{summary}; the object is in the hand before and after",
        (_object("what is held"), _optional("at which appliance; default: the usual one", "fixture")),
        (_HOLDING, *needs),
        (_has(state), _has(lost, value=False), _is(Predicate.NEAR, "fixture")),
        nominal_s=s,
        composite=True,
    )


_DECLARATIONS = (
    Skill(
        "Explore",
        "visit the areas in the given order, or all likely ones, until an object of the class is seen",
        (
            Argument("target_class", ArgumentKind.OBJECT_CLASS, "what to look for"),
            Argument(
                "areas",
                ArgumentKind.AREA,
                "area ids or positions, likeliest first; not:ID passes over a thing",
                repeated=True,
            ),
        ),
        (),
        (_is(Predicate.KNOWN, "target_class"),),
        nominal_s=5.0,
    ),
    Skill(
        "GoToObject",
        "drive to where the object can be reached",
        (_object("where to go"),),
        (
            Precondition(_is(Predicate.KNOWN, "object"), FailureReason.NOT_FOUND, "recall it or Explore for its class"),
            _ACCESSIBLE,
        ),
        (_is(Predicate.NEAR, "object"),),
        nominal_s=1.0,
    ),
    Skill(
        "PickupObject",
        "grasp the object",
        (_object("what to grasp"),),
        (_HAND_EMPTY, _kind("pickupable"), _near(), _ACCESSIBLE),
        (
            _is(Predicate.HOLDING, "object"),
            _is(Predicate.HAND_EMPTY, value=False),
            _is(Predicate.CONTAINED, "object", value=False),
        ),
        nominal_s=4.0,
    ),
    Skill(
        "PutObject",
        "put what the hand holds in or on the receptacle, or hand it to a person",
        (_object("what is held"), _object("where it goes", "receptacle")),
        (
            _HOLDING,
            _kind("receptacle", "receptacle"),
            _near("receptacle"),
            _accessible("receptacle"),
            Precondition(
                _is(Predicate.OPEN_OR_UNLIDDED, "receptacle"), FailureReason.CLOSED, "OpenObject(receptacle) first"
            ),
        ),
        (
            _is(Predicate.HOLDING, "object", value=False),
            _is(Predicate.HAND_EMPTY),
            _is(Predicate.CONTAINED, "object", "receptacle"),
        ),
        nominal_s=4.0,
    ),
    Skill(
        "OpenObject",
        "open a door, drawer or lid",
        (_object("what to open"),),
        (
            _kind("openable"),
            _near(),
            _not_yet(ObjectState.OPENED, FailureReason.ALREADY_OPEN),
        ),
        (_has(ObjectState.OPENED), _has(ObjectState.CLOSED, value=False)),
        nominal_s=3.0,
    ),
    Skill(
        "CloseObject",
        "close a door, drawer or lid",
        (_object("what to close"),),
        (
            _kind("openable"),
            _near(),
            _not_yet(ObjectState.CLOSED, FailureReason.ALREADY_CLOSED),
        ),
        (_has(ObjectState.CLOSED), _has(ObjectState.OPENED, value=False)),
        nominal_s=3.0,
    ),
    _switching("ToggleOn", "turn on", "an appliance or a tap", True),
    _switching("ToggleOff", "turn off", "an appliance or a tap", False),
    _switching("SwitchOn", "switch on", "a lamp or another light", True),
    _switching("SwitchOff", "switch off", "a lamp or another light", False),
    Skill(
        "SliceObject",
        "cut the object with what the hand holds",
        (_object("what to cut"),),
        (
            _tool("cuts"),
            _kind("sliceable"),
            _near(),
            _ACCESSIBLE,
        ),
        (_has(ObjectState.SLICED),),
        nominal_s=6.0,
        undoable=False,
    ),
    Skill(
        "WipeObject",
        "wipe a surface with what the hand holds",
        (_object("what to wipe"),),
        (_tool("wipes"), _kind("wipeable"), _near()),
        (_has(ObjectState.WIPED), _has(ObjectState.DIRTY, value=False)),
        nominal_s=8.0,
    ),
    Skill(
        "BreakObject",
        "break the object on purpose",
        (_object("what to break"),),
        (_kind("breakable"), _near(), _ACCESSIBLE),
        (_has(ObjectState.BROKEN),),
        nominal_s=3.0,
        undoable=False,
    ),
    Skill(
        "ThrowObject",
        "throw what the hand holds into a bin close by, or else a short way ahead",
        (_object("what is held"), _optional("where to; default: ahead", "receptacle")),
        (_HOLDING,),
        (_is(Predicate.HOLDING, "object", value=False), _is(Predicate.HAND_EMPTY)),
        nominal_s=2.0,
        undoable=False,
    ),
    Skill(
        "FillObject",
        "fill a vessel at a tap or a coffee machine",
        (_object("what to fill"), _optional("where from; default: what is in reach", "source")),
        (_HOLDING, _kind("fillable")),
        (_has(ObjectState.FILLED), _has(ObjectState.USED_UP, value=False)),
        nominal_s=5.0,
    ),
    Skill(
        "EmptyObject",
        "pour out what a vessel holds",
        (_object("what to empty"),),
        (_HOLDING, _kind("fillable"), _not_yet(ObjectState.USED_UP)),
        (_has(ObjectState.USED_UP), _has(ObjectState.FILLED, value=False)),
        nominal_s=3.0,
        undoable=False,
    ),
    _at_appliance("CleanObject", "wash it in running water", ObjectState.CLEANED, ObjectState.DIRTY, 16.0),
    _at_appliance(
        "HeatObject",
        "heat it in or on an appliance",
        ObjectState.HEATED,
        ObjectState.COLD,
        28.0,
        (_kind("heatable"),),
    ),
    _at_appliance(
        "CoolObject",
        "cool it in an appliance",
        ObjectState.COLD,
        ObjectState.HEATED,
        20.0,
        (_kind("coolable"),),
    ),
)

SKILLS: Mapping[str, Skill] = MappingProxyType({skill.name: skill for skill in _DECLARATIONS})
ALL_SKILLS = frozenset(SKILLS)


class GoalKind(TextEnum):
    """What an instruction wants done with its target."""

    PLACE = "place"
    PLACE_TWO = "place_two"
    STACK = "stack"  # the target in a movable container, that container at the destination
    CLEAN = "clean"
    HEAT = "heat"
    COOL = "cool"
    EXAMINE = "examine"  # hold the target and switch a lamp on
    SLICE = "slice"
    FETCH = "fetch"  # have it in the hand
    FIND = "find"  # stand before it
    SWITCH_ON = "switch_on"
    SWITCH_OFF = "switch_off"
    OPEN = "open"
    CLOSE = "close"
    FILL = "fill"
    EMPTY = "empty"
    BREAK = "break"
    THROW = "throw"  # toss it, not into a bin
    GO = "go"  # to a room, or to the person
    DROP = "drop"  # let go of what the hand holds
    STOP = "stop"
    WAIT = "wait"
    TELL = "tell"  # answer a question; nothing is to be moved
    WIPE = "wipe"  # a surface, with what wipes in the hand


@dataclass(frozen=True)
class GoalDeclaration:
    """A kind of goal. Everybody reads what it means from here.

    wants: the target is to be in one of these states. skills: a call of one of them with the target brings it about;
    treats: the first of them treats things as the label space says (where, with which tool). permits: further skills
    that such a goal permits; all that only move things, and doors, are permitted anyway. in_place: the target stays
    where it is while its state is changed. carried: the target ends at a place, where one is said. in_hand: it ends in
    the hand. checked: the scene graph tells whether it is met. ends: a state that a target must be in to need it. seen:
    what a picture shows where it is met, "" for nothing. learnt: a label of the trained readers, which cannot learn
    another. comes_to: the kind that readings are compared as: to wipe a table is to clean it.
    """

    wants: frozenset[ObjectState] = frozenset()
    skills: tuple[str, ...] = ()
    treats: bool = False
    permits: tuple[str, ...] = ()
    in_place: bool = False
    carried: bool = False
    in_hand: bool = False
    checked: bool = True
    ends: ObjectState | None = None
    seen: str = ""
    learnt: bool = True
    comes_to: GoalKind | None = None


_S, _G = ObjectState, GoalDeclaration
_SWITCHES = ("SwitchOn", "SwitchOff", "ToggleOn", "ToggleOff")
# Treatments may be done by hand: a pot on a burner that is turned on and off.
_TOGGLES = ("ToggleOn", "ToggleOff")
_SPOKEN = _G(checked=False, learnt=False)
GOALS: Mapping[GoalKind, GoalDeclaration] = MappingProxyType(
    {
        GoalKind.PLACE: _G(carried=True, seen="it is in or on that place"),
        GoalKind.PLACE_TWO: _G(carried=True, seen="all of them are in or on that place"),
        GoalKind.STACK: _G(
            carried=True, seen="it is in or on that container, and the container is in or on that place"
        ),
        GoalKind.CLEAN: _G(
            frozenset({_S.CLEANED}),
            ("CleanObject",),
            treats=True,
            permits=_TOGGLES,
            carried=True,
            seen="it has no dirt or leftovers on it",
        ),
        GoalKind.HEAT: _G(
            frozenset({_S.HEATED, _S.COOKED}), ("HeatObject",), treats=True, permits=_TOGGLES, carried=True
        ),
        GoalKind.COOL: _G(frozenset({_S.COLD}), ("CoolObject",), treats=True, carried=True),
        GoalKind.EXAMINE: _G(
            skills=("PickupObject",),
            permits=("SwitchOn", "SwitchOff"),
            in_hand=True,
            seen="the robot's hand holds it, and the light is on",
        ),
        GoalKind.SLICE: _G(skills=("SliceObject",), treats=True, seen="it is cut into pieces"),
        GoalKind.FETCH: _G(skills=("PickupObject",), in_hand=True, seen="the robot's hand holds it"),
        GoalKind.FIND: _G(checked=False, seen="it is in view"),
        GoalKind.SWITCH_ON: _G(
            frozenset({_S.ON}),
            ("SwitchOn", "ToggleOn"),
            permits=_SWITCHES,
            in_place=True,
            seen="it is on, lit or running",
        ),
        GoalKind.SWITCH_OFF: _G(
            frozenset({_S.OFF}),
            ("SwitchOff", "ToggleOff"),
            permits=_SWITCHES,
            in_place=True,
            ends=_S.ON,
            seen="it is off",
        ),
        GoalKind.OPEN: _G(frozenset({_S.OPENED}), ("OpenObject",), in_place=True, seen="it is open"),
        GoalKind.CLOSE: _G(
            frozenset({_S.CLOSED}), ("CloseObject",), in_place=True, ends=_S.OPENED, seen="it is closed"
        ),
        GoalKind.FILL: _G(
            frozenset({_S.FILLED}), ("FillObject",), treats=True, permits=_TOGGLES, seen="there is something in it"
        ),
        GoalKind.EMPTY: _G(frozenset({_S.USED_UP}), ("EmptyObject",), treats=True, seen="there is nothing in it"),
        GoalKind.BREAK: _G(frozenset({_S.BROKEN}), ("BreakObject",), in_place=True, seen="it is broken"),
        GoalKind.THROW: _G(skills=("ThrowObject",)),
        GoalKind.GO: _SPOKEN,
        GoalKind.DROP: _G(learnt=False),
        GoalKind.STOP: _SPOKEN,
        GoalKind.WAIT: _SPOKEN,
        GoalKind.TELL: _SPOKEN,
        GoalKind.WIPE: _G(
            frozenset({_S.WIPED}),
            ("WipeObject",),
            treats=True,
            in_place=True,
            seen="it is wiped",
            learnt=False,
            comes_to=GoalKind.CLEAN,
        ),
    }
)
# by skill of treatment, the kind of goal that it fulfils
GOAL_OF_SKILL: dict[str, GoalKind] = {goal.skills[0]: kind for kind, goal in GOALS.items() if goal.treats}


def declaration(skill: str) -> Skill:
    """Return the declaration of a skill.

    Raises:
        InvalidValueError: the library has no such skill.
    """
    try:
        return SKILLS[skill]
    except KeyError:
        raise InvalidValueError(f"skill {skill!r}: expected one of {', '.join(SKILLS)}") from None


def check_call(call: SkillCall) -> Skill:
    """Return the declaration of a well-formed call.

    Raises:
        InvalidValueError: no such skill, a wrong number of arguments, or an empty one.
    """
    skill = declaration(call.skill)
    last = skill.arguments[-1]
    needed = len(skill.arguments) - (last.repeated or last.optional)
    count = len(call.arguments)
    if count < needed or (count > len(skill.arguments) and not last.repeated):
        raise InvalidValueError(f"{call}: expected {skill.signature}, got {count} argument(s)")
    for text in call.arguments:
        if not text.strip():
            raise InvalidValueError(f"{call}: an argument is empty; expected {skill.signature}")
    return skill


def outcome_of(call: SkillCall, perform: Callable[[], str]) -> SkillResult:
    """Run one well-formed call to its end; never raises for a skill that fails.

    perform: does it, and returns the robot's id of the thing that it was about. The result tells no time, way or
    changes: each robot measures them itself.
    """
    try:
        check_call(call)
        return SkillResult(call, True, object_id=perform())
    except SkillFailure as failure:
        return SkillResult(call, False, failure.reason, str(failure), failure.object_id)
    except InvalidValueError as error:
        return SkillResult(call, False, FailureReason.INVALID_CALL, str(error))


def bind(template: SkillCall, action: SkillCall) -> SkillCall | None:
    """Return a template with the action's own arguments for "{name}"; None: the action lacks one that it names."""
    skill = SKILLS.get(action.skill)
    names = [argument.name for argument in skill.arguments] if skill else []
    own = {"{" + name + "}": value for name, value in zip(names, action.arguments)}
    bound = template.renamed(own)
    return None if any(text.startswith("{") for text in bound.arguments) else bound
