"""Where things belong and people are, as people told it."""

from __future__ import annotations

import re

from memory_node.domain.nouns import singular
from memory_node.knowledge.text.words import plain_words, stem, stems
from memory_node.planner.language.told_patterns import told_patterns

_PLACE = re.compile(
    r"\b(?P<how>in|into|on|onto|at|by|under|near|beside|behind|inside|next to) "
    r"(?P<what>(?:the|his|her|their|my|our|a|an) [\w' -]+)$",
    re.I,
)
# "Where it gets put".
_SAYS_NOTHING = frozenset({"get"})
_IT = frozenset({"it", "they", "them"})
_PERSON = frozenset({"he", "she", "they"})
# "Emma's stuff": whatever is hers.
_ANYTHING = frozenset({"stuff", "thing", "belonging"})
_ARTICLES = frozenset(["the", "a", "an", "some", "my", "our", "your", "his", "her", "their"])
_BEHIND = re.compile(r" (?:of|from|with|in|on|for|by) ")
_POSSESSOR = re.compile(r"\b([A-Z][\w-]*)['’]s\b")


class Places:
    """The first statement of a thing counts. used: gets the statements that were needed."""

    def __init__(self, used: dict[str, None]) -> None:
        self._used = used
        self._kept: list[tuple[str, str, str]] = []
        self._sits: dict[str, tuple[str, str]] = {}
        # Statements that end with a place: the stems of all their words, the place.
        self._said: list[tuple[frozenset[str], str, str]] = []

    def note(self, said: str, statement: str) -> None:
        """Take over a clause that may end with a place: "I charge my phone on the desk"."""
        found = _PLACE.search(said)
        if found is not None:
            before = frozenset(stems(said[: found.start()]))
            self._said.append((before, _told_place(found["how"], found["what"]), statement))

    def keep(self, thing: str, place: str, statement: str) -> None:
        """Take over where a thing has its place."""
        self._kept.append((thing, place, statement))

    def sit(self, who: str, spot: str, statement: str) -> None:
        """Take over where somebody is; spot: without its preposition."""
        inside = re.search(r" in (?:the )?[\w' -]+$", statement.strip().rstrip(".!")) is not None
        self._sits.setdefault(who.lower(), (f"{'in' if inside else 'on'} {spot}", statement))

    def of_person(self, who: str) -> str:
        """Return where somebody gets things put, "on the desk"; "" where nobody told."""
        if who.lower() not in self._sits:
            return ""
        place, statement = self._sits[who.lower()]
        self._used[statement] = None
        return re.sub(r"\b(?:his|her|their)\b", "the", place)

    def put_away(self, text: str) -> str:
        """Return "put the mug away", "put it where I charge it" with the place that was told; as it was without one."""
        patterns = told_patterns()
        away = patterns.put_away.search(text)
        if away is not None:
            before = text[: away.start()].strip()
            for thing, place, statement in self._kept:
                if fits(thing, _object_of(before)):
                    self._used[statement] = None
                    return f"{before} {place}"
        where = patterns.where.search(text)
        return self._by_clause(text[: where.start()].strip(), where["clause"], text) if where else text

    def _by_clause(self, before: str, clause: str, text: str) -> str:
        """Return an instruction with the place of the statement that says what its clause says."""
        words, wanted = plain_words(clause), set(stems(clause)) - _SAYS_NOTHING
        if _IT.intersection(words):
            wanted.add(stem(head(_object_of(before))))
        if _PERSON.intersection(words):
            wanted |= {stem(owner.lower()) for owner in _POSSESSOR.findall(before)}
        for said, place, statement in self._said:
            if wanted and wanted <= said:
                self._used[statement] = None
                return f"{before} {place}"
        return text


def fits(told: str, asked: str) -> bool:
    """Return whether a phrase may mean the thing that a statement is about: the noun is the same, and where both say
    which one, or whose, they say the same. "The blue mug" is not "the red mug", but may be "the mug".
    """
    which, other = _which(told), _which(asked)
    if head(told) in _ANYTHING:
        return bool(which & other)
    if not head(told) or head(told) != head(asked):
        return False
    return not which or not other or bool(which & other)


def head(thing: str) -> str:
    """Return the noun of a phrase: its last word, in the singular; what "of", "from", "with" begin, does not count."""
    words = re.findall(r"[a-z]+", _BEHIND.split(thing.lower(), 1)[0])
    return singular(words[-1]) if words else ""


def _which(thing: str) -> set[str]:
    return set(plain_words(_BEHIND.split(thing, 1)[0])[:-1]) - _ARTICLES


def _object_of(before: str) -> str:
    """Return what an instruction moves: the words behind its verb."""
    handled = told_patterns().handled.match(before)
    return handled["object"] if handled is not None else before


def _told_place(how: str, what: str) -> str:
    preposition = "on" if how.lower() in ("at", "by") else how.lower()
    return f"{preposition} {re.sub(r'^(?:his|her|their|my|our) ', 'the ', what, flags=re.I)}"
