"""Understands an instruction: a list of goals, from two trained readers and the grammar of commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.ports import TextEmbedder
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.class_names import Grounding
from memory_node.planner.language.command_grammar import read_command, split_commands
from memory_node.planner.language.interpretation import Describe, Interpreter, Recall
from memory_node.planner.language.reader_names import (
    GoalReader,
    NamedGoalReader,
    NamedSequenceReader,
    ReaderNames,
    SequenceReader,
)
from memory_node.planner.language.sequence_reader import (
    GoalSequenceModel,
    SequenceReading,
    effects_of,
    goals_of,
    one_goal,
)
from memory_node.planner.language.single_goal_reader import GoalModel, HomeClasses, Prediction
from memory_node.planner.language.treatments import TreatmentWords
from memory_node.planner.language.verbs import Verbs

LONGEST_CHARACTERS = 4_000
_SURE = 0.7  # from this probability on one goal is read where the reader of sequences finds nothing that it knows
# How much less likely than its own reading the reader of sequences may find what commands say word by word, for those
# to stand: much in plain orders.
_LITERAL, _LITERAL_IN_PLAIN_WORDS = 2.0, 12.0
_LONG_ROW = 3  # goals: of so many in plain orders the reader loses some
# words that turn an order round, put it off or take it back: what the grammar of commands does not follow
_TURNS = re.compile(
    r"\b(?:no|not|\w+n't|never|nor|actually|wait|sorry|mean|meant|rather|instead|before|after|once|when|whenever|until"
    r"|unless|while|but|only|first|second|former|latter|other|same|so|because|since)\b",
    re.IGNORECASE,
)
_CARRYING = ("with", "containing", "holding", "and")


class NotUnderstoodError(RobotMemoryError):
    """Nothing in the instruction could be read as something to do."""


@dataclass(frozen=True)
class TrainedReaders:
    """goal: one sentence to one goal, in ALFRED's ways; sequence: any instruction to what it asks for, in order."""

    goal: GoalReader
    sequence: SequenceReader

    @classmethod
    def load(cls, kinds: ObjectCatalogue | None = None) -> TrainedReaders:
        """Return the shipped ones, which speak of the classes of a label space (by default the household's).

        Raises:
            ResourceMissingError: the weights are missing.
        """
        goal, sequence = GoalModel(), GoalSequenceModel()
        names = ReaderNames(kinds or load_catalogue(), sequence.classes)
        if names.are_equal:
            return cls(goal, sequence)
        return cls(NamedGoalReader(goal, names), NamedSequenceReader(sequence, names))


@dataclass(frozen=True)
class Understanding:
    """The goals of an instruction in order; source: "model" (one goal as a whole), "sequence" or "commands"."""

    goals: tuple[Goal, ...]
    source: str
    probability: float = 1.0


def nothing_recalled(_text: str, _states: object) -> Sequence[str]:
    """Stand in for memory where there is none."""
    return ()


def _undescribed(_text: str) -> Sequence[str]:
    return ()


