"""Reads told sentences into facts, clause by clause: who or what, how it is negated, the verb, and what follows that.

Without a language model this is all that binds. A clause is read whole or not at all; nothing is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.clock import NS, PARTS_OF_DAY
from memory_node.domain.names import singular
from memory_node.domain.states import ATTRIBUTES, STATE_CALLED, ObjectState
from memory_node.knowledge.text import DAYS, DETERMINER, bare
from memory_node.knowledge.told.binding import VERBS
from memory_node.knowledge.told.clause import (
    AILS,
    BINDING,
    CONDITIONS,
    DISLIKES,
    FAILS,
    LIES,
    LIKES,
    NOT_NAMING,
    PUTS,
    RUNS,
    SITS,
    TAKES,
    Clause,
    clauses,
    parsed,
    plain_verb,
)
from memory_node.knowledge.told.explaining import explanation_of
from memory_node.knowledge.told.fact import NO_TERM, Relation, Term, ToldFact, until_of
from memory_node.knowledge.told.plainer import NAME, NAMES, plain, plainer

_THE = rf"(?:{DETERMINER})?"
_AT = rf"(?:in|into|on|onto|to|at|near|inside) {_THE}(?P<place>[\w][\w' -]*)"
_OUT = rf"(?:out of|off(?= (?:the|my|our|any|an?) )|away from) {_THE}(?P<place>[\w][\w' -]*)"
_PLACED = re.compile(
    r"^(?P<thing>[\w][\w' -]*?) (?:in|on|at|near|by|from|next to|beside|under|below|above|behind|opposite) "
    r"(?:the |my |our |a |an )?(?P<place>[\w' -]+)$"
)

_FROM = re.compile(
    rf"(?:^|,? )(?:from|starting|as of) (?:next )?(?P<day>tomorrow|{'|'.join(DAYS)})(?: on(?:wards?)?)?(?:,? |$)", re.I
)
# "Do not throw away the newspaper from Saturday": that may be Saturday's.
_OF_DAY = re.compile(rf"\b(?:the|an?|my|our|any) [\w'-]+ from (?:{'|'.join(DAYS)})$", re.I)
_LEAVE_SO = re.compile(r"(?:please )?leave .+ (?:on|off|open|closed|shut)$", re.I)
_UNTIL = re.compile(r",? (?:until|till) (?P<until>[\w :'-]+)$")
_PART = re.compile(rf"(?:^| )(?:in the|at|all) (?P<part>{'|'.join(PARTS_OF_DAY)})s?(?:,? |$)")
_AND = re.compile(r",? (?:and|or) |, ")
_ROLE = re.compile(
    r"^(?:(?:my|our|the) (?=[a-z])|(?=.*'s ))(?P<role>(?:[A-Z][\w-]*'s )?[a-z-]+)(?: (?P<name>[A-Z].*))?$"
)
# "[Ida likes] her apples sliced".
_PREPARED = re.compile(
    r"^(?:only )?(?P<own>his |her |their |my )?(?:the |an? )?(?P<food>[\w ]+?) (?:only )?(?P<how>[\w-]+)$"
)
_OWNS = re.compile(rf"(?P<who>{NAME})(?:'s|') (?P<what>[\w -]*?(?P<stuff>\bstuff|\bthings?)?)")
_NOBODY = frozenset({"you", "nobody", "no one", "people"})
# "Where is my mug?"; "could you keep the mugs in the cabinet?" is no question.
ASKS = re.compile(r"^(?!(?:could|can|would|will) you\b).*\?$", re.I | re.S)
_NO_FOOD = re.compile(r"^(?:nothing|anything|everything|to|not|in|on|at|by|from|with|out|off|for|after|before)\b")

_DAYS = "|".join(DAYS)
# "Dad usually takes a nap", "Ida plays chess on Sundays"; not what somebody never does.
_HABIT = re.compile(
    rf"^(?P<who>{NAMES}) (?:(?:usually|always|often|normally|generally|mostly) (?P<what>(?!not\b|never\b)[a-z]+s? .+)|"
    rf"(?P<act>(?!is\b|was\b|has\b|had\b)[a-z]+s\b .*?)"
    rf"(?P<day>(?i:\b(?:every (?:day|morning|evening|night|{_DAYS})|on (?:{_DAYS})s)).*))$"
)
_BROKEN = re.compile(
    r"^(?:out of (?:order|service|action|use)|broken|defective|damaged|leaking|faulty|jammed|stuck|dead|acting up|"
    r"being (?:repaired|fixed|serviced)|playing up|on strike|too \w+ to (?:be used|use|cut|work|write)(?: anything)?)$"
)
# Food that nobody should eat any more.
_SPOILT = re.compile(
    r"^(?:off|bad|sour|rancid|stale|rotten|mou?ldy|spoil(?:ed|t)|expired|rotting|"
    r"past (?:its|their|the) .*\b(?:date|best))\b"
)
# What brings a thing into a state.
_BROUGHT_BY = {
    ObjectState.OPENED: "open",
    ObjectState.CLOSED: "close",
    ObjectState.ON: "turn on",
    ObjectState.OFF: "turn off",
}
# "Anything with gluten" is gluten.
_WITH = re.compile(
    r"^(?:any|every|some|what)?(?:thing|foods?|ever)s? (?:with|containing|that contains?|made (?:of|from|with)) ", re.I
)
_DIET = re.compile(r"^(?:from )?(?:an? |strictly |very )*(?P<diet>.+?)(?: (?:disease|diet|intolerance|food))?$")
_WELL = re.compile(r"^(?:working|fine|ok|okay|repaired|fixed|mended|back in (?:order|service))$")
_PARTICLE = re.compile(r"^(?:up|away|off|on|down|out) (?=the |my |our |any |a )")
# "Saving the candle for the anniversary" is of the candle, "in the bath and wants nothing" says two things.
_DOING = re.compile(r"(?:not )?\w+ing \w|.* and \w+s \w")
# What is done to a thing at another one, such as an appliance.
_BROUGHT = (
    frozenset[str]().union(*(VERBS[f"{one}Object"] for one in ("Put", "Clean", "Heat", "Cool"))) - TAKES - {"move"}
)
# What the robot could do: a ban of anything else would hold it to nothing.
_ACTS = frozenset({"touch", "use"}).union(*VERBS.values())
_DONE = re.compile(
    r"^(?P<verb>\w+)(?: or (?P<other>\w+))?(?: (?P<how>up|away|off|on|down)(?= (?:in|on|at|from) |$))?"
    r"(?: (?P<rest>.+))?$"
)


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

    def read(self, sentence: str, told_ns: int, teller: str = "", _document: str = "", _unit: int = 0) -> Read:
        """Return the facts of one sentence; told_ns: when it was told."""
        said = sentence.strip()
        explained = explanation_of(said)
        parts = clauses(plain(said)) if explained is None and not ASKS.match(said) else ()
        found = [self._of_clause(clause, told_ns) for clause in parts]
        if parts and not any(found):
            found = [self._habit(said)]
        if explained is not None:
            found = [(ToldFact(Relation.MEANS, Term(explained.deed), Term(explained.way)),)]
        about = {"told_ns": told_ns, "teller": teller, "text": said, "is_part": not all(found)}
        return Read(sentence, tuple(one.changed(**about) for facts in found for one in facts))

    def _habit(self, said: str) -> tuple[ToldFact, ...]:
        """Return what somebody usually does ("Dad usually takes a nap after lunch"), also under a condition; with a
        thing that the robot knows it may be more than that."""
        habit = _HABIT.match(said.replace("’", "'").strip(" .!"))
        if habit is None or self.names_thing(said):
            return ()
        does = Term(habit["what"] or f"{habit['act']}{habit['day']}")
        return tuple(ToldFact(Relation.DOES, who, does) for who in _people(habit["who"]))

    def _of_clause(self, text: str, told_ns: int) -> tuple[ToldFact, ...]:
        ends = _UNTIL.search(text)
        until = until_of(ends["until"], told_ns, self._zone) if ends is not None else 0
        text = text[: ends.start()] if ends is not None else text
        part = _PART.search(text)
        text = f"{text[: part.start()]} {text[part.end() :]}".strip() if part is not None else text
        begins = _FROM.search(text)
        begin = until_of(begins["day"], told_ns, self._zone) if begins is not None else 0
        is_inside = begins is not None and begins.start() > 0 and begins.end() < len(text)
        is_of_day = is_inside or (ends is None and _OF_DAY.search(text) is not None)
        text = f"{text[: begins.start()]}{text[begins.end() :]}".strip(" ,") if begins is not None else text
        if until is None or begin is None or is_of_day or CONDITIONS.search(text):
            return ()
        read = (tuple(self._meant(clause)) for clause in parsed(plainer(text)))
        facts = next(filter(None, read), ())
        if part is not None and any(one.relation is Relation.BROKEN for one in facts):
            return ()  # "does not start at night": a habit, or a rule
        if not until and _LEAVE_SO.match(text) and all(one.relation is Relation.NEVER for one in facts):
            until = until_of("tomorrow", told_ns, self._zone) or 0  # "leave the lamp on" is of today
        if begin and until and until <= begin:  # "from Monday until Friday", told on a Thursday
            until += 7 * 24 * 3600 * NS
        at = part["part"] if part is not None else ""
        return tuple(one.changed(from_ns=begin, until_ns=until, part_of_day=at) for one in facts)

    def _meant(self, clause: Clause) -> Iterable[ToldFact]:
        if clause.is_open:
            return ()
        if clause.subject.lower() in _NOBODY:
            return self._ordered(clause)
        theirs = _OWNS.fullmatch(clause.subject) if clause.verb == "be" and not clause.helpers - {"is", "are"} else None
        if theirs is not None and (self._classes(theirs["what"]) or theirs["stuff"]):  # "Lily's bed is the sofa"
            rest = re.sub(r" one$", f" {theirs['what']}", clause.rest)  # "Lena's mug is the blue one"
            if owned := self._things(rest):
                return [ToldFact(Relation.OWNED, thing, _person(theirs["who"])) for thing in owned]
        things = self._things(clause.subject)
        if things:
            return self._of_things(clause, things)
        is_person = re.fullmatch(NAMES, clause.subject) is not None
        return self._of_people(clause, _people(clause.subject)) if is_person else ()

    # --- what is said of things

    def _of_things(self, clause: Clause, things: list[Term]) -> Iterable[ToldFact]:
        is_food = any(self._kinds[name].can(Property.EDIBLE) for thing in things for name in thing.classes)
        works = _is_good(clause) if is_food else _works(clause)
        owners = re.fullmatch(rf"to ({NAMES})", clause.rest) if clause.verb == "belong" else None
        if owners is not None:
            return [ToldFact(Relation.OWNED, things[0], owner) for owner in _people(owners[1]) if not clause.negated]
        if works is not None:
            return [ToldFact(Relation.BROKEN, thing, holds=not works) for thing in things]
        state = re.sub("^(?:kept|left) ", "", clause.rest)
        # "The lamp should be off" is a wish of now.
        is_wish = "should" in clause.helpers and state == clause.rest
        is_kept = clause.verb in ("stay", "remain") or (
            clause.verb == "be" and clause.helpers & BINDING and not is_wish
        )
        undone = _undone(state) if is_kept and not (clause.negated or clause.lets) else ""
        if undone:
            return [ToldFact(Relation.NEVER, thing, verb=undone) for thing in things]
        called = re.fullmatch(r"(?:called|named) (.+)", clause.rest) if clause.verb == "be" else None
        if called is not None:
            name = bare(called[1]).lower()
            return [] if self._classes(name) else [ToldFact(Relation.CALLED, Term(name), things[0])]
        if clause.verb == "leave" and (clause.forbids or clause.lets):
            place, holds = self._where(bare(clause.rest)), clause.forbids
            return [ToldFact(Relation.NEVER, thing, place, verb="leave", holds=holds) for thing in things]
        if clause.verb == "contain" and all(self._kinds[name].pickupable for one in things for name in one.classes):
            holds, what = not clause.negated, clause.rest
            if what.startswith("no "):
                holds, what = False, what.removeprefix("no ")
            return [ToldFact(Relation.CONTAINS, things[0], one, holds=holds) for one in self._listed(what)]
        placed = list(self._placed_in(clause, things, clause.rest)) if clause.verb in LIES else []
        return placed or (self._done_to(clause, things) if clause.verb == "be" else ())

    def _placed_in(self, clause: Clause, things: list[Term], where: str, is_put: bool = False) -> Iterator[ToldFact]:
        """Yield where things belong, are, or must not be."""
        out, at = re.fullmatch(_OUT, where), re.fullmatch(_AT, where)
        found = out or at
        if found is None:
            return
        place = self._where(found["place"])
        for thing in things:
            if out is not None and where.startswith("away from") and not self._is_known(place):
                continue  # of people, or of nothing that a thing can be put into
            if clause.forbids or out is not None:
                yield ToldFact(Relation.NEVER, thing, place, verb="put")
            elif clause.lets:
                yield ToldFact(Relation.NEVER, thing, place, verb="put", holds=False)
            elif self._is_known(place) and not clause.negated and self._takes(place):
                is_there = clause.verb == "be" and not (is_put or clause.helpers & BINDING)
                yield ToldFact(Relation.AT if is_there else Relation.BELONGS, thing, place)

    def _done_to(self, clause: Clause, things: list[Term]) -> Iterator[ToldFact]:
        """Yield what "kept in the bowl" or "never moved" says of things."""
        done = _DONE.match(clause.rest)
        if done is None:
            return
        rest, verbs = done["rest"] or "", [plain_verb(one) for one in (done["verb"], done["other"]) if one]
        verbs = [_switching(one, done["how"]) for one in verbs]
        if verbs[0] in PUTS:
            yield from self._placed_in(clause, things, rest, is_put=True)
        elif clause.forbids or clause.lets:
            yield from self._forbidden(things, verbs, rest, holds=clause.forbids)

    def _forbidden(self, things: list[Term], verbs: list[str], rest: str, holds: bool = True) -> Iterator[ToldFact]:
        """Yield what must not be done with things, or may be again. rest: where."""
        source, at = re.fullmatch(rf"(?:from|{_OUT}) ?.*", rest), re.fullmatch(_AT, rest)
        if (rest and source is None and at is None) or not _ACTS.issuperset(verbs):
            return
        place = self._where(at["place"]) if at is not None else NO_TERM
        for thing in things:
            if "use" in verbs and not holds:
                yield ToldFact(Relation.BROKEN, thing, holds=False)
            for verb in verbs:
                yield ToldFact(Relation.NEVER, thing, place, verb="move" if source else verb, holds=holds)

    # --- orders

    def _ordered(self, clause: Clause) -> tuple[ToldFact, ...]:
        """Return what must not be done, and where things are to be kept."""
        words, verb = clause.rest.split(), clause.verb
        # "Turn the lamp off in the kitchen"; behind "the lamp on the desk" there is no place.
        within = (at for at in range(1, len(words) - 1) if re.match(_AT, " ".join(words[at + 1 :])))
        places = (0, -1, *within) if words else ()
        at = next((one for one in places if _switching(verb, words[one]) != verb), None)
        is_kept = bool(words) and verb in ("keep", "leave") and not (clause.negated or clause.was)
        undone = _undone(words[-1]) if is_kept else ""
        if undone:
            return tuple(ToldFact(Relation.NEVER, one, verb=undone) for one in self._things(" ".join(words[:-1])))
        if at is not None:
            verb = _switching(verb, words.pop(at))
        words = _PARTICLE.sub("", " ".join(words)).split()
        ends = range(1, len(words) + 1)
        # "Take the mug on the desk" is of that mug, "put" and "heat" of one that comes there.
        for end in ends if verb in PUTS | _BROUGHT else reversed(ends):
            things, where = self._things(" ".join(words[:end])), " ".join(words[end:])
            if clause.verb in PUTS:
                facts = tuple(self._placed_in(clause, things, where, True))
            else:
                holds = clause.forbids
                facts = tuple(self._forbidden(things, [verb], where, holds)) if holds or clause.lets else ()
            if facts:
                return facts
        return ()

    # --- what is said of people

    def _of_people(self, clause: Clause, people: list[Term]) -> Iterable[ToldFact]:
        diet = self._diet(clause.rest) if clause.verb in AILS and not clause.lets else None
        if diet is not None and not (clause.negated and clause.helpers & BINDING):
            said = replace(diet, words=f"not {clause.rest}") if clause.negated else diet
            return [ToldFact(Relation.AVOIDS, who, said, holds=not clause.negated) for who in people]
        verb, at = clause.verb, re.fullmatch(_AT, clause.rest)
        prepared = _PREPARED.match(clause.rest) if verb in TAKES | LIKES and not clause.negated else None
        if prepared is not None and prepared["how"] in ATTRIBUTES:
            eaten = self._classes(prepared["food"])
            liked = Term(clause.rest, eaten, prepared["how"])
            return [ToldFact(Relation.LIKES, who, liked) for who in people if eaten]
        if prepared is not None and prepared["own"] and self._classes(prepared["food"]):
            return ()  # "her toast burnt": nobody knows how to bring that about
        place = self._where(at["place"]) if at is not None else NO_TERM
        if verb == "be":
            return self._true_of(clause, people, place)
        if clause.negated and (at or verb in PUTS) and people[0].words not in ("I", "we"):
            return ()  # what somebody else does not do there
        if verb in PUTS:
            was_put = verb in ("put", "leave") and not clause.helpers  # "I put the keys in the bowl"
            facts = self._ordered(clause)
            return [one.changed(relation=Relation.AT) for one in facts] if was_put else facts
        if (verb == "sleep" and place.words) or (verb in SITS and self._is_known(place)):
            relation = Relation.SLEEPS if verb == "sleep" else Relation.AT
            return [ToldFact(relation, who, place) for who in people]
        has_none = verb == "have" and not clause.helpers & BINDING  # "Ida does not have a mug"
        if verb in DISLIKES or (verb in TAKES | LIKES and clause.negated and not has_none):
            return self._all(Relation.AVOIDS, people, clause.rest)
        if verb == "eat" or (verb in TAKES and clause.lets):
            return [one.changed(holds=False) for one in self._all(Relation.AVOIDS, people, clause.rest)]
        return self._all(Relation.LIKES, people, clause.rest) if verb in LIKES or verb == "drink" else ()

    def _true_of(self, clause: Clause, people: list[Term], place: Term) -> list[ToldFact]:
        """Return what "is called Ana", "is vegan" or "is at the desk" says of people."""
        rest = clause.rest
        called = re.fullmatch(r"(?:called|named) (.+)", rest)
        if called is not None:
            return [ToldFact(Relation.CALLED, people[0], Term(called[1]))]
        if clause.helpers & BINDING:  # "Ida must not be on the sofa"; not "must not be woken"
            is_ban = self._is_known(place) and (clause.negated or clause.lets)
            return [ToldFact(Relation.AVOIDS, who, place, holds=clause.negated) for who in people if is_ban]
        if self._is_known(place):
            return [ToldFact(Relation.AT, who, place) for who in people if not clause.negated]
        # "We are out of butter" tells of a thing.
        known = bool(rest) and not (_DOING.match(rest) or (people[0].words in ("I", "we") and self.names_thing(rest)))
        said = Term(f"not {rest}" if clause.negated else rest)
        return [ToldFact(Relation.IS, who, said) for who in people if known]

    def names_thing(self, words: str) -> bool:
        """Return whether words name a kind of thing of the label space."""
        return bool(self._kinds.spoken_names.named_in(words.lower()))

    def _diet(self, words: str) -> Term | None:
        """Return what somebody must not have who "is strictly vegan" or "has coeliac disease"; None for no diet."""
        found = _DIET.match(words.lower())
        names = (words.lower(), found["diet"], singular(found["diet"])) if found is not None else ()
        diet = next((name for name in names if name in self._kinds.diets), "")
        return Term(diet, tuple(self._kinds.diets[diet])) if diet else None

    def _all(self, relation: Relation, people: list[Term], words: str) -> list[ToldFact]:
        words = _WITH.sub("", words)
        listed = self._listed(words) if not _NO_FOOD.match(words) else []
        return [ToldFact(relation, who, what) for who in people for what in listed]

    def _listed(self, words: str) -> list[Term]:
        parts = [bare(part) for part in _AND.split(words.strip())]
        return [Term(part, self._classes(part)) for part in parts if part]

    # --- words

    def thing(self, words: str) -> Term | None:
        """Return the kind of thing that words name, with what tells it from others; None for no known kind."""
        words = words.strip()
        noun, _, look = words.partition(" with ")
        if classes := self._classes(noun):
            return Term(words, classes, f"with {look}" if look else "", room=self._room_before(noun, classes))
        placed = _PLACED.match(words.replace(" of the ", " in the "))
        if placed is not None and self._is_known(self._where(placed["place"])):
            thing = self.thing(placed["thing"])
            return self._standing(replace(thing, words=words), placed["place"]) if thing is not None else None
        # "The blue mug": what stands before the name tells it from other mugs.
        attributes, _, name = words.rpartition(" ")
        classes = self._classes(name) if attributes and NOT_NAMING.isdisjoint(attributes.split()) else ()
        return Term(words, classes, attributes.lower(), room=self._room_before(words, classes)) if classes else None

    def _room_before(self, words: str, classes: Sequence[str]) -> str:
        """Return the room of "the kitchen sink", "" for none: a kitchen knife may be anywhere."""
        said = (room for room in self._kinds.rooms if words.lower().startswith(f"{room} "))
        return "" if any(self._kinds[name].pickupable for name in classes) else next(said, "")

    def _things(self, words: str) -> list[Term]:
        """Return the kinds of things that "the oven and the microwave" names; none where one of them is not known."""
        found = [self.thing(bare(one)) for one in _AND.split(words)]
        known = [one for one in found if one is not None]
        return known if len(known) == len(found) else []

    def _standing(self, thing: Term, place: str) -> Term:
        """Return the thing that stands on or in a place, or in a room."""
        plain = place.strip().lower()
        classes = self._kinds.spoken_names.answering(plain)
        return replace(thing, place=classes, room="" if classes else plain)

    def _classes(self, words: str) -> tuple[str, ...]:
        plain = bare(words).lower()
        group = self._kinds.group(singular(plain))
        if group:
            return tuple(group)
        return self._kinds.spoken_names.answering(plain)[:1]

    def _where(self, place: str) -> Term:
        return self.thing(place) or Term(place)

    def _takes(self, place: Term) -> bool:
        """Return whether things can be there: in a bowl or a room, but not in a knife."""
        kinds = [self._kinds[name] for name in place.classes]
        return not kinds or any(kind.is_receptacle or not kind.pickupable for kind in kinds)

    def _is_known(self, place: Term) -> bool:
        return bool(place.classes) or place.words.strip().lower() in self._kinds.rooms


def _switching(verb: str, how: str | None) -> str:
    return f"{verb} {how}" if verb in ("switch", "turn") and how in ("on", "off") else verb


def _undone(state: str) -> str:
    """Return the verb of what must not be done to what "stays shut", "" for other words."""
    kept = STATE_CALLED.get(state.strip().replace("locked", "closed"))
    return _BROUGHT_BY.get(kept.contrary, "") if kept is not None and kept.contrary is not None else ""


def _is_good(clause: Clause) -> bool | None:
    """Return whether food can be eaten; None where a clause says nothing of that."""
    is_told = clause.verb == "be" and not clause.helpers & BINDING and _SPOILT.match(clause.rest) is not None
    return clause.negated if is_told else None


def _works(clause: Clause) -> bool | None:
    """Return whether things work, or may be used again; None where a clause says nothing of that."""
    if clause.verb == "be" and _BROKEN.match(clause.rest):
        return clause.negated
    if clause.verb == "be" and _WELL.match(clause.rest) and not clause.helpers & BINDING:
        return not clause.negated
    if clause.verb in RUNS | FAILS and clause.rest in ("", "properly", "well"):
        return (clause.verb in RUNS) is not clause.negated
    return None


def _people(words: str) -> list[Term]:
    """Return the persons of "Ana, Ben and my sister"; a role is a person of that role."""
    return [_person(name) for name in _AND.split(words) if name]


def _person(words: str) -> Term:
    found = _ROLE.match(words)
    if found is None:
        return Term(words)
    return Term(found["name"], attributes=found["role"]) if found["name"] else Term(found["role"])
