"""What people like and must not have, and what things contain, as people told it."""

from __future__ import annotations

import re

from memory_node.domain.nouns import singular
from memory_node.planner.language.told_classes import ClassWords
from memory_node.planner.language.told_patterns import told_patterns
from memory_node.planner.language.told_places import head

SINGLE = r"(?:the|an?|that|this|some|his|her|their|my|our|your)"


class Tastes:
    """Of two statements about the same the first counts. used: gets the statements that were needed. words: the classes
    of things.
    """

    def __init__(self, used: dict[str, None], words: ClassWords) -> None:
        self._used = used
        self._words = words
        self._likes: dict[str, list[tuple[str, str]]] = {}
        self._avoids: dict[str, dict[str, str]] = {}
        self._holds: list[tuple[str, str, str]] = []

    def like(self, who: str, what: str, statement: str) -> None:
        """Take over what somebody likes."""
        self._likes.setdefault(who.lower(), []).append((what, statement))

    def avoid(self, who: str, what: str, statement: str) -> None:
        """Take over what somebody must not or does not want to have."""
        self._avoids.setdefault(who.lower(), {}).setdefault(what, statement)

    def hold(self, thing: str, what: str, statement: str) -> None:
        """Take over what a thing contains."""
        self._holds.append((thing, what, statement))

    def liked(self, who: str, what: str) -> list[str]:
        """Return what somebody likes that fits an open wish and that nothing speaks against."""
        drink = re.search(r"drink", what, re.I) is not None
        found: dict[str, None] = {}
        for thing, statement in self._likes.get(who.lower(), ()):
            is_drink = told_patterns().of_drinks.search(statement) is not None
            if not self.objection(who, thing) and (is_drink == drink or not self._tells_drinks(who)):
                before, space, noun = bare(thing).rpartition(" ")
                found[before + space + singular(noun)] = None
                self._used[statement] = None
        return list(found)

    def _tells_drinks(self, who: str) -> bool:
        return any(re.search(r"\bdrinks?\b", statement, re.I) for _, statement in self._likes.get(who.lower(), ()))

    def avoided(self, who: str) -> dict[str, str]:
        """Return what somebody must not or does not want to have, with the statements that say so."""
        return {what: statement.strip().rstrip(".") for what, statement in self._avoids.get(who.lower(), {}).items()}

    def objection(self, who: str, thing: str) -> str:
        """Return the statement that speaks against giving somebody a thing, "" for none."""
        words = dict.fromkeys(_nouns(thing), "")
        for held, what, statement in self._holds:
            if head(held) in words:
                words = dict.fromkeys(_nouns(what), statement) | words
        for what, statement in self._avoids.get(who.lower(), {}).items():
            if head(what) in words or self._is_of_kind(what, thing):
                if words.get(head(what)):
                    self._used[words[head(what)]] = None
                self._used[statement] = None
                return statement
        return ""

    def _is_of_kind(self, what: str, thing: str) -> bool:
        """Return whether a single word names the kind of a thing: "fruit" an apple, "alcohol" a bottle of wine."""
        return " " not in bare(what) and bool(self._words.classes(what) & self._words.classes(thing))


def bare(thing: str) -> str:
    """Return a phrase without its article."""
    return re.sub(rf"^{SINGLE} ", "", thing, flags=re.I)


def _nouns(text: str) -> set[str]:
    return {singular(word) for word in re.findall(r"[a-z]+", text.lower())}
