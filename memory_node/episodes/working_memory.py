"""Working memory: a sliding window over the steps of the running episode (BrainMem), each checked for consistency."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.step import StepRecord
from memory_node.episodes.class_actions import class_call, repeated
from memory_node.world.skills import after, after_failure, broken_rules, establishing, remedy_of, unmet
from memory_node.world.state import Thing, WorldState

_DRIVES = ("GoToObject", "Explore")


@dataclass(frozen=True)
class ConsistencyWarning:
    """A step that contradicts what is known: the rule that it breaks, and what to do instead."""

    rule: str
    detail: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.detail} (rule: {self.rule}; remedy: {self.remedy})"


def first_state(held: str, kinds: ObjectCatalogue) -> WorldState:
    """Return what is believed before the first step. A step names classes, so the things of this world are classes.

    held: the class of what the hand holds.
    """
    # Which of several things of a class the robot stands at is not known, so it says nothing of another class.
    return _holding(held, WorldState(kinds, at=None))


def after_step(state: WorldState, step: StepRecord) -> WorldState:
    """Return what is believed after a step: its declared effects, or what its failure tells, and what the hand holds
    after it."""
    call, skill = class_call(step.action), SKILLS.get(step.action.skill)
    if skill is not None and step.success:
        if skill.name in _DRIVES:
            state = replace(state, apart=state.apart - set(call.arguments[:1]))
        state = after(skill, state, call).standing_at(None)
    elif skill is not None:
        state = after_failure(skill, state, call, step.reason)
    return _holding(step.held_object, state)


def _holding(held: str, state: WorldState) -> WorldState:
    """Return a state over classes with a thing of one in the hand."""
    known = state if not held or held in state.things else state.with_thing(Thing(held, held))
    return known if known.held == held else known.holding(held)


def check_action(action: SkillCall, state: WorldState, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Return the warnings about doing `action` next, given what is believed and the steps so far."""
    warnings: list[ConsistencyWarning] = []
    skill = SKILLS.get(action.skill)
    if skill is None:
        return [ConsistencyWarning("known skill", f"{action.skill} is not in the skill library", "use a skill of it")]
    for one in unmet(skill, state, class_call(action)):
        warnings.append(ConsistencyWarning(str(one.fact), one.said, one.remedy))
    warnings += _tap_without_anything_below(action, state)
    warnings += _repeated_failure(action, history) or _loop(action, history)
    return warnings


