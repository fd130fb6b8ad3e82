"""Reads questions that memory can answer: "where are my keys?", "is the stove off?", "what is in the fridge?"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.asked_states import (
    PLACE,
    WHO,
    Asked,
    in_state,
    is_in_state,
    left_in_state,
    needs,
    tell,
    which_in_state,
    with_place,
)
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import INTO, NEAR, PUNCTUATION, UNDER, phrase_at
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command

CONTENTS, COUNT, EXISTS = "contents", "count", "exists"
_OF_SEVERAL = frozenset({COUNT, EXISTS, PLACE})  # what is asked of several things at once
_GONE = frozenset(["gone", "got", "went", "ended", "up", "off", "vanished", "disappeared", "has", "have", "go"])
_TAIL = _GONE | {"is", "are", "to", "located", "be", "keep", "kept", "in", "at"}
_BETWEEN = frozenset(
    {"things", "else", "do", "did", "you", "see", "have", "i", "we", "there", "left", "got", "stuff", "kept"}
)
_HAVING = frozenset({"there", "do", "we", "i", "you", "have", "left"})
_HOLDING = frozenset(["has", "have", "holds", "hold", "contains", "contain"])
# What ends a state that is asked for.
ENDING = {
    "on": (GoalKind.SWITCH_OFF,),
    "off": (GoalKind.SWITCH_ON,),
    "open": (GoalKind.CLOSE,),
    "closed": (GoalKind.OPEN,),
}


def read_whether(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Return what "if the stove is on" asks for, and where it ends; None for what sets no such condition."""
    return _whether(words, at, commands) if words[at] == "if" else None


