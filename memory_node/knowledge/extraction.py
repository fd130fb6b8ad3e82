"""Reads propositions out of steps; deterministic, no language model. Pronouns are resolved on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from memory_node.domain.names import plural
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.knowledge.facts import MOST_SENTENCES, Proposition
from memory_node.knowledge.standard_step import ASKED, StandardStep
from memory_node.knowledge.text import STOP_WORDS, concepts_of, names_in, sentences, with_days
from memory_node.knowledge.told.binding import VERBS
from memory_node.knowledge.told.clause import LASTING, LIVING, parsed
from memory_node.knowledge.told.fact import ToldFact
from memory_node.knowledge.told.plainer import plain, without_opening

_SPEAKER = {
    "i": "{}",
    "i'm": "{} is",
    "i am": "{} is",
    "my": "{}'s",
    "mine": "{}'s",
    "me": "{}",
    "i've": "{} has",
    "i have": "{} has",
}
_FIRST_PERSON = re.compile(r"\b(?:(I am|I['’]m|I['’]ve|I have|I|my|mine|me)\b(?:( \w+)\b)?)", re.I)
_OPENING = re.compile(r"^(?:(?:and|but|so|also)\s+)?(she|he|they|it|her|his|their|its)\b(['’]s\b)?", re.I)
_POSSESSIVE = frozenset({"her", "his", "their", "its"})
_OF_THINGS = frozenset({"it", "its"})
_OF_MANY = frozenset({"they", "their", "them"})
# What a clause about a thing is about, or else what it ends with.
_THING_FIRST = re.compile(
    r"^(?P<thing>(?:the|our|my) [\w' -]+?) (?:is|are|was|were|has|have|must|may|should|can|came|comes|went|goes|got|"
    r"gets|stands|stood|lies|lay|hangs|hung|fell|broke|belongs|needs|looks|smells|works|makes|does|will|would|\w+ed)\b",
    re.I,
)
_THING_LAST = re.compile(r"\b(?P<thing>(?:the|our|my) [\w' -]+)$", re.I)
_THING = re.compile(r"\b(?P<thing>(?:the|our|my) [\w'-]+)\b", re.I)
# "It" that means no thing: "it is raining", "it is late", "it is good to know".
_NO_THING = re.compile(
    r"^it(?:['’]s| is| was) (?:\w+ing|late|early|time|cold|hot|\w+ (?:to|that|for|who)|not \w+ but)\b", re.I
)
_THING_INSIDE = re.compile(r"\b(?:it|them)\b", re.I)

_PERSON_INSIDE = re.compile(r"\b(?:him|her)\b(?=$|[.,!]| (?:in|on|at|to|when|until|after|before)\b)", re.I)


@dataclass(frozen=True)
class Named:
    """Who and what was named last, as it was written; "" for nothing."""

    person: str = ""
    thing: str = ""

    def after(self, clause: str) -> Named:
        """Return what a pronoun means behind a clause."""
        found = _THING_FIRST.match(clause) or _THING_LAST.search(clause.strip().rstrip(".!")) or _THING.search(clause)
        return Named(last_person(clause, self.person), found["thing"] if found else self.thing)

    def meant_by(self, pronoun: str) -> str:
        """Return whom or what a pronoun at a clause's begin means, "" where nothing was named."""
        if pronoun in _OF_THINGS:
            return self.thing
        if pronoun in _OF_MANY and plural(self.thing.lower()) == self.thing.lower():
            return self.thing or self.person
        return self.person


def told_clauses(text: str) -> list[str]:
    """Return the statements of what was told: a semicolon parts them as a full stop does."""
    return [part.strip() for part in re.split(r"\s*;\s*", text) if part.strip()]


def resolved(clause: str, speaker: str, named: Named) -> str:
    """Return a clause that needs no other: "I" is the speaker, "she" at its begin the one who was named last, "it" and
    "them" the thing.

    Where nobody was named, or nobody is known to speak, the words stay.
    """
    if speaker:
        clause = _FIRST_PERSON.sub(lambda match: _spoken(match[1], match[2] or "", speaker), clause)
    opening = _OPENING.match(clause)
    meant = named.meant_by(opening[1].lower()) if opening else ""
    if opening and meant and not _NO_THING.match(clause):
        possessive = opening[1].lower() in _POSSESSIVE
        said = f"{meant}'s" if possessive else f"{meant} is" if opening[2] else meant
        clause = said + clause[opening.end() :]
    # "The laptop is old, so nobody may touch it": a clause about a thing means that one itself.
    about = _THING_FIRST.match(clause)
    thing = about["thing"] if about is not None else ""
    has_its_own = thing and not LIVING.fullmatch(thing[0].lower() + thing[1:])
    if named.thing and not has_its_own and not (opening and opening[1].lower() in _OF_THINGS):
        clause = _THING_INSIDE.sub(named.thing, clause, count=1)
    if named.person and not (opening and meant == named.person):
        clause = _PERSON_INSIDE.sub(named.person, clause, count=1)
    return clause


