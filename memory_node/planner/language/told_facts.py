"""Puts what people told into an instruction's words: whose things are, where they belong, who likes what.

The readers of instructions know things by their names alone. Here "bring Anna her mug" becomes "bring the blue mug"
where memory was told that the blue mug is Anna's. Where what was told speaks against an instruction, or leaves open
what is meant, a question is asked. Rules over the sentences of told_facts.yaml; nothing that was told is carried out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_node.planner.language.told_patterns import first_match, told_patterns
from memory_node.planner.language.told_statements import ToldStatements

# "Put away the salt" is "put the salt away".
_AWAY_FIRST = re.compile(
    r"\b(put|tidy|clear|pack) (away|back) ((?:the|my|our|his|her|their|all|[A-Z][\w-]*['’]s) [\w' -]+)", re.I
)
_OWNER = re.compile(r"\b([A-Z][\w-]*)['’]s\b")

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
    facts = ToldStatements(statements)
    # A place may be told of a thing by what it is called: "Nina's toys live in the box".
    text = facts.places.put_away(_AWAY_FIRST.sub(r"\1 \3 \2", " ".join(instruction.split())))
    who = _somebody(text, facts)
    whose = who or next((owner for owner in _OWNER.findall(text) if owner.lower() in facts.people), "")
    text = facts.places.put_away(facts.called_by_their_names(text, whose))
    text = facts.owned(text, whose)
    text = facts.in_their_manner(text, who) if not who else text
    against = facts.forbids(text, who)
    if against:
        return Informed("", f"{against.rstrip('.')}. What shall I do instead?", (), tuple(facts.used))
    whom = first_match(told_patterns().for_somebody, text) if who else None
    if whom is None:
        return Informed(text, used=tuple(facts.used))
    return _for_a_person(whom, facts)


def _somebody(text: str, facts: ToldStatements) -> str:
    """Return for whom an instruction is, "" for nobody who was spoken of."""
    whom = first_match(told_patterns().for_somebody, text)
    return whom["who"] if whom and whom["who"].lower() in facts.people else ""


def _for_a_person(whom: re.Match[str], facts: ToldStatements) -> Informed:
    who, what = whom["who"], whom["what"]
    if told_patterns().open_wish.match(what):
        chosen = facts.liked(who, what)
        if len(chosen) != 1:
            known = "; ".join(dict.fromkeys(facts.avoided(who).values()))
            question = f"What shall I bring {who}?" + (f" I was told: {known}." if known else "")
            return Informed("", question, tuple(f"bring {who} the {one}" for one in chosen), tuple(facts.used))
        what = f"the {chosen[0]}"
    against = facts.objection(who, what)
    if against:
        return Informed("", f"{against.rstrip('.')}. What shall I bring {who} instead?", (), tuple(facts.used))
    place = facts.places.of_person(who)
    text = f"put {what} {place}" if place else f"bring {what}"
    return Informed(facts.in_their_manner(text, who), used=tuple(facts.used))