def check_step(step: StepRecord, state: WorldState, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Return the warnings about a finished step, including the declared rule that its failure shows to be broken."""
    warnings = check_action(step.action, state, history)
    skill = SKILLS.get(step.action.skill)
    rules = broken_rules(skill, step.reason)
    if rules and not {rule.remedy for rule in rules} & {warning.remedy for warning in warnings}:
        rule = next((rule for rule in rules if establishing(rule.fact)), rules[0])
        detail = f"{step.action} failed, which says {step.reason}"
        warnings.append(ConsistencyWarning(str(rule.fact), detail, rule.remedy))
    return warnings


def _tap_without_anything_below(action: SkillCall, state: WorldState) -> list[ConsistencyWarning]:
    """Warn of a tap that is turned on when no basin below it has known contents: its water cleans nothing."""
    kinds, tap = state.kinds, state.kinds[next(iter(class_call(action).arguments), "")].name
    parts = [name for name in kinds.able(Property.DRAINS) if kinds[name].switched_by == tap]
    if action.skill != "ToggleOn" or not parts or any(map(state.contents, kinds.with_wholes(parts))):
        return []
    detail = f"nothing is known to be in {parts[0]}, so the water cleans nothing"
    return [ConsistencyWarning("something under the tap", detail, f"PutObject the thing in {parts[0]} first")]


def _repeated_failure(action: SkillCall, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Warn of an action that failed, where no step has succeeded since."""
    failures = itertools.takewhile(lambda step: not step.success, reversed(history))
    reason = next((step.reason for step in failures if step.action == action), None)
    if reason is None:
        return []
    remedy = remedy_of(action, reason) or "change something first"
    return [ConsistencyWarning("no failed action twice", f"{action} has just failed ({reason})", remedy)]


def _loop(action: SkillCall, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Warn where the last actions and the next one are one action three times, or a short cycle twice over."""
    cycle = ", ".join(map(str, repeated([*(step.action for step in history), action])))
    return [ConsistencyWarning("progress", f"the last actions repeat: {cycle}", "try another way")] if cycle else []


# Kinds of things in view that a step of the window tells, and letters of why it was chosen.
_MOST_SEEN, _LONGEST_REASONING = 6, 200


@dataclass(frozen=True)
class WorkingMemoryView:
    """Working memory at one moment, ready to be shown.

    success_rate: of the window, in [0, 1]; None before the first step. warnings: about the last step of the window.
    """

    steps_so_far: int
    window: tuple[StepRecord, ...]
    success_rate: float | None
    recent_places: tuple[str, ...]
    held_object: str
    warnings: tuple[ConsistencyWarning, ...]

    def lines(self) -> tuple[str, ...]:
        """Return its lines for a prompt, the most important first."""
        holding = f"Holding: {self.held_object or 'nothing'}."
        if self.success_rate is None:
            return (f"No step taken yet. {holding}",)
        rate = f"Success rate of the last {len(self.window)}: {self.success_rate:.0%}."
        lines = [f"Steps so far: {self.steps_so_far}. {rate} {holding}"]
        lines += [f"Warning: {warning}" for warning in self.warnings]
        if self.recent_places:
            lines.append("Recently at: " + ", ".join(self.recent_places) + ".")
        lines.append("Last steps, newest first:")
        for step in reversed(self.window):
            detail = f" ({step.message})" if step.message else ""
            outcome = "done" if step.success else f"failed, {step.reason}{detail}"
            why = f"; chosen because: {' '.join(step.reasoning.split())[:_LONGEST_REASONING]}" if step.reasoning else ""
            lines.append(f"{step.index + 1}. {step.action}: {outcome}{_where(step)}{why}")
        return tuple(lines)

    def text(self) -> str:
        """Return its lines as one text."""
        return "\n".join(self.lines())


def _where(step: StepRecord) -> str:
    """Return where the robot was after a step, what it held, and the kinds of things in view, in words."""
    seen = [name for name in step.visible if name[:1].isupper()][:_MOST_SEEN]
    place = step.area or step.room
    parts = (
        f"in {place}" if place else "",
        f"holding {step.held_object}" if step.held_object else "",
        f"in view {', '.join(seen)}" if seen else "",
    )
    said = ", ".join(part for part in parts if part)
    return f" ({said})" if said else ""


def warnings_of(steps: Iterable[StepRecord], kinds: ObjectCatalogue | None = None) -> list[tuple[str, ...]]:
    """Return for each step of an episode, in order, what was inconsistent about it, in words."""
    memory = WorkingMemory(kinds=kinds)
    return [tuple(map(str, memory.record(step))) for step in steps]


class WorkingMemory:
    """The last `window` steps of one episode and what follows from all of them; not thread-safe.

    held: the class of what the hand held when the episode began. kinds: by default the household's.
    """

    def __init__(self, window: int = 5, held: str = "", kinds: ObjectCatalogue | None = None) -> None:
        self._window: deque[StepRecord] = deque(maxlen=window)
        self._count = 0
        self._state = first_state(held, kinds or load_catalogue())
        self._warnings: tuple[ConsistencyWarning, ...] = ()

    def record(self, step: StepRecord) -> tuple[ConsistencyWarning, ...]:
        """Take one finished step; return what was inconsistent about it, by what was known before and how it ended."""
        self._warnings = tuple(check_step(step, self._state, tuple(self._window)))
        self._state = after_step(self._state, step)
        self._window.append(step)
        self._count += 1
        return self._warnings

    def view(self) -> WorkingMemoryView:
        """Return working memory as it stands."""
        steps = tuple(self._window)
        rate = sum(step.success for step in steps) / len(steps) if steps else None
        places = tuple(dict.fromkeys(step.area or step.room for step in reversed(steps) if step.area or step.room))
        return WorkingMemoryView(self._count, steps, rate, places, self._state.held or "", self._warnings)