def last_person(clause: str, before: str) -> str:
    """Return the name, as it is written, that a following pronoun would mean; `before` where the clause has none."""
    found = [
        word for word in re.findall(r"[^\W\d_]+", clause) if word[0].isupper() and word.lower() in names_in(clause)
    ]
    return found[0] if found else before


def _spoken(word: str, verb: str, speaker: str) -> str:
    word = word.lower().replace("’", "'")
    if word == "i" and verb.strip().lower() in LASTING:
        verb += "s"
    return _SPEAKER[word].format(speaker) + verb


# Concepts of a told statement: a rule binds by whatever it names, also at the end of a long sentence.
_MOST_TOLD_OF = 40
# Most propositions of a unit (PlugMem).
MOST_PROPOSITIONS = 10

# "The alarm clock? That's Greta's."
_TOPIC = re.compile(
    r"(?P<topic>(?:^|(?<=[.!?,] ))(?:the|my|our|this|that|these|those) [\w' -]+?)(?:\?| -| –) "
    r"(?:that|this|it|those|these|they)"
    r"(?:['’]s|['’]re| is| are) ",
    re.I,
)
# How an order begins: "Then please bring it". What begins with "keep" or "do not" tells what holds from now on.
ACTS = frozenset[str]().union(*VERBS.values()) | frozenset(
    ["bring", "clear", "deliver", "fetch", "find", "get", "go", "grab", "hand", "hang", "help", "leave", "look", "make"]
)
ACTS |= {"pick", "place", "prepare", "return", "serve", "set", "show", "take", "tell", "wipe"}
# "Hand towels are in the bathroom", "Help is on its way" and "Look, ..." tell something.
_NO_ORDER = r"(?!,|(?: (?!what|who)[\w'-]+)? (?:is|are|was|were|belongs?|goes|must|should|may)\b)"
_ORDERS = re.compile(
    rf"(?:(?:please|now|then|and|also|so|first|next),? )*"
    rf"(?:(?:can|could|would|will) you\b|(?:{'|'.join(sorted(ACTS))})\b{_NO_ORDER})",
    re.I,
)
# "Put it on the desk, it was a gift from Ida" tells something, too.
_WITH_TELLING = re.compile(
    r"(?:[,;] |\b(?:because|since) )(?:it|they|this|that|he|she|I|we|my [a-z-]+) "
    r"(?:is|are|am|was|were|has|have|had|likes?|loves?|needs?|got|belongs?)\b"
)
# "Walk the dog": a verb that is no known one, before what it is done to. "Sadly my mug broke" tells something.
_UNKNOWN_ORDER = re.compile(
    r"(?:please )?(?!\w+ly |(?:to(?:day|morrow|night)|yesterday|sometimes|often|maybe|perhaps|meanwhile|outside|half) )"
    r"(?P<verb>[a-z]+) (?:the|my|our|your|his|her|their|this|these|all|some|it|them|him)\b",
    re.I,
)
# Reads one told sentence of a step into facts, () where it does not understand it.
ReadFacts = Callable[[str, StandardStep], Sequence[ToldFact]]


# Reads at most MOST_PROPOSITIONS self-contained statements out of a step of a talk or document, its source.
ReadStep = Callable[[StandardStep], list[Proposition]]


def read_by_rules(step: StandardStep, zone: tzinfo | None = None) -> list[Proposition]:
    """Return a step's statements: a sentence of a document each, and together the sentences that somebody says at once,
    with the days that they mean."""
    if not step.action:
        return [_proposition(step, sentence) for sentence in _packed(sentences(step.observation), 1)]
    said = with_days(step.action, step.stamp_ns, zone) if step.stamp_ns else step.action
    return [_proposition(step, part) for part in _packed(sentences(said), MOST_SENTENCES)]


