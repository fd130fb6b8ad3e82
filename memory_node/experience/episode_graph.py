"""Episodic memory: states and actions of all attempts as one graph with success counts (BrainMem)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from memory_node.domain.skill import FailureReason
from memory_node.domain.step import StepRecord


@dataclass(frozen=True)
class StateKey:
    """What makes two states the same across episodes: the room and the canonical summary of the facts in view."""

    room: str
    summary: str

    @classmethod
    def of(cls, room: str, facts: Iterable[str], held: str) -> StateKey:
        """Return the key of a state; facts are sorted and made unique, so that equal sets give equal keys."""
        listed = sorted({*facts, *([f"holding {held}"] if held else [])})
        return cls(room, "; ".join(listed) or "nothing in view")


@dataclass
class Transition:
    """An edge: one action from one state to another, over all episodes that took it."""

    source: StateKey
    action: str
    target: StateKey
    successes: int = 0
    failures: int = 0
    reasons: Counter[FailureReason] = field(default_factory=Counter)
    episodes: list[str] = field(default_factory=list)

    @property
    def success_rate(self) -> float:
        """Share of the takes that succeeded, in [0, 1]."""
        return self.successes / (self.successes + self.failures)


class EpisodeGraph:
    """The states and transitions of every attempt; equal ones are merged and their counts added."""

    def __init__(self) -> None:
        self._transitions: dict[tuple[StateKey, str, StateKey], Transition] = {}
        self._by_episode: dict[str, list[tuple[StateKey, str, StateKey]]] = defaultdict(list)
        self._by_room: dict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
        self._by_object: dict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
        self._states: set[StateKey] = set()

    def __len__(self) -> int:
        return len(self._transitions)

    @property
    def state_count(self) -> int:
        """Number of distinct states."""
        return len(self._states)

    def add(self, episode_id: str, steps: Iterable[StepRecord]) -> None:
        """Add one attempt's steps, in order; a failed step leads back to the state that it started in."""
        state: StateKey | None = None
        for step in steps:
            after = StateKey.of(step.room, (*step.visible, *step.relations), step.held_object)
            before = state if state is not None else StateKey(step.room, "start")
            self._take(episode_id, before, after if step.success else before, step)
            state = after

    def _take(self, episode_id: str, source: StateKey, target: StateKey, step: StepRecord) -> None:
        action = lifted_action(step)
        key = (source, action, target)
        transition = self._transitions.setdefault(key, Transition(*key))
        transition.successes += step.success
        transition.failures += not step.success
        if not step.success:
            transition.reasons[step.reason] += 1
        if episode_id not in transition.episodes[-1:]:
            transition.episodes.append(episode_id)
        self._by_episode[episode_id].append(key)
        self._states.update((source, target))
        self._by_room[step.room][(action, step.success)] += 1
        for name in lifted_arguments(step):
            self._by_object[name][(step.action.skill, step.success)] += 1

    def transitions(self) -> Iterator[Transition]:
        """Yield every transition."""
        yield from self._transitions.values()

    def trajectory(self, episode_id: str) -> list[Transition]:
        """Return one episode's transitions in order; empty when it is not known."""
        return [self._transitions[key] for key in self._by_episode.get(episode_id, ())]

    def failed_transitions(self, episode_ids: Iterable[str]) -> list[Transition]:
        """Return the transitions of these episodes that have failed, most often failed first."""
        keys = {key for episode_id in episode_ids for key in self._by_episode.get(episode_id, ())}
        failed = [self._transitions[key] for key in keys if self._transitions[key].failures]
        return sorted(failed, key=lambda t: (-t.failures, t.action, t.source.room, t.source.summary))

    def room_patterns(self, room: str, limit: int = 5) -> list[tuple[str, int, int]]:
        """Return (action, successes, takes) of what works in a room, most often successful first."""
        return _success_counts(self._by_room.get(room, Counter()), limit)

    def action_hints(self, object_class: str, limit: int = 5) -> list[tuple[str, int, int]]:
        """Return (skill, successes, takes) for a class of object, most often successful first."""
        return _success_counts(self._by_object.get(object_class, Counter()), limit)

    def forget(self, episode_id: str) -> None:
        """Remove an episode; what only it supported goes with it."""
        remaining = [i for i in self._by_episode if i != episode_id]
        # Counts do not say which episode each came from; the transitions of the others stay as they are.
        for key in set(self._by_episode.pop(episode_id, ())):
            transition = self._transitions[key]
            transition.episodes = [i for i in transition.episodes if i in remaining]
            if not transition.episodes:
                del self._transitions[key]
        self._states = {state for key in self._transitions for state in (key[0], key[2])}


def _success_counts(counts: Counter[tuple[str, bool]], limit: int) -> list[tuple[str, int, int]]:
    names = {name for name, _ in counts}
    rows = [(name, counts[(name, True)], counts[(name, True)] + counts[(name, False)]) for name in names]
    return sorted(rows, key=lambda row: (-row[1], -row[1] / row[2], row[0]))[:limit]


def lifted_arguments(step: StepRecord) -> tuple[str, ...]:
    """Return a step's object arguments as classes: positions are dropped, so that episodes can be compared."""
    return tuple(text.partition("@")[0] for text in step.action.arguments if "," not in text.partition("@")[0])


def lifted_action(step: StepRecord) -> str:
    """Return the action with its arguments lifted to classes; the places that Explore was given are dropped."""
    names = lifted_arguments(step)
    return f"{step.action.skill}({', '.join(names[:1] if step.action.skill == 'Explore' else names)})"
