"""What a skill is declared with: arguments, facts that it needs, facts that it brings about."""

from __future__ import annotations

from dataclasses import dataclass

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState
from memory_node.domain.text_enum import TextEnum


class ArgumentKind(TextEnum):
    """What an argument refers to."""

    OBJECT = "object"  # an id, a class name, or Class@x,y,z
    OBJECT_CLASS = "class"  # a class name alone
    AREA = "area"  # an area's id, or "x,y" in map, metres


class Predicate(TextEnum):
    """The facts that preconditions and effects are stated in; the first argument is the subject.

    What each of them means, `world/facts.py` says, and nothing else.
    """

    HAND_EMPTY = "hand_empty"
    HOLDING = "holding"
    HOLDING_TOOL = "holding_tool"  # the hand holds something that can do what the fact's `ability` names
    NEAR = "near"
    KNOWN = "known"
    ACCESSIBLE = "accessible"  # not inside something closed
    OPEN_OR_UNLIDDED = "open_or_unlidded"  # things can be put in or on it now
    CONTAINED = "contained"  # (object, receptacle): in or on
    STATE = "state"
    KIND = "kind"  # it is a thing of the kind that the fact's `ability` names, which never changes


@dataclass(frozen=True)
class Fact:
    """A predicate over argument names of a skill; value False negates it.

    state: completes Predicate.STATE. ability: completes KIND and HOLDING_TOOL: a property of the label space
    ("sliceable", "cuts"), or "receptacle".
    """

    predicate: Predicate
    arguments: tuple[str, ...] = ()
    value: bool = True
    state: ObjectState | None = None
    ability: str = ""

    def __post_init__(self) -> None:
        if (self.predicate is Predicate.STATE) != (self.state is not None):
            raise InvalidValueError(f"Fact: {self.predicate} with state {self.state}: only `state` facts carry one")
        if (self.predicate in (Predicate.KIND, Predicate.HOLDING_TOOL)) != bool(self.ability):
            raise InvalidValueError(f"Fact: {self.predicate} with ability {self.ability!r}: kinds and tools have one")

    def __str__(self) -> str:
        name = self.ability if self.predicate is Predicate.KIND else str(self.predicate)
        words = [*self.arguments, *([str(self.state)] if self.state else [])]
        words += [f"what {self.ability}"] if self.predicate is Predicate.HOLDING_TOOL else []
        return f"{'' if self.value else 'not '}{name}({', '.join(words)})"


@dataclass(frozen=True)
class Precondition:
    """A fact that must hold before a skill, the reason it fails with otherwise, and what to do about it."""

    fact: Fact
    reason: FailureReason
    remedy: str


@dataclass(frozen=True)
class Argument:
    """One argument of a skill. Only the last one may be optional, or repeated (any number of times, also none)."""

    name: str
    kind: ArgumentKind
    description: str
    repeated: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Appliance:
    """What a composite works at. reference: how calls name it; opens: it has a door or a lid; switch: how calls name
    what turns it on, "" where it works by itself."""

    reference: str
    opens: bool = False
    switch: str = ""


@dataclass(frozen=True)
class Skill:
    """A declaration: what the skill needs, what it changes, what it costs.

    nominal_s: seconds that the arm or the wait takes, travel excluded. composite: it is made of other skills, done at
    an appliance (`steps_at`). meant_for: facts about kinds without which nobody proposes it, although it would
    work: a lamp is switched, a tap is toggled. undoable: what it does can be undone by other skills.
    """

    name: str
    summary: str
    arguments: tuple[Argument, ...]
    preconditions: tuple[Precondition, ...]
    effects: tuple[Fact, ...]
    nominal_s: float
    composite: bool = False
    meant_for: tuple[Fact, ...] = ()
    undoable: bool = True

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All that it needs, brings about or is meant for."""
        return (*(rule.fact for rule in self.preconditions), *self.effects, *self.meant_for)

    @property
    def brings_about(self) -> ObjectState | None:
        """The first state that it is declared to begin, None where it begins none."""
        return next((one.state for one in self.effects if one.predicate is Predicate.STATE and one.value), None)

    def states_of(self, argument: str, begun: bool) -> tuple[ObjectState, ...]:
        """Return the states of an argument that it is declared to begin, or to end."""
        about = (one for one in self.effects if one.arguments[:1] == (argument,) and one.value is begun)
        return tuple(one.state for one in about if one.state is not None)

    @property
    def named_arguments(self) -> tuple[Argument, ...]:
        """The arguments that a call must give."""
        return tuple(one for one in self.arguments if not (one.optional or one.repeated))

    def abilities_of(self, argument: str) -> tuple[str, ...]:
        """Return what kind of thing an argument must be, as abilities of KIND facts."""
        facts = (rule.fact for rule in self.preconditions)
        return tuple(one.ability for one in facts if one.predicate is Predicate.KIND and one.arguments == (argument,))

    @property
    def tool_ability(self) -> str:
        """What the tool in the hand must be able to do ("cuts"), "" where none is needed."""
        facts = (rule.fact for rule in self.preconditions)
        return next((one.ability for one in facts if one.predicate is Predicate.HOLDING_TOOL), "")

    def needs(self, predicate: Predicate) -> bool:
        """Return whether a fact of some kind is among its preconditions."""
        return any(rule.fact.predicate is predicate for rule in self.preconditions)

    @property
    def signature(self) -> str:
        """The skill as it is called, for prompts and docs."""
        names = [f"{'*' if argument.repeated else ''}{argument.name}" for argument in self.arguments]
        if self.arguments[-1].optional:
            names[-1] = f"[{names[-1]}]"
        return f"{self.name}({', '.join(names)})"

    def steps_at(self, object_reference: str, appliance: Appliance) -> tuple[SkillCall, ...]:
        """Return the calls that do the same as a composite: put the object in or on the appliance, let that work, take
        the object again.

        Raises:
            InvalidValueError: the skill is no composite.
        """
        if not self.composite:
            raise InvalidValueError(f"{self.name} is not made of other skills")
        place = (appliance.reference,)
        opening = (SkillCall("OpenObject", place),) if appliance.opens else ()
        closing = (SkillCall("CloseObject", place),) if appliance.opens else ()
        switch = (appliance.switch,)
        running = (SkillCall("ToggleOn", switch), SkillCall("ToggleOff", switch)) if appliance.switch else ()
        put = SkillCall("PutObject", (object_reference, appliance.reference))
        take = SkillCall("PickupObject", (object_reference,))
        return (SkillCall("GoToObject", place), *opening, put, *closing, *running, *opening, take, *closing)
