"""Things that an instruction calls by memory's names ("Mug 2") or by what people called them ("my cup"); who speaks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.scene import SceneObject
from memory_node.planner.goal import Goal, Mention


@dataclass(frozen=True)
class NamedThings:
    """text: the instruction, with the names of kinds in place of those of things. ids: memory's ids of the things that
    were named, by class; several: classes of which more than one was."""

    text: str
    ids: Mapping[str, str] = field(default_factory=dict)
    several: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str, objects: Iterable[SceneObject], kinds: ObjectCatalogue) -> NamedThings:
        """Return which of some things an instruction names."""
        things = {
            name.casefold(): one for one in objects if not one.removed for name in (*one.aliases, one.name) if name
        }
        names = sorted(things, key=len, reverse=True)
        said = re.compile(rf"\b(?:the )?({'|'.join(map(re.escape, names))})(?![\w-])", re.IGNORECASE) if names else None
        found = list(dict.fromkeys(match[1].casefold() for match in said.finditer(text))) if said is not None else []
        if said is None or not found:
            return cls(text)
        meant = {things[name].id: kinds[things[name].class_name].name for name in found}
        classes = list(meant.values())
        return cls(
            said.sub(lambda match: f"the {kinds[things[match[1].casefold()].class_name].best_name}", text),
            {object_class: thing_id for thing_id, object_class in meant.items()},
            frozenset(one for one in classes if classes.count(one) > 1),
        )

    def with_ids(self, goals: Sequence[Goal]) -> tuple[Goal, ...]:
        """Return goals whose mentions of a kind are of the thing that was named."""
        return tuple(goal.with_mentions(self._meant) for goal in goals)

    def _meant(self, mention: Mention) -> Mention:
        thing_id = "" if mention.thing_id or mention.another else self.ids.get(mention.object_class, "")
        return replace(mention, thing_id=thing_id, candidates=mention.candidates[:1]) if thing_id else mention


_SPEAKER = frozenset({"me", "you"})


def speaker_id(people: Sequence[SceneObject]) -> str:
    """Return memory's id of who speaks among several persons: the only one without a name; "" where that is not told
    or nobody else is there."""
    nameless = [one for one in people if not one.attributes.get("name")]
    return nameless[0].id if len(people) > 1 and len(nameless) == 1 else ""


def with_speaker(goals: Iterable[Goal], people: Sequence[SceneObject]) -> list[Goal]:
    """Return goals in which "bring it to me" and "come here" mean the one who speaks, not whoever is nearest."""
    thing_id = speaker_id(people)
    classes = {one.class_name for one in people}

    def meant(mention: Mention) -> Mention:
        is_speaker = mention.text in _SPEAKER and mention.object_class in classes and not mention.thing_id
        return replace(mention, thing_id=thing_id) if is_speaker else mention

    return [one.with_mentions(meant) for one in goals]
