"""One kind of thing: what it is called, what can be done with it, what it does to others."""

from __future__ import annotations

from dataclasses import dataclass

from memory_node.catalogue.class_name import spoken
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill_library import GOAL_OF_SKILL, SKILLS, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.domain.text_enum import TextEnum


@dataclass(frozen=True)
class Treatment:
    """One way to treat a thing.

    skill: what carries it out. verbs: how a command begins ("warm", "warm up"). at: classes of places where it is done,
    the best first; tools: classes of what the hand holds; vessels: classes of what the thing lies in meanwhile.
    pieces: what can be sliced is cut first. states: what it brings about, the declared state of the skill first.
    """

    name: str
    skill: str
    verbs: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    vessels: tuple[str, ...] = ()
    pieces: bool = False
    states: tuple[ObjectState, ...] = ()

    def __post_init__(self) -> None:
        if self.skill not in GOAL_OF_SKILL:
            known = ", ".join(GOAL_OF_SKILL)
            raise InvalidValueError(f"{self.name}: skill: expected one of {known}, got {self.skill!r}")
        declared = SKILLS[self.skill].brings_about
        if self.states[:1] != (declared,):
            raise InvalidValueError(f"{self.name}: states: {self.skill} brings about {declared}, which comes first")

    @property
    def goal(self) -> GoalKind:
        """The kind of goal that it fulfils."""
        return GOAL_OF_SKILL[self.skill]


class Property(TextEnum):
    """What can be done with a kind of thing (first group), or what it does to others (second group), as far as code
    asks for it by name. Skills declare further abilities ("wipeable", "wipes"): see ABILITIES."""

    PICKUPABLE = "pickupable"  # a hand can take it
    FIXED = "fixed"  # it stays where it is as long as the home stands
    OPENABLE = "openable"
    TOGGLEABLE = "toggleable"
    LIGHT = "light"  # it is switched for its light
    SLICEABLE = "sliceable"
    HEATABLE = "heatable"
    COOKABLE = "cookable"
    COOLABLE = "coolable"
    FILLABLE = "fillable"
    DIRTYABLE = "dirtyable"
    BREAKABLE = "breakable"
    USABLE_UP = "usable_up"
    EDIBLE = "edible"
    SURFACE = "surface"  # things lie on it, not in it, also where its box encloses them: between the arms of a chair
    KEPT_SHUT = "kept_shut"  # it is shut again after use, for it keeps cold, heats or guards

    HEATS = "heats"
    COOLS = "cools"
    WATERS = "waters"
    DRAINS = "drains"  # water runs into it and off
    BREWS = "brews"
    CUTS = "cuts"

    __hash__ = str.__hash__  # equal to its text, and found by it


# What a label space may say of a kind: properties, and what the declared skills need of things and tools.
ABILITIES = frozenset(map(str, Property)) | frozenset(
    fact.ability for skill in SKILLS.values() for fact in skill.facts if fact.ability not in ("", "receptacle")
)


@dataclass(frozen=True)
class ObjectKind:
    """One class of a label space.

    names: what people call it, the best first. described: phrases that point at it without a name. gloss: one short
    sentence of what it is. everyday: people mean it by its names sooner than other kinds that answer to them too.
    holds: "on", "in" or "" for no receptacle; levels: heights at which contents stand, as fractions of its own.
    size_m: depth (along its front's direction), width, height; None where nobody has said. slices: the class of the
    pieces that cutting makes, slice_count of them. slides: it opens by sliding out, with its contents.
    part_of: the class of the whole. switched_by: the class whose switch makes it work, itself where it has one.
    rooms: kinds of rooms where such things usually are. stands_for: names in the base label space (`same_as`).
    """

    name: str
    gloss: str = ""
    names: tuple[str, ...] = ()
    described: tuple[str, ...] = ()
    everyday: bool = False
    properties: frozenset[str] = frozenset()
    holds: str = ""
    levels: tuple[float, ...] = (1.0,)
    size_m: tuple[float, float, float] | None = None
    slices: str = ""
    slice_count: int = 1
    slides: bool = False
    part_of: str = ""
    switched_by: str = ""
    rooms: tuple[str, ...] = ()
    stands_for: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.holds not in ("", "on", "in"):
            raise InvalidValueError(f"{self.name}: holds: expected 'on' or 'in', got {self.holds!r}")
        if self.size_m is not None and min(self.size_m) <= 0.0:
            raise InvalidValueError(f"{self.name}: size_m: expected three positive lengths, got {self.size_m}")
        if self.can(Property.FIXED) and self.can(Property.PICKUPABLE):
            raise InvalidValueError(f"{self.name}: is fixed or pickupable, not both")
        if self.can(Property.SLICEABLE) != bool(self.slices):
            raise InvalidValueError(f"{self.name}: sliceable and `slices` go together")

    @classmethod
    def unknown(cls, name: str, properties: frozenset[str] = frozenset({Property.PICKUPABLE})) -> ObjectKind:
        """Return what is assumed of a class that no label space declares: by default that a hand can take it."""
        words = spoken(name)
        return cls(name, words, (words,), properties=properties)

    def can(self, wanted: str) -> bool:
        """Return whether the kind has a property or ability."""
        return wanted in self.properties

    def satisfies(self, ability: str) -> bool:
        """Return whether the kind is what a declared fact about kinds names: an ability, or "receptacle"."""
        return self.is_receptacle if ability == "receptacle" else self.can(ability)

    @property
    def best_name(self) -> str:
        """What people call it first."""
        return self.names[0] if self.names else spoken(self.name)

    @property
    def pickupable(self) -> bool:
        """Whether a hand can take it."""
        return self.can(Property.PICKUPABLE)

    @property
    def is_receptacle(self) -> bool:
        """Whether things can be put on or in it."""
        return bool(self.holds)

    @property
    def holds_inside(self) -> bool:
        """Whether what is put there is in it, not just on it."""
        return self.holds == "in"

    @property
    def lidded(self) -> bool:
        """Whether its contents are out of sight and reach while it is closed."""
        return self.can(Property.OPENABLE) and self.holds_inside and not self.pickupable
