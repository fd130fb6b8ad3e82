"""Answers plain questions about what people told, now and at an earlier time: by entity and class, from read facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memory_node.catalogue.class_name import folded
from memory_node.domain.names import singular
from memory_node.knowledge.text import bare, on_one_line, told_back
from memory_node.knowledge.told.binding import VERBS, Act, BindingFacts, forbids_use
from memory_node.knowledge.told.fact import Relation, ToldFact, same_role
from memory_node.questions.past import TIME, clock_of, phrase_of, span_of

_ALLOWED = "Nobody told me anything against it."
_WHO = r"(?P<who>(?:my|[A-Z][\w-]*'s) [a-z]+(?: [A-Z][\w-]*)?|[A-Z][\w-]*)"
_IS = r"(?:is|are)"
_DET = r"(?:the |my |our |an? )?"
_PERSON = rf"(?!(?:I|we|you|one) ){_DET}(?P<who>[\w'-]+)"
_THING = rf"(?P<thing>{_DET}[\w' -]+)"
_EAT = r"(?:have|eat|drink)"
_PART = r"in the (?P<part>morning|afternoon|evening|night)"


@dataclass(frozen=True)
class ToldAnswer:
    """An answer in words, with the facts that it rests on. about: the name of a person of whom all is asked."""

    text: str
    facts: tuple[ToldFact, ...] = ()
    about: str = ""

    def with_unread(self, statements: Sequence[str]) -> ToldAnswer:
        """Return it with what was told of the person and no form reads, such as what holds under a condition."""
        named = [one for one in statements if self.about and re.search(rf"\b{re.escape(self.about)}\b", one)]
        told = [self.text] if self.facts or not named else []
        return replace(self, text=" ".join([*told, *named]))


def asked_about(question: str) -> str:
    """Return the person or thing of whom all is asked ("what do you know about the newspaper?"), "" for no such
    question."""
    match = _ALL_ASKED.match(_plain(question))
    return match["asked"] if match is not None else ""


def unread_about(question: str, facts: BindingFacts, unread: Sequence[str]) -> str:
    """Return what was told, and no form reads, of a thing of no known kind that somebody wants to use; "" for nothing.
    unread: statements that share a name with the question."""
    match = _MAY_USE.match(_plain(question))
    if match is None or phrase_of(match["thing"], facts.kinds) is not None:
        return ""
    noun = re.compile(rf"\b{re.escape(bare(match['thing']))}\b", re.I)
    return " ".join(one for one in unread if noun.search(one))


def _plain(question: str) -> str:
    plain = on_one_line(question).strip(" ?.!")
    return plain[:1].lower() + plain[1:]


def told_answer(question: str, facts: BindingFacts) -> ToldAnswer | None:
    """Return the answer to a question about what was told; None where it is no such question, or nothing was told."""
    plain = _plain(question)
    for form, answer in _FORMS:
        match = form.match(plain)
        told = answer(facts, match) if match is not None else None
        if told is not None:
            return told
    return None


def _quoted(facts: Iterable[ToldFact], lead: str = "") -> ToldAnswer | None:
    found = tuple(facts)
    said = dict.fromkeys((fact.text if fact.teller else told_back(fact.text)).strip().rstrip(".") for fact in found)
    return ToldAnswer(f"{lead}{'. '.join(said)}.", found) if found else None


def _about(facts: BindingFacts, match: re.Match[str]) -> ToldAnswer | None:
    meant, name = facts.persons_called(match["who"]), facts.person_called(match["who"])
    lead = f"There are {len(meant)}: {' and '.join(meant).replace('my ', 'your ')}. " if len(meant) > 1 else ""
    told = _quoted((fact for who in meant for fact in (*facts.roles_told(who), *facts.about_person(who))), lead)
    told = told or _about_thing(facts, match)  # "my keys"
    return replace(told or ToldAnswer(f"Nobody told me anything about {name}."), about=name)


def _about_thing(facts: BindingFacts, match: re.Match[str]) -> ToldAnswer | None:
    """What was told of a thing, or of somebody without a name: "grandpa", "the dog"."""
    told = _told_of(match["asked"], facts, facts.current)
    people = facts.persons_in(match["asked"])
    return _quoted(told or (one for who in people for one in (*facts.roles_told(who), *facts.about_person(who))))


def _who_is(facts: BindingFacts, match: re.Match[str]) -> ToldAnswer | None:
    """Who avoids, is or likes what is asked for: "lactose intolerant", "allergic to nuts"."""
    what = re.sub(r"^(?:allergic|intolerant|sensitive) to (?:the |an? )?", "", match["what"].lower())
    found = []
    for fact in (*facts.of(Relation.AVOIDS), *facts.of(Relation.IS)):
        said = fact.object.words.lower()
        if singular(said) == singular(what) or what in {folded(one).lower() for one in fact.object.classes}:
            found.append(fact)
    return _quoted(found)


def _may_have(facts: BindingFacts, match: re.Match[str]) -> ToldAnswer | None:
    """May somebody have a thing? What was told against it."""
    phrase = phrase_of(match["thing"], facts.kinds)
    if phrase is None or not phrase.classes or phrase.place:
        return None
    against = facts.harm(phrase.classes[0], match["who"])
    return _quoted([against.fact], "No: ") if against is not None else None


def _must_not_have(facts: BindingFacts, match: re.Match[str]) -> ToldAnswer | None:
    told = facts.about_person(match["who"])
    return _quoted(one for one in told if one.relation is Relation.AVOIDS)


def _person_of(facts: BindingFacts, match: re.Match[str]) -> ToldAnswer | None:
    role = match["who"].removeprefix("my ")
    called = [
        one
        for one in facts.of(Relation.CALLED)
        if same_role(role, one.subject.words) or role.lower() == one.object.words.lower()
    ]
    return _quoted(called)


def _may(facts: BindingFacts, match: re.Match[str]) -> ToldAnswer | None:
    """May it be done? What is out of order must not be used, either."""
    verb, asks_why = match["verb"], match.group().startswith("why")
    phrase = phrase_of(match["thing"], facts.kinds)
    if phrase is None or not phrase.classes or phrase.place:
        return None
    acts = [Act(skill, phrase.classes[0]) for skill, verbs in VERBS.items() if verb in verbs]
    acts += [Act(skill, phrase.classes[0]) for skill in VERBS if verb in ("use", "touch")]
    against = next((one for act in acts if (one := facts.objection(act)) is not None), None)
    if against is not None:
        return _quoted([against.fact], "I was told: " if asks_why else "No: ")
    return ToldAnswer(f"Yes. {_ALLOWED}") if acts and not asks_why else None


def _works(facts: BindingFacts, match: re.Match[str]) -> ToldAnswer | None:
    lead = "No: " if "work" in match.group() else "Yes: "
    return _quoted(filter(forbids_use, _told_of(match["thing"], facts, facts.current)), lead)


def _belongs(facts: BindingFacts, match: re.Match[str]) -> ToldAnswer | None:
    told = _told_of(match["thing"], facts, facts.of(Relation.BELONGS, any_time=True))
    return _quoted(one for one in told if match["part"] in (None, one.part_of_day))


def _whose(facts: BindingFacts, match: re.Match[str]) -> ToldAnswer | None:
    return _quoted(_told_of(match["thing"], facts, facts.of(Relation.OWNED)))


def _where(facts: BindingFacts, match: re.Match[str]) -> ToldAnswer | None:
    """Where is it, as people told; only asked where memory has not seen it."""
    return _quoted(_told_of(match["thing"], facts, facts.of(Relation.AT))[-1:])


def _told_of(thing: str, facts: BindingFacts, told: Iterable[ToldFact]) -> list[ToldFact]:
    """Return the facts about a thing: of "the blue mug", and of mugs, for "the blue mug"; of any mug for "the mug"."""
    phrase = phrase_of(thing, facts.kinds) or phrase_of(thing.split()[-1], facts.kinds)
    classes = {folded(one) for one in phrase.classes} if phrase is not None else set()
    alike = [one for one in told if classes & {folded(name) for name in one.subject.classes}]
    return [one for one in alike if one.subject.attributes in thing.lower()] or alike


_MAY_USE = re.compile(rf"(?:can|may|could|should) (?:I|we|you|one) use (?P<thing>{_DET}[\w' -]+)$")
_KNOWN = r"what (?:should (?:I|we) know|do you know|did people tell you|have you been told) about"
_ALL_ASKED = re.compile(rf"{_KNOWN} (?P<asked>[\w' -]+)$")
_FORMS: Sequence[tuple[re.Pattern[str], Callable[[BindingFacts, re.Match[str]], ToldAnswer | None]]] = tuple(
    (re.compile(rf"^{form}$"), answer)
    for form, answer in (
        (rf"{_KNOWN} (?P<asked>{_WHO})", _about),
        (rf"{_KNOWN} (?P<asked>{_DET}[\w' -]+)", _about_thing),
        (rf"what {_IS} {_WHO} (?:called|named)", _person_of),
        (rf"who {_IS} {_WHO}", _person_of),
        (rf"who {_IS} (?P<what>[\w ,'-]+)", _who_is),
        (r"who (?:must not|may not|cannot|can't|should not|doesn't|does not) (?:have|eat|drink|get) (?P<what>[\w ]+)",
         _who_is),
        (rf"(?:can|may|could|should|does(?! .* have)) {_PERSON} {_EAT} {_THING}", _may_have),
        (rf"{_IS} {_PERSON} allowed (?:to {_EAT} )?{_THING}", _may_have),
        (rf"what (?:must|may|can|should|does) {_PERSON} not {_EAT}", _must_not_have),
        (rf"what (?:must|may|can|should|does)(?:n't|'t|not) {_PERSON} {_EAT}", _must_not_have),
        (rf"(?:can|may|could|should) (?:I|we|you|one) (?P<verb>[a-z]+) (?P<thing>{_DET}[\w' -]+)", _may),
        (rf"why (?:did|do|have)(?:n't you| not you| you not) (?P<verb>[a-z]+?)(?:d|ed)? {_THING}", _may),
        (rf"{_IS} (?P<thing>{_DET}[\w' -]+?) (?:broken|out of order|defective|not working)", _works),
        (rf"(?:does|do) (?P<thing>{_DET}[\w' -]+?) work", _works),
        (rf"where (?:do|does) (?P<thing>{_DET}[\w' -]+?) (?:belong|go|live)(?: {_PART})?", _belongs),
        (rf"where {_IS} (?P<thing>{_DET}[\w' -]+?) (?:kept|stored)(?: {_PART})?", _belongs),
        (rf"whose {_IS} {_DET}(?P<thing>[\w' -]+)", _whose),
        (rf"(?:who owns|who (?:do|does)) {_DET}(?P<thing>[\w' -]+?)(?: belong to)?", _whose),
        (rf"where(?: {_IS}|'s| did I (?:put|leave)) {_DET}(?P<thing>[\w' -]+)", _where),
    )
)  # fmt: skip


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
    plain = on_one_line(question).strip(" ?.!")
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
