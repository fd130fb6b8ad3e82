"""The classes of things that skills need besides what an instruction names: knives to cut, a sink to wash in."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill_library import GOAL_OF_SKILL, Skill


class NeededClasses:
    """What the skills of one instruction need. skills: those that it lets the robot use."""

    def __init__(self, kinds: ObjectCatalogue, skills: Sequence[Skill]) -> None:
        self._kinds = kinds
        self._skills = skills

    @property
    def tools(self) -> tuple[str, ...]:
        """The classes of tools that the skills need in the hand, () where none is needed."""
        treated = (GOAL_OF_SKILL[skill.name] for skill in self._skills if skill.tool_ability)
        usual = (self._kinds.usual_treatment(goal) for goal in treated)
        return tuple(name for one in usual if one is not None for name in one.tools)

    @property
    def groups(self) -> Iterable[tuple[str, ...]]:
        """For each need the classes of which one is enough."""
        return filter(None, (self.tools, *map(self._usual_places, self._skills)))

    def missing(self, about: Collection[str], known: Collection[str]) -> tuple[str, ...]:
        """Return the classes that an instruction is about, and one of each need, of which nothing is known.

        known: folded classes.
        """
        wanted = [name for name in about if not self._is_there_otherwise(name, about, known)]
        wanted += [needed[0] for needed in self.groups if not any(folded(name) in known for name in needed)]
        return tuple(name for name in dict.fromkeys(wanted) if folded(name) not in known)

    def _is_there_otherwise(self, name: str, about: Collection[str], known: Collection[str]) -> bool:
        """Return whether pieces are wanted that can be made of what is there, or a whole of which there are pieces that
        are wanted as well."""
        whole, pieces = self._kinds.whole(name), self._kinds[name].slices
        return (whole != name and folded(whole) in known) or (pieces in about and folded(pieces) in known)

    @property
    def places(self) -> frozenset[str]:
        """The classes, folded, at which the instruction's treatments are usually done."""
        return frozenset(map(folded, itertools.chain.from_iterable(map(self._usual_places, self._skills))))

    @property
    def fixtures(self) -> set[str]:
        """The folded classes of what skills need."""
        return {folded(name) for names in self._kinds.needs_of_skills().values() for name in names}

    def _usual_places(self, skill: Skill) -> tuple[str, ...]:
        """Return the classes at which a composite is usually done, () for another skill."""
        usual = self._kinds.usual_treatment(GOAL_OF_SKILL[skill.name]) if skill.composite else None
        return usual.at if usual is not None else ()
