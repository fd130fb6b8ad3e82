"""Reads what a verb is explained to mean: "To stow a thing is to put it in the chest."."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_node.knowledge.text import on_one_line, plain_words, stem
from memory_node.knowledge.told.binding import VERBS
from memory_node.knowledge.told.clause import PUTS, plain_verb
from memory_node.knowledge.told.plainer import without_opening

_FORMS = tuple(
    re.compile(form, re.I)
    for form in (
        r"(?:to )?(?P<deed>[\w' -]+?) (?:means|is) (?:that )?(?:you |I want you to )?(?P<way>[a-z]+.*)",
        r"when(?:ever)? (?:I|we) (?:say|ask you to|tell you to) (?P<deed>[^,]+?),? "
        r"(?:(?:I|we) (?:mean|want you to|would like you to)|please|you (?:should|must|are to)|(?:then )?do this:) "
        r"(?:that you )?(?P<way>.+)",
        r"when(?:ever)? (?:I|we) (?:say|ask you to|tell you to) (?P<deed>[^,]+?), (?P<way>.+)",
        r"(?:by|with) (?P<deed>[^,]+?),? (?:I|we) mean (?:that you )?(?P<way>.+)",
    )
)
_ORDER = re.compile(r"(?:please )?(?P<deed>[^:,]+?): ?(?P<way>.+)", re.I)
_ARTICLE = r"(?:the|my|our|your|his|her|their|some|any|an?)"
_PARTICLE = r"(?:up|down|away|out|off|in|back|over)"
_SOME = rf"(?:it|them|something|anything|things|stuff|{_ARTICLE} [\w' -]+?)"
_DEED = re.compile(
    rf"(?P<verb>[\w-]+)(?: (?P<how>{_PARTICLE}))?(?: (?P<thing>{_SOME}))?(?: (?P<behind>{_PARTICLE}))?", re.I
)
_ORDERS = PUTS.union({"bring", "give", "fetch", "get", "set", "lay"}, *VERBS.values())
_VERB_AT = re.compile(r"(?P<before>^|(?:,| and| then|, then| and then) )(?:to )?(?P<verb>[a-z]+)(?= )", re.I)
_NAMES_NONE = re.compile(rf"(?:(?!\b{_ARTICLE}\b).)*?\b(?:it|them)\b")
_IT = re.compile(r"\b(?:it|them)\b")


@dataclass(frozen=True)
class Explanation:
    """deed: the root of the verb that is explained, with its particle: "lock up"; or a whole saying, where nothing in
    `way` stands for another thing. way: what is to be done, as an order; "it" is the thing. thing: of which it was
    said, "" for none. is_order: it is to be done now, too ("freshen up the cloth: wash it").
    """

    deed: str
    way: str
    thing: str = ""
    is_order: bool = False

    @property
    def order(self) -> str:
        """What is to be done now."""
        return done_with(self.way, self.thing) if self.thing else self.way


def explanation_of(sentence: str) -> Explanation | None:
    """Return what a sentence says that a verb means; None where it explains none."""
    text = without_opening(on_one_line(sentence).strip(" .!")).replace('"', "")
    if text.endswith("?"):
        return None
    for form in (*_FORMS, _ORDER):
        found = form.fullmatch(text)
        made = _made(found["deed"].strip("' "), found["way"], form is _ORDER, text) if found is not None else None
        if made is not None:
            return made
    return None


def _made(deed: str, way: str, is_order: bool, text: str) -> Explanation | None:
    is_verb = text.lower().startswith(("to ", "when", "by ", "with ")) or deed.partition(" ")[0].endswith("ing")
    means = re.search(r"\bmeans? ", text) is not None
    order = _as_order(way)
    meant = _DEED.fullmatch(deed)
    if order is None or not (is_verb or means or is_order):
        return None
    thing = (meant["thing"] or "") if meant is not None else ""
    if thing and not _IT.search(order):
        noun = re.sub(rf"^{_ARTICLE} ", "", thing, flags=re.I)
        order = re.sub(rf"\b{_ARTICLE} {re.escape(noun)}\b", "it", order, count=1, flags=re.I)
    if not _IT.search(order):
        return None if is_order else Explanation(deed, order)
    is_of_it = _NAMES_NONE.match(order) is not None  # "boil the kettle and empty it" is of the kettle
    if meant is None or not is_of_it or (is_order and not thing):
        return None
    how = meant["how"] or meant["behind"]
    verb = meant["verb"].lower().removesuffix("ing")
    return Explanation(f"{verb} {how}" if how else verb, order, thing, is_order)


def _as_order(way: str) -> str | None:
    """Return "putting it on the dresser", "to put it there" as an order; None where it is none."""

    def plain(found: re.Match[str]) -> str:
        verb = plain_verb(found["verb"].lower()) if found["verb"].endswith("ing") else found["verb"]
        return f"{found['before']}{verb if verb in _ORDERS else found['verb']}"

    order = _VERB_AT.sub(plain, way)
    return order if order.partition(" ")[0] in _ORDERS else None


def done_with(way: str, thing: str) -> str:
    """Return an order with a thing for its first "it"."""
    first = _IT.search(way)
    if first is None:
        return way
    rest = _IT.sub("them", way[first.end() :]) if " and " in thing else way[first.end() :]
    return f"{way[: first.start()]}{thing}{rest}"


_BEGINS = r"(?:^|(?<=, )|(?<=\band )|(?<=\bthen )|(?<=\bplease )|(?<=\byou ))"
_NOT_IN_THING = rf"(?:in|on|at|to|into|onto|from|with|then|please|and (?!{_ARTICLE}\b))"


def in_known_words(text: str, deed: str, way: str) -> str:
    """Return an instruction with what a verb was explained to mean in its place: "lock up my card" as "put my card in
    the safe". Where a place is said with it that may be another one, it stays."""
    if not _IT.search(way):
        said = [stem(word) for word in plain_words(text)]
        return way if said == [stem(word) for word in plain_words(deed)] else text
    verb, _, how = deed.lower().partition(" ")
    before, behind = (rf"(?: {how})?", rf"(?: {how})?") if how else (rf"(?! {_PARTICLE}\b)", "")
    one = rf"(?P<thing>(?:(?!\b{_NOT_IN_THING}\b)[\w' ,-])+?)"
    ends = rf"(?=$|[.!]|,? (?:then\b|please\b|and (?!{_ARTICLE}\b)))"
    called = re.compile(rf"{_BEGINS}{re.escape(verb)}e?{before} {one}{behind}{ends}", re.I)

    def meant(found: re.Match[str]) -> str:
        whole = not how or re.search(rf"\b{how}\b", found.group(), re.I)
        return done_with(way, found["thing"]) if whole else found.group()

    return called.sub(meant, text)
