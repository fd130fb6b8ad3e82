"""Reads told sentences into facts: a small table of whole sentences; what fits none of them is not understood.

Without a language model these forms are all that binds. Each reads a whole clause; nothing is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import tzinfo

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.nouns import singular
from memory_node.domain.time_zone import PARTS_OF_DAY
from memory_node.knowledge.told.fact import NOTHING, Relation, Term, ToldFact
from memory_node.knowledge.told.times import until_of

_NAME = r"(?:my [a-z-]+|[A-Z][\w-]*\.?(?: [A-Z][\w-]*)*|I|we)"
_NAMES = rf"(?P<who>{_NAME}(?:, {_NAME})*(?:,? (?:and|or) {_NAME})?)"
_THING = r"(?:the |my |our |your |his |her |their |a |an |all |all the )?(?P<thing>[\w][\w' -]*?)"
_PLACE = r"(?P<how>in|into|on|onto|to|at|from|near|by|inside) (?:the |my |our |a |an )?(?P<place>[\w][\w' -]*?)"
_PLACED = re.compile(rf"^(?P<thing>[\w][\w' -]*?) {_PLACE}$")
_NEGATED = (
    r"(?:(?:must|may|should|shall|can) (?:never|not|under no circumstances)|mustn't|shouldn't|can't|cannot|"
    r"(?:is|are) (?:not|never) to|(?:is|are) not allowed to)"
)
_EAT = r"(?:eat|drink|have|take|want|touch|tolerate|stand)s?"
_DONT = r"(?:don't|doesn't|do not|does not|never|cannot|can't|must not|may not|mustn't|must never)"
_PART = r"in the (?P<part>morning|afternoon|evening|night)s?"
_UNTIL = r"(?: until (?P<until>[\w :'-]+?))?"
_OUT_OF = r"(?:out of|off|away from) (?:the |my |our |a |an )?(?P<place>[\w][\w' -]*?)"
_STAND = r"(?:go|stand|lie|come|be|stay|remain)"
_MUST_STAY = r"(?:must|should|shall|has to|have to|needs to|need to) (?:stay|remain|be kept)"
_PLACING = frozenset({*_STAND[3:-1].split("|"), "put", "placed", "kept", "stored", "left"})
_ALLERGY = r"(?:allergic|intolerant|sensitive) to"
_IS_KEPT = (
    r"(?:belongs?|goes|go|lives?|have (?:its|their) (?:place|home)|has its (?:place|home)|"
    r"(?:is|are|gets?) (?:kept|stored|put)|(?:is|are) to be (?:kept|stored|put|hung|returned)|"
    r"(?:should|must) (?:go|be(?: kept)?))"
)
_IS_WELL = r"(?:works?|is working|is repaired|has been repaired|was repaired|is fixed|(?:can|may) be used)(?: again)?"
_IS_DOWN = (
    r"(?:(?:is|are) (?:out of order|broken|defective|damaged|leaking|not working)|leaks?|"
    r"(?:does not|doesn't|do not|don't) (?:work|heat|cool)(?: properly)?)"
)

_LEAD = re.compile(
    r"^(?:actually|sorry|no|well|please|by the way|remember that|remember|note that|note|from now on|now),? ",
    re.I,
)
_ALSO = re.compile(
    r"\b(?:[Bb]oth|now|currently|still|really|also|always|usually|at the moment|right now|any more|anymore) ?\b"
)
# What several clauses are joined by; the second one begins with a pronoun, an order or a verb of the same subject.
_JOINED = re.compile(
    r"(?:;|,)?(?:(?<=[;,])| and| so| but)(?: so| and| but)? (?:please )?"
    r"(?=(?:he|she|it|they|never|don't|do not|keep|must|may|is|are|can't|cannot|doesn't|don't|has|have|sleeps?|works?|"
    r"sits?|reads?|eats?|drinks?|likes?|loves?|hates?|prefers?|goes|go|belongs?|lives?) )"
)
_SUBJECT = re.compile(
    rf"^(?P<subject>{_NAMES}|(?:the|my|our|all)? ?[\w' -]+?) (?:am|is|are|was|has|have|had|must|may|should|can|can't|"
    r"cannot|doesn't|don't|never|always|only|\w+s)\b"
)
_CONDITIONS = re.compile(r"\b(?:if|unless|when|whenever|except|until|while|after|before|instead|than)\b", re.I)
_ROLES = re.compile(r"^my ([a-z-]+)$")


@dataclass(frozen=True)
class Read:
    """What was made of a sentence. facts: () where no form fits it; then it is kept in its words alone."""

    text: str
    facts: tuple[ToldFact, ...]


class TellingReader:
    """Reads sentences. kinds: the label space; zone: of "until Tuesday", None for the machine's."""

    def __init__(self, kinds: ObjectCatalogue, zone: tzinfo | None = None) -> None:
        self._kinds = kinds
        self._zone = zone
        self._forms: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], int], Iterable[ToldFact]]], ...] = tuple(
            (re.compile(rf"^{form}\.?$"), read)
            for form, read in (
                (rf"{_PART},? {_THING} {_IS_KEPT} {_PLACE}", self._belongs),
                (rf"{_THING} {_IS_KEPT} {_PLACE}(?: {_PART})?", self._belongs),
                (rf"{_NAME} (?:keep|store|charge)s? {_THING} {_PLACE}(?: {_PART})?", self._belongs),
                (r"the (?P<place>[\w' -]+?) (?:is|are) for (?:the |our |all )?(?P<thing>[\w' -]+)", self._belongs),
                (r"(?P<who>[A-Z][\w-]*)'s favou?rite \w+ is (?:the |an? )?(?P<what>[\w' -]+)", self._likes),
                (rf"{_NAMES} sleeps? {_PLACE}", self._sleeps),
                (rf"{_NAMES} (?:work|eat|sit|stay|rest|read|wait)s? {_PLACE}", self._at),
                (
                    rf"{_NAMES} (?:am|is|are) (?:working|eating|sitting|staying|resting|reading|waiting) {_PLACE}",
                    self._at,
                ),
                (rf"(?P<who>{_NAME})'s (?:seat|place|spot|chair) is (?:the )?(?P<place>[\w' -]+)", self._at),
                (rf"{_THING} contains? (?P<what>[\w' ,-]+)", self._contains),
                (rf"{_NAMES} (?:am|is|are) {_ALLERGY} (?P<what>[\w' ,-]+)", self._avoids),
                (rf"{_NAMES} {_DONT} {_EAT} (?P<what>[\w' ,-]+)", self._avoids),
                (rf"{_NAMES} {_NEGATED} (?:get|be given) (?P<what>[\w' ,-]+)", self._avoids),
                (rf"{_NAMES} (?:am|is|are) too \w+ for (?P<what>[\w' ,-]+)", self._avoids),
                (
                    rf"{_NAMES} (?:has|have) (?:given up|stopped eating|stopped drinking) (?P<what>[\w' ,-]+)",
                    self._avoids,
                ),
                (rf"(?P<what>[\w' -]+?) (?:make|give)s? {_NAMES} (?:sick|ill|unwell|heartburn|an? rash)", self._avoids),
                (rf"no (?P<what>[\w' -]+?) for {_NAMES}", self._avoids),
                (
                    rf"{_NAMES} (?:(?:can|may) {_EAT}|eats?) (?P<what>[\w' ,-]+?)(?: again)?",
                    self._avoids_no_more,
                ),
                (rf"(?:the )?(?P<what>[\w' -]+) {_NEGATED} be given to {_NAMES}", self._avoids),
                (
                    rf"{_NAMES} (?:hate|dislike|detest|(?:do not|does not|don't|doesn't) (?:like|love|enjoy))s? "
                    r"(?P<what>[\w' ,-]+)",
                    self._avoids,
                ),
                (rf"{_THING} {_IS_DOWN}{_UNTIL}", self._broken),
                (rf"{_THING} {_IS_WELL}", self._works),
                (
                    rf"{_THING} {_NEGATED} be (?P<verb>\w+)(?: or (?P<other>\w+))?"
                    rf"(?: (?:up|away|off|on))?(?: {_PLACE})?",
                    self._never,
                ),
                (rf"{_THING} {_NEGATED} (?P<verb>{_STAND})(?: {_PLACE})?", self._never),
                (rf"{_THING} {_MUST_STAY} {_OUT_OF}", self._kept_out),
                (rf"keep {_THING} {_OUT_OF}", self._kept_out),
                (rf"{_THING} (?:(?:is|are) not allowed|(?:has|have) no place) {_PLACE}", self._kept_out),
                (rf"{_THING} {_NEGATED} (?P<verb>leave) (?:the )?(?P<place>[\w' -]+)", self._never),
                (rf"(?:nobody|no one) (?:may|must|should|can) (?P<verb>\w+) {_THING}", self._never),
                (rf"you {_NEGATED} (?P<verb>\w+) {_THING}(?: {_PLACE})?", self._never),
                (
                    rf"(?:never|do not|don't) (?P<verb>(?!(?:the|an?|my|in|on|at|to)\b)\w+) {_THING}(?: {_PLACE})?",
                    self._never,
                ),
                (rf"{_THING} (?:may|can) be (?P<verb>\w+)(?: {_PLACE})?(?: again)?", self._allowed),
                (rf"{_THING} (?:may|can) (?P<verb>{_STAND}) {_PLACE}(?: again)?", self._allowed),
                (
                    rf"{_THING}(?: {_PLACE})? (?:is|are) (?P<owner>{_NAME})(?:'s|')(?: (?:\w+ )?(?:one|thing|toy)s?)?",
                    self._owned,
                ),
                (rf"{_THING}(?: {_PLACE})? (?:is|are) (?P<owner>mine)", self._owned),
                (rf"{_THING}(?: {_PLACE})? belongs? to (?P<owner>{_NAME})", self._owned),
                (r"(?P<owner>[A-Z][\w-]*)'s? [\w -]+ (?:is|are) the (?P<thing>[\w][\w' -]*?)", self._owned),
                (r"my (?P<role>[a-z-]+) is (?:called|named) (?P<name>[A-Z][\w-]*)", self._called),
                (r"my (?P<role>[a-z-]+)'s name is (?P<name>[A-Z][\w-]*)", self._called),
                (r"(?P<name>[A-Z][\w-]*) is my (?P<role>[a-z-]+)", self._called),
                (
                    rf"(?:{_NAME}|people) calls? (?:the |my |our )?(?P<thing>[\w -]+?) (?:the )?(?P<name>[\w-]+)",
                    self._named,
                ),
                (
                    rf"what {_NAME} calls? (?:the |his |her )?(?P<name>[\w -]+) is (?:the |an? )?(?P<thing>[\w -]+)",
                    self._named,
                ),
                (
                    rf"when {_NAME} (?:says?|asks? for|wants?) (?:the |his |her )?(?P<name>[\w -]+?),? "
                    r"(?:I|we|he|she) (?:means?|wants?) (?:the |an? )?(?P<thing>[\w -]+)",
                    self._named,
                ),
                (r"(?:the )?(?P<name>[\w -]+) (?:means|mean|stands for) (?:the )?(?P<thing>[\w -]+)", self._named),
                (r"the (?P<thing>[\w -]+) (?:is|are) (?:also )?called (?:the )?(?P<name>[\w -]+)", self._named),
                (rf"{_THING} (?:is|are) (?:kept )?{_PLACE}", self._at),
                (rf"{_NAMES} (?:am|is|are) {_PLACE}", self._at),
                (rf"{_NAMES} (?:like|love|prefer|drink)s? (?P<what>[\w' ,-]+)", self._likes),
                (rf"{_NAMES} (?:am|is|are) (?:crazy about|mad about|fond of) (?P<what>[\w' ,-]+)", self._likes),
                (rf"{_NAMES} (?:am|is|are) (?P<what>[\w' ,-]+)", self._is),
            )
        )

    def read(self, sentence: str, told_ns: int, teller: str = "") -> Read:
        """Return the facts of one sentence; told_ns: when it was told."""
        found = [fact for clause in _clauses(_clause(sentence)) for fact in self._of_clause(clause, told_ns)]
        said = sentence.strip()
        return Read(sentence, tuple(one.changed(told_ns=told_ns, teller=teller, text=said) for one in found))

    def _of_clause(self, clause: str, told_ns: int) -> tuple[ToldFact, ...]:
        for form, read in self._forms:
            match = form.match(clause)
            facts = tuple(read(match, told_ns)) if match is not None else ()
            if facts:
                return facts
        return ()

    # --- one method a form: () where its words mean nothing that is known

    def _belongs(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        place = self.thing(match["place"])
        part = match.groupdict().get("part") or ""
        for thing in self._things(match["thing"]) if place is not None or self._room(match["place"]) else ():
            yield ToldFact(Relation.BELONGS, thing, place or Term(match["place"]), part_of_day=part)

    def _sleeps(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        for who in _people(match["who"]):
            yield ToldFact(Relation.SLEEPS, who, self.thing(match["place"]) or Term(match["place"]))

    def _avoids(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        for who in _people(match["who"]):
            for what in _listed(match["what"]):
                yield ToldFact(Relation.AVOIDS, who, Term(what, self._classes(what)))

    def _avoids_no_more(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        for fact in self._avoids(match, told_ns):
            yield fact.changed(holds=False)

    def _broken(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        until = until_of(match["until"], told_ns, self._zone) if match["until"] else 0
        if until is None:
            return
        for thing in self._things(match["thing"]):
            yield ToldFact(Relation.BROKEN, thing, until_ns=until)

    def _works(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        for thing in self._things(match["thing"]):
            yield ToldFact(Relation.BROKEN, thing, holds=False)

    def _never(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        groups = match.groupdict()
        place, part = groups.get("place") or "", ""
        if groups.get("how") in ("in", "at") and place in PARTS_OF_DAY:
            place, part = "", place
        where = self._where(place)
        for thing in self._things(groups["thing"]):
            for verb in filter(None, (groups["verb"].lower(), groups.get("other"))):
                if verb == "leave" or groups.get("how") == "from":
                    yield ToldFact(Relation.NEVER, thing, verb="move", part_of_day=part)
                elif verb not in _PLACING:
                    yield ToldFact(Relation.NEVER, thing, where, verb=_infinitive(verb), part_of_day=part)
                elif place:
                    yield ToldFact(Relation.NEVER, thing, where, verb="put", part_of_day=part)

    def _kept_out(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        for thing in self._things(match["thing"]):
            yield ToldFact(Relation.NEVER, thing, self._where(match["place"]), verb="put")

    def _allowed(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        thing, verb = self.thing(match["thing"]), match["verb"].lower()
        if thing is not None:
            verb = "put" if verb in _PLACING else _infinitive(verb)
            yield ToldFact(Relation.NEVER, thing, self._where(match["place"]), verb=verb, holds=False)

    def _owned(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        groups = match.groupdict()
        thing = self.thing(groups["thing"])
        if thing is None:
            return
        place = groups.get("place")
        if place:
            thing = self._placed(thing, place)
        owner = "I" if groups["owner"] == "mine" else groups["owner"]
        yield ToldFact(Relation.OWNED, thing, next(iter(_people(owner))))

    def _called(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        yield ToldFact(Relation.CALLED, Term(match["role"].lower()), Term(match["name"]))

    def _named(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        thing = self.thing(match["thing"])
        if thing is not None and not self._classes(match["name"]):
            yield ToldFact(Relation.CALLED, Term(match["name"].lower()), thing)

    def _contains(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        thing = self.thing(match["thing"])
        for what in _listed(match["what"]) if thing is not None else ():
            yield ToldFact(Relation.CONTAINS, thing or NOTHING, Term(what, self._classes(what)))

    def _at(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        groups, place = match.groupdict(), self.thing(match["place"])
        if place is None and not self._room(match["place"]):
            return
        thing = self.thing(groups["thing"]) if groups.get("thing") else None
        for subject in [thing] if thing is not None else _people(groups["who"]) if groups.get("who") else []:
            yield ToldFact(Relation.AT, subject, place or Term(match["place"]))

    def _likes(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        for who in _people(match["who"]):
            for what in _listed(match["what"]):
                yield ToldFact(Relation.LIKES, who, Term(what, self._classes(what)))

    def _is(self, match: re.Match[str], told_ns: int) -> Iterator[ToldFact]:
        what = match["what"]
        diet = re.sub(r"^(?:not )?(?:an? |strictly |very )?", "", what.lower())
        harmful = self._kinds.diets.get(diet) or self._kinds.diets.get(singular(diet))
        for who in _people(match["who"]):
            if harmful is not None:
                yield ToldFact(Relation.AVOIDS, who, Term(what, tuple(harmful)), holds=not what.startswith("not "))
            else:
                yield ToldFact(Relation.IS, who, Term(what))

    # --- words

    def thing(self, words: str) -> Term | None:
        """Return the kind of thing that words name, with what tells it from others; None for no known kind."""
        classes = self._classes(words)
        if classes:
            return Term(words.strip(), classes)
        placed = _PLACED.match(words.strip().replace(" of the ", " in the "))
        if placed is not None and (self._classes(placed["place"]) or self._room(placed["place"])):
            thing = self.thing(placed["thing"])
            return self._placed(replace(thing, words=words.strip()), placed["place"]) if thing is not None else None
        # "The blue mug": what stands before the name tells it from other mugs.
        attributes, _, name = words.strip().rpartition(" ")
        classes = self._classes(name) if attributes else ()
        return Term(words.strip(), classes, attributes.lower()) if classes else None

    def _things(self, words: str) -> list[Term]:
        """Return the kinds of things that "the oven and the microwave" names; none where one of them is not known."""
        found = [self.thing(one) for one in re.split(r",? and (?:the |my |our )?|, (?:the |my |our )?", words)]
        known = [one for one in found if one is not None]
        return known if len(known) == len(found) else []

    def _placed(self, thing: Term, place: str) -> Term:
        """Return the thing that stands on or in a place, or in a room."""
        plain = place.strip().lower()
        classes = self._kinds.spoken_names.answering(plain)
        return replace(thing, place=classes, room="" if classes else plain)

    def _classes(self, words: str) -> tuple[str, ...]:
        plain = re.sub(r"^(?:the|my|our|your|a|an|any|all|all the) ", "", words.strip().lower())
        group = self._kinds.group(singular(plain))
        if group:
            return tuple(group)
        return self._kinds.spoken_names.answering(plain)[:1]

    def _where(self, place: str | None) -> Term:
        return (self.thing(place) or Term(place)) if place else NOTHING

    def _room(self, words: str) -> bool:
        return words.strip().lower() in self._kinds.rooms


def _clause(sentence: str) -> str:
    """Return a sentence without its opening and its fillers."""
    text = " ".join(sentence.replace("’", "'").split()).strip(" .!")
    while (shorter := _LEAD.sub("", text)) != text:
        text = shorter
    text = _ALSO.sub("", text)
    text = " ".join(text.split())
    # "The" begins a sentence with a capital that is no name's.
    return re.sub(
        r"^(The|My|Our|Your|A|An|All|In|At|Nobody|No|Never|Do|Don't|You|Keep|What|When) ",
        lambda one: one[0].lower(),
        text,
    )


def _clauses(text: str) -> list[str]:
    """Return the clauses of a sentence, each with its subject: "Uma is vegan and sleeps on the sofa" has two.

    What is said under a condition stays whole.
    """
    first, *others = _JOINED.split(text) if not _CONDITIONS.search(text) else [text]
    subject = _SUBJECT.match(first) if others else None
    if subject is None:
        return [text]
    clauses = [first]
    for one in others:
        word, _, rest = one.partition(" ")
        if word in ("keep", "never", "do") or (word == "don't" and not subject["subject"].endswith("s")):
            clauses.append(one)
        elif word in ("he", "she", "it", "they"):
            clauses.append(f"{subject['subject']} {rest}")
        else:
            clauses.append(f"{subject['subject']} {one}")
    return clauses


def _people(words: str) -> list[Term]:
    """Return the persons of "Ana, Ben and my sister"; a role is a person of that role."""
    names = re.split(r",? (?:and|or) |, ", words)
    return [Term(role[1]) if (role := _ROLES.match(name)) else Term(name) for name in names if name]


def _listed(words: str) -> list[str]:
    parts = re.split(r",? (?:and|or) |, ", words.strip())
    return [re.sub(r"^(?:the|any|a|an) ", "", part) for part in parts if part]


_IRREGULAR = {"taken": "take", "given": "give", "thrown": "throw", "eaten": "eat", "put": "put", "cut": "cut",
              "broken": "break", "worn": "wear", "drunk": "drink", "moved": "move", "used": "use", "placed": "put",
              "removed": "move", "handled": "handle", "sliced": "slice", "closed": "close"}  # fmt: skip


def _infinitive(participle: str) -> str:
    """Return the verb of a participle: "heated" is heat, "moved" move."""
    if participle in _IRREGULAR:
        return _IRREGULAR[participle]
    stem = participle.removesuffix("ed")
    return stem[:-1] if stem != participle and len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "ls" else stem