def read_question(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Return what a question asks memory, and where it ends; None for what is no such question."""
    introduced = at + phrase_at(commands.english.inquiring, words, at)
    for start, rule in [(start, rule) for start in dict.fromkeys((at, introduced)) for rule in _RULES]:
        if start >= len(words) or (rule is _whether and start == at):
            continue  # "if" alone sets a condition
        found = rule(words, start, commands)
        if found is not None:
            command, end = _with_others(words, *found, commands)
            if words[end : end + 1] == ["or"] and words[-1] == "?":  # "does it need a wash, or is it clean?"
                end = len(words)
            while end < len(words) and words[end] in commands.english.fillers | _TAIL:
                end += 1
            return replace(command, text=" ".join(words[at:end])), end
    return None


def _with_others(words: Sequence[str], command: Command, end: int, commands: CommandReader) -> Asked:
    """Return the question with what it is asked of besides: "how many cups and mugs have we got?"."""
    while command.verb in _OF_SEVERAL and words[end : end + 1] in (["and"], ["or"]):
        phrase = commands.phrase(words, end + 1)
        if phrase is None or not phrase.named:
            break
        command, end = replace(command, targets=(*command.targets, phrase)), phrase.end
        end = _past_having(words, end, commands)
    return command, end


def _past_having(words: Sequence[str], at: int, commands: CommandReader) -> int:
    """Return where "are there", "do we have" end that stand at a word."""
    while at < len(words) and words[at] in commands.english.being | _HAVING:
        at += 1
    return at


def _where(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    start = at + phrase_at(commands.english.where, words, at)
    if start == at:
        return None
    start += start < len(words) and words[start] in commands.english.being
    if words[start : start + 1] == ["they"]:
        return tell(NounPhrase("they", start, start + 1, pronoun="them"), PLACE, start + 1)
    phrase = commands.phrase(words, start)
    return None if phrase is None else tell(phrase, PLACE, phrase.end)


def _seen(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    start = at + phrase_at(commands.english.seen, words, at)
    if words[at] == "you" and words[-1] != "?":
        return None  # "you see that mug, put it ..."
    phrase = commands.phrase(words, start) if start > at else None
    return None if phrase is None else tell(*with_place(words, phrase, commands, PLACE))


def _what_is_in(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    if words[at] not in ("what", "which") or at + 2 >= len(words):
        return None
    start = at + 1
    while start < len(words) and words[start] in commands.english.being | _BETWEEN:
        start += 1
    start += start < len(words) and words[start] in ("put", "keep", "store", "leave")
    placed = commands.english.preposition_at(words, start)
    if placed is None or placed[0] not in (INTO, NEAR, UNDER):
        return None
    inside = start + placed[1]
    if words[start] == "inside" and (inside >= len(words) or words[inside] in PUNCTUATION):
        return tell(
            NounPhrase("it", start, inside, pronoun="it"), CONTENTS, inside
        )  # "[open the box:] what is inside?"
    phrase = commands.phrase(words, inside)
    return None if phrase is None else tell(phrase, CONTENTS, phrase.end)


def _what_it_has(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "what the hamper has in it", "what does the box have inside"."""
    if words[at] != "what":
        return None
    turned = words[at + 1 : at + 2] in (["does"], ["do"])
    phrase = commands.phrase(words, at + 1 + turned)
    holds = phrase is not None and phrase.named and "".join(words[phrase.end : phrase.end + 1]) in _HOLDING
    if phrase is None or not holds:
        return None
    end = phrase.end + 1
    while end < len(words) and words[end] in ("in", "inside", "on", "it", "them"):
        end += 1
    return tell(phrase, CONTENTS, end)


def _which_room(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "the cup is in which room?"."""
    phrase = commands.phrase(words, at)
    if phrase is None or not phrase.named or "".join(words[phrase.end : phrase.end + 1]) not in commands.english.being:
        return None
    end = phrase.end + 1
    end += words[end : end + 1] == ["in"]
    if words[end : end + 1] == ["where"]:
        return tell(phrase, PLACE, end + 1)
    return tell(phrase, PLACE, end + 2) if words[end : end + 1] in (["which"], ["what"]) else None


def _in_which(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "in which drawer are the forks?"."""
    asked = words[at] in ("in", "on", "at") and words[at + 1 : at + 2] in (["which"], ["what"])
    place = commands.phrase(words, at + 2) if asked and at + 2 < len(words) else None
    if place is None or "".join(words[place.end : place.end + 1]) not in commands.english.being:
        return None
    phrase = commands.phrase(words, place.end + 1) if place.end + 1 < len(words) else None
    return None if phrase is None else tell(phrase, PLACE, phrase.end)


def _which_place(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "which shelf are the plates on?"."""
    place = commands.phrase(words, at + 1) if words[at] in ("which", "what") else None
    if place is None or not place.named or "".join(words[place.end : place.end + 1]) not in commands.english.being:
        return None
    phrase = commands.phrase(words, place.end + 1)
    if phrase is None or words[phrase.end : phrase.end + 1] not in (["in"], ["on"], ["at"]):
        return None
    return tell(phrase, PLACE, phrase.end + 1)


def _how_many(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    start = at + 2 if list(words[at : at + 2]) == ["how", "many"] else at + 1
    if start == at + 1 and words[at] != "count":  # "count the forks"
        return None
    phrase = commands.phrase(words, start) if start < len(words) else None
    if phrase is None:
        return None
    end = _past_having(words, phrase.end, commands)
    return tell(*with_place(words, replace(phrase, end=end), commands, COUNT))


def _is_there(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    short = words[at] in commands.english.being and words[at + 1 : at + 2] in (["anything"], ["something"])
    start = at + (phrase_at(commands.english.there_is, words, at) or short)  # "is anything in the box?"
    phrase = commands.phrase(words, start) if start > at else None
    if phrase is not None and (phrase.described or phrase.group is not None):  # "is something in it?", "any food"
        holder, _, end = with_place(words, phrase, commands, CONTENTS)
        return tell(holder.places[0][1], CONTENTS, end) if holder.places else None
    return None if phrase is None else tell(*with_place(words, phrase, commands, EXISTS))


def _whether(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "[check] if the stove is off", "[see] whether there is a mug in the sink"."""
    start = at + phrase_at(commands.english.whether, words, at)
    if start == at or start >= len(words):
        return None
    if words[start] == "there" and words[start + 1 : start + 2] and words[start + 1] in commands.english.being:
        turned = [words[start + 1], "there"]
        return _is_there([*words[:start], *turned, *words[start + 2 :]], start, commands)
    left = words[start] in WHO and words[start + 1 : start + 2] == ["left"]
    phrase = commands.phrase(words, start + 2 if left else start)
    if left and phrase is not None:  # "whether I left the stove on"
        return in_state(words, phrase, phrase.end, commands)
    if phrase is None or phrase.end >= len(words) or words[phrase.end] not in commands.english.being:
        return None
    return in_state(words, phrase, phrase.end + 1, commands)


_RULES = (
    _where,
    _seen,
    _what_is_in,
    _what_it_has,
    _which_room,
    _which_place,
    which_in_state,
    _in_which,
    _how_many,
    _is_there,
    _whether,
    is_in_state,
    left_in_state,
    needs,
)
