"""Gives an instruction part by part, as KARMA gives the subtasks of ALFRED-L: each is an instruction of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.household_conditions import Condition
from benchmarks.household_contradictions import Wording
from benchmarks.household_goals import ConditionJudge
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.goal_labels import GOALS, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.reading.english import English
from memory_node.planner.reading.forms import InstructionReader
from memory_node.planner.reading.lexicon import Lexicon

# What the outcomes of the parts add up.
_COUNTED = ("tokens_in", "tokens_out", "cost_usd", "replies", "valid_replies", "replans")
_STATES = {kind: goal.wants for kind, goal in GOALS.items() if goal.wants} | {
    GoalKind.SLICE: frozenset({ObjectState.SLICED})
}


@dataclass(frozen=True)
class SubtaskScore:
    """How many subtasks have conditions, and for how many of these all had held by the end of the subtask."""

    judged: int = 0
    done: int = 0


@dataclass(frozen=True)
class Subtask:
    """A part of an instruction; kinds: of what it asks for."""

    words: str
    kinds: frozenset[GoalKind]

    def brings_about(self, states: Iterable[ObjectState]) -> bool:
        """Return whether it asks for one of some states."""
        return any(state in _STATES.get(kind, ()) for kind in self.kinds for state in states)


class Subtasks:
    """Splits instructions at the commands that the grammar finds in them."""

    def __init__(self, kinds: ObjectCatalogue) -> None:
        english = English(kinds)
        self._kinds = kinds
        self._reader = InstructionReader(Lexicon(kinds, english.data["rooms"]), english)

    def of(self, instruction: str) -> tuple[Subtask, ...]:
        """Return the parts in the words of the instruction; the whole where it has no more than one.

        A command that does not say with what ("and put in the fridge") belongs to the part before.
        """
        parts: list[Subtask] = []
        for command in self._reader.read(instruction).commands:
            kinds = frozenset({command.kind})
            if parts and command.text == parts[-1].words:  # of several things: "put a cup and a fork in the sink"
                parts[-1] = Subtask(parts[-1].words, parts[-1].kinds | kinds)
            elif parts and not command.targets:
                parts[-1] = Subtask(f"{parts[-1].words} and {command.text}", parts[-1].kinds | kinds)
            else:
                parts.append(Subtask(command.text, kinds))
        if len(parts) > 1:
            return tuple(parts)
        return (Subtask(instruction, frozenset(kind for part in parts for kind in part.kinds)),)

    def give(
        self, executor: InstructionExecutor, instruction: str, judge: ConditionJudge
    ) -> tuple[InstructionResult, SubtaskScore]:
        """Let the parts be carried out one after the other; return what came of them together, and the score."""
        parts = self.of(instruction)
        wanted = _conditions_of(parts, judge.conditions, self._kinds)
        results: list[InstructionResult] = []
        done: list[bool] = []
        for part, indices in zip(parts, wanted):
            results.append(executor.execute(part.words))
            if indices:
                done.append(all(judge.met[index] for index in indices))
        return _together(instruction, results), SubtaskScore(len(done), sum(done))


def _conditions_of(
    parts: Sequence[Subtask], conditions: Sequence[Condition], kinds: ObjectCatalogue
) -> list[list[int]]:
    """Return for each part the indices of the conditions that are its business.

    The parts are gone through from that of the condition before on. A condition belongs to the part that names its
    thing and place, or names its thing and asks for its state; else to one with the place or the state alone ("wash
    it"); else to one with the thing; else to the part of the condition before.
    """
    wordings = [Wording(part.words, kinds) for part in parts]
    found: list[list[int]] = [[] for _ in parts]
    last = 0
    for index, condition in enumerate(conditions):
        order = [*range(last, len(parts)), *range(last)]
        thing = {at for at in order if wordings[at].names(condition.classes)}
        rest = {at for at in order if wordings[at].names(condition.others) or parts[at].brings_about(condition.states)}
        last = next((at for fit in (thing & rest, rest, thing) for at in order if at in fit), last)
        found[last].append(index)
    return found


def _together(instruction: str, results: Sequence[InstructionResult]) -> InstructionResult:
    """Return the results of an instruction's parts as one."""
    outcomes = [result.outcome for result in results]
    lists: dict[str, Any] = {name: _joined(outcomes, name) for name in ("goals", "achieved", "failures")}
    sums: dict[str, Any] = {name: sum(getattr(one, name) for one in outcomes) for name in _COUNTED}
    fallbacks = [one.planner for one in outcomes if one.planner.endswith("(fallback)")]
    questions = [one.question for one in outcomes if one.question]
    outcome = replace(outcomes[0], planner=[*fallbacks, outcomes[0].planner][0], question=[*questions, ""][0])
    return replace(
        results[0],
        instruction=instruction,
        outcome=replace(outcome, **lists, **sums),
        steps=_joined(results, "steps"),
        lookups=_joined(results, "lookups"),
        failure="; ".join(one.failure for one in results if one.failure),
        canceled=any(one.canceled for one in results),
        planning_s=sum((one.planning_s for one in results), 0.0),
    )


def _joined(parts: Iterable[object], name: str) -> tuple[Any, ...]:
    return tuple(one for part in parts for one in getattr(part, name))