class Understander:
    """The offline reader of instructions. readers: None reads commands only; embedder: None grounds names only."""

    def __init__(
        self, readers: TrainedReaders | None, embedder: TextEmbedder | None, kinds: ObjectCatalogue | None = None
    ) -> None:
        self._readers = readers
        self._kinds = kinds or load_catalogue()
        self._grounding = Grounding(self._kinds, embedder)
        self._verbs = Verbs(self._kinds.treatments)
        self._treatments = TreatmentWords(self._kinds)

    def understand(
        self, instruction: str, home: HomeClasses | None = None, recall: Recall = nothing_recalled
    ) -> Understanding:
        """Return what the instruction asks for.

        Raises:
            NotUnderstoodError: it asks for nothing that the robot could do, or for a thing that is not known.
        """
        text = " ".join(instruction.split())
        if not any(letter.isalpha() for letter in text):
            raise NotUnderstoodError("the instruction is empty; say what to do with which thing")
        if len(text) > LONGEST_CHARACTERS:
            raise NotUnderstoodError(
                f"the instruction has {len(text)} characters, {LONGEST_CHARACTERS} are read at most; give it in parts"
            )
        home = home or HomeClasses()
        commanded = self._commanded(text, home, recall)
        if self._readers is None or self._is_beyond(commanded):
            if not commanded:
                raise NotUnderstoodError(
                    f"nothing to do found in {_quoted(text)}; name the thing and what to do with it"
                )
            return Understanding(tuple(commanded), "commands")
        if not self._readers.goal.fits(text):
            if commanded and not any(map(_is_guessed, commanded)) and not _TURNS.search(text):
                return Understanding(tuple(commanded), "commands")
            raise NotUnderstoodError(f"{_quoted(text)} has too many words to be read as a whole; give it in parts")
        found = self._read(self._readers, text, self._unsurprising(home, text), commanded)
        if not all(one.candidates or one.original_place for goal in found.goals for one in _mentions(goal)):
            raise NotUnderstoodError(f"{_quoted(text)} names a thing that I do not know; name another one")
        return replace(found, goals=tuple(self._treatments.named(found.goals, commanded, text)))

    def _read(self, readers: TrainedReaders, text: str, home: HomeClasses, commanded: Sequence[Goal]) -> Understanding:
        """Return the reading that the trained readers find likeliest."""
        hidden = readers.goal.hidden(text, home)
        reading = readers.sequence.read(hidden, home)
        goals = goals_of(reading.effects, text)
        if not goals or reading.names_unknown:
            return self._told_otherwise(readers, text, home, goals, commanded)
        whole = one_goal(goals)
        prediction = self._whole(readers.goal, text, home, whole)
        # beside what the reader met in no home: it writes something else there
        lost = any(
            one.object_class in readers.sequence.strange for goal in commanded for one in _mentions(goal) if one.beside
        )
        same = effects_of([prediction.goal]) == reading.effects and not _passes_over(reading, commanded)
        agreed = whole is not None and (lost or same)
        literal = -np.inf if agreed else self._literal(readers, text, hidden, home, commanded)
        if literal > reading.score - _literal_margin(text, commanded):
            return Understanding(tuple(commanded), "commands", float(np.exp(literal)))
        if agreed or prediction.whole > np.exp(reading.score):
            return Understanding((prediction.goal,), "model", prediction.probability)
        return Understanding(tuple(_with_candidates(goals, commanded)), "sequence", float(np.exp(reading.score)))

    def _told_otherwise(
        self,
        readers: TrainedReaders,
        text: str,
        home: HomeClasses,
        goals: Sequence[Goal],
        commanded: Sequence[Goal],
    ) -> Understanding:
        """Return what is understood where the reader of sequences finds nothing, or something unknown.

        Raises:
            NotUnderstoodError: neither commands nor the other model say anything else.
        """
        if commanded and goals and not any(map(_is_guessed, commanded)):
            return Understanding(tuple(commanded), "commands")
        prediction = readers.goal.predict(text, home)
        if prediction.probability >= _SURE:
            return Understanding((prediction.goal,), "model", prediction.probability)
        missing = "it names a thing that I do not know" if goals else "nothing to do found in it"
        raise NotUnderstoodError(f"{_quoted(text)} was not understood: {missing}; name a thing and what to do with it")

    def _literal(
        self,
        readers: TrainedReaders,
        text: str,
        hidden: NDArray[np.float32],
        home: HomeClasses,
        commanded: Sequence[Goal],
    ) -> float:
        """Return the log-probability of commands that ask for several goals in words for them; -inf of others."""
        effects = effects_of(commanded)
        if not effects or one_goal(goals_of(effects, text)) is not None or any(map(_is_guessed, commanded)):
            return -np.inf
        return readers.sequence.score(hidden, home, effects)

    def _whole(self, model: GoalReader, text: str, home: HomeClasses, read: Goal | None) -> Prediction:
        """Return the model's one goal; of "put the mug in the fridge", one that is no more than that.

        ALFRED's people often leave washing, heating or cooling out, or what a thing is carried in; others mean none.
        """
        treated_in = self._treatments.treated_in
        place = read.destination if read is not None and read.kind is GoalKind.PLACE else None
        if read is None or place is None or place.beside or read.sliced or str(place) not in treated_in.values():
            return model.predict(text, home)
        speak_of = self._treatments.speak_of
        unsaid = [kind for kind in treated_in if not speak_of(kind, text, str(place))] + [GoalKind.PLACE_TWO]
        unsaid += [] if self._names_vessel(text, read) else [GoalKind.STACK]
        return model.predict(text, home, without=unsaid)

    def _names_vessel(self, text: str, placed: Goal) -> bool:
        """Return whether something is named that could carry what is placed, or that is placed with what it carries."""
        words = text.lower()
        return any(f" {word} " in words for word in _CARRYING) or any(
            kind.pickupable and kind.is_receptacle and any(name in words for name in kind.names)
            for kind in self._kinds
            if kind.name != placed.target.object_class
        )

    def _unsurprising(self, home: HomeClasses, text: str) -> HomeClasses:
        """Return the home without classes that the readers met in no home, unless the text has a name of theirs."""
        words = f" {text.lower()} "
        strange = self._readers.sequence.strange if self._readers else frozenset()
        left_out = {name for name in strange if not any(called in words for called in self._kinds[name].names)}
        return HomeClasses(home.objects - left_out, home.fixtures - left_out)

    def _commanded(self, text: str, home: HomeClasses, recall: Recall) -> list[Goal]:
        """Return the goals of commands read one by one; [] when a part is no command or speaks of nothing known."""
        model = self._readers.goal if self._readers else None
        describe: Describe = (lambda words: model.named(words, home)) if model else _undescribed
        interpreter = Interpreter(self._kinds, self._grounding, home, recall, describe)
        goals: list[Goal] = []
        for piece in split_commands(text, self._verbs):
            command = read_command(piece, self._verbs)
            if command is None:
                return []
            goals += interpreter.read(command)
        return _joined(goals, self._kinds.reading_lights) if all(_is_grounded(goal) for goal in goals) else []

    def _is_beyond(self, goals: Sequence[Goal]) -> bool:
        """Return whether commands say what no trained reader can: what memory recalled, other classes, many things."""
        if self._readers is None:
            return False
        reader, recipient = self._readers.sequence, self._kinds.recipient
        mentions = [one for goal in goals for one in _mentions(goal) if not one.original_place]
        # Where a home without an oven has a microwave, the reader can say that.
        other = any(not reader.classes & set(one.candidates) and one.object_class != recipient for one in mentions)
        strange = any(
            one.object_class in reader.strange - {recipient} and not one.guessed and not one.beside for one in mentions
        )
        recalled = any(goal.target.states for goal in goals)
        return recalled or other or strange or any(goal.count > 2 for goal in goals)


