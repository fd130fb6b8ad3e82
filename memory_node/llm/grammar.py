"""Skill calls that a model may write now, as a GBNF grammar: what is named exists, and the hand agrees.

What a call may name comes from outside (ids and classes that memory holds, areas of the home). What the hand allows
comes from the preconditions and effects that the skill library declares: what is not held is not put down, and while
something is held nothing else is picked up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill_declaration import Argument, ArgumentKind, Predicate, Skill
from memory_node.domain.skill_library import SKILLS
from memory_node.llm.gbnf import Rules, literal, one_of, one_of_texts, repeated

_LONGEST_NAME = 200  # skill_parser takes no longer argument
_MOST_REPEATED = 3


@dataclass(frozen=True)
class Thing:
    """An object as a call names it: an id, a class, or Class@x,y,z.

    object_class: "" where it is not known. cuts: whether it cuts others.
    """

    text: str
    object_class: str = ""
    cuts: bool = False


def _anything(_skill: Skill, _argument: Argument, _thing: Thing) -> bool:
    return True


@dataclass(frozen=True)
class Choices:
    """What calls may name now.

    classes: what Explore may look for. areas: where it may look. held: what the hand holds. fits: whether a thing can
    be this argument of this skill (what can be picked up, opened, ...). skills: those that the robot has.
    """

    things: tuple[Thing, ...]
    classes: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    held: Thing | None = None
    fits: Callable[[Skill, Argument, Thing], bool] = field(default=_anything, compare=False)
    skills: tuple[Skill, ...] = tuple(SKILLS.values())

    def __post_init__(self) -> None:
        for name in (*(thing.text for thing in self.things), *self.classes, *self.areas):
            if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
                raise InvalidValueError(f"Choices: expected a name of 1 to {_LONGEST_NAME} letters, got {name[:40]!r}")

    def values(self, skill: Skill, argument: Argument, held: Thing | None) -> tuple[str, ...]:
        """Return what an argument may be; what the hand holds is no target of itself."""
        if argument.kind is ArgumentKind.OBJECT_CLASS:
            return self.classes
        if argument.kind is ArgumentKind.AREA:
            return self.areas
        subject = argument is skill.arguments[0]
        if subject and _needs(skill, Predicate.HOLDING):
            return (held.text,) if held is not None and self.fits(skill, argument, held) else ()
        of_the_hand = _needs(skill, Predicate.HOLDING) or _needs(skill, Predicate.HOLDING_CUTTER)
        carried = held.text if held is not None and of_the_hand else None
        return tuple(thing.text for thing in self.things if thing.text != carried and self.fits(skill, argument, thing))

    def skills_with(self, held: Thing | None) -> tuple[Skill, ...]:
        """Return the skills that can be called while this is in the hand."""
        return tuple(skill for skill in self.skills if self._possible(skill, held))

    def _possible(self, skill: Skill, held: Thing | None) -> bool:
        if _needs(skill, Predicate.HAND_EMPTY) and held is not None:
            return False
        if _needs(skill, Predicate.HOLDING_CUTTER) and (held is None or not held.cuts):
            return False
        needed = [argument for argument in skill.arguments if not (argument.optional or argument.repeated)]
        return all(self.values(skill, argument, held) for argument in needed)


def plan_grammar(choices: Choices, most_carries: int = 4, most_between: int = 6) -> str:
    """Return the grammar of a plan: calls one a line, which follow each other as the hand allows.

    most_carries: how often something is picked up. most_between: other calls in a row while the hand holds the same.

    Raises:
        InvalidValueError: no call can be made.
    """
    return _PlanWriter(choices, most_between).text(most_carries)


class _Writer:
    """Writes calls as GBNF. Lists of values that several calls share are one rule."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.rules = Rules()
        self._name_of: dict[tuple[str, ...], str] = {}

    def calls(self, held: Thing | None, skills: Iterable[Skill]) -> str:
        bodies = [f"{literal(f'{skill.name}(')} {self._arguments(skill, held)}" for skill in skills]
        if not bodies:
            raise InvalidValueError("no skill can be called: nothing is known that one could name")
        return one_of(bodies)

    def _arguments(self, skill: Skill, held: Thing | None, first: int = 0) -> str:
        """Return what stands for a call's arguments from the one numbered `first` on, and its end."""
        parts = []
        for number, argument in enumerate(skill.arguments[first:], start=first):
            values = self.choices.values(skill, argument, held)
            if not values:  # only optional and repeated ones may have none
                continue
            named = f"{literal(', ')} {self._values(values)}" if number else self._values(values)
            if argument.repeated:
                named = repeated(named, 0, _MOST_REPEATED)
            parts.append(f"({named})?" if argument.optional else named)
        return " ".join([*parts, literal(")")])

    def _values(self, values: tuple[str, ...]) -> str:
        if len(values) == 1:
            return literal(_quoted(values[0]))
        if values not in self._name_of:
            name = f"values{len(self._name_of)}"
            self._name_of[values] = self.rules.add_choice(name, map(_quoted, values))
        return self._name_of[values]


