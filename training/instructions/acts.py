"""Single things to do, what they bring about, and the choice of things and places of a home for them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from memory_node.domain.goal_labels import KINDS, NO_CLASS, NOTHING, SEVERAL, GoalKind
from training.instructions.corpus import Labels, Task
from training.instructions.phrases import COMMANDS, HOLDING, TREATING

UNKNOWN = "Unknown"  # a thing of no known class
USER, BIN = "User", "GarbageCan"
TREATMENTS = ("clean", "heat", "cool")
FOOD = COMMANDS[GoalKind.SLICE.value][1]
VESSELS = ("Bowl", "Plate", "Pan", "Pot", "Box", "Cup", "Mug")
LAMPS = ("DeskLamp", "FloorLamp")
LIDDED = ("Fridge", "Microwave", "Cabinet", "Drawer", "Safe")
PLACES = (*HOLDING, *TREATING, "Ottoman", "BathtubBasin", "ToiletPaperHanger", "HandTowelHolder", "TowelHolder")
_K = GoalKind
_SINGLE = (_K.SWITCH_ON, _K.SWITCH_OFF, _K.OPEN, _K.CLOSE, _K.FILL, _K.EMPTY, _K.BREAK, _K.THROW, _K.FIND, _K.FETCH)
_KINDS = frozenset(KINDS)
_EFFECT = {"user": "at", "trash": "at", "light": "switch_on", "dim": "switch_off"}
_EFFECT |= {"tap_on": "switch_on", "tap_off": "switch_off"}

Effect = tuple[str, ...]


@dataclass(frozen=True)
class Act:
    """One thing to do. kind: a list of verbs in the phrase book, or "two" to place two, or "other" to place another."""

    kind: str
    target: str
    place: str = ""

    @property
    def effect(self) -> Effect:
        """What it brings about: a verb and the classes that it needs."""
        place = {"user": USER, "trash": BIN}.get(self.kind, self.place)
        return tuple(word for word in (_EFFECT.get(self.kind, self.kind), self.target, place) if word)


def effects_of(labels: Labels) -> tuple[Effect, ...]:
    """Return what a whole goal brings about, one thing after the other."""
    kind, target = labels.kind, labels.target
    if kind in (NOTHING, SEVERAL):
        return ()
    effects: list[Effect] = [("slice", target)] if labels.sliced else []
    if kind == _K.EXAMINE.value:
        effects.append((kind, target, labels.light))
    elif kind not in (_K.PLACE.value, _K.PLACE_TWO.value, _K.STACK.value):
        effects.append((kind, target))
    if labels.container:
        effects.append(("at", target, labels.container))
        target = labels.container
    if labels.parent:
        effects.append(("two" if kind == _K.PLACE_TWO.value else "at", target, labels.parent))
    return tuple(dict.fromkeys(effects))


def labels_of_effects(effects: Sequence[Effect]) -> Labels:
    """Return the one goal that brings effects about, `effects_of` the other way round; else NOTHING or SEVERAL."""
    if not effects:
        return Labels(NOTHING)
    cut = effects[0][0] == _K.SLICE.value and len(effects) > 1
    first, *more = effects[1:] if cut else effects
    verb, target, place = first[0], first[1], first[-1]
    labels = Labels(SEVERAL)
    if verb == "at" and more:
        labels = Labels(_K.STACK.value, target, parent=more[0][-1], container=place, sliced=cut)
    elif verb in ("at", "two"):
        labels = Labels((_K.PLACE if verb == "at" else _K.PLACE_TWO).value, target, parent=place, sliced=cut)
    elif verb == _K.EXAMINE.value:
        labels = Labels(verb, target, light=place, sliced=cut)
    elif verb in _KINDS:
        labels = Labels(verb, target, parent=more[0][-1] if more else NO_CLASS, sliced=cut)
    named = {name for effect in effects for name in effect[1:]}
    return labels if effects_of(labels) == tuple(effects) and not named & {UNKNOWN, USER} else Labels(SEVERAL)


class Scene:
    """Chooses things and places of a task's home, now and then others. things: classes that can be carried."""

    def __init__(self, task: Task, things: Sequence[str], generator: random.Random) -> None:
        self.task = task
        self._things = things
        self._random = generator

    def thing(self, *others: str) -> str:
        """Return a class that can be carried, none of `others`."""
        if self._random.random() < 0.035:
            return UNKNOWN
        known = set(self._things)
        pool = sorted(self.task.objects & known) if self._random.random() < 0.7 else self._things
        return self._random.choice([name for name in pool if name not in others] or ["Book"])

    def several(self) -> list[str]:
        """Return two or three classes."""
        names = [self.thing()]
        for _ in range(self._random.choice((1, 1, 2))):
            names.append(self.thing(*names))
        return [name for name in names if name != UNKNOWN] or ["Book"]

    def place(self, *others: str) -> str:
        """Return a receptacle: furniture, or now and then a vessel."""
        if self._random.random() < 0.012:
            return UNKNOWN
        if self._random.random() < 0.14:
            return self._random.choice([name for name in VESSELS if name not in others])
        known = sorted(self.task.fixtures & set(PLACES))
        pool = known if known and self._random.random() < 0.7 else PLACES
        return self._random.choice([name for name in pool if name not in others] or ["Shelf"])

    def furniture(self, *others: str) -> str:
        """Return a receptacle that cannot be carried."""
        place = self.place(*others)
        while place in VESSELS:
            place = self.place(*others)
        return place

    def placing(self) -> Act:
        """Return an act of placing."""
        thing = self.thing()
        return Act("at", thing, self.place(thing))

    def simple(self) -> Act:
        """Return an act that stands alone."""
        thing = self.thing()
        choice = self._random.random()
        if choice < 0.5:
            return Act("at", thing, self.place(thing))
        if choice < 0.6:
            return Act("near", thing, self.thing(thing) if self._random.random() < 0.6 else self.furniture())
        if choice < 0.7:
            return Act("trash", thing)
        if choice < 0.8:
            return Act("user", thing)
        if choice < 0.9:
            return Act(self._random.choice(TREATMENTS), thing)
        return self.command()

    def command(self) -> Act:
        """Return an act that ALFRED has no goal for."""
        kind = self._random.choice(_SINGLE)
        name = self._random.choice(sorted(COMMANDS[kind.value][1]) or [self.thing()])
        if kind in (_K.SWITCH_ON, _K.SWITCH_OFF) and self._random.random() < 0.5:
            name = self._random.choice(LAMPS)  # switched for its light, not to look at something
        verb = kind.value
        if self._random.random() < 0.3:
            on, off = kind is _K.SWITCH_ON, kind is _K.SWITCH_OFF
            verb = "light" if on and name in LAMPS else "dim" if off and name in LAMPS else verb
            verb = "tap_on" if on and name == "Faucet" else "tap_off" if off and name == "Faucet" else verb
        return Act(verb, name)
