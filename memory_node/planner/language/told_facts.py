"""Puts what people told into an instruction's words: whose things are, where they belong, who likes what.

The readers of instructions know things by their names alone. Here "bring Anna her mug" becomes "bring the blue mug"
where memory was told that the blue mug is Anna's. Where what was told speaks against an instruction, or leaves open
what is meant, a question is asked. Rules over the sentences of told_facts.yaml; nothing that was told is carried out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.planner.language.told_cautions import (
    SPEAKER,
    Asked,
    Cautious,
    cautious_by_words,
    concerns,
    same_thing,
    speaks_against,
)
from memory_node.planner.language.told_classes import ClassWords
from memory_node.planner.language.told_patterns import first_match, told_patterns
from memory_node.planner.language.told_statements import ToldStatements
from memory_node.planner.language.told_wording import people_also_called, persons_in, speaks_of_speaker

# "Put away the salt" is "put the salt away".
_AWAY_FIRST = re.compile(
    r"\b(put|tidy|clear|pack) (away|back) ((?:the|my|our|his|her|their|all|[A-Z][\w-]*['’]s) [\w' -]+)", re.I
)
_OWNER = re.compile(r"\b([A-Z][\w-]*)['’]s\b")

# What was told that bears on an instruction: statements.
Told = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Informed:
    """An instruction with what was told put into its words. question: asked instead, "" for none. used: statements.
    unsure: statements about the same thing or person that no rule understands; nothing was done about them.
    """

    text: str
    question: str = ""
    choices: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


def nothing_told(_text: str) -> Sequence[str]:
    """Stand in for memory where nobody told anything."""
    return ()


def informed(
    instruction: str,
    statements: Sequence[str],
    kinds: ObjectCatalogue | None = None,
    is_cautious: Cautious = cautious_by_words,
) -> Informed:
    """Return the instruction in words that need no more knowledge, or what to ask.

    statements: what was told, the more important first; of two about the same the first counts. kinds: tells that a
    couch is a sofa and an apple a fruit; None: things are compared by their names alone. is_cautious: whether a
    statement that no rule reads may speak against something.
    """
    words = ClassWords(kinds)
    facts = ToldStatements(statements, words)
    text = facts.persons.plain(" ".join(instruction.split()))
    read = _filled_in(text, facts, instruction, words)
    if not read.question:
        asked = _asked(text, read.text, facts)
        for told in facts.not_understood:
            if told.statement in read.used and same_thing(told.whole, replace(asked, text=asked.moved), words):
                continue  # what it says of the thing was followed
            thrown_away = told_patterns().throwing_away.match(text) and same_thing(told.whole, asked, words)
            if thrown_away or speaks_against(told, asked, words, is_cautious):
                return Informed("", f"{told.statement.rstrip('.')}. What shall I do instead?", (), (told.statement,))
        left = [told for told in facts.not_understood if told.statement not in read.used]
        unsure = tuple(dict.fromkeys(told.statement for told in left if concerns(told, asked, words, is_cautious)))
        said = facts.persons.as_said(read.text, instruction) if read.text != text else instruction
        read = replace(read, text=said, unsure=unsure)
    return read


def words_about(instruction: str, kinds: ObjectCatalogue) -> str:
    """Return an instruction with what else its things and persons are called, to look up what was told of them."""
    return " ".join([instruction, *ClassWords(kinds).also_called(instruction), *people_also_called(instruction)])


def _filled_in(text: str, facts: ToldStatements, instruction: str, words: ClassWords) -> Informed:
    # A place may be told of a thing by what it is called: "Nina's toys live in the box".
    text = facts.places.put_away(_AWAY_FIRST.sub(r"\1 \3 \2", text))
    who = _somebody(text, facts)
    whose = who or next((owner for owner in _OWNER.findall(text) if owner.lower() in facts.people), "")
    text = facts.places.put_away(facts.called_by_their_names(text, whose))
    text = facts.owned(text, whose)
    text = facts.in_their_manner(text, who, words.can_be) if not who else text
    against = facts.forbids(text, who)
    if against:
        return Informed("", f"{against.rstrip('.')}. What shall I do instead?", (), tuple(facts.used))
    whom = first_match(told_patterns().for_somebody, text) if who else None
    if whom is None:
        return Informed(text, used=tuple(facts.used))
    return _for_a_person(whom, facts, instruction, words)


def _asked(text: str, filled_in: str, facts: ToldStatements) -> Asked:
    who = persons_in(text) & facts.people
    if speaks_of_speaker(text):
        who |= {SPEAKER}
    whoms = (first_match(told_patterns().for_somebody, one) for one in (filled_in, text))
    whom = next((one for one in whoms if one and one["who"].lower() in who), None)
    handled = told_patterns().handled.match(filled_in)
    moved = whom["what"] if whom else handled["object"] if handled else filled_in
    if handled and told_patterns().open_wish.match(moved):
        moved = handled["object"]  # what was chosen for "a snack"
    return Asked(f"{text} {filled_in}", moved, frozenset(who), told_patterns().open_wish.match(moved) is not None)


def _somebody(text: str, facts: ToldStatements) -> str:
    """Return for whom an instruction is, "" for nobody who was spoken of."""
    whom = first_match(told_patterns().for_somebody, text)
    return whom["who"] if whom and whom["who"].lower() in facts.people else ""


def _for_a_person(whom: re.Match[str], facts: ToldStatements, instruction: str, words: ClassWords) -> Informed:
    who, what = whom["who"], whom["what"]
    said = facts.persons.said(who, instruction)
    if told_patterns().open_wish.match(what):
        chosen = facts.tastes.liked(who, what)
        if len(chosen) != 1:
            known = "; ".join(dict.fromkeys(facts.tastes.avoided(who).values()))
            question = f"What shall I bring {said}?" + (f" I was told: {known}." if known else "")
            return Informed("", question, tuple(f"bring {said} the {one}" for one in chosen), tuple(facts.used))
        what = f"the {chosen[0]}"
    against = facts.tastes.objection(who, what)
    if against:
        return Informed("", f"{against.rstrip('.')}. What shall I bring {said} instead?", (), tuple(facts.used))
    place = facts.places.of_person(who)
    what = re.sub(r"^(?:his|her|their) ", "the ", what)
    text = f"put {what} {place}" if place else f"bring {what}"
    return Informed(facts.in_their_manner(text, who, words.can_be), used=tuple(facts.used))
