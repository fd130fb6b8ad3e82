"""A clause of a told sentence, taken apart: subject, helping verbs, verb and what follows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_node.domain.clock import PARTS_OF_DAY
from memory_node.knowledge.told.binding import VERBS
from memory_node.knowledge.told.plainer import BEING, KIN

_PART_OF_DAY = rf"(?:in the|at) (?:{'|'.join(PARTS_OF_DAY)})s?"
# What several clauses are joined by; the second one begins with a pronoun, an order or a verb of the same subject.
_JOINED = re.compile(
    r"(?:;|,)?(?:(?<=[;,])| and| so| but)(?: so| and| but)? "
    r"(?=(?:he|she|it|they|no|nobody|neither|nor|never|do not|keep|must|may|is|are|can not|does not|has|have|"
    r"sleeps?|works?|sits?|reads?|eats?|drinks?|likes?|loves?|hates?|prefers?|goes|go|belongs?|lives?|leave|use|stays?|I|we|"
    r"[A-Z][\w-]* (?:is|has|does|can|must|may|likes?|loves?|hates?|eats?)) )"
    r"| but (?=(?:in|on|at) )|, (?=not (?:in|on|at) |mine (?:is|are) )"
    r"|, (?=the (?:[a-z]+ ){1,2}(?:is|are|comes|will|can|may|must) )"
    rf"|(?:,? and|,) (?={_PART_OF_DAY} (?:in|on|at) |(?:in|on|at) [\w' -]+ {_PART_OF_DAY}$)"
)
_AT_FIRST = re.compile(rf"^{_PART_OF_DAY},? ")
_PLACED = re.compile(r" (?:in|on|at|from|by|near|with) ")
# "[Ben is vegan] and so is Ida", "and Ida is too".
_LIKEWISE = re.compile(
    r"(?:(?:neither|nor) )?(?:is|are|does|do|has|have|can) (?P<who>[A-Z][\w-]*)|"
    r"(?P<other>[A-Z][\w-]*) (?:is|are|does|do|has|have|can)(?: not)?,? (?:too|as well|either)"
)
_ROLE_AND_NAME = re.compile(r"^((?:my|[A-Z][\w-]*'s) [a-z-]+),? ([A-Z][\w-]*),? (?=[a-z])")
# Not "today, the oven, the microwave and the fridge are broken".
_ASIDE = re.compile(
    r"^([A-Z][\w-]*), ((?:my|our|the|an?) [a-z][\w' -]*), "
    r"(?=(?:is|was|has|had|does|did|can|could|must|may|might|should|will|never|always|usually|needs|wants|takes|comes|"
    r"sleeps|works|sits|reads|eats|drinks|likes|loves|hates|prefers|goes|belongs|lives|owns|stays) )"
)
CONDITIONS = re.compile(r"\b(?:if|unless|when|whenever|except|while|after|before|instead|than)\b", re.I)
_THING = re.compile(
    r"\b(?:the|my|our|his|her|their|an?) [\w' -]+?"
    r"(?= (?:in|on|at|with|into|onto|under|near|beside|behind|from|to|for|of)\b|$)"
)
LIVING = re.compile(rf"(?:my|our|the) (?:{BEING}|{KIN})(?: [A-Z][\w-]*)?|[A-Z][\w-]*|he|she|I|we")
_BEING = frozenset({"am", "is", "are", "be", "been"})
BINDING = frozenset({"must", "may", "should", "shall", "can", "to"})
_LETTING = frozenset({"may", "can"})
_MODAL = BINDING - {"to"}
_HELPERS = _BEING | BINDING | {"not", "never", "will", "would", "do", "does", "did"}
_BEFORE_TO = frozenset(
    {"has", "have", "had", "need", "needs", "used", "allowed", "supposed", "meant", "going"}
)  # "has to be"
NOT_NAMING = frozenset(
    {"a", "an", "the", "of", "in", "on", "at", "with", "for", "and", "or", "to", "wrong", "any", "only", "mind"}
)

LIES = frozenset({"go", "stand", "lie", "come", "be", "stay", "remain", "hang", "sit", "live", "belong", "get"})
AILS = frozenset({"be", "have", "suffer", "follow", "keep", "eat"})  # verbs before a diet or what asks for one
PUTS = frozenset({"put", "place", "keep", "store", "leave", "hang", "return", "charge", "allow"})
SITS = frozenset({"work", "eat", "sit", "stay", "rest", "read", "wait"})
LIKES, DISLIKES = frozenset({"like", "love", "enjoy", "prefer"}), frozenset({"hate", "dislike", "detest"})
TAKES = frozenset({"eat", "drink", "have", "take", "want", "touch", "tolerate", "stand", "get"})
RUNS, FAILS = frozenset({"work", "heat", "cool"}), frozenset({"leak", "stick", "jam", "fail"})
_VERBS = (AILS - _BEING) | LIES | PUTS | SITS | DISLIKES | LIKES | TAKES | RUNS | FAILS | {"sleep", "contain", "use"}
_KNOWN_VERBS = _VERBS.union(*VERBS.values(), {"give"})
# Verbs of lasting facts, which take an s in the third person; others that people tell of themselves are past forms.
LASTING = (LIKES | DISLIKES | TAKES | SITS | PUTS | {"sleep", "use", "live", "need", "own", "play", "call", "know"}) - {
    "read"
}
_IRREGULAR = {
    form: verb
    for verb, forms in (
        ("take", "taken"), ("give", "given"), ("throw", "thrown"), ("eat", "eaten"), ("break", "broken"),
        ("wear", "worn"), ("drink", "drunk"), ("put", "placed"), ("move", "removed remove"), ("keep", "kept"),
        ("leave", "left"), ("hang", "hung"), ("go", "goes"), ("have", "has"),
    )
    for form in forms.split()
}  # fmt: skip


@dataclass(frozen=True)
class Clause:
    """subject: as it was said, "you" of an order. helpers: what stands between it and the verb ("must", "not").
    verb: in its plain form, "be" where there is no other. rest: what follows it. was: it tells of what somebody did
    ("left", "kept")."""

    subject: str
    helpers: frozenset[str]
    verb: str
    rest: str
    was: bool = False

    @property
    def negated(self) -> bool:
        """Whether it says that something is not so, or by nobody."""
        nobody = self.subject.lower() in ("nobody", "no one")
        return nobody or bool(self.helpers & {"not", "never"})

    @property
    def forbids(self) -> bool:
        """Whether it says what must not be; "is not in the bowl" does not."""
        return self.negated and (self.verb != "be" or bool(self.helpers & (BINDING | {"never"})))

    @property
    def is_open(self) -> bool:
        """Whether it tells of no rule: what need not be, "used to be" or "should have been"."""
        needs = bool(self.helpers & {"has", "have", "had", "need", "needs"})
        return "used" in self.helpers or (needs and (self.negated or bool(self.helpers & _MODAL)))

    @property
    def lets(self) -> bool:
        """Whether it says what may be."""
        return not self.negated and bool(self.helpers & _LETTING)


def clauses(text: str) -> list[str]:
    """Return the clauses of a sentence, each with its subject: "Uma is vegan and sleeps on the sofa" has two.

    What is said under a condition stays whole.
    """
    named = _ROLE_AND_NAME.match(text)
    if named is not None:  # "my niece Clara is vegan"
        text = f"{named[1]} {named[2]} {text[named.end() :]}"
    role = [f"{named[1]} is called {named[2]}"] if named is not None else []
    aside = _ASIDE.match(text) if named is None else None
    if aside is not None:  # "Ulla, our guest, does not drink wine"
        role, text = [f"{aside[1]} is {aside[2]}"], f"{aside[1]} {text[aside.end() :]}"
    return [*role, *_parts(text)]


def _parts(text: str) -> list[str]:
    first, *others = _JOINED.split(text) if not CONDITIONS.search(text) else [text]
    subject = next((one.subject for one in parsed(first)), "") if others else ""
    if not subject:
        return [text]
    found = [first]
    # "Our cat likes to lie on the laptop, so keep it closed": the first thing behind who does something with it.
    is_living = LIVING.fullmatch(subject) is not None and not re.search(r" (?:is|are) (?:in|on|at) ", first)
    thing = _THING.search(first.removeprefix(subject)) if is_living else None
    it = thing[0] if thing is not None else subject
    for one in others:
        word, _, rest = one.partition(" ")
        if word in ("keep", "never", "leave", "use", "nobody") or one.startswith("do not"):
            found.append(re.sub(r"\b(?:it|them)\b", it, one))
        elif word in ("in", "on", "at"):  # "not in the fridge but in the cabinet", "in the evening on the desk"
            found.append(f"{_AT_FIRST.sub('', subject)} belongs {one}")
        elif word == "mine":  # "the card on the shelf is Paul's, mine is in the drawer"
            noun, where = _PLACED.split(subject)[0], rest.partition(" ")[2]
            found.append(f"{re.sub(' one$', '', where)} {noun.split()[-1]} is mine" if where.endswith(" one")
                         else f"{noun} {where} is mine")  # fmt: skip
        elif word == "not":
            found.append(f"{subject} must not be put {rest}")
        elif word == "no":  # "no wine for her"
            found.append(re.sub(r"\b(?:him|her|them)\b", subject, one))
        elif (same := _LIKEWISE.fullmatch(one)) is not None:  # "and Ida is too"
            found.append(f"{same['who'] or same['other']} {first.removeprefix(subject).strip()}")
        elif word[0].isupper() or word in ("we", "the"):  # "the cup was mine, but I gave it to Ben"
            found.append(re.sub(r"\b(?:it|them)\b", subject, one, count=1))
        else:
            found.append(f"{subject} {rest if word in ('he', 'she', 'it', 'they') else one}")
    return found


def parsed(text: str) -> Iterator[Clause]:
    """Yield a clause in each way in which its words may be a subject, helpers, a verb and what follows it."""
    words = text.split()
    for start in range(len(words)):
        at = start
        while at < len(words) and _helps(words, at):
            at += 1
        helpers = [word for word in words[start:at] if word not in ("not", "never")]
        subject = " ".join(words[:start]) or "you"
        if helpers and start and helpers[-1] in _BEING:
            yield Clause(subject, frozenset(words[start:at]), "be", " ".join(words[at:]))
            continue
        verb = plain_verb(words[at]) if at < len(words) else ""
        is_past = verb not in PUTS | FAILS and at < len(words) and words[at].endswith("ed")  # "the mug belonged to Ben"
        is_verb = verb in _VERBS and not is_past if at == start else bool(verb) and verb not in NOT_NAMING
        is_verb = is_verb and subject not in NOT_NAMING  # "the left tap leaks"
        if is_verb and (start or words[0] in ("do", "never") or verb == words[0]):
            was = at == start > 0 and words[at] in ("kept", "left")
            yield Clause(subject, frozenset(words[start:at]), verb, " ".join(words[at + 1 :]), was)


def _helps(words: list[str], at: int) -> bool:
    word, following = words[at], words[at + 1] if at + 1 < len(words) else ""
    if word in ("has", "have"):
        return following in ("to", "been", "not", "never")
    return word in _HELPERS or (word in _BEFORE_TO and following == "to")


def plain_verb(word: str) -> str:
    """Return the verb of a form of it: "heated" is heat, "goes" go, "moved" move."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending in ("s", "es", "ed", "d", "ing"):
        stem = word.removesuffix(ending)
        for one in (word, stem, f"{stem}e", stem[:-1]) if stem != word else (word,):
            if one in _KNOWN_VERBS:
                return one
    return word.removesuffix("ed")
