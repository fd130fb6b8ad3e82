"""What one goal's pursuit believes: the state of the things that it names, under the parts that they play in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.skill_library import ALL_SKILLS
from memory_node.world.state import Thing, WorldState


@dataclass
class Belief:
    """A world state that changes; its keys are parts of the goal ("target", "destination").

    settings: parts that no goal has named: what another thing stands on, or is shut in. skills: names of those that the
    robot does.
    """

    state: WorldState
    skills: frozenset[str] = ALL_SKILLS
    settings: set[str] = field(default_factory=set)

    @property
    def kinds(self) -> ObjectCatalogue:
        """What can be done with classes."""
        return self.state.kinds

    @property
    def things(self) -> Mapping[str, Thing]:
        """The things by their parts."""
        return self.state.things

    def add(self, thing: Thing, is_setting: bool = False) -> None:
        """Take in a thing, or replace what was known of it but for its place and states."""
        old = self.things.get(thing.id)
        if old is not None:
            thing = replace(thing, container=old.container, inside=old.inside, states=old.states)
        self.state = self.state.with_thing(thing)
        self.settings = self.settings | {thing.id} if is_setting else self.settings - {thing.id}

    def forget(self, name: str) -> None:
        """Drop a thing that is not where it was believed to be."""
        self.state = self.state.without(name)

    def rename(self, old: str, new: str) -> None:
        """Give a thing another part; all that is believed of it stays."""
        self.state = self.state.renamed(old, new)
        self.settings -= {old, new}

    def named(self, reference: str) -> Thing | None:
        """Return the thing that a skill's argument or a robot's id stands for."""
        return self.state.named(reference)

    def identify(self, name: str, object_id: str) -> None:
        """Note the robot's own id of a thing. What stands under or around another thing may turn out to be a thing that
        the goal knows under a name of its own: the two become one, which keeps that name."""
        if name not in self.things or not object_id:
            return
        self.state = self.state.with_thing(replace(self.things[name], object_id=object_id))
        twin = next((one for one in self.state if one.object_id == object_id and one.id != name), None)
        if twin is not None and twin.id in self.settings:
            self._unite(twin.id, name)
        elif twin is not None and name in self.settings:
            self._unite(name, twin.id)

    def _unite(self, setting: str, name: str) -> None:
        memory_id = self.things[name].memory_id or self.things[setting].memory_id
        kept = replace(self.things[name], memory_id=memory_id)
        self.rename(setting, name)
        merged = self.things[name]
        kept = replace(kept, container=merged.container, inside=merged.inside, states=merged.states)
        self.state = self.state.with_thing(kept)

    def recognize(self, object_id: str, memory_id: str) -> None:
        """Note by which id memory knows a thing that the robot has an id for; "" changes nothing."""
        thing = self.named(object_id)
        if thing is not None and memory_id:
            self.state = self.state.with_thing(replace(thing, memory_id=memory_id))

    def observe(self, changes: Sequence[StateChange]) -> None:
        """Take over what a skill reports to have changed, as far as it is about these things."""
        held = self.state.held or ""
        after = self.state.told(changes)
        put_down = after.things.get(held)
        if put_down is not None and self.things[held].object_id != put_down.object_id:
            self.identify(held, put_down.object_id)
            after = self.state.told(changes)
        self.state = after


def is_on_lid(thing: SceneObject, support_class: str, kinds: ObjectCatalogue) -> bool:
    """Return whether a thing lies on something with a lid or door: what lies on a fridge is not behind its door."""
    return kinds[support_class].lidded and not thing.inside
