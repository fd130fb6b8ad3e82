"""Parameters: values that users may set, each declared once with its unit, type, range, default and meaning."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from memory_node.domain.errors import InvalidValueError

Kind = TypeVar("Kind", bound="Parameters")
_T = TypeVar("_T")

_LONGEST_SHOWN = 80  # characters of a wrong value in a message
_EXPERT, _LIVE = "expert", "live"

Expert = Annotated[_T, _EXPERT]
"""Marks a parameter, or a whole section, that nobody needs to set on a robot: its name begins with `expert.`."""

Live = Annotated[_T, _LIVE]
"""Marks a parameter that is read at each use, so that it may change while its node runs."""

# How alike a misspelt name and the one that was meant are (difflib's ratio).
_ALIKE = 0.8


def parameter(default: Any, meaning: str, least: float | None = None, most: float | None = None) -> Any:
    """Return the declaration of a parameter; least, most: its range where it is a number, both included."""
    return Field(default=default, description=meaning, ge=least, le=most)


@dataclass(frozen=True)
class Profile:
    """Marks a section that files call `name`, for example `llm.verifier`, wherever the code keeps it.

    shared: parameters that it takes from the section around that name, here `llm`, where it is not given its own.
    """

    name: str
    shared: frozenset[str]


class InvalidParametersError(InvalidValueError):
    """Parameters were given values that they cannot hold; `problems`: what is wrong with each, by name."""

    def __init__(self, problems: Sequence[tuple[str, str]], where: str = "") -> None:
        told = "; ".join(f"{name}: {text}" if name else text for name, text in problems)
        super().__init__(f"{where}: {told}" if where else told)
        self.problems = tuple(problems)


class Parameters(BaseModel):
    """Base of every set of parameters: frozen, checked at construction, nothing that was not declared.

    A field is declared once, with its unit in the name; code, YAML files, ROS and docs/parameters.md all follow it:

        near_m: float = parameter(0.6, "largest distance of `near`", 0.0, 10.0)

    A field whose type is itself `Parameters` is a section: its parameters are called `section.name`. `Expert[float]` in
    place of `float` calls it `expert.section.name`.

    Raises:
        InvalidParametersError: a value of the wrong type, out of its range, or at odds with another one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InvalidParametersError(_problems(type(self), error, values)) from None

    @classmethod
    def of(cls: type[Kind], values: Mapping[str, Any], where: str = "") -> Kind:
        """Return the parameters with these values, by dotted names or nested; what is not named keeps its default.

        where: what messages call the source.

        Raises:
            InvalidParametersError: as the constructor, or a name that is none; all that is wrong is told at once.
        """
        fields = list(parameter_fields(cls))
        known = [field.name for field in fields]
        given = flattened(values)
        empty_sections = {name for name, value in given.items() if value == {} and _is_section(name, known)}
        unknown = [name for name in given if name not in known and name not in empty_sections]
        problems = [(name, _moved(name, cls, fields) or unknown_name(name, known)) for name in unknown]
        sources = {field.path: name for field in fields for name in (field.taken_from, field.name) if name in given}
        made = _made(cls, {path: given[name] for path, name in sources.items()}, "", problems)
        if problems or made is None:
            # a wrong value that several profiles share is told once
            raise InvalidParametersError(list(dict.fromkeys((sources.get(n, n), text) for n, text in problems)), where)
        return made

    def changed(self: Kind, **values: Any) -> Kind:
        """Return the same parameters but for some, checked again; sections are given whole."""
        return type(self)(**{**dict(self), **values})

    def adopt(self, newer: Parameters) -> None:
        """Take over, in place, the values that `newer` has for what may change while it is in use; see `Live`."""
        for name, info in type(self).model_fields.items():
            value = getattr(newer, name)
            if isinstance(value, Parameters):
                getattr(self, name).adopt(value)
            elif _LIVE in info.metadata:
                object.__setattr__(self, name, value)  # the one change of what is frozen for everybody else

    def values(self) -> dict[str, Any]:
        """Return every value by its dotted name; lists as YAML and ROS have them."""
        return {field.name: field.value_in(self) for field in parameter_fields(type(self))}


