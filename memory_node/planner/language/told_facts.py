"""Puts what people told into an instruction's words: whose things are, where they belong, who likes what.

The readers of instructions know things by their names alone. Here "bring Anna her mug" becomes "bring the blue mug"
where memory was told that the blue mug is Anna's. Where what was told speaks against an instruction, or leaves open
what is meant, a question is asked. Rules; nothing that was told is carried out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memory_node.domain.nouns import singular

# What was told that bears on an instruction: statements.
Told = Callable[[str], Sequence[str]]

_NAME = r"(?-i:[A-Z][\w-]*)"
_THING = r"(?:the |that |this |a |an |our |my )?(?P<thing>[\w' -]+?)"
_OWNED = (
    re.compile(rf"^{_THING} (?:is|are) (?P<who>{_NAME})['’]s(?: own| now)?$", re.I),
    re.compile(rf"^{_THING} belongs? to (?P<who>{_NAME})$", re.I),
    re.compile(rf"^(?P<who>{_NAME}) owns {_THING}$", re.I),
    re.compile(rf"^(?P<who>{_NAME})['’]s [\w-]+ is {_THING}$", re.I),
)
_KEPT = re.compile(
    rf"^{_THING} (?:(?:is|are) (?:always |usually )?kept|belongs?|goes|go|lives?)"
    r" (?P<place>(?:in|on|at|under|near|by) .+)$",
    re.I,
)
_SITS = re.compile(
    rf"^(?P<who>{_NAME}) (?:is|sits|works|sleeps|eats|waits)(?: always| usually| now)? "
    r"(?:at|in|on|by) (?P<place>(?:the |his |her |their )?[\w' -]+)$",
    re.I,
)
_LIKES = re.compile(
    rf"^(?P<who>{_NAME}) (?:always |usually |really |often )*(?:likes|loves|prefers|wants|drinks|eats|enjoys|has|takes)"
    r" (?P<what>[\w' -]+?)(?: as (?:a|her|his|their) (?P<use>\w+)| for (?P<meal>\w+)| best)?$",
    re.I,
)
_AVOIDS = re.compile(
    rf"^(?P<who>{_NAME}) (?:is allergic to|hates|cannot stand|dislikes|must not (?:have|eat|drink|touch)|"
    r"(?:does not|doesn['’]t|can ?not|can['’]t|may not) (?:like|eat|drink|have|want|touch|stand)) (?P<what>[\w' -]+)$",
    re.I,
)
_HOLDS = re.compile(rf"^{_THING} (?:contains?|is made of|has|have|is made with) (?P<what>[\w' -]+?)(?: in it)?$", re.I)
_CALLED = (
    re.compile(rf"^(?:the )?(?P<name>[\w' -]+?) (?:means|is what .+ calls?) {_THING}$", re.I),
    re.compile(rf"^{_THING} is (?:called|named|known as) (?:the )?(?P<name>[\w' -]+)$", re.I),
)
_AWAY = re.compile(
    r"\b(?:away|back|(?:to|in|on) (?:its|their) (?:place|spot)|where (?:it|they) (?:belongs?|goes|go|lives?))\s*[.!]?$",
    re.I,
)
_POLITE = r"(?:please |could you |can you |would you )?"
_FOR_SOMEBODY = re.compile(
    rf"^{_POLITE}(?:bring|give|get|fetch|make|prepare|hand|serve|pass) (?P<who>{_NAME}) (?P<what>.+?)[.?!]?$",
    re.I,
)
_TO_SOMEBODY = re.compile(
    rf"^{_POLITE}(?:bring|give|take|carry|get|fetch|make|hand|serve|pass) (?P<what>.+?) (?:to|for) (?P<who>{_NAME})"
    r"[.?!]?$",
    re.I,
)
_OPEN = re.compile(
    r"^(?:a |some |her |his |their )?(?:favou?rite )?(?:snack|drink|breakfast|lunch|dinner|treat|fruit|food|meal|"
    r"something(?: nice)? to (?:eat|drink)|something(?: nice)?)$",
    re.I,
)
_POSSESSED = re.compile(rf"\b(?:(?P<who>{_NAME})['’]s|(?P<whose>her|his|their)) (?P<thing>[\w-]+)", re.I)


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
    facts = _Facts(statements)
    text = facts.called_by_their_names(" ".join(instruction.split()))
    whom = _FOR_SOMEBODY.match(text) or _TO_SOMEBODY.match(text)
    who = whom["who"] if whom else ""
    if whom and _key(who) not in facts.people:
        whom, who = None, ""
    text = _POSSESSED.sub(lambda match: facts.owned(match, who), text)
    whom = (_FOR_SOMEBODY.match(text) or _TO_SOMEBODY.match(text)) if whom else None
    if whom is None:
        return Informed(facts.put_away(text), used=tuple(facts.used))
    return _for_a_person(whom, facts)


def _for_a_person(whom: re.Match[str], facts: _Facts) -> Informed:
    who, what = whom["who"], whom["what"]
    if _OPEN.match(what):
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
        for pattern in _OWNED:
            if match := pattern.match(said):
                self._owned.setdefault(_key(match["who"]), []).append((match["thing"], statement))
                self.people.add(_key(match["who"]))
                return
        if match := _KEPT.match(said):
            self._kept.setdefault(_head(match["thing"]), (match["place"], statement))
        elif match := _AVOIDS.match(said):
            self._avoids.setdefault(_key(match["who"]), {})[match["what"]] = statement
        elif match := _SITS.match(said):
            place = said[match.start("place") :]
            preposition = "in" if re.search(r" in (?:the )?[\w' -]+$", said) else "on"
            self._sits.setdefault(_key(match["who"]), (f"{preposition} {place}", statement))
        elif match := _LIKES.match(said):
            self._likes.setdefault(_key(match["who"]), []).append((match["what"], statement))
        elif match := _HOLDS.match(said):
            self._holds.append((match["thing"], match["what"], statement))
        else:
            for pattern in _CALLED:
                if match := pattern.match(said):
                    self._called.append((match["name"], match["thing"], statement))
            return
        if "who" in match.groupdict():
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
        away = _AWAY.search(text)
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
            is_drink = re.search(r"\b(?:drinks|to drink|as a drink)\b", statement, re.I) is not None
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
