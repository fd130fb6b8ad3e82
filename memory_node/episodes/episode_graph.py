"""Episodic memory: states and actions of all attempts as one graph with success counts (BrainMem)."""

from __future__ import annotations

import heapq
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import FirstScene, StepRecord
from memory_node.episodes.class_actions import class_call


class SuccessCounts:
    """(successes, takes) by name."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._counts)

    def add(self, name: str, success: bool, times: int = 1) -> None:
        """Count a take; times -1 takes one back."""
        done, takes = self._counts.get(name, (0, 0))
        if takes + times <= 0:
            self._counts.pop(name, None)
        else:
            self._counts[name] = (done + times * success, takes + times)

    def best(self, limit: int) -> list[tuple[str, int, int]]:
        """Return (name, successes, takes), most often successful first."""
        rows = ((name, done, takes) for name, (done, takes) in self._counts.items())
        return heapq.nsmallest(limit, rows, key=lambda row: (-row[1], -row[1] / row[2], row[0]))


_REASONS = tuple(FailureReason)
_REASON_INDEX = {reason: index for index, reason in enumerate(_REASONS)}
_RELATION_WORDS = (" on ", " in ", " near ")
_NO_FACTS = "nothing in view"
# Newest reasons for which an action was chosen that an edge keeps.
_REASONS_KEPT = 3


@dataclass(frozen=True)
class StateKey:
    """What makes two states the same across episodes: the room and the canonical summary of the facts in view."""

    __slots__ = ("room", "summary")
    room: str
    summary: str

    @classmethod
    def of(cls, room: str, facts: Iterable[str], held: str) -> StateKey:
        """Return the key of a state; facts are sorted and made unique, so that equal sets give equal keys."""
        listed = sorted({*facts, *([f"holding {held}"] if held else [])})
        return cls(room, "; ".join(listed) or _NO_FACTS)

    @classmethod
    def of_start(cls, scene: FirstScene, task_type: str, asked: Iterable[str]) -> StateKey:
        """Return the key of the state in which an attempt begins: the scene seen and the instruction, by the kinds of
        its goals and the classes that it names (`asked`)."""
        goals = (f"to {kind}" for kind in task_type.split("+") if kind)
        return cls.of(scene.room, (*scene.visible, *goals, *(f"asked {name}" for name in asked)), scene.held_object)

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts in it."""
        return () if self.summary == _NO_FACTS else tuple(self.summary.split("; "))

    @property
    def relations(self) -> tuple[str, ...]:
        """The facts in it that relate two things, such as "Apple on DiningTable"."""
        return tuple(fact for fact in self.facts if any(word in fact for word in _RELATION_WORDS))

    def likeness(self, other: StateKey) -> float:
        """Return the share of facts that two states have in common, the room among them, in [0, 1]."""
        mine, others = ({("room", one.room), *(("fact", fact) for fact in one.facts)} for one in (self, other))
        return len(mine & others) / len(mine | others)


@dataclass
class Transition:
    """An edge: one action (lifted to classes) from one state to another, over all episodes that took it.

    reasons: why it failed, with counts. reasoning: why it was chosen, as (episode, words), the newest last.
    """

    __slots__ = ("call", "episodes", "failures", "reasoning", "reasons", "source", "successes", "target")
    source: StateKey
    call: SkillCall
    target: StateKey
    successes: int
    failures: int
    episodes: int
    reasons: Counter[FailureReason]
    reasoning: tuple[tuple[str, str], ...]

    @property
    def action(self) -> str:
        """The action as text."""
        return str(self.call)

    @property
    def success_rate(self) -> float:
        """Share of the takes that succeeded, in [0, 1]."""
        return self.successes / (self.successes + self.failures)


_Key = tuple[StateKey, SkillCall, StateKey]


@dataclass
class _Edges:
    """The transitions by number and by key; each of their states is kept once."""

    rows: dict[int, Transition] = field(default_factory=dict)
    numbers: dict[_Key, int] = field(default_factory=dict)
    states: dict[StateKey, StateKey] = field(default_factory=dict)
    uses: Counter[StateKey] = field(default_factory=Counter)
    calls: dict[SkillCall, SkillCall] = field(default_factory=dict)
    next_number: int = 0

    def number(self, source: StateKey, call: SkillCall, target: StateKey) -> int:
        found = self.numbers.get((source, call, target))
        if found is not None:
            return found
        source, target = (self.states.setdefault(one, one) for one in (source, target))
        self.uses.update((source, target))
        key = (source, self.calls.setdefault(call, call), target)
        number, self.next_number = self.next_number, self.next_number + 1
        self.numbers[key] = number
        self.rows[number] = Transition(*key, 0, 0, 0, Counter(), ())
        return number

    def drop(self, number: int) -> None:
        row = self.rows.pop(number)
        del self.numbers[(row.source, row.call, row.target)]
        for state in (row.source, row.target):
            self.uses[state] -= 1
            if not self.uses[state]:
                del self.states[state], self.uses[state]


