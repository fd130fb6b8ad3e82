"""Answers questions about what people had told at an earlier time: "where did the keys belong last week?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memory_node.knowledge.told.binding import BindingFacts
from memory_node.knowledge.told.fact import ToldFact
from memory_node.questions.past import clock_of, span_of
from memory_node.questions.phrase import TIME
from memory_node.questions.told import ToldAnswer, told_answer

_EARLIER = r"before(?: that| now| then)?|earlier|previously|formerly|in the past|back then|once|at first"
_WHEN = re.compile(rf",? ?\b(?P<time>{TIME}|{_EARLIER})(?=,|$),?", re.I)
# What asks of an earlier time, and the same question of now.
_OF_NOW = tuple(
    (re.compile(pattern), now)
    for pattern, now in (
        (r"^(where) did (?:people|we|I|you) (?:use to |usually )?(?:keep|store|put) (.+)$", r"\1 is \2 kept"),
        (r"^(where|what|who) did (.+?) (?:use to )?(belong(?: to)?|go|live|have|eat|drink|get)\b", r"\1 does \2 \3"),
        (r"^who (?:could not|couldn't|did not|didn't|was not allowed to) ", "who must not "),
        (r"^(where|what|who|whose) (?:was|were|used to be) ", r"\1 is "),
        (r"^(?:was|were) (?:I|we) allowed to ", "can I "),
        (r"^could (?=I |we |you )", "can "),
        (r"^(?:was|were) ", "is "),
        (r"^did (.+) work$", r"does \1 work"),
        (r"^who owned ", "who owns "),
        (r"^what did (?:you know|people tell you) about ", "what do you know about "),
    )
)


def told_then_answer(question: str, facts: BindingFacts) -> ToldAnswer | None:
    """Return the answer to a question about what had been told and held at an earlier time; None where it is none.

    Of a time that is not said, what ended is told; where nothing did, what holds.
    """
    plain = " ".join(question.replace("’", "'").split()).strip(" ?.!")
    said = _WHEN.search(plain)
    time = said["time"].lower() if said is not None else ""
    asked = _WHEN.sub("", plain).strip(" ,")
    asked = asked[:1].lower() + asked[1:]
    now = next((form.sub(of_now, asked) for form, of_now in _OF_NOW if form.search(asked)), "")
    if not now:
        return None
    first_ns, last_ns = span_of(time, facts.now_ns, facts.zone)
    then = [one for one in facts.facts if one.counted_in(first_ns, last_ns)]
    over = [one for one in then if one.is_over(facts.now_ns)]
    told = (_answer(now, over, facts) if not first_ns else None) or _answer(now, then, facts)
    if told is not None:
        return told
    holds = told_answer(now, facts)
    if holds is None or not holds.facts:
        return None
    return replace(holds, text=f"Nobody had told me then. Now: {holds.text}")


def _answer(question: str, told: Sequence[ToldFact], facts: BindingFacts) -> ToldAnswer | None:
    """Return the answer that facts would give if they held, each in words that say until when it did."""
    dated = {_dated(one, facts): one for one in told}
    answer = told_answer(question, facts.of_facts(list(dated)))
    if answer is None or not answer.facts:
        return None
    return replace(answer, facts=tuple(dated[one] for one in answer.facts))


def _dated(fact: ToldFact, facts: BindingFacts) -> ToldFact:
    if not fact.is_over(facts.now_ns):
        return replace(fact, from_ns=0)
    ended = clock_of(fact.until_ns, facts.now_ns, facts.zone)
    return replace(fact, from_ns=0, until_ns=0, text=f"{fact.text.strip().rstrip('.')} (until {ended})")
