"""A remembered thing in words: what it is called, where it is, when it was seen and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable

from memory_node.catalogue.class_name import folded, spoken
from memory_node.domain.clock import ago
from memory_node.domain.scene import Place, SceneObject, SceneSnapshot
from memory_node.domain.states import ObjectState
from memory_node.scene_graph.state import ROBOT_ID

BELIEVED = 0.5


class ThingWords:
    """scene: what is remembered. person_class: of persons, who are handed things. now_ns: what ages count to."""

    def __init__(self, scene: SceneSnapshot, person_class: str, now_ns: int) -> None:
        self._scene = scene
        self._person_class = person_class
        self._now_ns = now_ns

    def at(self, one: SceneObject) -> str:
        """Return its place: "on SideTable 2, in the kitchen"."""
        support, room = self._scene.by_id.get(one.support_id), self._scene.room_of(one)
        in_room = f"in {'' if room[-1].isdigit() else 'the '}{room}" if room else ""  # "room 1" is a name
        if one.support_id == ROBOT_ID:
            return "in the robot's hand"
        if support is not None:
            how = "with" if support.class_name == self._person_class else "in" if one.inside else "on"
            return ", ".join(filter(None, (f"{how} {name_of(support)}", in_room)))
        x, y, z = (float(value) for value in one.box.center)
        return in_room or f"at ({x:.1f}, {y:.1f}, {z:.1f}) m in map"

    def seen(self, one: SceneObject) -> str:
        """Return how long ago it was seen."""
        return f"seen {ago((self._now_ns - one.last_seen_ns) * 1e-9)}"

    def whereabouts(self, one: SceneObject) -> str:
        """Return where it is, when that was seen and how sure it is."""
        doubt = "probably no longer " if one.existence < BELIEVED else ""
        return f"{name_of(one)} is {doubt}{self.at(one)} ({self.seen(one)}, {one.existence:.0%} sure)"

    def named_at(self, one: SceneObject) -> str:
        """Return what it is called and where it is."""
        return f"{name_of(one)} {self.at(one)}"

    def with_states(self, one: SceneObject) -> str:
        """Return what it is called, with its states and doubts."""
        states = [str(belief.state) for belief in one.states if belief.probability >= BELIEVED]
        states += ["probably gone"] if one.existence < BELIEVED else []
        return f"{name_of(one)} ({', '.join(states)})" if states else name_of(one)

    def gone(self, one: SceneObject) -> str:
        """Return where a thing was that is not there any more."""
        was = self._then(one, one.history[-1]) if one.history else one
        return f"{name_of(one)} is not there any more; it was {self.at(was)} ({self.seen(one)})"

    def before(self, one: SceneObject, most: int = 3) -> str:
        """Return where a thing was before, the latest first; of a support it is not kept whether it was in or on it."""
        places = [
            f"{self.at(self._then(one, place)).replace('on ', 'at ', 1)} "
            f"(last seen there {ago((self._now_ns - place.until_ns) * 1e-9)})"
            for place in reversed(one.history[-most:])
        ]
        return f"{name_of(one)} was {listed(places)}" if places else f"I know of no earlier place of {name_of(one)}"

    @staticmethod
    def _then(one: SceneObject, place: Place) -> SceneObject:
        return one.changed(area_id=place.area_id, support_id=place.support_id, box=place.box, inside=False)


def name_of(one: SceneObject) -> str:
    """Return what a thing is called; with what it is where its name, which it keeps, speaks of something else."""
    word = folded(one.name.rpartition(" ")[0])
    fits = bool(word) and folded(one.class_name).startswith(word)
    return one.name if fits else f"{one.name} ({spoken(one.class_name)})" if one.name else spoken(one.class_name)


def is_so(one: SceneObject, state: ObjectState) -> bool:
    """Return whether a thing is believed to be in a state."""
    return any(belief.state is state and belief.probability >= BELIEVED for belief in one.states)


def listed(words: Iterable[str]) -> str:
    """Return words as a list of a sentence."""
    return "; ".join(words)
