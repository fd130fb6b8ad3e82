"""The context of one instruction for a language model: sections in a fixed order, each under a token budget."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cached_property

from memory_node.context.recalled import deeds_in_words, quoted, task_in_words
from memory_node.domain.answer import Recollection
from memory_node.domain.clock import ago, spoken_moment
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource, estimate_tokens
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import FailureReason
from memory_node.domain.step import Deed
from memory_node.knowledge.answering import dated
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.text import sentences
from memory_node.lessons.expectations import WRITER
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.long_term import ExperienceAnswer
from memory_node.lessons.plugmem import WRITER as WAYS

# BrainMem's order. Spatial guidance comes from three memories: the room's relations, the short-term memory, the graph.
LESSONS = "Lessons"
ROOM_PATTERNS = "What works in this room"
EXPERIENCES = "Experiences with similar tasks"
ACTION_HINTS = "Action hints"
SPATIAL_ROOM = "Spatial guidance: this room"
SPATIAL_RECENT = "Spatial guidance: just seen or used"
SPATIAL_HOME = "Spatial guidance: the home"
WORKING_MEMORY = "Working memory and robot state"
KNOWN = "What is known"
# Share of each section when all of them would use up the budget. What people told binds, and is in no other section.
_SHARES = {
    LESSONS: 0.12,
    ROOM_PATTERNS: 0.03,
    EXPERIENCES: 0.15,
    KNOWN: 0.4,
    ACTION_HINTS: 0.1,
    SPATIAL_ROOM: 0.1,
    SPATIAL_RECENT: 0.1,
    SPATIAL_HOME: 0.28,
    WORKING_MEMORY: 0.12,
}
ORDER = tuple(_SHARES)
# Sections with lessons of episodes; the others are about objects and places.
_LEARNT = frozenset({LESSONS, ROOM_PATTERNS, EXPERIENCES, KNOWN, ACTION_HINTS, WORKING_MEMORY})
# Lines of what was just seen or used that come before those of what is needed.
_BEFORE_NEEDED = 3
# Areas left out that are named.
_NAMED = 20


@dataclass(frozen=True)
class Section:
    """A titled part of the context; lines come most important first, so that a budget cuts the least important.

    left_out: in words, what the writer of the lines had no room for.
    """

    title: str
    lines: tuple[str, ...]
    share: float
    left_out: tuple[str, ...] = ()

    def within(self, token_budget: int) -> tuple[str, int]:
        """Return the title and as many lines as the budget holds, and how many; empty where not even one fits."""
        text, shown = "", 0
        for line in self.lines:
            longer = f"{text}\n{line}" if text else f"## {self.title}\n{line}"
            if estimate_tokens(longer) > token_budget:
                break
            text, shown = longer, shown + 1
        return text, shown


def assemble(sections: Sequence[Section], token_budget: int, context_id: str = "") -> Context:
    """Return the sections under one budget: each may use its share, and of what others do not need its part.

    What is left over then, because lines are not cut in two, goes to the first sections that have a line of that size.
    """
    allowed = _allotted(sections, token_budget)
    left = token_budget - sum(estimate_tokens(s.within(tokens)[0]) for s, tokens in zip(sections, allowed))
    texts, tokens, lines, cut = [], {}, {}, {}
    for section, allotted in zip(sections, allowed):
        used = estimate_tokens(section.within(allotted)[0])
        text, shown = section.within(used + left)
        if text:
            texts.append(text)
            tokens[section.title], lines[section.title] = estimate_tokens(text), shown
            left -= tokens[section.title] - used
        if shown < len(section.lines) or section.left_out:
            cut[section.title] = (*section.lines[shown:], *section.left_out)
    return Context(context_id, "\n\n".join(texts), tokens, lines, cut)


def _allotted(sections: Sequence[Section], token_budget: int) -> list[int]:
    """Return the tokens that each section may use."""
    needs = [estimate_tokens(section.within(sys.maxsize)[0]) for section in sections]
    allotted, left = [0] * len(sections), float(token_budget)
    waiting = {index for index, need in enumerate(needs) if need}
    while waiting:
        a_share = left / sum(sections[index].share for index in waiting)
        content = {index for index in waiting if needs[index] <= a_share * sections[index].share}
        for index in content or waiting:
            allotted[index] = needs[index] if content else int(a_share * sections[index].share)
            left -= allotted[index]
        waiting = waiting - content if content else set()
    return allotted


def lines_of(context: Context, title: str) -> list[str]:
    """Return the lines of a section of a context."""
    lines = context.text.splitlines()
    start = lines.index(f"## {title}") + 1 if f"## {title}" in lines else len(lines)
    return lines[start : start + context.section_lines.get(title, 0)]


@dataclass(frozen=True)
class MemoryExcerpt:
    """What all memories have to say about one instruction.

    lessons: each in the words of this home and instruction, in the order of telling.
    known: what people told and documents say that bears on the instruction. said_of: which things a statement is about
    that may stand elsewhere now, in words, by its text. room_relations: what is near, on and in
    what in the room now. home: the scene graph in words; areas_left_out: names of the areas that it had no room for.
    needed: who is there, what the instruction is done with though it names none of it (a sink to wash at), and the
    few of a kind that it names. shut_in: what a thing of `needed` or of the recollection lies inside, in words, by the
    thing's id.
    robot: the robot's state in words, "" when nothing is known of it. deeds: of all episodes, the oldest first; names:
    of things, by memory's ids. zone: that of the days; None: the machine's.
    """

    experience: ExperienceAnswer
    lessons: Sequence[tuple[Lesson, str]] = ()
    known: Sequence[Proposition] = ()
    said_of: Mapping[str, str] = field(default_factory=dict)
    room_relations: Sequence[str] = ()
    recollection: Recollection | None = None
    needed: Sequence[SceneObject] = ()
    shut_in: Mapping[str, str] = field(default_factory=dict)
    home: Sequence[str] = ()
    areas_left_out: Sequence[str] = ()
    robot: str = ""
    deeds: Sequence[Deed] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    now_ns: int = 0
    zone: tzinfo | None = None

    def sections(self, sources: Collection[ContextSource] = ALL_SOURCES) -> list[Section]:
        """Return the sections of some sources in BrainMem's order."""
        lines = {
            LESSONS: [f"- {said}{self._proven(one)}" for one, said in self.lessons],
            ROOM_PATTERNS: [
                f"- {action} worked {done} of {tried} times here"
                for action, done, tried in self.experience.room_patterns
                if done < tried and not self._is_taught(action) and not self._is_over(action)
            ],
            EXPERIENCES: self._experiences(),
            KNOWN: [f"- {dated(one, self.zone)}{self.said_of.get(one.text, '')}" for one in self.known],
            ACTION_HINTS: self._action_hints(),
            SPATIAL_ROOM: [
                *(f"- {relation}" for relation in self.room_relations),
                *(f"- {said}, seen in {times} steps" for said, times in self.experience.learnt_relations),
            ],
            SPATIAL_RECENT: self._recent(),
            SPATIAL_HOME: list(self.home),
            WORKING_MEMORY: self._working_memory(),
        }
        source_of = {title: ContextSource.EXPERIENCE if title in _LEARNT else ContextSource.OBJECTS for title in ORDER}
        chosen = [title for title in ORDER if source_of[title] in sources]
        left_out = {SPATIAL_HOME: _areas_left_out(self.areas_left_out)}
        return [Section(title, tuple(lines[title]), _SHARES[title], left_out.get(title, ())) for title in chosen]

    def _experiences(self) -> list[str]:
        told, known = [], {one.text for one in self.known}
        for record in self.experience.experiences:
            if record.success and any(all(part in one for part in sentences(record.task)) for one in known):
                continue  # what was said with it tells what was done
            deeds = [one for one in self.deeds if one.episode_id == record.episode_id]
            done = deeds_in_words(deeds, self.names) or ("done" if record.success else "nothing was done")
            told.append(f"- {task_in_words(record.task, record.stamp_ns, self.now_ns, self.zone)}: {done}")
            chosen = ((one.skill, record.reasoning_of(one.source)) for one in deeds if one.reason)
            told += [f"  - {skill} was chosen because: {quoted(why)}" for skill, why in dict.fromkeys(chosen) if why]
            failed = [(f"{one.skill}(", f": {one.reason}") for one in deeds if one.reason]
            causes = () if record.success else record.failure_causes
            told += [
                f"  - failed: {cause}"
                for cause in causes
                if not any(cause.startswith(skill) and cause.endswith(reason) for skill, reason in failed)
            ]
        return told

    def _action_hints(self) -> list[str]:
        """Return what failed before, and what does not always work: of the rest a planner expects it anyway."""
        answer, told = self.experience, {*self.experience.room_patterns}
        failed: dict[str, Counter[FailureReason]] = {}
        chosen: dict[str, str] = {}
        for transition in answer.failed_before:
            action = transition.action
            if not (self._is_taught(action) or self._is_told(action) or self._is_over(action)):
                failed.setdefault(action, Counter()).update(transition.reasons)
                for _, words in transition.reasoning[-1:]:
                    chosen.setdefault(action, f"; chosen because: {quoted(words)}")
        return [
            *(
                f"- {action} failed {why.total()}x ({', '.join(map(str, why))}){chosen.get(action, '')}"
                for action, why in failed.items()
            ),
            *(
                f"- {name}: {skill} worked {done} of {tried} times"
                for name, skill, done, tried in answer.action_hints
                if done < tried and not self._is_taught(action := f"{skill}({name})")
                if (action, done, tried) not in told and not self._is_over(action)
            ),
        ]

    def _proven(self, lesson: Lesson) -> str:
        """Return what bears a lesson out: the tries, or how it went when it was given, a way: followed; and when it was
        last seen to hold."""
        known = self._stamps
        shown_ns = max((known[one] for one in lesson.evidence_for if one in known), default=lesson.helped_ns)
        said = []
        if lesson.writer == WRITER:
            against = len(lesson.evidence_against)
            said = ["one try" if lesson.support < 2 else f"{lesson.support} tries"]
            said += [f"{against} against"] if against else []
        elif lesson.given.trials:
            trials, well = lesson.given.trials, lesson.given.total
            used = "worked" if lesson.writer == WAYS else "helped"
            of = f"{well:g} of {trials} time{'s' * (trials > 1)}"
            said = [f"{used} {_times(trials) if well == trials else of}"]
        elif lesson.writer == WAYS:
            said = [f"worked {_times(len(lesson.episodes))}"]
        said += [spoken_moment(shown_ns, self.now_ns, self.zone)] if shown_ns else []
        return f" ({', '.join(said)})" if said else ""

    @cached_property
    def _stamps(self) -> Mapping[str, int]:
        return {one.source: one.stamp_ns for one in self.deeds}

    def _is_taught(self, action: str) -> bool:
        """Return whether a lesson of tries tells of a call over classes with which of the things it fails."""
        skill, classes = _parts(action)
        taught = (one for one, _ in self.lessons if one.writer == WRITER and one.skill == skill)
        return any(not classes.isdisjoint({*one.object_classes, one.place_class}) for one in taught)

    def _is_told(self, action: str) -> bool:
        """Return whether an experience tells with which things a call over classes failed."""
        (skill, classes), ids = _parts(action), {one.episode_id for one in self.experience.experiences}
        failed = (one for one in self.deeds if one.reason and one.episode_id in ids and one.skill == skill)
        return any(classes <= {one.object_class, one.to_class} for one in failed)

    def _is_over(self, action: str) -> bool:
        """Return whether a call over classes failed for a while and works since: it is mended, or a lesson tells its
        cause. What works and fails by turns goes on."""
        skill, classes = _parts(action)
        made = [one for one in self.deeds if one.skill == skill and classes <= {one.object_class, one.to_class}]
        since = itertools.dropwhile(lambda one: not one.reason, made)
        later = list(itertools.dropwhile(lambda one: one.reason, since))
        return bool(later) and not any(one.reason for one in later)

    def _recent(self) -> list[str]:
        answers = self.recollection.answers if self.recollection is not None else ()
        recent = [
            f"- {a.object_class} (id {a.object_id}) at ({a.position[0]:.2f}, {a.position[1]:.2f}, {a.position[2]:.2f}),"
            f" {', '.join(str(s.state) for s in a.states) or 'no known state'},"
            f" seen {ago((self.now_ns - a.last_seen_ns) * 1e-9)}, sure to {a.existence:.0%}"
            f"{self.shut_in.get(a.object_id, '')}"
            for a in answers
        ]
        listed = {answer.object_id for answer in answers}
        needed = [_placed(one) + self.shut_in.get(one.id, "") for one in self.needed if one.id not in listed]
        return [*recent[:_BEFORE_NEEDED], *needed, *recent[_BEFORE_NEEDED:]]

    def _working_memory(self) -> list[str]:
        view = self.experience.working_memory
        has_more = view is not None and not (self.robot and view.success_rate is None)
        return [*([self.robot] if self.robot else []), *(view.lines() if view is not None and has_more else ())]


def _placed(one: SceneObject) -> str:
    x, y, z = one.box.center
    name = one.attributes.get("name")
    return f"- {one.class_name}{f' {name}' if name else ''} (id {one.id}) at ({x:.2f}, {y:.2f}, {z:.2f})"


def _areas_left_out(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (f"{len(names)} areas: {', '.join(names[:_NAMED])}{more}",)


def _parts(action: str) -> tuple[str, set[str]]:
    """Return skill and classes of a call over classes in words."""
    skill, _, rest = action.partition("(")
    return skill, {part.strip() for part in rest.rstrip(")").split(",")}


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
