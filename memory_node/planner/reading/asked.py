"""Reads questions that memory can answer: "where are my keys?", "is the stove off?", "what is in the fridge?"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memory_node.domain.skill_library import GOALS, SKILLS, GoalKind
from memory_node.domain.states import adjective_of
from memory_node.planner.reading.command import Command
from memory_node.planner.reading.command_reader import CommandReader
from memory_node.planner.reading.english import INTO, NEAR, PUNCTUATION, UNDER, past
from memory_node.planner.reading.noun_phrase import NounPhrase

PLACE, CONTENTS, COUNT, EXISTS = "place", "contents", "count", "exists"
_BE = frozenset({"is", "are", "was", "were", "'s"})
_INSIDE = frozenset({"in", "into", "inside", "inside of"})
_ENDS = frozenset({"?", ".", ",", "and", "or", "so", "then", "now"})
Asked = tuple[Command, int]


def read_question(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Return what a question asks memory, and where it ends; None for what is no such question."""
    introduced = at + commands.english.inquiring.length_at(words, at)
    for start in dict.fromkeys((at, introduced)):
        for form in _FORMS:
            found = form(words, start, commands) if start < len(words) else None
            if found is None or (form in (_whether, _look_into) and start == at):
                continue
            command, end = found
            tails = (commands.english.fillers | commands.english.question_tails) - {"in"}
            end = past(words, end, tails)
            return replace(command, text=" ".join(words[at:end])), end
    return None


def read_condition(words: Sequence[str], at: int, commands: CommandReader) -> tuple[Command, bool, int] | None:
    """Return the question of "if the cup is dirty", "unless the stove is on", the answer that is waited for, and where
    it ends; None for what memory cannot be asked."""
    holds = words[at] == "if"
    end = next((i for i in range(at, len(words)) if words[i] in PUNCTUATION), len(words))
    clause = ["if", *words[at + 1 : end]]
    denied = next((i for i in range(2, len(clause)) if clause[i] == "not" and clause[i - 1] in _BE), 0)
    if denied:
        holds, clause = not holds, [*clause[:denied], *clause[denied + 1 :]]
    found = _whether([*words[:at], *clause], at, commands) if holds or words[at] in ("if", "unless") else None
    if found is None or found[0].verb in (PLACE, CONTENTS, COUNT):
        return None
    rest = past([*words[:at], *clause], found[1], commands.english.fillers | commands.english.having)
    whole = rest == at + len(clause)
    return (replace(found[0], text=" ".join(words[at:end])), holds, end) if whole else None


def _tell(asked: str, *phrases: NounPhrase) -> Command:
    return Command(GoalKind.TELL, asked, phrases)


def _at(asked: Command, *places: tuple[str, NounPhrase] | tuple[str, NounPhrase, str]) -> Command:
    """Return a question with the first place that it asks about."""
    return replace(asked, destination=places[0][1], near=places[0][0] == NEAR) if places else asked


