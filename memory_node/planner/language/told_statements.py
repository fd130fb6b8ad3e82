"""What people told, by what it says: whose things are, where they belong, who likes what, what is forbidden."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from memory_node.domain.nouns import plural
from memory_node.planner.language.told_cautions import NotUnderstood
from memory_node.planner.language.told_classes import ClassWords
from memory_node.planner.language.told_parts import PartsReader
from memory_node.planner.language.told_patterns import first_match, told_patterns, told_words
from memory_node.planner.language.told_places import Places, fits, head
from memory_node.planner.language.told_tastes import SINGLE, Tastes, bare
from memory_node.planner.language.told_wording import People, persons_in, plain_clauses

# What sentences say that may say more: "the card in the drawer is for emergencies".
_LOOSE = frozenset({"holds", "kept_in"})
# Sentences that name a thing otherwise, and sentences that end with what somebody wants.
_NAMING = frozenset({"called", "stands_for", "stands_for_of_me"})
_WANTED = frozenset({"likes", "avoids"})
# What of somebody is where they are.
_SEATS = frozenset({"place", "seat", "spot"})
_CLAUSE_END = re.compile(r"[,;.]? (?:and|then) |[,;.] ")
_LISTED = re.compile(r",\s*(?:or |and )?| or | and ")
# Whether a thing, in words, can be made so: sliced, warm, cold, clean.
CanBe = Callable[[str, str], bool]


class ToldStatements:
    """Statements by what they say; of two about the same the first counts. used: those that were needed. words: the
    things that they may name.
    """

    def __init__(self, statements: Sequence[str], words: ClassWords) -> None:
        self._words = words
        self.used: dict[str, None] = {}
        self.persons = People(statements)
        self.people: set[str] = set()
        self.not_understood: list[NotUnderstood] = []
        self.places = Places(self.used)
        self.tastes = Tastes(self.used, words)
        self._owned: dict[str, list[tuple[str, str]]] = {}
        self._names: list[tuple[str, str, str]] = []
        # Of somebody or, by "", of anybody: a thing, how it is to be, and the statement.
        self._manners: list[tuple[str, str, str, str]] = []
        # By a thing's noun: what was told first of whether it may be handled, and used.
        self._handling: dict[str, tuple[str, str]] = {}
        # By a thing's noun: who alone may have it.
        self._reserved: dict[str, tuple[str, str]] = {}
        # The kinds of told_facts.yaml, in the order in which they are tried.
        self._takers: dict[str, Callable[[re.Match[str], str], None]] = {
            "manner": self._take_manner,
            "forbidden": self._take_forbidden,
            "reserved": self._take_reserved,
            "broken": self._take_broken,
            "working": self._take_working,
            "stands_for": self._take_stands_for,
            "stands_for_of_me": self._take_stands_for_of_me,
            "owned": self._take_owned,
            "kept": self._take_kept,
            "kept_in": self._take_kept_in,
            "kept_of": self._take_kept_of,
            "kept_by": self._take_kept_by,
            "diet": self._take_diet,
            "avoids": self._take_avoids,
            "sits": self._take_sits,
            "kept_loosely": self._take_kept,
            "likes": self._take_likes,
            "holds": self._take_holds,
            "called": self._take_called,
        }
        for statement in statements:
            self.people |= persons_in(self.persons.plain(statement))
        self._parts = PartsReader(words, self.people)
        for statement in statements:
            for clause in plain_clauses(statement, self.persons):
                self._take(clause, statement)

    def _take(self, said: str, statement: str) -> None:
        self.places.note(told_patterns().time_of_habit.sub("", said), statement)
        if self._is_read(said, statement):
            return
        plain = self._parts.plain_sentence(said)
        if plain and self._is_read(plain, statement):
            return
        self.not_understood.append(NotUnderstood(said, self.persons.plain(statement), statement))

    def _is_read(self, said: str, statement: str) -> bool:
        """Return whether a sentence says what a rule reads, and no more; what it says is taken over."""
        patterns = told_patterns()
        for kind, take in self._takers.items():
            match = first_match(getattr(patterns, kind), said)
            if match is not None and self._names_things(kind, match):
                take(match, statement)
                return kind not in _LOOSE or not patterns.caution.search(said)
        return patterns.manner_denied.match(said) is not None

    def _names_things(self, kind: str, match: re.Match[str]) -> bool:
        """Return whether the words that should name a thing do: "her wine well chilled" does not end with one, and what
        is called "trouble" is none.
        """
        found = match.groupdict()
        named = found.get("what") or found.get("thing") or ""
        if kind in _NAMING and self._words.known and not self._words.classes(named):
            return False
        return kind not in _WANTED or not self._words.classes(named) or bool(self._words.classes(head(named)))

    def _take_manner(self, match: re.Match[str], statement: str) -> None:
        found = match.groupdict()
        adjective = told_words().manners[found["manner"].lower()]
        thing, who = found.get("what") or found.get("thing") or "", found.get("who") or ""
        self._manners.append((who.lower(), thing, adjective, statement))

    def _take_forbidden(self, match: re.Match[str], statement: str) -> None:
        self._handling.setdefault(head(match["thing"]), ("forbidden", statement))

    def _take_reserved(self, match: re.Match[str], statement: str) -> None:
        self._reserved.setdefault(head(match["thing"]), ((match["who"] or "").lower(), statement))

    def _take_broken(self, match: re.Match[str], statement: str) -> None:
        self._handling.setdefault(head(match["thing"]), ("broken", statement))

    def _take_working(self, match: re.Match[str], statement: str) -> None:
        self._handling.setdefault(head(match["thing"]), ("", statement))

    def _take_stands_for(self, match: re.Match[str], statement: str) -> None:
        name, thing = match["name"], match["thing"]
        if name.lower() in ("favourite", "favorite"):
            name = f"{name} {head(thing)}"
            thing = f"the {bare(thing)}"
        # "Ben's mug is the blue one."
        thing = re.sub(r"\bones?(?= with |$)", name, thing)
        self._names.append((f"{match['who']}'s {name}", thing, statement))
        if head(name) == head(thing):
            self._owned.setdefault(match["who"].lower(), []).append((bare(thing), statement))
        if head(name) in _SEATS:
            self.places.sit(match["who"], thing, statement)
        if name.lower().startswith(("favourite ", "favorite ")):
            self.tastes.like(match["who"], thing, statement)

    def _take_stands_for_of_me(self, match: re.Match[str], statement: str) -> None:
        self._names.append((f"my {match['name']}", match["thing"], statement))

    def _take_owned(self, match: re.Match[str], statement: str) -> None:
        self._owned.setdefault(match["who"].lower(), []).append((bare(match["thing"]), statement))

    def _take_kept(self, match: re.Match[str], statement: str) -> None:
        for thing in _LISTED.split(match["thing"]):
            self.places.keep(re.sub(rf"^{SINGLE} ", "", thing, flags=re.I), match["place"], statement)

    def _take_kept_in(self, match: re.Match[str], statement: str) -> None:
        self.places.keep(match["thing"], f"in the {match['where']}", statement)

    def _take_kept_of(self, match: re.Match[str], statement: str) -> None:
        self.places.keep(f"{match['who']}'s stuff", match["place"], statement)

    def _take_kept_by(self, match: re.Match[str], statement: str) -> None:
        self.places.keep(f"{match['who']}'s {match['thing']}", match["place"], statement)

    def _take_avoids(self, match: re.Match[str], statement: str) -> None:
        for what in _LISTED.split(match["what"]):
            self.tastes.avoid(match["who"], what.strip(), statement)

    def _take_diet(self, match: re.Match[str], statement: str) -> None:
        for what in told_words().diets[match["diet"].lower()]:
            self.tastes.avoid(match["who"], what, statement)

    def _take_sits(self, match: re.Match[str], statement: str) -> None:
        self.places.sit(match["who"], match.string[match.start("place") :], statement)

    def _take_likes(self, match: re.Match[str], statement: str) -> None:
        self.tastes.like(match["who"], match["what"], statement)

    def _take_holds(self, match: re.Match[str], statement: str) -> None:
        self.tastes.hold(match["thing"], match["what"], statement)

    def _take_called(self, match: re.Match[str], statement: str) -> None:
        whole = match.string[match.start("thing") - 6 : match.end("thing")]
        article = re.search(rf"\b({SINGLE}) {re.escape(match['thing'])}$", whole, re.I)
        self._names.append((match["name"], f"{article[1].lower() if article else 'the'} {match['thing']}", statement))

    def called_by_their_names(self, text: str, who: str = "") -> str:
        """Return a text with things in the place of what people call them: "the usual" as "a cold apple", "Paul's
        breakfast" as "an apple". who: whom "his" and "her" mean, "" for nobody.
        """
        for name, thing, statement in self._names:
            owner, possessive, noun = name.partition("'s ")
            words = re.escape(name).replace("'", "['’]")
            if possessive and owner.lower() == who.lower():
                words = rf"(?:{words}|(?:his|her|their) {re.escape(noun)})"
            # Its own article stays: "the zapper" is "the remote control" where no article was told.
            replaced = re.sub(rf"(?:\b{SINGLE} )?\b{words}\b(?!['’])", thing, text, flags=re.I)
            if replaced != text:
                self.used[statement] = None
                text = replaced
        return text

    def owned(self, text: str, who: str) -> str:
        """Return a text with the things that possessives mean: "her mug" as "the blue mug" where that was told. who:
        whom "his" and "her" mean, "" for nobody.
        """
        for owner, things in self._owned.items():
            whose = rf"{re.escape(owner)}['’]s" + (r"|his|her|their" if owner == who.lower() else "")
            for thing, statement in things:
                noun = re.escape(head(thing))
                phrase = rf"\b(?:{whose}) (?P<what>(?:[\w-]+ ){{0,2}}?(?:{noun}|{re.escape(plural(head(thing)))}))\b"
                found = re.search(phrase, text, re.I)
                if found is not None and fits(thing, found["what"]):
                    self.used[statement] = None
                    text = f"{text[: found.start()]}the {thing}{text[found.end() :]}"
        return text

    def in_their_manner(self, text: str, who: str, can_be: CanBe) -> str:
        """Return a text with how somebody wants the thing that it moves: "a sliced apple" for "an apple". can_be: tells
        whether a thing can be made so.
        """
        handled = told_patterns().handled.match(text)
        if handled is None or not told_patterns().moving.match(text):
            return text
        phrase = handled["object"]
        if set(phrase.lower().split()) & set(told_words().manners):
            return text
        for owner, thing, adjective, statement in self._manners:
            if owner in ("", who.lower()) and fits(thing, phrase) and can_be(thing, adjective):
                self.used[statement] = None
                start, end = handled.span("object")
                return text[:start] + _with_adjective(phrase, adjective) + text[end:]
        return text

    def forbids(self, text: str, who: str) -> str:
        """Return the statement that speaks against handling or using a thing as a text asks, "" for none. who: for
        whom it is.
        """
        handled = told_patterns().handled.match(text)
        moved = head(handled["object"]) if handled is not None else ""
        kind, statement = self._handling.get(moved, ("", ""))
        if kind == "forbidden":
            return self._needed(statement)
        owner, statement = self._reserved.get(moved, ("", ""))
        if statement and (not owner or owner != who.lower()):
            return self._needed(statement)
        for clause in _CLAUSE_END.split(text):
            # One may put things into a broken microwave.
            against = "" if told_patterns().moving.match(clause) else self._broken_in(clause)
            if against:
                return against
        return ""

    def _broken_in(self, clause: str) -> str:
        for noun, (kind, statement) in self._handling.items():
            named = re.search(rf"\b(?:{re.escape(noun)}|{re.escape(plural(noun))})\b", clause, re.I)
            if kind == "broken" and named and told_patterns().used.search(clause[: named.start()]):
                return self._needed(statement)
        return ""

    def _needed(self, statement: str) -> str:
        self.used[statement] = None
        return statement


def _with_adjective(phrase: str, adjective: str) -> str:
    article = re.match(rf"^({SINGLE}) ", phrase, re.I)
    if article is None:
        return f"{adjective} {phrase}"
    own = article[1].lower()
    return f"{'a' if own in ('a', 'an') else 'the'} {adjective} {phrase[article.end() :]}"
