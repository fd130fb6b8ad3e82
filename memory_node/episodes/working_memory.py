"""Working memory: a sliding window over the steps of the running episode (BrainMem)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.step import StepRecord
from memory_node.episodes.consistency import ConsistencyWarning, after_step, check_step, first_state

# Kinds of things in view that a step of the window tells.
_MOST_SEEN = 6


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
            lines.append(f"{step.index + 1}. {step.action}: {outcome}{_where(step)}")
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
