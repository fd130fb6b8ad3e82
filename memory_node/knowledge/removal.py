"""Which propositions are deleted, by criteria or as the least useful ones, and what is kept to bring them back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.knowledge.facts import Proposition


@dataclass(frozen=True)
class Criteria:
    """What is deleted: propositions for which all that is given is true.

    before_ns: not learned or confirmed since. concept: one of its tags, in capitals or not. subject: who said it or
    what its document is about. made_by: what read it. session: all its sources are of that episode, talk, document or
    file. replaced: only such as a later statement took the place of.

    Raises:
        InvalidValueError: nothing is given; that would delete everything.
    """

    before_ns: int = 0
    concept: str = ""
    subject: str = ""
    made_by: str = ""
    session: str = ""
    replaced: bool = False

    def __post_init__(self) -> None:
        if not any(vars(self).values()):
            raise InvalidValueError("Criteria: expected one at least, got none; that would delete everything")

    def match(self, one: Proposition) -> bool:
        """Return whether a proposition is to be deleted."""
        return (
            (not self.before_ns or one.stamp_ns < self.before_ns)
            and (not self.concept or self.concept.lower() in {tag.lower() for tag in one.concepts})
            and (not self.subject or self.subject == one.subject)
            and (not self.made_by or self.made_by == one.made_by)
            and (not self.session or all(_is_of(source, self.session) for source in one.sources))
            and (not self.replaced or not one.active)
        )


def _is_of(source: str, session: str) -> bool:
    """Return whether a step is of a session, or of a file: its sessions add a digest to its name, and their number."""
    name = source.rpartition(":")[0]
    return name == session or re.fullmatch(r"-[0-9a-f]{12}(-\d+)*", name.removeprefix(session)) is not None


@dataclass(frozen=True)
class Deleted:
    """What a deletion took out: propositions and steps as the log has them."""

    propositions: tuple[Mapping[str, Any], ...] = ()
    steps: tuple[Mapping[str, Any], ...] = ()

    def __len__(self) -> int:
        return len(self.propositions)


def least_useful(
    propositions: Iterable[Proposition], is_told: Callable[[Proposition], bool], kept: int
) -> list[Proposition]:
    """Return the propositions beyond the `kept` most useful ones; what people told is never among them.

    Useful is, in this order: what counts still, what more steps bear out, what is newer.
    """
    others = [one for one in propositions if not is_told(one)]
    others.sort(key=lambda one: (one.active, one.support, one.stamp_ns, one.text), reverse=True)
    return others[max(0, kept) :]