class EpisodeGraph:
    """The states and transitions of every attempt; equal ones are merged and their counts added.

    An episode is kept as one number a step, the transition and how it ended, from which all of its counts can be taken
    back when it is forgotten.
    """

    def __init__(self) -> None:
        self._edges = _Edges()
        self._takes: dict[str, array[int]] = {}
        self._at: dict[str, StateKey] = {}  # where the episodes are that go on
        self._steps = 0
        self._by_room: defaultdict[str, SuccessCounts] = defaultdict(SuccessCounts)
        self._by_object: defaultdict[str, SuccessCounts] = defaultdict(SuccessCounts)
        self._relations: defaultdict[str, SuccessCounts] = defaultdict(SuccessCounts)

    def __len__(self) -> int:
        return len(self._edges.rows)

    def __contains__(self, episode_id: str) -> bool:
        return episode_id in self._takes

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the episodes, in the order in which they were added."""
        return iter(self._takes)

    @property
    def step_count(self) -> int:
        """Number of steps of all episodes."""
        return self._steps

    @property
    def oldest(self) -> str:
        """The episode that was added first; "" when there is none."""
        return next(iter(self._takes), "")

    def add(self, episode_id: str, steps: Sequence[StepRecord], first: StateKey | None = None) -> None:
        """Add one attempt's steps, in order, in the place of what is known of it. first: the state in which it began;
        None: of that only the room is known, that of the first step."""
        self.forget(episode_id)
        self._takes[episode_id] = array("Q")
        if steps:
            room, summary = (first.room, first.summary) if first is not None else ("", "start")
            self._at[episode_id] = StateKey(room or steps[0].room, summary)
        for step in steps:
            self.append(episode_id, step)

    def append(self, episode_id: str, step: StepRecord) -> None:
        """Add the next step of an attempt that was added and goes on; a failed one leads back to the state that it
        started in."""
        takes = self._takes[episode_id]
        after = StateKey.of(step.room, (*step.visible, *step.relations), step.held_object)
        before = self._at[episode_id]
        number = self._edges.number(before, class_call(step.action), after if step.success else before)
        row = self._edges.rows[number]
        row.episodes += all(take // len(_REASONS) != number for take in takes)
        takes.append(number * len(_REASONS) + _REASON_INDEX[step.reason])
        self._steps += 1
        self._count_take(row, step.reason, 1)
        if step.reasoning:
            others = (one for one in row.reasoning if one[1] != step.reasoning)
            row.reasoning = (*others, (episode_id, sys.intern(step.reasoning)))[-_REASONS_KEPT:]
        # A failure changes nothing, but what was seen meanwhile is where the next step starts.
        self._at[episode_id] = after

    def close(self, episode_id: str) -> None:
        """Note that no more steps of an attempt come."""
        self._at.pop(episode_id, None)

    def failed_transitions(self, episode_ids: Iterable[str]) -> list[Transition]:
        """Return the transitions that failed in these episodes, most often failed first."""
        none = _REASON_INDEX[FailureReason.NONE]
        takes = (take for episode_id in episode_ids for take in self._takes.get(episode_id, ()))
        numbers = {take // len(_REASONS) for take in takes if take % len(_REASONS) != none}
        failed = [self._edges.rows[number] for number in numbers]
        return sorted(failed, key=lambda t: (-t.failures, t.action, t.source.room, t.source.summary))

    def room_patterns(self, room: str, limit: int = 5) -> list[tuple[str, int, int]]:
        """Return (action, successes, takes) of what works in a room, most often successful first."""
        return self._by_room[room].best(limit) if room in self._by_room else []

    def action_hints(self, object_class: str, limit: int = 5) -> list[tuple[str, int, int]]:
        """Return (skill, successes, takes) for a class of object, most often successful first."""
        return self._by_object[object_class].best(limit) if object_class in self._by_object else []

    def learnt_relations(self, room: str, limit: int = 5) -> list[tuple[str, int]]:
        """Return (relation, how often it was seen) of a room, such as "Apple on DiningTable", most frequent first."""
        return [(name, seen) for name, seen, _ in self._relations[room].best(limit)] if room in self._relations else []

    def forget(self, episode_id: str) -> None:
        """Remove an episode and its share of every count; what only it supported goes with it."""
        self.close(episode_id)
        takes = self._takes.pop(episode_id, array("Q"))
        self._steps -= len(takes)
        for take in takes:
            number, reason = divmod(take, len(_REASONS))
            self._count_take(self._edges.rows[number], _REASONS[reason], -1)
        for number in {take // len(_REASONS) for take in takes}:
            row = self._edges.rows[number]
            row.episodes -= 1
            row.reasoning = tuple(one for one in row.reasoning if one[0] != episode_id)
            if row.episodes == 0:
                self._edges.drop(number)

    def _count_take(self, row: Transition, reason: FailureReason, times: int) -> None:
        success = reason is FailureReason.NONE
        row.successes += times * success
        row.failures += times * (not success)
        if not success:
            row.reasons[reason] += times
            if not row.reasons[reason]:
                del row.reasons[reason]
        self._tally(self._by_room, row.target.room, row.action, success, times)
        for name in row.call.arguments:
            self._tally(self._by_object, name, row.call.skill, success, times)
        if success:
            for relation in row.target.relations:
                self._tally(self._relations, row.target.room, relation, True, times)

    def _tally(self, tallies: defaultdict[str, SuccessCounts], key: str, name: str, success: bool, times: int) -> None:
        tallies[key].add(name, success, times)
        if not tallies[key]:
            del tallies[key]