@dataclass(frozen=True)
class ParameterField:
    """One parameter as it was declared.

    name: dotted, as files have it. path: dotted, as the code has it. kind: bool, int, float or str; of a list, that of
    its items. is_list: it holds several values. expert: not for users of a robot. live: it may change
    while the node runs. taken_from: of a profile, the
    parameter whose value it has unless it is given its own; empty: none. low and high: the range, both inclusive.
    choices: the only texts that it may hold. length: of a list, where it is fixed.
    """

    name: str
    path: str
    kind: type
    is_list: bool
    default: Any
    description: str
    expert: bool = False
    live: bool = False
    taken_from: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    length: int | None = None

    @property
    def expected(self) -> str:
        """What values it takes, in words."""
        if self.choices:
            return self.limits
        one, many = _WORDS[self.kind]
        words = f"a list of {f'{self.length} ' if self.length else ''}{many}" if self.is_list else one
        return f"{words} from {self.limits}" if self.limits else words

    @property
    def limits(self) -> str:
        """Its range or choices, in words; empty: none."""
        if self.choices:
            return f"{'some of' if self.is_list else 'one of'} {', '.join(self.choices)}"
        return "" if self.low is None or self.high is None else f"{_number(self.low)} to {_number(self.high)}"

    def value_in(self, parameters: Parameters) -> Any:
        """Return its value; lists in the order that they were given, sets sorted."""
        value: Any = parameters
        for part in self.path.split("."):
            value = getattr(value, part)
        return _plain(value)


