"""What may stand in a label-space file; a slip of the pen is an error that names the key."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from memory_node.catalogue.object_kind import ABILITIES
from memory_node.domain.states import ObjectState

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
ClassName = Text
Length = Annotated[float, Field(gt=0.0, le=20.0)]
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Prior = Annotated[float, Field(gt=0.0, le=1.0)]


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _known(ability: str) -> str:
    if ability not in ABILITIES:
        raise ValueError(f"expected one of {', '.join(sorted(ABILITIES))}")
    return ability


Ability = Annotated[str, AfterValidator(_known)]
OneOrMore = Annotated[tuple[ClassName, ...], BeforeValidator(_listed)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Slices(_Entry):
    """What cutting makes of a thing."""

    into: ClassName
    count: Annotated[int, Field(ge=1, le=20)] = 4


class ClassEntry(_Entry):
    """One class; docs/label_spaces.md explains the keys."""

    same_as: OneOrMore = ()
    names: tuple[Text, ...] | None = None
    described: tuple[Text, ...] = ()
    gloss: Text | None = None
    size_m: tuple[Length, Length, Length] | None = None
    can: tuple[Ability, ...] = Field(default=(), alias="is")
    does: tuple[Ability, ...] = ()
    switch: Literal["appliance", "light"] | None = None
    switched_by: ClassName | None = None
    slices: Slices | None = None
    holds: Literal["on", "in"] | None = None
    levels: tuple[Fraction, ...] | None = None
    opens: Literal["hinge", "slide"] = "hinge"
    part_of: ClassName | None = None
    rooms: tuple[Text, ...] = ()


class TreatmentEntry(_Entry):
    """What a verb asks for."""

    skill: Text | None = None
    verbs: tuple[Text, ...] = ()
    at: tuple[ClassName, ...] = ()
    tools: tuple[ClassName, ...] = ()
    vessels: tuple[ClassName, ...] = ()
    pieces: bool = False
    states: tuple[ObjectState, ...] = ()


class Roles(_Entry):
    """Classes that play a part for the planner."""

    recipient: ClassName | None = None
    bins: tuple[ClassName, ...] = ()
    reading_lights: tuple[ClassName, ...] = ()
    put_down_places: tuple[ClassName, ...] = ()


class PhraseEntry(_Entry):
    """What people say of several classes."""

    phrases: tuple[Text, ...]
    classes: tuple[ClassName, ...]


class LabelSpaceFile(_Entry):
    """A whole file."""

    name: Text
    base: Text | None = None
    keeps: Literal["all", "listed"] = "all"
    classes: dict[ClassName, ClassEntry] = Field(default_factory=dict)
    groups: dict[Text, tuple[ClassName, ...]] = Field(default_factory=dict)
    diets: dict[Text, tuple[ClassName, ...]] = Field(default_factory=dict)
    ingredients: dict[Text, tuple[Text, ...]] = Field(default_factory=dict)
    plant_based: tuple[Text, ...] = ()
    alike: tuple[tuple[ClassName, ...], ...] = ()
    treatments: dict[Text, TreatmentEntry] = Field(default_factory=dict)
    roles: Roles = Roles()
    hiding_places: dict[Text, dict[ClassName, Prior]] = Field(default_factory=dict)
    rooms: dict[Text, tuple[Text, ...]] = Field(default_factory=dict)
    phrases: tuple[PhraseEntry, ...] = ()
    strangers: dict[Text, tuple[Text, ...]] = Field(default_factory=dict)
    other_things: tuple[Text, ...] = ()
