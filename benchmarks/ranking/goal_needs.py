"""What a goal needs of the things that are believed to be there."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_kind import Treatment
from memory_node.domain.skill_library import GOALS, SKILLS, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.world.state import Thing, WorldState

_K = GoalKind


@dataclass(frozen=True)
class GoalNeeds:
    """One goal, and what is believed."""

    goal: Goal
    state: WorldState

    def is_target(self, thing: Thing) -> bool:
        """Return whether a thing may be what the goal is about, as it is cut now."""
        return _is_one_of(thing, self._forms)

    def is_cut(self, thing: Thing) -> bool:
        """Return whether a thing may be what the goal wants cut."""
        return _is_one_of(thing, self.goal.target.candidates) and self._wants_a_cut

    def is_light(self, thing: Thing) -> bool:
        """Return whether a thing may be the light of the goal."""
        return self.goal.light is not None and _is_one_of(thing, self.goal.light.candidates)

    def carries(self, thing: Thing) -> bool:
        """Return whether a thing, as it is now, is wanted in the hand, or in a certain place."""
        where = self.goal.destination
        if where is not None and (where.beside or where.original_place or not where.candidates):
            return False  # any place may be the one
        is_wanted = self.is_target(thing) or self._is_full_container(thing)
        kind = GOALS[self.goal.kind]
        return (kind.carried or kind.in_hand) and is_wanted

    def keeps_in_hand(self, thing: Thing) -> bool:
        """Return whether a thing is carried, or cuts what is to be cut."""
        return self.carries(thing) or self._cuts_with(thing)

    def names(self, object_class: str) -> bool:
        """Return whether the goal is about things of a class, or wants others to be there."""
        where = self.goal.destination
        places = self.state.kinds.with_wholes(where.candidates) if where is not None else ()
        treated_at = self._treatment.at if self._treatment is not None else ()
        named = (*self._about, *places, *treated_at)
        can_cut = self._is_tool(object_class)
        return can_cut or folded(object_class) in map(folded, named)

    def has_part(self, thing: Thing) -> bool:
        """Return whether the goal is about a thing, or about something in or on it; the place where it wants others to
        be has no part in it by itself."""
        return any(self._is_about(one) for one in self.with_contents(thing))

    def may_hide(self, place: Thing) -> bool:
        """Return whether something that the goal is about is not known, and may be shut in a place."""
        is_open = self.state.has(place.id, ObjectState.OPENED)
        if is_open or not self.state.kinds[place.object_class].lidded:
            return False
        wanted = ((*mention.candidates, *self._pieces(mention.candidates)) for mention in self._mentions)
        return any(names and not self._is_known(names) for names in wanted)

    def shuts_away(self, place: Thing) -> bool:
        """Return whether a place, closed, hides what the goal needs, and not for the goal's sake."""
        if self.goal.kind is _K.CLOSE or self.treats_at(place):
            return False
        inside = [thing for thing in self.with_contents(place) if thing.id != place.id]
        where = self.goal.destination
        if where is not None and any(self._is_place(thing, where) for thing in inside):
            return True
        return any(self._is_about(thing) and not self.puts(thing, place) for thing in inside)

    def puts(self, thing: Thing, place: Thing) -> bool:
        """Return whether a thing, as it is now, is wanted in or on a place."""
        where = self._destination(thing)
        if where is None or where.beside or where.original_place or not GOALS[self.goal.kind].carried:
            return False
        begun = self._begun(where) if self.goal.kind is GoalKind.PLACE_TWO else set()
        return place.id in begun if begun else self._is_place(place, where)

    def treats_at(self, place: Thing) -> bool:
        """Return whether the treatment that the goal asks for is done in or at a place."""
        treatment = self._treatment
        return treatment is not None and _is_one_of(place, (*treatment.at, *treatment.vessels))

    def with_contents(self, thing: Thing) -> Iterable[Thing]:
        """Return a thing and all that is in or on it."""
        things, names = self.state.things, [thing.id]
        for name in names:
            names += [one.id for one in self.state.contents(name) if one.id not in names]
        return (things[name] for name in names if name in things)

    def _is_about(self, thing: Thing) -> bool:
        return _is_one_of(thing, self._about) or self._cuts_with(thing)

    def _is_tool(self, object_class: str) -> bool:
        """Return whether a thing of a class is what the hand must hold for the goal."""
        treated = GOALS[self.goal.kind].skills[:1] if GOALS[self.goal.kind].treats else ()
        skills = [*treated, *(("SliceObject",) if self._wants_a_cut else ())]
        abilities = {SKILLS[skill].tool_ability for skill in skills} - {""}
        if self.goal.kind is GoalKind.SLICE and not self._wants_a_cut:
            return False
        return any(self.state.kinds[object_class].satisfies(one) for one in abilities)

    def _cuts_with(self, tool: Thing) -> bool:
        """Return whether a thing cuts, and something is to be cut."""
        return self._is_tool(tool.object_class)

    def _destination(self, thing: Thing) -> Mention | None:
        """Return where a thing is wanted next: a target, once it is as wanted, in the container; that with a target in
        it at the destination. None for nowhere yet."""
        if self.is_target(thing):
            states = GOALS[self.goal.kind].wants
            is_ready = not states or any(self.state.has(thing.id, state) for state in states)
            return (self.goal.container or self.goal.destination) if is_ready else None
        return self.goal.destination if self._is_full_container(thing) else None

    def _begun(self, where: Mention) -> set[str]:
        """Return the names of the places that the goal means and that have a target already."""
        things = self.state.things
        placed = {thing.container for thing in self.state if thing.container and self.is_target(thing)}
        return {name for name in placed if name in things and self._is_place(things[name], where)}

    def _is_full_container(self, thing: Thing) -> bool:
        if self.goal.container is None or not _is_one_of(thing, self.goal.container.candidates):
            return False
        return any(map(self.is_target, self.with_contents(thing)))

    def _is_place(self, place: Thing, where: Mention) -> bool:
        """Return whether a place may be meant: one of the classes, or where none is known, furniture like them."""
        kinds = self.state.kinds
        names = kinds.with_wholes(where.candidates)
        if self._is_known(names) or any(kinds[name].pickupable for name in where.candidates):
            return _is_one_of(place, names)
        return _is_one_of(place, kinds.alike(where.candidates))

    def _is_known(self, names: Iterable[str]) -> bool:
        """Return whether a thing of one of some classes is known."""
        known = {folded(thing.object_class) for thing in self.state.things.values()}
        return not known.isdisjoint(map(folded, names))

    @property
    def _mentions(self) -> Iterable[Mention]:
        """What the goal is about, as it was said."""
        return filter(None, (self.goal.target, self.goal.container, self.goal.light))

    @property
    def _about(self) -> Collection[str]:
        """The classes of what the goal is about, and of what its treatment is done in."""
        named = [name for mention in self._mentions for name in (*mention.candidates, *mention.stand_ins)]
        vessels = self._treatment.vessels if self._treatment is not None else ()
        return (*named, *self._forms, *vessels)

    def _pieces(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the classes of the pieces of some classes."""
        return tuple(filter(None, (self.state.kinds[name].slices for name in names)))

    @property
    def _forms(self) -> Collection[str]:
        """The classes of what the goal is about: of the things, or of their pieces."""
        names = self.goal.target.candidates
        return self._pieces(names) if self.goal.sliced else names

    @property
    def _wants_a_cut(self) -> bool:
        """Whether something is to be cut, or pieces of it are wanted and none are known."""
        if self.goal.kind is GoalKind.SLICE:
            return True
        return self.goal.sliced and not any(map(self.is_target, self.state.things.values()))

    @property
    def _treatment(self) -> Treatment | None:
        return self.state.kinds.meant_treatment(self.goal.kind, self.goal.treatment)


def _is_one_of(thing: Thing, names: Iterable[str]) -> bool:
    """Return whether a thing is of one of some classes."""
    return folded(thing.object_class) in set(map(folded, names))