def told_propositions(
    step: StandardStep, read: ReadFacts, zone: tzinfo | None = None, named: Named | None = None
) -> list[Proposition]:
    """Return the statements of a fact that somebody told, each without pronouns where they can be resolved.

    named: whom and what the same person told of just before; what begins with a pronoun means them where that is read
    into facts: "it is Ida's birthday" means no thing.
    """
    found: dict[str, Proposition] = {}
    named = named if named is not None and _OPENING.match(without_opening(step.action)) else Named()
    for sentence in sentences(_TOPIC.sub(_of_topic, step.action)):
        for clause in told_clauses(sentence):
            said = without_opening(clause)
            is_of_it = _OPENING.match(said) and not _NO_THING.match(said)
            whole = resolved(said if is_of_it else clause, step.subject, named)
            facts = read(whole, step)
            if not found and named != Named() and not facts:
                whole = resolved(clause, step.subject, Named())
                facts = read(whole, step)
            named = named.after(whole)
            text = with_days(whole, step.stamp_ns, zone) if step.stamp_ns else whole
            structure = tuple(fact.to_json() for fact in facts)
            about, told_by = concepts_of("", text, _MOST_TOLD_OF), step.subject
            found[text] = Proposition(text, about, (step.source,), step.stamp_ns, structure=structure, told_by=told_by)
    return list(found.values())[:MOST_PROPOSITIONS]


def named_in(step: StandardStep) -> Named:
    """Return whom and what a fact that somebody told names last."""
    named = Named()
    for clause in told_clauses(step.action):
        named = named.after(resolved(clause, step.subject, named))
    return named


def _of_topic(said: re.Match[str]) -> str:
    """Return the beginning of what is said of a topic; "the keys are lost - they are Ida's" is two statements."""
    return said[0] if any(parsed(said["topic"])) else f"{said['topic']} is "


def propositions_of(steps: Sequence[StepRecord]) -> list[Proposition]:
    """Return what an episode's steps showed: where things were. What failed is a matter of experience."""
    return [
        Proposition(
            relation,
            frozenset(word for word in relation.split() if word[:1].isupper()),
            (f"{step.episode_id}:{step.index}",),
            step.stamp_ns,
        )
        for step in steps
        if step.success
        for relation in step.relations
    ]


def said_in_passing(episode: EpisodeSummary) -> StandardStep | None:
    """Return an instruction that says more than what is to be done, as something that was told: "Put the vase on the
    table. It was a gift from my best friend." None for a command alone.
    """
    telling, asking = told_and_asked(episode.instruction)
    if not telling or not (asking or len(telling) > 1 or _is_order(telling[0])):
        return None
    stamp_ns = episode.ended_ns or episode.started_ns
    return StandardStep(f"{episode.id}:0", state=ASKED, action=episode.instruction.strip(), stamp_ns=stamp_ns)


def told_and_asked(instruction: str) -> tuple[list[str], list[str]]:
    """Return the sentences of an instruction that say how things are, also beside an order, and those that only ask or
    order."""
    found = sentences(instruction)
    asking = [one for one in found if one.endswith("?") or (_is_order(one) and not _WITH_TELLING.search(one))]
    return [one for one in found if one not in asking], asking


def _is_order(sentence: str) -> bool:
    other = _UNKNOWN_ORDER.match(sentence)
    is_told = other is None or other["verb"].lower() in STOP_WORDS or any(parsed(plain(sentence)))
    return _ORDERS.match(sentence) is not None or not is_told


def passing_propositions(step: StandardStep, zone: tzinfo | None = None) -> list[Proposition]:
    """Return each telling sentence of an instruction by itself: an occasion is a few words of one of them."""
    telling = " ".join(told_and_asked(step.action)[0])
    said = with_days(telling, step.stamp_ns, zone) if step.stamp_ns else telling
    return [_proposition(step, sentence) for sentence in sentences(said)[:MOST_PROPOSITIONS]]


def _proposition(step: StandardStep, statement: str) -> Proposition:
    text = f"{step.subject}: {statement}" if step.subject else statement
    concepts = concepts_of(step.subject, statement)
    return Proposition(text, concepts, (step.source,), step.stamp_ns, subject=step.subject)


def _packed(found: Sequence[str], at_once: int) -> list[str]:
    """Return sentences, so many at once, or more where there would be more than MOST_PROPOSITIONS otherwise."""
    at_once = max(at_once, -(-len(found) // MOST_PROPOSITIONS))
    return [" ".join(found[start : start + at_once]) for start in range(0, len(found), at_once)]
