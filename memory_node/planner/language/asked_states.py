"""Reads questions for the state of things: "is the stove off?", "did you close the fridge?", "which lamps are on?"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import PUNCTUATION
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command

PLACE = "place"
WHO = frozenset(["i", "you", "we", "somebody", "anyone", "someone", "anybody"])
Asked = tuple[Command, int]
DONE = {
    GoalKind.SWITCH_ON: "on",
    GoalKind.SWITCH_OFF: "off",
    GoalKind.OPEN: "open",
    GoalKind.CLOSE: "closed",
    GoalKind.CLEAN: "clean",
    GoalKind.HEAT: "hot",
    GoalKind.COOL: "cold",
    GoalKind.SLICE: "sliced",
    GoalKind.PLACE: PLACE,
    GoalKind.FETCH: PLACE,
}


def tell(phrase: NounPhrase, asked: str, end: int) -> Asked:
    """Return the question for something about a thing, and where its words end."""
    return Command(GoalKind.TELL, asked, (phrase,)), end


def is_in_state(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "is the mug on the desk clean", "has the apple been washed"."""
    perfect = words[at] in ("has", "have")
    phrase = commands.phrase(words, at + 1) if perfect or words[at] in commands.english.being else None
    if phrase is None or (perfect and words[phrase.end : phrase.end + 1] != ["been"]):
        return None
    if perfect:
        return in_state(words, phrase, phrase.end + 1, commands)
    last = words[phrase.end - 1]
    if phrase.end - at > 2 and phrase.states and last in commands.english.asked_states:  # "was the safe left open"
        return tell(replace(phrase, states=()), commands.english.asked_states[last], phrase.end)
    return in_state(words, phrase, phrase.end, commands)


def in_state(words: Sequence[str], phrase: NounPhrase, end: int, commands: CommandReader) -> Asked | None:
    """Read the state or the place of a thing that is asked about."""
    places: list[tuple[str, NounPhrase]] = []
    while end < len(words):
        if words[end] in commands.english.asked_states and not _begins_place(words, end, commands):
            asked = commands.english.asked_states[words[end]]
            end += 1
            if words[end : end + 1] == ["or"] and "".join(words[end + 1 : end + 2]) in commands.english.asked_states:
                end += 2  # "up or down"
            return tell(replace(phrase, places=(*phrase.places, *places)), asked, end)
        placed = commands.english.preposition_at(words, end)
        inner = commands.phrase(words, end + placed[1]) if placed else None
        if placed is not None and inner is not None:
            places.append((placed[0], inner))
            end = inner.end
        elif words[end] in commands.english.fillers | {"left", "turned", "switched", "still", "kept"}:
            end += 1
        else:
            break
    if not places:
        return None
    return tell(replace(phrase, places=(*phrase.places, *places)), PLACE, end)


def left_in_state(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "did I leave the TV on", "have I switched off the stove", "did you close the fridge"."""
    if "".join(words[at + 2 : at + 3]) in ("already", "ever", "just", "also"):  # "did you already wash the apple"
        found = left_in_state([*words[: at + 2], *words[at + 3 :]], at, commands)
        return (found[0], found[1] + 1) if found is not None else None
    who = "".join(words[at + 1 : at + 2])
    if words[at] not in ("did", "have", "has") or at + 2 >= len(words) or who not in WHO:
        return None
    if words[at + 2] in ("leave", "left", "keep"):
        phrase = commands.phrase(words, at + 3)
        if phrase is None:
            return None
        for end in range(phrase.end, min(phrase.end + 8, len(words))):
            if words[end] in commands.english.asked_states and not _begins_place(words, end, commands):
                return tell(phrase, commands.english.asked_states[words[end]], end + 1)
        return tell(*with_place(words, phrase, commands, PLACE))
    found = commands.read(words, at + 2, participle=True)
    if found is None or not found[0].targets:
        return None
    done = DONE.get(found[0].kind)
    return tell(found[0].targets[0], done, found[1]) if done else None


def needs(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "does the cup need a wash", "do the plates need washing"."""
    phrase = commands.phrase(words, at + 1) if words[at] in ("does", "do") else None
    if phrase is None or words[phrase.end : phrase.end + 1] != ["need"]:
        return None
    end = phrase.end + 1
    while end < len(words) and words[end] in ("a", "to", "be"):
        end += 1
    verb = commands.english.verb_at(words, end, participle=True)
    if verb is None or verb[0].kind not in (GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL):
        return None
    return tell(phrase, DONE[verb[0].kind], end + verb[1])


def which_in_state(words: Sequence[str], at: int, commands: CommandReader) -> Asked | None:
    """Read "which lamps are on?", "which of the drawers is open?"."""
    if words[at] not in ("which", "what"):
        return None
    start = at + 1 + (words[at + 1 : at + 2] == ["of"])
    phrase = commands.phrase(words, start)
    if phrase is None or not phrase.named or "".join(words[phrase.end : phrase.end + 1]) not in commands.english.being:
        return None
    asked = in_state(words, replace(phrase, every=True), phrase.end + 1, commands)
    return asked if asked is not None and asked[0].verb != PLACE else None


def _begins_place(words: Sequence[str], at: int, commands: CommandReader) -> bool:
    placed = commands.english.preposition_at(words, at)
    return placed is not None and commands.phrase(words, at + placed[1]) is not None


def with_place(
    words: Sequence[str], phrase: NounPhrase, commands: CommandReader, asked: str
) -> tuple[NounPhrase, str, int]:
    """Return the phrase with the places named behind it."""
    end = phrase.end
    while end < len(words) and words[end] not in PUNCTUATION:
        placed = commands.english.preposition_at(words, end)
        inner = commands.phrase(words, end + placed[1]) if placed else None
        if placed is None or inner is None:
            break
        phrase = replace(phrase, places=(*phrase.places, (placed[0], inner)))
        end = inner.end
    return phrase, asked, end
