"""The reader of instructions of a robot without a language model: goals, or a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.recalled import Recalled
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill_library import GoalKind
from memory_node.knowledge.text import sentences
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.command import Command, Instruction, Parts, Remark, named_classes
from memory_node.planner.reading.conversation import Conversation, Pending, Question, Slot, UnclearError, completed
from memory_node.planner.reading.described import Describing, PlainWords, SaidInPassing, joined
from memory_node.planner.reading.discourse import Discourse
from memory_node.planner.reading.english import English, words_of
from memory_node.planner.reading.forms import InstructionReader
from memory_node.planner.reading.goal_rows import tidied
from memory_node.planner.reading.goals import Goals
from memory_node.planner.reading.home_classes import HomeClasses, Recall, nothing_recalled
from memory_node.planner.reading.lexicon import Lexicon
from memory_node.planner.reading.likeness import Likened, likened
from memory_node.planner.reading.meaning import Meaning, Prefer
from memory_node.planner.reading.noun_phrase import NounPhrase
from memory_node.planner.reading.trained_reader import LIKELY, GoalModel, Grounding, Guessing
from memory_node.planner.reading.unseen import question_about

LONGEST_CHARACTERS = 4_000
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")  # a word within a sentence that is no class is somebody's name
# Goals that hurt when they are wrong: a word must ask for them.
_QUESTION = re.compile(
    r"(?:and |so )?(?:(?:what|how)\b(?! about\b)|which|where|who|whose|when|why|is|are|was|were|does|did|has|"
    r"(?:do|have) (?:you|we|I|they|the|my|our)\b(?=.*\?))\b",
    re.I,
)
_ANSWERABLE = "I can tell where things are, what is in or on a place, how many there are and what state they are in."
_HURTFUL = frozenset({GoalKind.BREAK, GoalKind.THROW, GoalKind.SLICE, GoalKind.EMPTY, GoalKind.HEAT})
_TREATING = (GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL)


@dataclass(frozen=True)
class Understanding:
    """What an instruction asks for: goals, or an answer, or a question back.

    source: "plain forms", "commands", or "model": the trained reader's. confidence: the probability in [0, 1] that they
    are what is meant. question: asked instead of doing anything. refused: why nothing is done, and what to say instead.
    notes: what was taken for what.
    """

    goals: tuple[Goal, ...] = ()
    source: str = ""
    confidence: float = 1.0
    question: Question | None = None
    refused: str = ""
    answer: str = ""
    notes: tuple[str, ...] = ()


class Understander:
    """Reads plain sentences whole; what it does not read is asked about.

    kinds: the label space whose classes the words may name. reader: the trained reader, which guesses what is not plain
    where nobody can be asked; None guesses nothing. embedder: finds what unknown nouns are close to; None does not.
    asks: whether somebody can answer; if not, the likeliest reading is taken. open_names: a noun that names no class of
    the label space is the name of a class of its own, as a detector with an open vocabulary reports it.
    """

    def __init__(
        self,
        kinds: ObjectCatalogue,
        reader: GoalModel | None,
        embedder: TextEmbedder | None,
        asks: bool = True,
        open_names: bool = False,
    ) -> None:
        self._kinds = kinds
        self._asks = asks
        self._open_names = open_names
        self._grounding = Grounding(kinds, embedder)
        self._guessing = Guessing(kinds, reader, self._grounding)
        self._english = english = English(kinds)
        self._lexicon = Lexicon(kinds, english.data["rooms"])
        self._instructions = InstructionReader(self._lexicon, english)
        self._passing: tuple[tuple[str, ...], SaidInPassing] = (), SaidInPassing((), self._lexicon, english)
        usual = {kind: kinds.usual_treatment(kind) for kind in _TREATING}
        self._appliances = {kind: one.at[0] for kind, one in usual.items() if one is not None and one.at}

    def understand(
        self,
        instruction: str,
        home: HomeClasses | None = None,
        recall: Recall = nothing_recalled,
        conversation: Conversation | None = None,
    ) -> Understanding:
        """Return what the instruction asks for; `conversation` goes on with it."""
        home, conversation = home or HomeClasses(), conversation or Conversation()
        text = " ".join(instruction.split())
        if not any(letter.isalnum() for letter in text):
            return _asked("What shall I do?")
        if len(text) > LONGEST_CHARACTERS:
            limit = f"{LONGEST_CHARACTERS} are read at most; give it in parts"
            return Understanding(refused=f"the instruction has {len(text)} characters, {limit}")
        said = self._read(text, home)
        if said.ends:
            conversation.clear()
            return Understanding((Goal(GoalKind.STOP, Mention(""), text=text),), "commands")
        parts = completed(said, conversation, self._kinds, home.people)
        if parts is None:
            return self._unfitting(said, text, home, conversation)
        filled_in = parts is not said.parts
        if self._asks and said.put_off and not filled_in:
            words = f"I do at once what I am asked for, and cannot wait for {said.put_off!r}. Shall I do it now?"
            conversation.discourse.remark(_spoken_of(parts))
            return _noted(_asked(words, ("now",), confirms=True), parts, conversation, 0)
        asides: tuple[str, ...] = ()
        if self._asks and said.unread and not filled_in:
            unread = [part.unread for part in parts if isinstance(part, Remark) and part.unread]
            acts = any(one.kind is not GoalKind.TELL for one in said.commands)
            if not acts or not all(self._instructions.is_aside(one.split()) for one in unread):
                return self._not_understood(said, text, conversation)
            parts = tuple(part for part in parts if isinstance(part, Command) or not part.unread)
            asides = tuple(f"I take {one!r} for no request." for one in unread)
        understood = self._meant(parts, text, home, recall, conversation)
        return replace(understood, notes=(*understood.notes, *asides)) if understood.goals else understood

    def is_command(self, text: str, home: HomeClasses) -> bool:
        """Return whether a text is a whole command, or a question, that names what it is about: understood without
        anything that was said before, and without who is there."""
        said = self._read(" ".join(text.split()), replace(home, people={}))
        first = next(iter(said.commands), None)
        if first is None or said.unread or (said.fragment is not None and said.fragment.corrects):
            return False
        return bool(first.targets) and not first.targets[0].pronoun

    def likened(self, text: str, home: HomeClasses, recalled: Recalled) -> Likened | None:
        """Return what a text wants done with one thing as it was done with another; None where it says nothing so."""
        self._lexicon.learn_classes(home.all)
        return likened(text, self._lexicon, self._english, recalled)

    def overheard(
        self,
        instruction: str,
        goals: Sequence[Goal],
        home: HomeClasses,
        conversation: Conversation,
        question: Question | None = None,
    ) -> None:
        """Take over into a conversation what somebody else read in an instruction, each goal a command; without goals
        what its words name. question: where to a thing is to be brought, which is asked about."""
        said = self._read(" ".join(instruction.split()), home)
        if question is not None and question.slot is Slot.DESTINATION and not said.unread:
            kinds = [isinstance(one, Command) and one.kind for one in said.parts]
            index = kinds.index(GoalKind.PLACE) if GoalKind.PLACE in kinds else 0
            conversation.pending = Pending(question, said.parts, index) if said.commands else None
            return
        if not goals:
            conversation.discourse = conversation.discourse.copy()
            conversation.discourse.remark(_spoken_of(said.parts))
            conversation.discourse.note_persons(word for word in said.words if word in home.people)
            return
        conversation.pending, conversation.last = None, said.parts
        conversation.discourse = conversation.discourse.copy()
        for _, together in groupby(goals, key=lambda goal: (goal.kind, str(goal.destination))):
            conversation.discourse.take_over([*together], self._kinds)

    def answered(self, answer: str, home: HomeClasses, conversation: Conversation) -> None:
        """Take over into a conversation what an answer names: "it" is the one thing of it, and of several it is open
        which."""
        self._lexicon.learn_classes(home.all)
        spoken = conversation.discourse
        named = named_classes(self._instructions.things(answer))[::-1]
        told = [name for name in named if self._kinds[name].pickupable]
        if told and spoken.focus not in told:
            spoken.remark(told)
            spoken.is_open = len(set(told)) > 1
        elif not told and spoken.focus:
            spoken.is_open = not self._kinds[spoken.focus].pickupable

    def objection(self, instruction: str, goals: Sequence[Goal], home: HomeClasses) -> str:
        """Return why goals that somebody else reads in an instruction do not fit its words; "" where they do, and where
        the words describe things or refer to them."""
        said = self._read(" ".join(instruction.split()), replace(home, people={}))
        unasked = {goal.kind for goal in goals} & _HURTFUL - self._kinds_asked_for(said)
        if unasked:
            return f"no word asks to {min(unasked)}"
        conditions = [one.condition[0].text for one in said.commands if one.condition is not None]
        put_off = next(iter(filter(None, (said.put_off, *conditions))), "")
        if put_off and not said.unread:
            return f"{put_off!r} is not now"
        if said.commands and not said.unread and all(one.kind is GoalKind.TELL for one in said.commands):
            acts = any(goal.kind is not GoalKind.TELL for goal in goals)
            return "it is a question" if acts else ""
        named = self._instructions.named(said.words)
        if named is None:
            return ""
        named |= {*self._kinds.bins, self._kinds.recipient, *self._kinds.reading_lights}
        strange = (one for goal in goals for one in goal.mentions if one.candidates and not named & set(one.candidates))
        return next((f"no word stands for {mention.object_class}" for mention in strange), "")

    def _kinds_asked_for(self, said: Instruction) -> set[GoalKind]:
        """Return the kinds of goals that the verbs, wanted states and pieces among an instruction's words stand for."""
        english = self._english
        kinds = {command.kind for command in said.commands}
        kinds |= {english.verbs[word].kind for word in said.words if word in english.verbs}
        kinds |= {english.wanted[word] for word in said.words if word in english.wanted}
        phrases = (verb.kind for words, verb in english.phrasal.items() if set(words) <= set(said.words))
        pieces = {GoalKind.SLICE} if any(word.removesuffix("s") in english.pieces for word in said.words) else set()
        return kinds | set(phrases) | pieces

    def described(self, instruction: str, home: HomeClasses, said: Sequence[str]) -> list[PlainWords]:
        """Return an instruction in plain words, by what was said in passing with earlier ones (`said`): what tells its
        things from others is kept apart, and for a sentence that is not understood and names an occasion, what was to
        be done then stands instead. Each such sentence is one part; those between them are one part together.
        """
        self._lexicon.learn_rooms(home.rooms)
        self._lexicon.learn_classes(home.all)
        passing = self._passing_of(tuple(said))
        describing = Describing(self._lexicon, self._english, passing)
        parts: list[list[PlainWords]] = [[]]
        for sentence in sentences(instruction):
            plain = describing.plain(sentence)
            occasion = passing.occasion_of(sentence) if not self._refers_back(sentence) else None
            if occasion is not None and self.understand(plain.text, home).question is not None:
                parts += [[PlainWords(occasion.commands, occasion=occasion.source)], []]
            else:
                parts[-1].append(plain)
        return [part[0] if len(part) == 1 else joined(part) for part in parts if part]

    def _passing_of(self, said: tuple[str, ...]) -> SaidInPassing:
        if self._passing[0] != said:
            self._passing = said, SaidInPassing(said, self._lexicon, self._english)
        return self._passing[1]

    def _refers_back(self, sentence: str) -> bool:
        """Return whether a pronoun stands before the things of a sentence: "put them in the sink"."""
        english = self._english
        first = next((word for word in words_of(sentence) if word in english.pronouns | english.determiners), "")
        return first in english.pronouns - english.determiners

    # --- reading the words

    def _read(self, text: str, home: HomeClasses) -> Instruction:
        self._lexicon.learn_rooms(home.rooms)
        self._lexicon.learn_classes(home.all)
        names = (one.lower() for one in _NAME.findall(text))
        self._lexicon.learn_people((*home.people, *names), self._english.known_words)
        said = self._instructions.read(text)
        strange = (
            [one.head for part in said.parts for one in part.phrases if one.strange and one.head]
            if self._open_names and not said.unread
            else []
        )
        if not strange:
            return said
        self._lexicon.learn_classes(strange)
        return self._instructions.read(text)

    def _unfitting(self, said: Instruction, text: str, home: HomeClasses, conversation: Conversation) -> Understanding:
        fragment = said.fragment
        if fragment is not None and fragment.thing is not None and fragment.thing.strange:
            return self._ask_about(fragment.thing, home)
        if not self._asks:
            return self._guessed(text, home)
        if fragment is not None and fragment.thing is not None:
            conversation.discourse.remark(named_classes([fragment.thing]))
        return _asked("What shall I do with it?")

    def _ask_about(self, phrase: NounPhrase, home: HomeClasses) -> Understanding:
        try:
            self._meaning(home, Discourse(), nothing_recalled, None).mention(phrase, Slot.TARGET)
        except UnclearError as unclear:
            return Understanding((), "commands", 0.0, unclear.question)
        return _asked("What shall I do with it?")

    def _not_understood(self, said: Instruction, text: str, conversation: Conversation) -> Understanding:
        conversation.discourse.remark(_spoken_of(said.parts))
        unread = next((part for part in said.parts if isinstance(part, Remark) and part.unread), Remark())
        if unread.phrases and unread.phrases[-1].called is None:
            conversation.discourse.unknown = unread.phrases[-1].text
        conversation.pending, conversation.last = None, ()
        at = text.lower().find(said.unread)
        quoted = text[at : at + len(said.unread)] if at >= 0 else said.unread
        if _QUESTION.match(text):
            return _asked(f"I did not understand the question {text!r}. {_ANSWERABLE}")
        return _asked(f"I did not understand {quoted!r}. What shall I do with which thing?")

    def _guessed(self, text: str, home: HomeClasses) -> Understanding:
        """Return the trained reader's goal for the whole instruction where nobody can be asked."""
        guess = self._guessing.goal_of(text, home)
        if guess is None:
            return _asked(f"I did not understand {text[:60]!r}.")
        if guess.remark > LIKELY:
            return _asked("What shall I do?")
        return Understanding((self._guessing.with_stand_ins(guess.goal, home),), "model", guess.whole)

    # --- what the words mean

    def _meant(
        self, parts: Parts, text: str, home: HomeClasses, recall: Recall, conversation: Conversation
    ) -> Understanding:
        """Return what an instruction asks for. Where nobody can be asked, what is unclear in it is the trained reader's
        goal; what that takes for one goal as a whole is one."""
        discourse = conversation.discourse.copy()
        goals: list[Goal] = []
        clause, confidence = text, 1.0

        def prefer(slot: Slot, among: Sequence[str]) -> str:
            return self._guessing.preferred(clause, home, slot, among)

        meaning = self._meaning(home, discourse, recall, None if self._asks else prefer)
        reader = Goals(self._kinds, meaning, home, discourse)
        for index, part in enumerate(parts):
            clause = part.text if isinstance(part, Command) else part.unread
            try:
                if self._asks or isinstance(part, Command) or not part.unread:
                    goals += reader.read(part)
                    continue
            except UnclearError as unclear:
                if self._asks:
                    conversation.discourse.remark(_spoken_of(parts))
                    return _noted(Understanding((), "commands", 0.0, unclear.question), parts, conversation, index)
            guess = self._guessing.of_clause(clause, discourse.focus, text, home)
            if guess is None:
                return self._guessed(text, home)
            confidence *= max(guess.whole, guess.remark)
            if guess.remark <= LIKELY:
                goals.append(guess.goal)
                discourse.take_over([guess.goal], self._kinds)
        goals = tidied(goals, self._kinds.reading_lights, self._appliances)
        if not goals and not self._asks:
            return self._guessed(text, home)
        unseen = question_about(goals, parts, home, self._kinds) if self._asks else None
        if unseen is not None:
            return _noted(Understanding((), "commands", 0.0, unseen[0]), parts, conversation, unseen[1])
        conversation.discourse = discourse
        if not goals:
            return _asked("What shall I do? Say 'remember that ...' if I am to keep it.")
        if not self._asks:
            goals = [self._guessing.with_stand_ins(goal, home) for goal in goals]
        source = "commands" if confidence == 1.0 else "model"
        notes = tuple(meaning.notes)
        return _noted(Understanding(tuple(goals), source, confidence, notes=notes), parts, conversation, 0)

    def _meaning(self, home: HomeClasses, discourse: Discourse, recall: Recall, prefer: Prefer | None) -> Meaning:
        def similar(words: str) -> Sequence[str]:
            return self._grounding.by_meaning(words, home.all or self._kinds.names)

        return Meaning(self._kinds, home, discourse, recall, similar, prefer)


def _noted(understanding: Understanding, parts: Parts, conversation: Conversation, index: int) -> Understanding:
    """Remember what a later instruction may refer to."""
    if understanding.question is not None:
        conversation.pending = Pending(understanding.question, parts, index) if parts else None
    elif understanding.goals:
        conversation.pending, conversation.last = None, parts
    return understanding


def _spoken_of(parts: Parts) -> list[str]:
    return [name for part in parts for name in named_classes(_first_phrases(part))]


def _first_phrases(part: Command | Remark) -> Sequence[NounPhrase]:
    return part.targets if isinstance(part, Command) else part.phrases


def _asked(text: str, choices: tuple[str, ...] = (), confirms: bool = False) -> Understanding:
    return Understanding(question=Question(text, choices, confirms=confirms), confidence=0.0)
