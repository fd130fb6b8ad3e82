"""Puts what people told into an instruction's words: whose things are, where they belong, who likes what.

The readers of instructions know things by their names alone. Here "bring Anna her mug" becomes "bring the blue mug"
where memory was told that the blue mug is Anna's. Where what was told speaks against an instruction, or leaves open
what is meant, a question is asked. Rules over the sentences of told_facts.yaml; nothing that was told is carried out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memory_node.domain.nouns import singular
from memory_node.planner.language.told_patterns import first_match, told_patterns

# What was told that bears on an instruction: statements.
Told = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Informed:
    """An instruction with what was told put into its words. question: asked instead, "" for none. used: statements."""

    text: str
    question: str = ""
    choices: tuple[str, ...] = ()
    used: tuple[str, ...] = ()


def nothing_told(_text: str) -> Sequence[str]:
    """Stand in for memory where nobody told anything."""
    return ()


def informed(instruction: str, statements: Sequence[str]) -> Informed:
    """Return the instruction in words that need no more knowledge, or what to ask.

    statements: what was told, the more important first; of two about the same the first counts.
    """
    facts, patterns = _Facts(statements), told_patterns()
    text = facts.called_by_their_names(" ".join(instruction.split()))
    whom = first_match(patterns.for_somebody, text)
    who = whom["who"] if whom else ""
    if whom and _key(who) not in facts.people:
        whom, who = None, ""
    text = patterns.possessed.sub(lambda match: facts.owned(match, who), text)
    whom = first_match(patterns.for_somebody, text) if whom else None
    if whom is None:
        return Informed(facts.put_away(text), used=tuple(facts.used))
    return _for_a_person(whom, facts)


def _for_a_person(whom: re.Match[str], facts: _Facts) -> Informed:
    who, what = whom["who"], whom["what"]
    if told_patterns().open_wish.match(what):
        chosen = facts.liked(who, what)
        if len(chosen) != 1:
            known = "; ".join(facts.avoided(who).values())
            question = f"What shall I bring {who}?" + (f" I was told: {known}." if known else "")
            return Informed("", question, tuple(f"bring {who} the {one}" for one in chosen), tuple(facts.used))
        what = f"the {chosen[0]}"
    against = facts.objection(who, what)
    if against:
        return Informed("", f"{against.rstrip('.')}. What shall I bring {who} instead?", (), tuple(facts.used))
    place = facts.place_of(who)
    text = f"put {what} {place}" if place else f"bring {what}"
    return Informed(text, used=tuple(facts.used))


class _Facts:
    """Statements by what they say. used: those that were needed."""

    def __init__(self, statements: Iterable[str]) -> None:
        self.used: dict[str, None] = {}
        self.people: set[str] = set()
        self._owned: dict[str, list[tuple[str, str]]] = {}
        self._kept: dict[str, tuple[str, str]] = {}
        self._sits: dict[str, tuple[str, str]] = {}
        self._likes: dict[str, list[tuple[str, str]]] = {}
        self._avoids: dict[str, dict[str, str]] = {}
        self._holds: list[tuple[str, str, str]] = []
        self._called: list[tuple[str, str, str]] = []
        for statement in statements:
            self._take(statement)

    def _take(self, statement: str) -> None:
        said = statement.strip().rstrip(".!")
        patterns = told_patterns()
        if match := first_match(patterns.owned, said):
            self._owned.setdefault(_key(match["who"]), []).append((match["thing"], statement))
        elif match := first_match(patterns.kept, said):
            self._kept.setdefault(_head(match["thing"]), (match["place"], statement))
        elif match := first_match(patterns.avoids, said):
            self._avoids.setdefault(_key(match["who"]), {})[match["what"]] = statement
        elif match := first_match(patterns.sits, said):
            place = said[match.start("place") :]
            preposition = "in" if re.search(r" in (?:the )?[\w' -]+$", said) else "on"
            self._sits.setdefault(_key(match["who"]), (f"{preposition} {place}", statement))
        elif match := first_match(patterns.likes, said):
            self._likes.setdefault(_key(match["who"]), []).append((match["what"], statement))
        elif match := first_match(patterns.holds, said):
            self._holds.append((match["thing"], match["what"], statement))
        elif match := first_match(patterns.called, said):
            self._called.append((match["name"], match["thing"], statement))
        if match and "who" in match.groupdict():
            self.people.add(_key(match["who"]))

    def called_by_their_names(self, text: str) -> str:
        """Return a text with what people call things in the place of names of their own."""
        for name, thing, statement in self._called:
            replaced = re.sub(rf"\b{re.escape(name)}\b", thing, text, flags=re.I)
            if replaced != text:
                self.used[statement] = None
                text = replaced
        return text

    def owned(self, match: re.Match[str], who: str) -> str:
        """Return the thing that a possessive means: "her mug" as "the blue mug"; as it was where nobody told."""
        owner, wanted = _key(match["who"] or who), singular(match["thing"].lower())
        for thing, statement in self._owned.get(owner, ()):
            if _head(thing) == wanted:
                self.used[statement] = None
                return f"the {thing}"
        return match.group()

    def put_away(self, text: str) -> str:
        """Return "put the mug away" with the place where it is kept."""
        away = told_patterns().put_away.search(text)
        if away is None:
            return text
        before = text[: away.start()].strip()
        kept = self._kept.get(_head(before))
        if kept is None:
            return text
        place, statement = kept
        self.used[statement] = None
        return f"{before} {place}"

    def liked(self, who: str, what: str) -> list[str]:
        """Return what somebody likes that fits an open wish and that nothing speaks against."""
        drink = re.search(r"drink", what, re.I) is not None
        found: dict[str, None] = {}
        for thing, statement in self._likes.get(_key(who), ()):
            is_drink = told_patterns().of_drinks.search(statement) is not None
            if not self.objection(who, thing) and (is_drink == drink or not self._tells_drinks(who)):
                before, space, noun = re.sub(r"^(?:the|an?|some) ", "", thing).rpartition(" ")
                found[before + space + singular(noun)] = None
                self.used[statement] = None
        return list(found)

    def _tells_drinks(self, who: str) -> bool:
        return any(re.search(r"\bdrinks?\b", statement, re.I) for _, statement in self._likes.get(_key(who), ()))

    def avoided(self, who: str) -> dict[str, str]:
        """Return what somebody must not or does not want to have, with the statements that say so."""
        return {what: statement.strip().rstrip(".") for what, statement in self._avoids.get(_key(who), {}).items()}

    def objection(self, who: str, thing: str) -> str:
        """Return the statement that speaks against giving somebody a thing, "" for none."""
        words = {singular(word) for word in re.findall(r"[a-z]+", thing.lower())}
        for held, what, statement in self._holds:
            if _head(held) in words:
                words |= {singular(word) for word in re.findall(r"[a-z]+", what.lower())}
                self.used[statement] = None
        for what, statement in self._avoids.get(_key(who), {}).items():
            if singular(what.lower().split()[-1]) in words:
                self.used[statement] = None
                return statement
        return ""

    def place_of(self, who: str) -> str:
        """Return where somebody gets things put, "on the desk"; "" where nobody told."""
        if _key(who) not in self._sits:
            return ""
        place, statement = self._sits[_key(who)]
        self.used[statement] = None
        return re.sub(r"\b(?:his|her|their)\b", "the", place)


def _key(name: str) -> str:
    return name.lower()


def _head(thing: str) -> str:
    """Return the noun of a phrase: its last word, in the singular."""
    words = re.findall(r"[a-z]+", thing.lower())
    return singular(words[-1]) if words else ""
