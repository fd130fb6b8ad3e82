"""Memory's part in the prompts of a policy that sends the engine's commands: at the beginning, and at each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.alfworld.dialogue import choices
from benchmarks.alfworld.play import CompilingAccount, GameEngine
from benchmarks.alfworld.sentences import label_of, read_places, read_task
from benchmarks.alfworld.things import classes_of
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.scene_graph.place_habits import PlaceCensus, PlaceHabits

_MOST_PLACES = 4


def told_habits(learnt: PlaceCensus, kinds: ObjectCatalogue, text: str) -> str:
    """Return sentences such as "A mug is often found at: countertop, cabinet.", "" where nothing is known.

    text: a game's first text, which names its places and its task.
    """
    habits = PlaceHabits(kinds)
    habits.add(learnt)
    places = {label_of(place): classes_of(place, kinds)[0] for place in read_places(text)}
    named = dict.fromkeys(name for word in read_task(text).strip(".").split() for name in _movable(word, kinds))
    sentences = []
    for name in named:
        expected = habits.expected(name, places)
        best = sorted(expected, key=lambda label: -expected[label] / habits.effort(places[label]))[:_MOST_PLACES]
        if best:
            sentences.append(f"A {kinds[name].best_name} is often found at: {', '.join(best)}.")
    return " ".join(sentences)


def _movable(word: str, kinds: ObjectCatalogue) -> tuple[str, ...]:
    kind = kinds.find(word)
    return (kind.name,) if kind is not None and kind.pickupable else ()


# Last turns of a long game that the model sees, besides the first text.
TURNS_SHOWN = 20


@dataclass(frozen=True)
class StepAid:
    """What a policy is told at one step. state: the brief state, advice: a command, "" for none. turns: so many of the
    last ones it sees. latent: latent tokens, None for none."""

    state: Sequence[str] = ()
    advice: str = ""
    turns: int = TURNS_SHOWN
    latent: NDArray[np.float32] | None = field(default=None, compare=False)


class Aid(Protocol):
    """Memory's part in one game."""

    @property
    def experience(self) -> str:
        """What is told before the first step, "" for nothing."""

    @property
    def account(self) -> CompilingAccount | None:
        """What compiling was; None where nothing is compiled."""

    def tell(self) -> StepAid:
        """Return what is told now; asked once a step."""

    def send(self, command: str) -> str:
        """Send a command and return what is printed."""

    def close(self) -> None:
        """Let go of everything."""


# Opens the aid for a game: its engine, what other games taught (None: nothing), and its name, which is no part of it.
OpenAid = Callable[[GameEngine, PlaceCensus | None, str], Aid]


# Returns the command that is advised for the next step, "" for none: given what was said, and what is possible.
Advise = Callable[[Sequence[tuple[str, str]], Sequence[str]], str]


def no_advice(_said: Sequence[tuple[str, str]], _commands: Sequence[str]) -> str:
    """Give no advice."""
    return ""


@dataclass
class Advised:
    """All of memory before the first step, and advice at each, if any."""

    engine: GameEngine
    experience: str = ""
    advise: Advise = no_advice
    account: CompilingAccount | None = None
    _said: list[tuple[str, str]] = field(default_factory=list)

    def tell(self) -> StepAid:
        """Return the advice."""
        command = self.advise(self._said, choices(self.engine.commands))
        return StepAid(advice=f"{command}." if command else "")

    def send(self, command: str) -> str:
        """Send a command and return what is printed."""
        reply = self.engine.send(command)
        self._said.append((command, reply))
        return reply

    def close(self) -> None:
        """Hold nothing."""


def without_games(engine: GameEngine, learnt: PlaceCensus | None, name: str) -> Aid:
    """Return an aid without any memory."""
    return Advised(engine)


def habits_at_first(kinds: ObjectCatalogue) -> OpenAid:
    """Return what opens an aid that says at first where things usually are, if other games taught anything."""

    def opened(engine: GameEngine, learnt: PlaceCensus | None, name: str) -> Aid:
        return Advised(engine, told_habits(learnt, kinds, engine.text) if learnt is not None else "")

    return opened