class _PlanWriter(_Writer):
    """Writes plans: lines with an empty hand, and carries from picking a thing up to putting it down.

    A carry is `picked thing, other lines, put down, other lines`; the last one may end with the thing in the hand.
    """

    def __init__(self, choices: Choices, most_between: int) -> None:
        super().__init__(choices)
        self._most_between = most_between
        self._free = self._lines("free", None, self._keeping(None))

    def text(self, most_carries: int) -> str:
        whole, last = self._carries(released=True), self._carries(released=False)
        carries = ""
        if last:
            done = repeated(self.rules.add("done", whole), 0, most_carries - 1) if whole else ""
            last = self.rules.add("last", last)
            # The last carry comes with its end or without it.
            carries = self.rules.add("carries", f"{done} ({'done | ' if whole else ''}{last})")
        held = self.choices.held
        beginnings = self._from_empty_hand(carries) if held is None else self._from_full_hand(held, carries)
        if not beginnings:
            raise InvalidValueError("no skill can be called: nothing is known that one could name")
        self.rules.add("root", one_of(beginnings))
        return self.rules.text()

    def _from_empty_hand(self, carries: str) -> list[str]:
        free = repeated(self._free, 1, self._most_between) if self._free else ""
        beginnings = [f"{free} ({carries})?" if carries else free] if free else []
        return [*beginnings, carries] if carries else beginnings

    def _from_full_hand(self, held: Thing, carries: str) -> list[str]:
        during, release = self._during("held", held), self._release("held", held)
        bodies = [repeated(during, 1, self._most_between)] if during else []
        if release:
            bodies.append(
                f"{self._some(during)} {release} {self._some(self._free)} {f'({carries})?' if carries else ''}"
            )
        return bodies

    def _carries(self, released: bool) -> str:
        """Return what stands for one carry of any thing, "" when nothing can be picked up, or put down again."""
        bodies = []
        for skill in self.choices.skills:
            if not _gives(skill, True) or not _needs(skill, Predicate.HAND_EMPTY):
                continue
            fitting = [t for t in self.choices.things if self.choices.fits(skill, skill.arguments[0], t)]
            rests = {_quoted(thing.text): self._carry(thing, skill, released) for thing in fitting}
            rests = {text: rest for text, rest in rests.items() if rest}
            if rests:
                bodies.append(f"{literal(f'{skill.name}(')} {one_of_texts(rests)}")
        return one_of(bodies) if bodies else ""

    def _carry(self, thing: Thing, skill: Skill, released: bool) -> str:
        """Return what follows the name of a thing that is picked up, "" when it cannot be put down but should."""
        name = f"carry{self.choices.things.index(thing)}"
        picked = f"{self._arguments(skill, thing, first=1)} {literal(chr(10))}"
        during, release = self._during(name, thing), self._release(name, thing)
        if not released:
            return f"{picked} {self._some(during)}"
        return f"{picked} {self._some(during)} {release} {self._some(self._free)}" if release else ""

    def _during(self, name: str, held: Thing) -> str:
        return self._lines(f"{name}-on", held, self._keeping(held))

    def _release(self, name: str, held: Thing) -> str:
        releasing = [skill for skill in self.choices.skills_with(held) if _gives(skill, False)]
        return self._lines(f"{name}-down", held, releasing)

    def _keeping(self, held: Thing | None) -> list[Skill]:
        """Return the skills that leave the hand as it is."""
        return [s for s in self.choices.skills_with(held) if not _gives(s, True) and not _gives(s, False)]

    def _lines(self, name: str, held: Thing | None, skills: Sequence[Skill]) -> str:
        if not skills:
            return ""
        if name not in self.rules:
            self.rules.add(name, f"{self.calls(held, skills)} {literal(chr(10))}")
        return name

    def _some(self, line: str) -> str:
        return repeated(line, 0, self._most_between) if line else ""


def _needs(skill: Skill, predicate: Predicate) -> bool:
    return any(rule.fact.predicate is predicate for rule in skill.preconditions)


def _gives(skill: Skill, held: bool) -> bool:
    return any(fact.predicate is Predicate.HOLDING and fact.value is held for fact in skill.effects)


def _quoted(text: str) -> str:
    """Return a text as skill_parser reads it: JSON's quoting is also Python's."""
    return json.dumps(text, ensure_ascii=False)
