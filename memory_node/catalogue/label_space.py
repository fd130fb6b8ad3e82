"""Reads label spaces: YAML files of classes, alone or on the base of another one (docs/label_spaces.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, ValidationError

from memory_node.catalogue.class_name import spoken
from memory_node.catalogue.label_space_file import ClassEntry, LabelSpaceFile, TreatmentEntry, on_base
from memory_node.catalogue.object_catalogue import ANYTHING, ObjectCatalogue
from memory_node.catalogue.object_kind import ABILITIES, ObjectKind, Property, Treatment
from memory_node.domain.errors import InvalidValueError, ResourceMissingError, faults_of
from memory_node.domain.resources import read_yaml, resource_path
from memory_node.domain.skill_library import GOAL_OF_SKILL, SKILLS

_ON_TOP, _INSIDE = (1.0,), (0.05,)
# What a place must do for a skill to be done there.
_WORK = {"HeatObject": Property.HEATS, "CoolObject": Property.COOLS, "CleanObject": Property.DRAINS}


def catalogue_of(file: LabelSpaceFile) -> ObjectCatalogue:
    """Return the catalogue of a file without a base.

    Raises:
        InvalidValueError: a class that is not declared, a kind that cannot be, or a place that does not do its work.
    """
    for where, name in _references(file):
        if name not in file.classes:
            raise InvalidValueError(f"{where}: {name!r} is no class of {file.name}")
    for what in file.hiding_places:
        if what != ANYTHING and what not in ABILITIES:
            known = ", ".join((ANYTHING, *sorted(ABILITIES)))
            raise InvalidValueError(f"hiding_places.{what}: expected one of {known}")
    kinds = tuple(_kind(name, entry) for name, entry in file.classes.items())
    _check_pieces(kinds)
    catalogue = ObjectCatalogue(
        name=file.name,
        kinds=kinds,
        groups=dict(file.groups),
        diets=dict(file.diets),
        ingredients=dict(file.ingredients),
        plant_based=file.plant_based,
        alike_sets=tuple(map(tuple, file.alike)),
        treatments=tuple(_treatment(name, entry) for name, entry in file.treatments.items()),
        recipient=file.roles.recipient or "",
        bins=file.roles.bins,
        reading_lights=file.roles.reading_lights,
        put_down_places=file.roles.put_down_places,
        hides={what: dict(priors) for what, priors in file.hiding_places.items()},
        rooms=dict(file.rooms),
        phrases=tuple((entry.phrases, entry.classes) for entry in file.phrases),
        strangers={**dict.fromkeys(file.other_things, ()), **file.strangers},
    )
    _check_places(catalogue)
    return catalogue


def _kind(name: str, entry: ClassEntry) -> ObjectKind:
    if entry.levels is not None and entry.holds is None:
        raise InvalidValueError(f"classes.{name}.levels: only what `holds` something has levels")
    names = (spoken(name),) if entry.names is None else (*entry.names, spoken(name)) if entry.names else ()
    levels = entry.levels or (_INSIDE if entry.holds == "in" else _ON_TOP)
    try:
        return ObjectKind(
            name=name,
            gloss=entry.gloss or spoken(name),
            names=tuple(dict.fromkeys(names)),
            described=entry.described,
            everyday=bool(entry.names),
            properties=_properties(entry),
            holds=entry.holds or "",
            levels=levels,
            size_m=entry.size_m,
            slices=entry.slices.into if entry.slices else "",
            slice_count=entry.slices.count if entry.slices else 1,
            slides=entry.opens == "slide",
            part_of=entry.part_of or "",
            switched_by=entry.switched_by or (name if entry.switch else ""),
            rooms=entry.rooms,
            stands_for=entry.same_as,
        )
    except InvalidValueError as error:
        raise InvalidValueError(f"classes.{error}") from error


def _properties(entry: ClassEntry) -> frozenset[str]:
    """Return what `is` and `does` say, and what other keys imply."""
    implied = {
        Property.TOGGLEABLE: entry.switch is not None,
        Property.LIGHT: entry.switch == "light",
        Property.SLICEABLE: entry.slices is not None,
    }
    return frozenset((*entry.can, *entry.does, *(name for name, holds in implied.items() if holds)))


def _treatment(name: str, entry: TreatmentEntry) -> Treatment:
    if entry.skill not in GOAL_OF_SKILL:
        known = ", ".join(GOAL_OF_SKILL)
        raise InvalidValueError(f"treatments.{name}.skill: expected one of {known}, got {entry.skill!r}")
    declared = SKILLS[entry.skill].brings_about
    states = entry.states or (() if declared is None else (declared,))
    needs = (entry.verbs, entry.at, entry.tools, entry.vessels)
    try:
        return Treatment(name, entry.skill, *needs, pieces=entry.pieces, states=states)
    except InvalidValueError as error:
        raise InvalidValueError(f"treatments.{error}") from error


def _references(file: LabelSpaceFile) -> Iterator[tuple[str, str]]:
    """Yield (where, class) for every class that an entry speaks of."""

    def each(where: str, names: Iterable[str | None]) -> Iterator[tuple[str, str]]:
        return ((where, name) for name in names if name)

    for name, entry in file.classes.items():
        cut_into = entry.slices.into if entry.slices else None
        yield from each(f"classes.{name}", (cut_into, entry.part_of, entry.switched_by))
    for word, members in file.groups.items():
        yield from each(f"groups.{word}", members)
    for group in file.alike:
        yield from each("alike", group)
    for name, treatment in file.treatments.items():
        yield from each(f"treatments.{name}", (*treatment.at, *treatment.tools, *treatment.vessels))
    roles = file.roles
    yield from each("roles", (roles.recipient, *roles.bins, *roles.reading_lights, *roles.put_down_places))
    for what, priors in file.hiding_places.items():
        yield from each(f"hiding_places.{what}", priors)
    for phrase in file.phrases:
        yield from each(f"phrases {list(phrase.phrases)}", phrase.classes)


def _check_pieces(kinds: Iterable[ObjectKind]) -> None:
    """Check that pieces tell what they were cut from."""
    whole_of: dict[str, str] = {}
    for kind in kinds:
        if kind.slices and whole_of.setdefault(kind.slices, kind.name) != kind.name:
            both = f"{whole_of[kind.slices]} and {kind.name}"
            raise InvalidValueError(f"classes.{kind.name}.slices.into: {kind.slices} cannot be pieces of {both}")
        if kind.slices == kind.name:
            raise InvalidValueError(f"classes.{kind.name}.slices.into: pieces need a class of their own")


def _check_places(catalogue: ObjectCatalogue) -> None:
    """Check that the places of treatments can take a thing and do the work."""
    for treatment in catalogue.treatments:
        work = _WORK.get(treatment.skill)
        for kind in (catalogue[name] for name in treatment.at):
            if work is not None and not (kind.can(work) and kind.is_receptacle):
                raise InvalidValueError(
                    f"treatments.{treatment.name}.at: {treatment.skill} needs what `holds` things and {work}; "
                    f"{kind.name} does not"
                )
        for kind in (catalogue[name] for name in treatment.tools):
            ability = SKILLS[treatment.skill].tool_ability
            if ability and not kind.satisfies(ability):
                raise InvalidValueError(
                    f"treatments.{treatment.name}.tools: {treatment.skill} needs what {ability}; {kind.name} does not"
                )


HOUSEHOLD = "household"
# A parameter that names the label space.
LabelSpace = Annotated[str, Field(description="what kinds of things there are: a shipped label space or a .yaml file")]
_FOLDER = "config/label_spaces"
_MOST_BASES = 8


def load_catalogue(label_space: str = HOUSEHOLD) -> ObjectCatalogue:
    """Return the catalogue of a shipped label space by its name, or of a YAML file by its path.

    Raises:
        InvalidValueError: the file says something that cannot be; the message names the key.
        ResourceMissingError: no label space of that name ships with the package, or there is no such file.
    """
    return _load(label_space) if _is_path(label_space) else _load_shipped(label_space)


def _load(label_space: str) -> ObjectCatalogue:
    file = _read(label_space)
    try:
        return catalogue_of(file)
    except InvalidValueError as error:
        raise InvalidValueError(f"label space {label_space}: {error}") from error


_load_shipped = lru_cache(maxsize=8)(_load)


def _is_path(label_space: str) -> bool:
    return label_space.endswith((".yaml", ".yml"))


def _read(label_space: str, above: tuple[str, ...] = ()) -> LabelSpaceFile:
    """Return a file with what its base knows taken over. above: the files that are based on this one."""
    path = Path(label_space) if _is_path(label_space) else _shipped_path(label_space)
    if str(path) in above or len(above) >= _MOST_BASES:
        raise InvalidValueError(f"{path}: base: label spaces are based on one another in a circle")
    file = _checked(path)
    if file.base is None:
        return file
    base = file.base
    if _is_path(base) and not Path(base).is_absolute():
        base = str(path.parent / base)
    try:
        return on_base(file, _read(base, (*above, str(path))))
    except InvalidValueError as error:
        raise InvalidValueError(f"{path}: {error}") from error


def _shipped_path(name: str) -> Path:
    folder = resource_path(_FOLDER)
    path = folder / f"{name}.yaml"
    if path not in set(folder.glob("*.yaml")):
        shipped = ", ".join(sorted(one.stem for one in folder.glob("*.yaml")))
        raise ResourceMissingError(f"label space {name!r}: expected one of {shipped}, or the path of a .yaml file")
    return path


def _checked(path: Path) -> LabelSpaceFile:
    try:
        content = read_yaml(path)
    except FileNotFoundError:
        raise ResourceMissingError(f"label space {path}: there is no such file") from None
    except yaml.YAMLError as error:
        raise InvalidValueError(f"{path}: {error}") from error
    try:
        return LabelSpaceFile.model_validate(content)
    except ValidationError as error:
        faults = faults_of(error, "file")
        raise InvalidValueError(f"{path}: {'; '.join(faults)}") from error
