"""Rows of answers, told once: a pydantic model whose fields say where memory's own object has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from memory_node.domain.states import StateBelief
from memory_node.questions.present import BELIEVED

OfKind = TypeVar("OfKind", bound="Row")


class At(NamedTuple):
    """Where a field is in memory's object ("box.center"); without one it has the same name."""

    path: str


class Row(BaseModel):
    """Fields that are read off one object of memory. The kinds of fields below may be given what they already are."""

    model_config = ConfigDict(populate_by_name=True)

    @classmethod
    def of(cls: type[OfKind], value: Any, **more: Any) -> OfKind:
        """Return the row of an object; more: fields that are not read off it, by their names here."""
        return cls(**more, **{one.name: one.read(value) for one in _fields(cls) if one.name not in more})

    @classmethod
    def plain(cls, value: Any) -> dict[str, Any]:
        """Return what the row of an object is as JSON; in half the time, as nothing is checked."""
        return {one.key: one.convert(one.read(value)) for one in _fields(cls)}


class _Field(NamedTuple):
    name: str
    key: str
    read: Callable[[Any], Any]
    convert: Callable[[Any], Any]


@cache
def _fields(row: type[Row]) -> tuple[_Field, ...]:
    found = []
    for name, field in row.model_fields.items():
        path = next((one.path for one in field.metadata if isinstance(one, At)), name)
        # pydantic applies the last of them first.
        kinds: list[Any] = [one.func for one in field.metadata if isinstance(one, BeforeValidator)]
        found.append(_Field(name, field.alias or name, attrgetter(path), _in_turn(kinds[::-1])))
    return tuple(found)


def _in_turn(kinds: Sequence[Any]) -> Callable[[Any], Any]:
    """Return what applies these one after another."""
    if len(kinds) < 2:
        return kinds[0] if kinds else lambda value: value
    first, rest = kinds[0], _in_turn(kinds[1:])
    return lambda value: rest(first(value))


def seconds(stamp_ns: int) -> float:
    """Return a stamp in seconds, to the microsecond."""
    return round(stamp_ns * 1e-9, 6)


def nanoseconds(stamp_s: float) -> int:
    """Return a stamp of the page in nanoseconds."""
    return round(stamp_s * 1e9)


def rounded(digits: int) -> BeforeValidator:
    """Return what makes a field a number of so many digits."""
    return BeforeValidator(lambda value: round(float(value), digits))


def several(row: type[Row]) -> BeforeValidator:
    """Return what makes a field a list of rows."""
    return BeforeValidator(lambda values: [one if isinstance(one, row | dict) else row.of(one) for one in values])


def _names(values: Iterable[Any]) -> list[str]:
    return [
        str(one.state if isinstance(one, StateBelief) else one)
        for one in (sorted(values) if isinstance(values, frozenset) else values)
    ]


def _believed(values: Iterable[Any]) -> list[str]:
    return _names(one for one in values if not isinstance(one, StateBelief) or one.probability >= BELIEVED)


# A stamp, which memory has in nanoseconds, in seconds.
Stamp = Annotated[float, BeforeValidator(lambda value: seconds(value) if isinstance(value, int) else value)]
Metres = Annotated[list[float], BeforeValidator(lambda values: [round(float(one), 3) for one in values])]
Name = Annotated[str, BeforeValidator(str)]
Names = Annotated[list[str], BeforeValidator(_names)]
# Of states those that are likelier than not.
Believed = Annotated[list[str], BeforeValidator(_believed)]
# None where memory has "".
OrNone = Annotated[str | None, BeforeValidator(lambda text: text or None)]
