"""Splits an instruction into commands and reads each one: what to do, with what, and where."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.noun_phrase import UNNAMED
from memory_node.planner.language.verbs import Verbs

_SEPARATOR = re.compile(
    r"\s*(?:[.;!?]+(?=\s|$)|,?\s*\b(?:and\s+)?(?:then|after\s+that|afterwards|afterward|finally|next(?!\s+to))\b,?"
    r"|,\s*(?:and\b)?|\band\b(?!\s+forth)|\bbefore\b(?=\s+\w+ing))\s*"
)
_POLITE = re.compile(
    r"^(?:please|kindly|robot|now|first|also|and|then|so|but|ok|okay|hey|hello|go and|to|(?:could|can|would|will) you"
    r"(?: please)?(?: also)?|i (?:need|want|would like) you to|i'd like you to|your task is to|you should|you need to"
    r"|it would be (?:nice|great) if you could|try to|make sure to|be sure to|proceed to|walk over and|go)\b[\s,]*"
)
_ASIDE = re.compile(
    r"^(?:although|even though|even if|though|despite|since|because|while|whilst|ignor\w+|without|when|if|as|unlike"
    r"|except|instead of|rather than|regardless|no matter|no need|never|do not|don't|not|nobody|forget|pay no attention"
    r"|leave (?:the |a |an )?[\w ]+? (?:alone|where (?:it|they) (?:is|are)|in peace|as (?:it|they) (?:is|are)))\b"
)
# what still says where a verb was left out: "put the cup on the table and the fork [in the drawer]"
_GAPPED = re.compile(
    r"^(?!the one\b|one\b|both\b)(?:the|a|an|my|another|some|two|both) [\w' \-]*?\w "
    r"(?:on top of|inside|into|in|onto|on|to) (?:the|a|an|my|its|it)\b"
)
_PREPOSITION = re.compile(
    r"\b(?P<word>in front of|(?:to|on) the (?:left|right) of|at the foot of|between"
    r"|(?:back )?(?:on top of|inside of|inside|into|in|onto|on|upon|within|to|at)|next to|close to|beside|near|by"
    r"|underneath|under|below|with|using|from|off of|off|out of|against|around|behind|above|across)\b"
)
# a preposition that belongs to a description: "something to write", "what I drink tea from"
_DESCRIBING = re.compile(
    rf"(?:^|\s)(?:{'|'.join(sorted(UNNAMED))})(?:\s(?:(?:i|we|one|you|people|that|which)\b|to \w).*)?$"
)
_PLACING = frozenset({"on top of", "inside of", "inside", "into", "in", "onto", "on", "upon", "within", "to", "at"})
_BESIDE = frozenset({"next to", "close to", "beside", "near", "by", "in front of"})
_BESIDE |= {"to the left of", "to the right of", "on the left of", "on the right of"}
_CARRIED = re.compile(r"^(?P<container>.+?) (?:with|containing|holding) (?P<target>.+?) (?:in|on|inside)(?: of)? it\b")
_BACK = re.compile(
    r"\b(?:back )?(?:where (?:it|they) belongs?|to (?:its|their) (?:original )?places?|where (?:it|they) "
    r"(?:was|were|came from))\b"
)


THERE = "there"
_ARTICLES = frozenset({"the", "a", "an", "my", "your", "its", "it", "them", "me", "another", "both", "this", "that"})


@dataclass(frozen=True)
class Command:
    """One command as words: noun phrases, "" where nothing was said. beside: next to the destination, not on it.

    treatment: the catalogue's treatment that the verb names.
    """

    kind: GoalKind
    target: str
    destination: str = ""
    container: str = ""
    light: str = ""
    origin: str = ""
    beside: bool = False
    original_place: bool = False
    to_user: bool = False
    text: str = ""
    treatment: str = ""


def split_commands(instruction: str, verbs: Verbs) -> list[str]:
    """Return the commands of an instruction; what only remarks on the scene is left out."""
    text = re.sub(r"\s+", " ", instruction.lower().replace("’", "'")).strip()
    pieces: list[str] = []
    skipping = False
    at, glue = 0, ""
    for separator in [*_SEPARATOR.finditer(text), None]:
        piece = _without_politeness(text[at : separator.start() if separator else len(text)].strip())
        before, glue = glue, separator.group() if separator else ""
        at = separator.end() if separator else at
        if not piece:
            glue = before
            continue
        if _ASIDE.match(piece):
            skipping = True
        elif verbs.open_command(piece.split()):
            skipping = False
            pieces.append(piece)
        elif pieces and not skipping and _is_gapped(pieces[-1], before, piece, verbs):
            pieces.append(f"{pieces[-1].split()[0]} {piece}")
        elif pieces and not skipping:
            pieces[-1] += f" {before.strip()} {piece}".replace(" ,", ",")
        elif not skipping:
            pieces.append(piece)
    return pieces


def _is_gapped(previous: str, separator: str, piece: str, verbs: Verbs) -> bool:
    """Return whether a piece leaves out the placing verb of the one before."""
    joined = separator.strip() in (",", "and", ", and") and _GAPPED.match(piece)
    if not joined:
        return False
    command = read_command(previous, verbs)
    return command is not None and command.kind is GoalKind.PLACE and bool(command.destination)


def _without_politeness(piece: str) -> str:
    while True:
        shorter = _POLITE.sub("", piece, count=1)
        if shorter == piece:
            return piece
        piece = shorter


def read_command(piece: str, verbs: Verbs) -> Command | None:
    """Return the command that a piece of an instruction gives, or None when it starts with no known verb."""
    piece = re.sub(r"[.!?]+$", "", piece.strip())
    original = bool(_BACK.search(piece))
    piece = _BACK.sub("", piece).strip()
    found = verbs.read(piece.split())
    if found is None:
        return None
    kind, words = found.kind, found.rest
    to_user = words[:1] == ["me"] or words[-2:] == ["to", "me"]
    rest = " ".join(words[1:] if words[:1] == ["me"] else words[:-2] if to_user else words)
    if kind in (GoalKind.PLACE, GoalKind.FETCH, GoalKind.THROW):
        return _placement(kind, rest, piece, to_user, original)
    parts = _by_preposition(rest)
    light = next((phrase for word, phrase in parts if word in ("under", "by", "with", "in", "using", "to")), "")
    if kind is GoalKind.EXAMINE:
        return Command(kind, parts[0][1], light=light, text=piece)
    if kind is GoalKind.SWITCH_ON and any(word == "with" for word, _ in parts):
        carried = next(phrase for word, phrase in parts if word == "with")
        return Command(GoalKind.EXAMINE, carried, light=parts[0][1], text=piece)
    return Command(kind, parts[0][1], origin=_origin(parts), text=piece, treatment=found.treatment)


def _placement(kind: GoalKind, rest: str, piece: str, to_user: bool, original: bool) -> Command:
    carried = _CARRIED.match(rest)
    container = ""
    if carried and kind is GoalKind.PLACE:
        container = carried.group("container")
        rest = carried.group("target") + rest[carried.end() :]
    parts = _by_preposition(rest)
    placed = [phrase for word, phrase in parts[1:] if word in _PLACING and phrase]
    beside = [phrase for word, phrase in parts[1:] if word in _BESIDE and phrase]
    destination = placed[-1] if placed else beside[-1] if beside else ""
    target = parts[0][1]
    if not destination and re.search(r"\bthere\b", target):
        destination, target = THERE, re.sub(r"\b(?:in |on |over )?there\b(?: too| as well)?", "", target).strip()
    if kind is GoalKind.FETCH and (to_user or original or any(word == "to" for word, _ in parts[1:])):
        kind = GoalKind.PLACE
    elif kind is GoalKind.FETCH:
        destination = ""  # "get the apple on the table": where it is, not where it goes
    if kind is GoalKind.PLACE and container:
        kind = GoalKind.STACK
    return Command(
        kind,
        target,
        destination=destination,
        container=container,
        origin=_origin(parts),
        beside=bool(beside) and not placed,
        original_place=original,
        to_user=to_user,
        text=piece,
    )


def _by_preposition(text: str) -> list[tuple[str, str]]:
    """Return (preposition, noun phrase) pairs; the first one has no preposition."""
    parts: list[tuple[str, str]] = []
    word, at = "", 0
    for match in _PREPOSITION.finditer(text):
        if _is_describing(text[at : match.start()].strip(), match.group("word"), text[match.end() :].strip()):
            continue
        parts.append((word, text[at : match.start()].strip(" ,")))
        word, at = match.group("word").removeprefix("back "), match.end()
    parts.append((word, text[at:].strip(" ,")))
    return parts


def _is_describing(before: str, word: str, behind: str) -> bool:
    """Return whether a preposition belongs to the noun phrase before it: to an infinitive, or left behind its verb."""
    if not _DESCRIBING.search(before):
        return False
    stranded = not behind or _PREPOSITION.match(behind) is not None
    return stranded or (word == "to" and behind.split()[0] not in _ARTICLES)


def _origin(parts: list[tuple[str, str]]) -> str:
    return next((phrase for word, phrase in parts if word in ("from", "off", "off of", "out of")), "")
