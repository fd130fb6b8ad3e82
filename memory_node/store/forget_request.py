"""What is to be forgotten, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from memory_node.domain.errors import InvalidValueError


@dataclass(frozen=True)
class ForgetRequest:
    """One scope: objects by id, an area, a class, a label, a time span, or a robot.

    label: words that name or belong to a person; whatever carries them in any text is forgotten or blackened.
    from_ns and until_ns: a span, both ends included.
    """

    object_ids: tuple[str, ...] = ()
    area_id: str = ""
    class_name: str = ""
    label: str = ""
    from_ns: int = 0
    until_ns: int = 0
    robot_id: str = ""

    def __post_init__(self) -> None:
        scopes = [bool(self.object_ids), bool(self.area_id), bool(self.class_name), bool(self.label.strip())]
        scopes += [bool(self.from_ns or self.until_ns), bool(self.robot_id)]
        if sum(scopes) != 1:
            raise InvalidValueError(f"ForgetRequest: expected one scope, got {sum(scopes)}")
        if self.until_ns < self.from_ns:
            raise InvalidValueError(f"ForgetRequest: the span ends ({self.until_ns}) before it begins ({self.from_ns})")

    @property
    def scope(self) -> str:
        """The kind of the request, without its content."""
        if self.from_ns or self.until_ns:
            return "time span"
        return next(f.name for f in fields(self) if getattr(self, f.name)).replace("_", " ")

    def in_span(self, stamp_ns: int) -> bool:
        """Return whether a stamp lies in the span; never where none was asked for."""
        return bool(self.from_ns or self.until_ns) and self.from_ns <= stamp_ns <= self.until_ns


@dataclass(frozen=True)
class ForgetReport:
    """What was forgotten: rows by table, rows with blackened text, and where it might still be.

    object_ids: of the objects that are gone. verified: all files could be cleaned and hold none of it any more; found:
    those that still do. backups: files that were cleaned as well. exports: files that the tool wrote earlier and
    cannot clean.
    """

    scope: str
    counts: dict[str, int]
    blackened: int
    object_ids: tuple[str, ...]
    verified: bool
    found: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return it for printing."""
        return {f.name: getattr(self, f.name) for f in fields(self)}