_WORDS = {
    bool: ("true or false", "truth values"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    str: ("text", "texts"),
}


def parameter_fields(kind: type[Parameters]) -> Iterator[ParameterField]:
    """Yield what was declared: first the parameters of its own, then those of its sections, as they were declared."""
    return _fields(kind, _Place("", "", False))


@dataclass(frozen=True)
class _Place:
    """Where parameters stand: `name` begins their names, `path` their paths in the code, both with a final dot."""

    name: str
    path: str
    expert: bool
    shared: frozenset[str] = frozenset()

    def inside(self, section: str, info: FieldInfo) -> _Place:
        expert, path = self.expert or _EXPERT in info.metadata, f"{self.path}{section}."
        for profile in info.metadata:
            if isinstance(profile, Profile):
                return _Place(f"{profile.name}.", path, expert, profile.shared)
        return _Place(f"{self.name}{section}.", path, expert)


def _fields(kind: type[Parameters], place: _Place) -> Iterator[ParameterField]:
    sections = {name: section for name, info in kind.model_fields.items() if (section := _section(info)) is not None}
    yield from (_field(name, info, place) for name, info in kind.model_fields.items() if name not in sections)
    for name, section in sections.items():
        yield from _fields(section, place.inside(name, kind.model_fields[name]))


def flattened(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested mappings as one, with dotted names; empty ones stay."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            flat.update(flattened(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def unknown_name(name: str, known: Sequence[str]) -> str:
    """Return what to say of a name that is none: the one that was probably meant, if any is near."""
    if _is_section(name, known):
        return f"a section, not a parameter; its parameters are called {name}.NAME"
    inside = [one for one in known if one.endswith(f".{name}")]
    # Its last part alone: the sections make any two names of one section alike.
    ends = {one: one.rpartition(".")[2] for one in known}
    alike = difflib.get_close_matches(name.rpartition(".")[2], ends.values(), n=1, cutoff=_ALIKE)
    near = inside or difflib.get_close_matches(name, [one for one in known if ends[one] in alike], n=1, cutoff=0.0)
    if not near and "." not in name:
        near = difflib.get_close_matches(name, [one for one in known if "." not in one], n=1) or (
            difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE)
        )
    return f"no such parameter; did you mean {near[0]}?" if near else "no such parameter, and none of a similar name"


def _moved(name: str, kind: type[Parameters], fields: Sequence[ParameterField]) -> str:
    """Return what became of a name that was a parameter: by its place in the code; empty: it never was one."""
    plain = name.removeprefix("expert.")
    for field in fields:
        if field.path == plain:
            return f"is called {field.name}"
    *sections, last = plain.split(".")
    for section in sections:
        info = kind.model_fields.get(section)
        kind = (_section(info) if info else None) or Parameters
    if last not in kind.__class_vars__:
        return ""
    return f"no parameter, but a constant of the algorithm, {getattr(kind, last)} in {kind.__module__}"


def _is_section(name: str, known: Sequence[str]) -> bool:
    return any(one.startswith(f"{name}.") for one in known)


def _made(kind: type[Kind], given: Mapping[str, Any], prefix: str, problems: list[tuple[str, str]]) -> Kind | None:
    """Return the section of these values, None where something is wrong with them, which is added to `problems`."""
    values: dict[str, Any] = {}
    for name, info in kind.model_fields.items():
        section = _section(info)
        if section is not None:
            made = _made(section, given, f"{prefix}{name}.", problems)
            if made is not None:
                values[name] = made
        elif prefix + name in given:
            values[name] = given[prefix + name]
    try:
        return kind(**values)
    except InvalidParametersError as error:
        problems += [(prefix + name if name else prefix.rstrip("."), text) for name, text in error.problems]
    return None


def _problems(kind: type[Parameters], error: ValidationError, given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what is wrong with values by name, in our words; one entry for each parameter."""
    told: dict[str, str] = {}
    for entry in error.errors(include_url=False):
        name = str(entry["loc"][0]) if entry["loc"] else ""
        said = str(entry["ctx"]["error"]) if entry["type"] == "value_error" else ""
        if name:
            said = f"{said or _expected(kind, name)}, got {_cut(repr(given[name]))}"
        told.setdefault(name, said)
    return list(told.items())


def _expected(kind: type[Parameters], name: str) -> str:
    info = kind.model_fields.get(name)
    if info is None:
        return unknown_name(name, list(kind.model_fields))
    section = _section(info)
    if section is not None:
        return f"expected {section.__name__}"
    return f"expected {_field(name, info, _Place('', '', False)).expected}"


def _section(info: FieldInfo) -> type[Parameters] | None:
    annotation = info.annotation
    # Python 3.10 takes `tuple[int, ...]` for a class, and refuses to compare it with one.
    if get_origin(annotation) is not None:
        return None
    return annotation if isinstance(annotation, type) and issubclass(annotation, Parameters) else None


def _field(name: str, info: FieldInfo, place: _Place) -> ParameterField:
    kind, metadata, length = info.annotation, list(info.metadata), None
    is_list = get_origin(kind) in (tuple, frozenset)
    if is_list:
        items = get_args(kind)
        kind, length = items[0], None if get_origin(kind) is frozenset or ... in items else len(items)
    if get_origin(kind) is Annotated:
        kind, *more = get_args(kind)
        metadata += [entry for one in more for entry in getattr(one, "metadata", [one])]
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    kind = str if choices else kind
    if kind not in _WORDS:
        raise TypeError(
            f"{name}: expected a parameter of bool, int, float, str, Literal of texts or a list, not {kind}"
        )
    expert = place.expert or _EXPERT in info.metadata
    prefix, around = "expert." if expert else "", place.name[:-1].rpartition(".")[0]
    return ParameterField(
        f"{prefix}{place.name}{name}",
        place.path + name,
        cast(type, kind),
        is_list,
        _plain(info.get_default(call_default_factory=True)),
        info.description or "",
        expert,
        _LIVE in info.metadata,
        f"{prefix}{around}.{name}" if name in place.shared else "",
        next((entry.ge for entry in metadata if hasattr(entry, "ge")), None),
        next((entry.le for entry in metadata if hasattr(entry, "le")), None),
        choices,
        length,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) <= 2**31 else f"{value:g}"