def _where(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    length = commands.english.where.length_at(words, at)
    if not length:
        return None
    start = at + length
    start += start < len(words) and words[start] in _BE
    phrase = commands.phrases.read(words, start)
    if phrase is None:
        return None
    end = past(words, phrase.end, commands.english.question_tails)
    return _tell(PLACE, phrase), end


def _seen(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    length = commands.english.seen.length_at(words, at)
    start = at + length + (words[at + length : at + length + 1] == ["of"])
    phrase = commands.phrases.read(words, start, places=True) if length else None
    return None if phrase is None else (_tell(PLACE, phrase), phrase.end)


def _what_is_in(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    if words[at] not in ("what", "which", "anything"):
        return None
    start = past(words, at + 1, _BE | commands.english.seeking | {"things"})
    start += start < len(words) and words[start] in ("put", "keep", "store", "lying", "kept")
    placed = commands.phrases.place(words, start) if start < len(words) else None
    if placed is None or placed[0] not in (INTO, NEAR, UNDER):
        return None
    end = placed[1].end
    further = commands.phrases.place(words, end)
    told = replace(_tell(CONTENTS, placed[1]), near=placed[0] == NEAR)
    return told, further[1].end if further is not None else end


def _look_into(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "[have a look] in the fridge", which is looked into before its contents are told."""
    placed = commands.phrases.place(words, at)
    if placed is None or placed[2] not in _INSIDE or placed[1].called is None:
        return None
    if not commands.lexicon.is_holder(placed[1].called):
        return None
    return Command(GoalKind.FIND, CONTENTS, (placed[1],)), placed[1].end


def _which_place(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "which shelf are the plates on?", "in which drawer is the fork?", "which room is my phone in?"."""
    start = at + (words[at] in ("in", "on", "at"))
    if words[start : start + 1] not in (["which"], ["what"]):
        return None
    place = commands.phrases.read(words, start + 1)
    if words[start + 1 : start + 2] in (["room"], ["place"]):
        behind = start + 2
    elif place is None or not place.named:
        return None
    else:
        behind = place.end
    if behind >= len(words) or words[behind] not in _BE:
        return None
    if place is not None and place.named and start == at:
        told = _state_behind(words, behind + 1, place, commands)
        if told is not None and told[0].verb != PLACE:
            return told  # "which cups are dirty?"
    phrase = commands.phrases.read(words, behind + 1)
    if phrase is None:
        return None
    stranded = words[phrase.end : phrase.end + 1] in (["in"], ["on"], ["at"])
    return (_tell(PLACE, phrase), phrase.end + stranded) if stranded or start > at else None


def _how_many(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    start = at + 2 if list(words[at : at + 2]) == ["how", "many"] else at + 1
    if start == at + 1 and words[at] != "count":
        return None
    phrase = commands.phrases.read(words, start)
    if phrase is None:
        return None
    end = past(words, phrase.end, commands.english.having)
    placed = commands.phrases.place(words, end)
    if placed is not None and placed[0] in (INTO, NEAR):
        return _at(_tell(COUNT, phrase), placed), placed[1].end
    return _at(_tell(COUNT, phrase), *phrase.places), end


def _is_there(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    short = words[at] in _BE and words[at + 1 : at + 2] in (["anything"], ["something"])
    start = at + (commands.english.there_is.length_at(words, at) or short)
    if start == at or start >= len(words):
        return None
    if words[start : start + 3] == ["anything", "left", "of"]:
        whole = commands.phrases.read(words, start + 3)
        return (_tell(EXISTS, whole), whole.end) if whole is not None else None
    if words[start] in ("anything", "something"):
        start += 1 + (words[start + 1 : start + 2] == ["else"])
        placed = commands.phrases.place(words, start)
        return (_tell(CONTENTS, placed[1]), placed[1].end) if placed is not None else None
    start += words[start] in ("any", "some", "still")
    phrase = commands.phrases.read(words, start, places=True)
    if phrase is None or phrase.group is not None:
        return None
    behind = past(words, phrase.end, commands.english.fillers)
    placed = commands.phrases.place(words, behind)
    if placed is not None and not phrase.places:
        return _at(_tell(EXISTS, phrase), placed), placed[1].end
    return _at(_tell(EXISTS, phrase), *phrase.places), past(words, phrase.end, commands.english.having)


def _state_behind(words: Sequence[str], at: int, phrase: NounPhrase, commands: CommandReader) -> Asked | None:
    """Return what "[is the stove] still on?", "[is the mug] on the desk?" asks."""
    at = past(words, at, commands.english.before_state)
    placed = commands.phrases.place(words, at)
    if placed is not None and placed[0] in (INTO, NEAR, UNDER):
        found = _at(_tell(PLACE, phrase), placed), placed[1].end
        further = words[found[1] : found[1] + 1] == ["or"] and commands.phrases.place(words, found[1] + 1)
        return (_tell(PLACE, phrase), further[1].end) if further else found
    state = commands.english.asked.get(words[at]) if at < len(words) else None
    if state is None:
        return None
    end = at + 1
    if words[end : end + 1] == ["or"] and words[end + 1 : end + 2] and words[end + 1] in commands.english.asked:
        end += 2
    return _tell(state, phrase), end


def _is_in_state(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    if words[at] not in _BE | {"has", "have"} or (words[-1] != "?" and words[at] in ("have", "has")):
        return None
    for places in (False, True):
        phrase = commands.phrases.read(words, at + 1, places=places)
        if phrase is None or phrase.person:
            return None
        found = _state_behind(words, phrase.end, phrase, commands)
        ends = found is not None and (found[1] >= len(words) or words[found[1]] in _ENDS | commands.english.fillers)
        if ends:
            return found
    return None


def _left_in_state(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "did you leave the stove on?", "did you wash the apple?", "have you closed the window?"."""
    if words[at] not in ("did", "have", "has") or "".join(words[at + 1 : at + 2]) not in commands.english.subjects:
        return None
    start = past(words, at + 2, {"already", "remember", "to", "forget"})
    verb = words[start] if start < len(words) else ""
    phrase = commands.phrases.read(words, start + 1)
    if phrase is None:
        return None
    if verb in ("leave", "left", "turn", "turned", "switch", "switched"):
        return _state_behind(words, phrase.end, phrase, commands)
    asked = commands.english.asked.get(verb) or _done_states(commands).get(commands.english.base_form(verb) or verb)
    return (_tell(asked, phrase), phrase.end) if asked else None


def _whether(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "[check] if the stove is off", "[see] whether there is a mug in the sink"."""
    if words[at] not in ("if", "whether", "that"):
        return None
    if words[at + 1 : at + 2] == ["there"] and words[at + 2 : at + 3] and words[at + 2] in _BE:
        turned = [*words[: at + 1], words[at + 2], "there", *words[at + 3 :]]
        return _is_there(turned, at + 1, commands)
    phrase = commands.phrases.read(words, at + 1)
    if phrase is None or words[phrase.end : phrase.end + 1] not in (["is"], ["are"]):
        return None
    return _state_behind(words, phrase.end + 1, phrase, commands)


def _done_states(commands: CommandReader) -> dict[str, str]:
    """Return by verb what people call a thing that it was done to."""
    kinds = {word: verb.kind for word, verb in commands.english.verbs.items()} | {kind.value: kind for kind in GOALS}
    begun = {kind: SKILLS[goal.skills[0]].brings_about for kind, goal in GOALS.items() if goal.skills}
    return {word: adjective_of(state) for word, kind in kinds.items() if (state := begun.get(kind)) is not None}


_FORMS: tuple[Callable[[Sequence[str], int, CommandReader], Asked | None], ...] = (
    _where,
    _seen,
    _which_place,
    _what_is_in,
    _how_many,
    _is_there,
    _left_in_state,
    _is_in_state,
    _whether,
    _look_into,
)