def _passes_over(reading: SequenceReading, commanded: Sequence[Goal]) -> bool:
    """Return whether the reading lacks a thing that a command is about: "put the apple away, wash a tomato"."""
    read = {name for effect in reading.effects for name in effect[1:]}
    return any(read.isdisjoint(goal.target.candidates) for goal in commanded)


def _literal_margin(text: str, commanded: Sequence[Goal]) -> float:
    """Return how much less likely than its own reading the reader may find commands that stand nevertheless."""
    if _TURNS.search(text):
        return _LITERAL
    return np.inf if len(commanded) >= _LONG_ROW else _LITERAL_IN_PLAIN_WORDS


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _mentions(goal: Goal) -> list[Mention]:
    return [one for one in (goal.target, goal.destination, goal.container, goal.light) if one is not None]


def _is_guessed(goal: Goal) -> bool:
    return any(one.guessed for one in _mentions(goal))


def _is_grounded(goal: Goal) -> bool:
    needs_place = goal.kind in (GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK)
    if needs_place and goal.destination is None:
        return False
    return all(one.candidates or one.original_place for one in _mentions(goal))


def _with_candidates(goals: Sequence[Goal], commanded: Sequence[Goal]) -> list[Goal]:
    """Return the goals; where the commands' words for a thing could mean other classes too, those follow its own."""
    known = {name: one.candidates for goal in commanded for one in _mentions(goal) for name in one.candidates[:1]}

    def widened(mention: Mention) -> Mention:
        own = mention.object_class
        others = [name for name in known.get(own, ()) if name != own]
        return Mention(mention.text, (own, *others), (), mention.another, mention.original_place, mention.beside)

    return [
        goal.changed(target=widened(goal.target), destination=widened(goal.destination) if goal.destination else None)
        for goal in goals
    ]


def _joined(goals: Sequence[Goal], lamps: Sequence[str]) -> list[Goal]:
    """Drop fetching and finding that the next goal implies, and read "take X, turn on the lamp" as one goal."""
    joined: list[Goal] = []
    for goal in goals:
        previous = joined[-1] if joined else None
        if previous is not None and previous.kind in (GoalKind.FETCH, GoalKind.FIND):
            same = previous.target.object_class == goal.target.object_class
            lamp = goal.kind is GoalKind.SWITCH_ON and goal.target.object_class in lamps
            if previous.kind is GoalKind.FETCH and lamp and not same:
                joined[-1] = Goal(GoalKind.EXAMINE, previous.target, light=goal.target, text=goal.text)
                continue
            if same:
                joined.pop()
        joined.append(goal)
    return joined
