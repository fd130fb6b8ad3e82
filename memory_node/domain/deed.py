"""One deed: what the robot did, or tried, with which thing, in which episode."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.tried_pose import TriedPose


@dataclass(frozen=True)
class Deed:
    """A skill that was tried with a thing, with memory's ids.

    source: "episode:step". object_id, object_class: the thing; from_id, from_class: what it stood on or in before;
    to_id, to_class: where it was put, or the appliance it was done at. "" where memory knew none. reason: why it
    failed although nothing that is declared was missing, "" where it succeeded. tried: where base and arm tried it.
    looks: the thing's description as it was then, "" for none.
    """

    source: str
    skill: str
    object_id: str
    object_class: str
    stamp_ns: int
    from_id: str = ""
    from_class: str = ""
    to_id: str = ""
    to_class: str = ""
    reason: str = ""
    tried: tuple[TriedPose, ...] = ()
    looks: str = ""

    @property
    def episode_id(self) -> str:
        """The episode that it belongs to."""
        return self.source.rpartition(":")[0]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Deed:
        """Return the deed of stored values.

        Raises:
            InvalidValueError: a value is missing or of another type.
        """
        known = {field.name: field.type for field in fields(cls)}
        poses = tuple(map(TriedPose.from_dict, values.get("tried", ())))
        given = {name: value for name, value in values.items() if name in known and name != "tried"}
        if not all(isinstance(value, int if known[name] == "int" else str) for name, value in given.items()):
            raise InvalidValueError(f"deed: expected texts and a stamp, got {values!r:.80}")
        try:
            return cls(**given, tried=poses)
        except TypeError as error:
            raise InvalidValueError(f"deed: {error}") from error
