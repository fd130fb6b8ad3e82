"""Skill calls that a model may write now, as a GBNF grammar: what is named exists, and the hand agrees.

What can be called with which hand comes from outside (world/skills.py works it out). Along a plan the hand changes as
the skills declare: what is picked up is carried until it is put down.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill_declaration import Skill
from memory_node.llm.gbnf import Rules, literal, one_of, one_of_texts, repeated

_LONGEST_NAME = 200  # skill_parser takes no longer argument
_MOST_REPEATED = 3


@dataclass(frozen=True)
class Offer:
    """A skill that can be called. values: what each of its arguments may be, () for one that is left out."""

    skill: Skill
    values: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        for name in {name for values in self.values for name in values}:
            if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
                raise InvalidValueError(f"Offer: expected a name of 1 to {_LONGEST_NAME} letters, got {name[:40]!r}")


@dataclass(frozen=True)
class Choices:
    """What calls may name. offers: the skills that can be called while a thing of some name is in the hand, "" for
    none. held: what is in the hand now."""

    offers: Callable[[str], Sequence[Offer]] = field(compare=False)
    held: str = ""


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
        self._number_of: dict[str, int] = {}

    def calls(self, offers: Iterable[Offer]) -> str:
        return one_of([f"{literal(f'{one.skill.name}(')} {self._arguments(one)}" for one in offers])

    def number(self, name: str) -> int:
        """Return a number for a name, which rules are called by."""
        return self._number_of.setdefault(name, len(self._number_of))

    def _arguments(self, offer: Offer, first: int = 0) -> str:
        """Return what stands for a call's arguments from the one numbered `first` on, and its end."""
        parts = []
        for number, (argument, values) in enumerate(zip(offer.skill.arguments, offer.values)):
            if not values or number < first:  # only optional and repeated ones may have none
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
        self._free = self._lines("free", self._keeping(""))

    def text(self, most_carries: int) -> str:
        whole, last = self._carries(released=True), self._carries(released=False)
        carries = ""
        if last:
            done = repeated(self.rules.add("done", whole), 0, most_carries - 1) if whole else ""
            last = self.rules.add("last", last)
            # The last carry comes with its end or without it.
            carries = self.rules.add("carries", f"{done} ({'done | ' if whole else ''}{last})")
        held = self.choices.held
        beginnings = self._from_full_hand(held, carries) if held else self._from_empty_hand(carries)
        if not beginnings:
            raise InvalidValueError("no skill can be called: nothing is known that one could name")
        self.rules.add("root", one_of(beginnings))
        return self.rules.text()

    def _from_empty_hand(self, carries: str) -> list[str]:
        free = repeated(self._free, 1, self._most_between) if self._free else ""
        beginnings = [f"{free} ({carries})?" if carries else free] if free else []
        return [*beginnings, carries] if carries else beginnings

    def _from_full_hand(self, held: str, carries: str) -> list[str]:
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
        for offer in self.choices.offers(""):
            if offer.skill.fills_hand:
                rests = {_quoted(name): self._carry(name, offer, released) for name in offer.values[0]}
                rests = {text: rest for text, rest in rests.items() if rest}
                bodies += [f"{literal(f'{offer.skill.name}(')} {one_of_texts(rests)}"] if rests else []
        return one_of(bodies) if bodies else ""

    def _carry(self, name: str, offer: Offer, released: bool) -> str:
        """Return what follows the name of a thing that is picked up, "" when it cannot be put down but should."""
        rule = f"carry{self.number(name)}"
        picked = f"{self._arguments(offer, first=1)} {literal(chr(10))}"
        during, release = self._during(rule, name), self._release(rule, name)
        if not released:
            return f"{picked} {self._some(during)}"
        return f"{picked} {self._some(during)} {release} {self._some(self._free)}" if release else ""

    def _during(self, rule: str, held: str) -> str:
        return self._lines(f"{rule}-on", self._keeping(held))

    def _release(self, rule: str, held: str) -> str:
        return self._lines(f"{rule}-down", [one for one in self.choices.offers(held) if one.skill.fills_hand is False])

    def _keeping(self, held: str) -> list[Offer]:
        """Return what can be called and leaves the hand as it is."""
        return [one for one in self.choices.offers(held) if one.skill.fills_hand is None]

    def _lines(self, name: str, offers: Sequence[Offer]) -> str:
        if not offers:
            return ""
        if name not in self.rules:
            self.rules.add(name, f"{self.calls(offers)} {literal(chr(10))}")
        return name

    def _some(self, line: str) -> str:
        return repeated(line, 0, self._most_between) if line else ""


def _quoted(text: str) -> str:
    """Return a text as skill_parser reads it: JSON's quoting is also Python's."""
    return json.dumps(text, ensure_ascii=False)
