"""Which propositions are deleted: by criteria, or as the least useful ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memory_node.domain.errors import InvalidValueError
from memory_node.knowledge.facts import Proposition


@dataclass(frozen=True)
class Criteria:
    """What is deleted: propositions for which all that is given is true.

    before_ns: not learned or confirmed since. concept: one of its tags, in capitals or not. subject: who said it or
    what its document is about. made_by: what read it. session: all its sources are of that episode, talk or document.
    replaced: only such as a later statement took the place of.

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
            and (not self.session or {source.rpartition(":")[0] for source in one.sources} == {self.session})
            and (not self.replaced or not one.active)
        )


def least_useful(
    propositions: Iterable[Proposition], is_told: Callable[[Proposition], bool], kept: int
) -> list[Proposition]:
    """Return the propositions beyond the `kept` most useful ones; what people told is never among them.

    Useful is, in this order: what counts still, what more steps bear out, what is newer.
    """
    others = [one for one in propositions if not is_told(one)]
    others.sort(key=lambda one: (one.active, one.support, one.stamp_ns, one.text), reverse=True)
    return others[max(0, kept) :]
