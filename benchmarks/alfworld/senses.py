"""What a robot in a text game has read: things and where they are, doors, and what memory is to be told of it."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.alfworld.sentences import Sight
from benchmarks.alfworld.site import Site
from benchmarks.alfworld.things import Thing, Things
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock
from memory_node.domain.observation import Frame
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState

_S = ObjectState
_SOURCE = "text"


class TextSenses:
    """Takes in replies of the engine.

    on_look: is called with each look at a place, so that memory knows what was looked at.

    Attributes:
        things: what was read of, by name.
        seen: the places whose contents were read.
        at, held: the place at which the robot stands, and what the hand holds; "" for none.
        changes: what memory has not been told yet.
    """

    def __init__(self, site: Site, kinds: ObjectCatalogue, clock: Clock, on_look: Callable[[Frame], object]) -> None:
        self.things = Things(kinds, site)
        self.seen: set[str] = set()
        self.at = self.held = ""
        self.changes: list[StateChange] = []
        self._site = site
        self._kinds = kinds
        self._clock = clock
        self._on_look = on_look
        self._doors: dict[str, bool] = {}

    def is_shut(self, place: str) -> bool:
        """Return whether a place is known to be closed; what shows its contents without a door is not."""
        return not self._doors.get(place, True)

    def class_of(self, name: str) -> str:
        """Return the class that a thing is reported as."""
        return self.things.by_name[name].object_class

    def take_in(self, sight: Sight) -> None:
        """Note what a reply tells."""
        for place, opened in sight.doors.items():
            if place in self.things.by_name:
                self.note_door(place, opened)
        for place, names in sight.contents.items():
            known = self.things.by_name.get(place)
            if known is None or not known.is_place:
                continue
            if place not in sight.doors and self._kinds[known.object_class].lidded:
                self.report(known, added=(_S.OPENED,), removed=(_S.CLOSED,))
            for name in names:
                seen = self.things.by_name.get(name)
                if name != self.held and (seen is None or seen.place != place):
                    self.changes.append(self.sighting(self.things.put(name, place)))
            self.seen.add(place)
            self._on_look(self._site.look_at(place, self._clock()))

    def note_door(self, place: str, opened: bool) -> None:
        """Note that a place stands open, or does not."""
        if self._doors.get(place) is not opened:
            self._doors[place] = opened
            gained, lost = (_S.OPENED, _S.CLOSED) if opened else (_S.CLOSED, _S.OPENED)
            self.report(self.things.by_name[place], added=(gained,), removed=(lost,))

    def sighting(self, thing: Thing) -> StateChange:
        """Return that a thing was seen where it is."""
        support = "" if thing.is_place else thing.place
        return StateChange(
            thing.name,
            thing.object_class,
            self._clock(),
            support_id=support,
            inside=bool(support) and self._kinds[self.class_of(support)].holds_inside,
            position=thing.position,
            source=_SOURCE,
        )

    def report(
        self,
        thing: Thing,
        added: tuple[ObjectState, ...] = (),
        removed: tuple[ObjectState, ...] = (),
        held: bool | None = None,
        support: str = "",
    ) -> None:
        """Note a change that was made; held: whether it is in the hand now, None for no change of that."""
        inside = bool(support) and self._kinds[self.class_of(support)].holds_inside
        self.changes.append(
            StateChange(
                thing.name,
                thing.object_class,
                self._clock(),
                added,
                removed,
                held,
                support,
                inside,
                thing.position if support else None,
                source=_SOURCE,
            )
        )
