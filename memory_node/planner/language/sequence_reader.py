"""The trained reader of instructions with several parts: what is to be brought about, one thing after the other."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.resources import MISSING_READERS
from memory_node.perception.onnx_session import open_session
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.single_goal_reader import WEIGHTS_FOLDER, Scores, log_softmax
from memory_node.planner.language.surroundings import HomeClasses

UNKNOWN = "Unknown"  # what is written for a thing of no known class
_STOP, _START = 0, 1
_PLACING = ("at", "near", "two", "other")
_TWO_CLASSES = (*_PLACING, "examine")
_TREATING = ("clean", "heat", "cool")
_IMPOSSIBLE = -1e9
_BARRED = -1e3  # log-probability of a class that no word accounts for
_ABSENT_KNOWN = 5  # from this many known classes on a home is taken for known

Effect = tuple[str, ...]


@dataclass(frozen=True)
class SequenceReading:
    """What an instruction asks for. effects: (verb, class, class of the place or lamp); score: its log-probability."""

    effects: tuple[Effect, ...]
    score: float

    @property
    def names_unknown(self) -> bool:
        """Whether something of no known class is asked for."""
        return any(UNKNOWN in effect for effect in self.effects)


class GoalSequenceModel:
    """Writes effects symbol by symbol from the hidden states of `GoalModel`; docs/model_card_instructions.md.

    Raises:
        ResourceMissingError: the weights are not where they should be.
    """

    def __init__(self, folder: Path = WEIGHTS_FOLDER, threads: int = 1) -> None:
        if not (folder / "sequence_writer.onnx").is_file():
            raise ResourceMissingError(f"{folder}: {MISSING_READERS}")
        labels = json.loads((folder / "sequence_labels.json").read_text(encoding="utf-8"))
        self._symbols: tuple[str, ...] = tuple(labels["symbols"])
        self._classes: tuple[str, ...] = tuple(labels["classes"])
        self._strange = frozenset(labels["strange"])
        self._recipient: str = labels["recipient"]  # who gives the instruction is in every home
        self._longest = int(labels["longest"])
        names = ("sequence_reader.onnx", "sequence_writer.onnx")
        self._reader, self._writer = (open_session(folder / name, threads) for name in names)
        self._numbers = {symbol: number for number, symbol in enumerate(self._symbols)}
        first_class = self._numbers[UNKNOWN]
        self._is_class = np.arange(len(self._symbols)) >= first_class
        self._is_verb = ~self._is_class
        self._is_verb[_START] = False

    @property
    def strange(self) -> frozenset[str]:
        """The classes that no home had of those it learnt from: it does not know when they are not meant."""
        return self._strange

    @property
    def classes(self) -> frozenset[str]:
        """The classes that it can write."""
        return frozenset(self._classes)

    def read(
        self, hidden: NDArray[np.float32], home: HomeClasses, licensed: Collection[str] | None = None
    ) -> SequenceReading:
        """Return the likeliest effects. hidden: (1, pieces, 384) as `GoalModel.hidden` gives them.

        licensed: only these classes may be written (None: any).
        """
        feed = self._feed(hidden, home)
        barred = self._barred(licensed)
        written, expected, score = [_START], 0, 0.0
        while len(written) < self._longest:
            scores = self._admitted(self._scores(feed, written)[-1] + barred, expected)
            best = int(scores.argmax())
            score += float(scores[best])
            if best == _STOP:
                break
            written.append(best)
            expected = self._expected_behind(best, expected)
        return SequenceReading(self._effects(written[1:]), score)

    def score(self, hidden: NDArray[np.float32], home: HomeClasses, effects: Sequence[Effect]) -> float:
        """Return the log-probability of effects; that of an impossible reading when one has no symbol."""
        symbols = [symbol for effect in effects for symbol in effect]
        if any(symbol not in self._numbers for symbol in symbols) or len(symbols) > self._longest - 2:
            return _IMPOSSIBLE
        written = [_START, *(self._numbers[symbol] for symbol in symbols)]
        expected, score = 0, 0.0
        for logits, symbol in zip(self._scores(self._feed(hidden, home), written), [*written[1:], _STOP]):
            score += float(self._admitted(logits, expected)[symbol])
            expected = self._expected_behind(symbol, expected)
        return score

    def _barred(self, licensed: Collection[str] | None) -> Scores:
        if licensed is None:
            return np.zeros(len(self._symbols))
        free = frozenset(licensed) | {UNKNOWN}
        return np.where([kind and name not in free for name, kind in zip(self._symbols, self._is_class)], _BARRED, 0.0)

    def _admitted(self, logits: Scores, expected: int) -> Scores:
        """Return the log-probabilities of one symbol where `expected` classes must follow."""
        return log_softmax(np.where(self._is_class if expected else self._is_verb, logits, -np.inf))

    def _expected_behind(self, symbol: int, expected: int) -> int:
        return expected - 1 if expected else _classes_behind(self._symbols[symbol])

    def _scores(self, feed: Mapping[str, NDArray[np.float32]], written: Sequence[int]) -> Scores:
        """Return logits (written, symbols) of what follows each symbol."""
        ids = np.array([written], dtype=np.int64)
        return np.asarray(self._writer.run(None, {"written": ids, **feed})[0][0], dtype=np.float64)

    def _feed(self, hidden: NDArray[np.float32], home: HomeClasses) -> dict[str, NDArray[np.float32]]:
        mask = np.ones(hidden.shape[:2], dtype=np.float32)
        words = self._reader.run(None, {"hidden": hidden, "mask": mask})[0]
        return {"words": words, "mask": mask, **self._home(home)}

    def _effects(self, written: Sequence[int]) -> tuple[Effect, ...]:
        effects: list[Effect] = []
        for index in written:
            symbol = self._symbols[index]
            if self._is_class[index]:
                effects[-1] = (*effects[-1], symbol)
            else:
                effects.append((symbol,))
        return tuple(effect for effect in effects if len(effect) == 1 + _classes_behind(effect[0]))

    def _home(self, home: HomeClasses) -> dict[str, NDArray[np.float32]]:
        known = [float(name in home.objects) for name in self._classes]
        known += [float(name in home.fixtures) for name in self._classes]
        absent = np.zeros((1, len(self._symbols)), dtype=np.float32)
        if len(home.all) >= _ABSENT_KNOWN:
            here = home.all | {self._recipient, UNKNOWN}
            absent[0] = [float(bool(kind) and name not in here) for name, kind in zip(self._symbols, self._is_class)]
        return {"home": np.array([known], dtype=np.float32), "absent": absent}


def _classes_behind(verb: str) -> int:
    return 2 if verb in _TWO_CLASSES else 1


def goals_of(effects: Sequence[Effect], text: str) -> list[Goal]:
    """Return the goals that bring the effects about in order; treating a thing and then placing it is one goal."""
    goals: list[Goal] = []
    cut: set[str] = set()
    for effect in effects:
        verb, name = effect[:2]
        target = Mention(name, (name,), another=verb == "other")
        if verb in _PLACING or verb == "back":
            previous = goals[-1] if goals else None
            where = _destination(verb, effect)
            treated = previous is not None and str(previous.kind) in _TREATING and previous.destination is None
            if previous is not None and treated and verb in ("at", "near") and previous.target.object_class == name:
                goals[-1] = previous.changed(destination=where)
                continue
            kind = GoalKind.PLACE_TWO if verb == "two" else GoalKind.PLACE
            goals.append(Goal(kind, target, where, sliced=name in cut, count=2 if verb == "two" else 1, text=text))
        elif verb == "examine":
            goals.append(Goal(GoalKind.EXAMINE, target, light=Mention(effect[2], (effect[2],)), text=text))
        else:
            goals.append(Goal(GoalKind(verb), target, sliced=name in cut, text=text))
            cut |= {name} if verb == "slice" else set()
    return goals


def _destination(verb: str, effect: Effect) -> Mention:
    if verb == "back":
        return Mention("where it was", original_place=True)
    words = f"beside {effect[2]}" if verb == "near" else effect[2]
    return Mention(words, (effect[2],), beside=verb == "near")


def effects_of(goals: Sequence[Goal]) -> tuple[Effect, ...]:
    """Return what goals bring about as it would be written: `goals_of` the other way round."""
    effects: list[Effect] = []
    for goal in goals:
        name = goal.target.object_class
        cut = ("slice", name)
        if (goal.sliced or goal.kind is GoalKind.SLICE) and cut not in effects:
            effects.append(cut)
        if goal.kind is GoalKind.EXAMINE:
            effects.append((str(goal.kind), name, str(goal.light)))
        elif goal.kind not in (GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK, GoalKind.SLICE):
            effects.append((str(goal.kind), name))
        if goal.container is not None:
            effects.append(("at", name, goal.container.object_class))
            name = goal.container.object_class
        if goal.destination is not None:
            effects.append(_placed(goal, goal.destination, name))
    return tuple(effects)


def _placed(goal: Goal, destination: Mention, name: str) -> Effect:
    if destination.original_place:
        return ("back", name)
    verb = "near" if destination.beside else "two" if goal.count == 2 else "other" if goal.target.another else "at"
    return (verb, name, destination.object_class)


def one_goal(goals: Sequence[Goal]) -> Goal | None:
    """Return the one goal that goals in a row are steps of: cutting and more, or into a vessel and that away."""
    begins_with_cutting = goals[0].kind is GoalKind.SLICE and len(goals) > 1
    rest = goals[1:] if begins_with_cutting else goals
    first, last = rest[0], rest[-1]
    if begins_with_cutting and (first.kind is GoalKind.SLICE or goals[0].target != first.target):
        return None
    if len(rest) == 1:
        return first
    into, away = first.destination, last.destination
    stacked = len(rest) == 2 and into is not None and away is not None and {first.kind, last.kind} == {GoalKind.PLACE}
    if not stacked or str(into) != last.target.object_class:
        return None
    return first.changed(kind=GoalKind.STACK, container=into, destination=away)
