"""What may stand in a label-space file, and what it takes over from its base; a slip of the pen names the key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from memory_node.catalogue.class_name import folded, spoken
from memory_node.catalogue.object_kind import ABILITIES
from memory_node.domain.errors import InvalidValueError
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


Rename = Callable[[Iterable[str]], tuple[str, ...]]


def on_base(own: LabelSpaceFile, base: LabelSpaceFile) -> LabelSpaceFile:
    """Return a label space that stands alone.

    A class of the base is known here by every name that says `same_as` it, and by its own name if the file keeps all
    or lists it. What has no name here is left out of every list.

    Raises:
        InvalidValueError: `same_as` names what is no class of the base.
    """
    entries = {name: _sourced(name, entry, base) for name, entry in own.classes.items()}
    names = _names_here(entries, own.keeps == "all", base)

    def rename(classes: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for one in classes for name in names.get(one, ())))

    kept = base.classes if own.keeps == "all" else {}
    classes = {name: _renamed_entry(entry, rename) for name, entry in kept.items()}
    classes.update({name: _merged_entry(name, entry, base, rename) for name, entry in entries.items()})
    listed = {folded(name) for name, entry in classes.items() for name in (name, *(entry.names or ()))}
    strangers = {name: purposes for name, purposes in base.strangers.items() if folded(name) not in listed}
    other_things = [name for name in base.other_things if folded(name) not in listed]
    return LabelSpaceFile(
        name=own.name,
        classes=classes,
        groups=_joined({word: rename(members) for word, members in base.groups.items()}, own.groups),
        diets=_joined({word: rename(members) for word, members in base.diets.items()}, own.diets),
        ingredients=_joined(base.ingredients, own.ingredients),
        plant_based=tuple(dict.fromkeys((*base.plant_based, *own.plant_based))),
        alike=(*filter(_several, map(rename, base.alike)), *own.alike),
        treatments=_treatments(own.treatments, base.treatments, rename),
        roles=_roles(own.roles, base.roles, rename),
        hiding_places={**_hiding_places(base.hiding_places, names), **own.hiding_places},
        rooms={**base.rooms, **own.rooms},
        phrases=(*_phrases(base.phrases, rename), *own.phrases),
        strangers={**strangers, **own.strangers},
        other_things=tuple(dict.fromkeys((*other_things, *own.other_things))),
    )


def _sourced(name: str, entry: ClassEntry, base: LabelSpaceFile) -> ClassEntry:
    """Return an entry that says what it is the same as: a class that the base has too is the same as that."""
    unknown = [source for source in entry.same_as if source not in base.classes]
    if unknown:
        raise InvalidValueError(f"classes.{name}.same_as: {base.name} has no class {', '.join(map(repr, unknown))}")
    if entry.same_as or name not in base.classes:
        return entry
    return ClassEntry.model_validate({**_given(entry), "same_as": (name,)})


def _names_here(entries: Mapping[str, ClassEntry], keeps_all: bool, base: LabelSpaceFile) -> dict[str, tuple[str, ...]]:
    names: dict[str, list[str]] = {name: [name] if keeps_all else [] for name in base.classes}
    for name, entry in entries.items():
        for source in entry.same_as:
            # What is called the same stands first: a Cup is a cup before it is a wine glass.
            names[source].insert(0 if folded(name) == folded(source) else len(names[source]), name)
    return {name: tuple(dict.fromkeys(here)) for name, here in names.items()}


def _given(entry: ClassEntry) -> dict[str, Any]:
    """Return what an entry says by the keys of the file, without defaults."""
    return entry.model_dump(exclude_unset=True, by_alias=True)


def _merged_entry(name: str, entry: ClassEntry, base: LabelSpaceFile, rename: Rename) -> ClassEntry:
    """Return an entry with what it does not say itself from the classes that it is the same as, the first one first."""
    if not entry.same_as:
        return entry
    sources = [base.classes[source] for source in entry.same_as]
    first = _given(_renamed_entry(sources[0], rename))
    called = [word for source in sources for word in source.names or ()]
    if sources[0].names != ():
        own_words = () if name in entry.same_as else (spoken(name),)
        first["names"] = tuple(dict.fromkeys((*own_words, *called))) or None
    first["described"] = tuple(dict.fromkeys(phrase for source in sources for phrase in source.described))
    if first.get("part_of") == name:  # a class that stands for part and whole
        del first["part_of"]
    known_as = (*entry.same_as, *(name for source in sources for name in source.same_as))
    return ClassEntry.model_validate({**first, **_given(entry), "same_as": tuple(dict.fromkeys(known_as))})


def _renamed_entry(entry: ClassEntry, rename: Rename) -> ClassEntry:
    """Return an entry of the base whose references are names of here; what has none is left out."""
    changes: dict[str, Any] = {}
    if entry.slices is not None:
        into = rename([entry.slices.into])[:1]
        changes["slices"] = Slices(into=into[0], count=entry.slices.count) if into else None
    for key in ("part_of", "switched_by"):
        referred = getattr(entry, key)
        if referred is not None:
            changes[key] = next(iter(rename([referred])), None)
    return entry.model_copy(update=changes) if changes else entry


def _joined(base: Mapping[str, tuple[str, ...]], own: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {word: tuple(dict.fromkeys((*base.get(word, ()), *own.get(word, ())))) for word in {**base, **own}}


def _several(classes: tuple[str, ...]) -> bool:
    return len(classes) > 1


def _treatments(
    own: Mapping[str, TreatmentEntry], base: Mapping[str, TreatmentEntry], rename: Rename
) -> dict[str, TreatmentEntry]:
    made = {name: _renamed_treatment(entry, rename) for name, entry in base.items()}
    for name, entry in own.items():
        given = {key: getattr(entry, key) for key in entry.model_fields_set}
        made[name] = made[name].model_copy(update=given) if name in made else entry
    return made


def _renamed_treatment(entry: TreatmentEntry, rename: Rename) -> TreatmentEntry:
    """Return a treatment with its needs under their names here; with a need lost, it is the skill's usual treatment."""
    needs = {key: rename(getattr(entry, key)) for key in ("at", "tools", "vessels")}
    if any(getattr(entry, key) and not here for key, here in needs.items()):
        needs = dict.fromkeys(needs, ())
    return entry.model_copy(update=needs)


def _roles(own: Roles, base: Roles, rename: Rename) -> Roles:
    renamed = {
        "recipient": next(iter(rename([base.recipient] if base.recipient else [])), None),
        **{key: rename(getattr(base, key)) for key in ("bins", "reading_lights", "put_down_places")},
    }
    return Roles.model_validate({**renamed, **own.model_dump(exclude_unset=True)})


def _hiding_places(
    base: Mapping[str, Mapping[str, float]], names: Mapping[str, tuple[str, ...]]
) -> dict[str, dict[str, float]]:
    return {
        what: {name: prior for place, prior in priors.items() for name in names.get(place, ())}
        for what, priors in base.items()
    }


def _phrases(base: Iterable[PhraseEntry], rename: Rename) -> list[PhraseEntry]:
    renamed = (PhraseEntry(phrases=entry.phrases, classes=rename(entry.classes)) for entry in base)
    return [entry for entry in renamed if entry.classes]
