"""Understands an instruction: goals, or a question, from the grammar of commands and the trained readers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.ports import TextEmbedder
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.arbitration import ranked
from memory_node.planner.language.asking_back import Question, Slot
from memory_node.planner.language.audit import objection
from memory_node.planner.language.calibration import Calibration
from memory_node.planner.language.class_names import Grounding
from memory_node.planner.language.conversation import Conversation, Pending, completed
from memory_node.planner.language.described_things import DescribedThings
from memory_node.planner.language.english import load_english
from memory_node.planner.language.grammar_reader import GrammarReader
from memory_node.planner.language.instruction_grammar import InstructionReader
from memory_node.planner.language.known_words import KnownWords
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.licence import Licence, licence_of, meant_by
from memory_node.planner.language.named_mentions import with_named
from memory_node.planner.language.reading import Reading, Said
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.spoken_instruction import Instruction, Parts, named_targets
from memory_node.planner.language.stand_ins import StandIns
from memory_node.planner.language.surroundings import HomeClasses, Recall, nothing_recalled
from memory_node.planner.language.trained_readers import TrainedReaders
from memory_node.planner.language.treatments import TreatmentWords
from memory_node.planner.language.unseen_furniture import question_about
from memory_node.planner.language.words_evidence import WordsEvidence, names_in

LONGEST_CHARACTERS = 4_000
_ALMOST_SURE = 0.9
_LONG_ROW = 3  # so many commands in a row the trained readers follow badly


@dataclass(frozen=True)
class Understanding:
    """What an instruction asks for.

    source: which reader's goals these are: "commands", "model" (one goal as a whole) or "sequence". confidence: the
    probability in [0, 1] that they are what is meant. question: asked instead of doing anything. refused: why nothing
    is done, and what to say instead.
    """

    goals: tuple[Goal, ...] = ()
    source: str = ""
    confidence: float = 1.0
    question: Question | None = None
    refused: str = ""


class Understander:
    """The offline reader of instructions.

    kinds: the label space whose classes the words may name. readers: None reads plain commands only. embedder: None
    grounds names only. asks: whether somebody can answer; if not, the likeliest reading that the words allow is taken.
    open_names: a noun that names no class of the label space is the name of a class of its own, as a detector with an
    open vocabulary reports it; by default such a noun is asked about.
    sure: the confidence in [0, 1] from which on a trained reader's goals are not asked about. calibration: by
    default the shipped one.
    """

    def __init__(
        self,
        kinds: ObjectCatalogue,
        readers: TrainedReaders | None,
        embedder: TextEmbedder | None,
        asks: bool = True,
        sure: float = 0.6,
        calibration: Calibration | None = None,
        open_names: bool = False,
    ) -> None:
        self._kinds = kinds
        self._open_names = open_names
        self._readers = readers
        self._asks = asks
        self._sure = sure
        self._calibration = Calibration.load() if calibration is None else calibration
        self._grounding = Grounding(kinds, embedder)
        self._things = DescribedThings(kinds, embedder) if embedder is not None else None
        self._treatments = TreatmentWords(kinds)
        english = self._english = load_english().with_treatments(kinds.treatments)
        self._lexicon = Lexicon(kinds, english.rooms)
        self._instructions = InstructionReader(self._lexicon, english, literal=asks)
        self._stand_ins = StandIns(kinds, self._shares, self._grounding.by_meaning)
        counts = frozenset(english.numbers) | {"both", "some", "few"}
        known = KnownWords(self._lexicon, english, kinds.treatments)
        self._words = WordsEvidence(kinds, self._instructions, known, self._treatments, counts, asks)
        meaning = (self._described, self._similar, self._preferred)
        self._commands = GrammarReader(kinds, *meaning, not asks, english.rooms)

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
        self._lexicon.learn_rooms(home.rooms)
        self._lexicon.learn_classes(home.all)
        read = self._read(text)
        if self._instructions.ends_session(read.words):
            conversation.clear()
            return Understanding((Goal(GoalKind.STOP, Mention(""), text=text),), "commands")
        parts = completed(read, conversation, self._kinds)
        if parts is None:
            return _noted(_asked("What shall I do with it?"), (), conversation, 0)
        if parts is not read.parts and read.fragment is not None:
            read = replace(read, fragment=replace(read.fragment, orders=False), parts=(), unread=())
        said = self._said(text, read, parts, home, recall, conversation)
        commands = self._commands.read(said)
        if self._asks and read.put_off and commands.question is None:
            return _noted(_asked_now(read.put_off), parts, conversation, commands.unclear)
        understanding, about = self._settled(said, commands)
        understanding = _noted(understanding, parts, conversation, about)
        _spoken(understanding, parts, commands, conversation)
        return understanding

    def overheard(self, instruction: str, goals: Sequence[Goal], home: HomeClasses, conversation: Conversation) -> None:
        """Take over into a conversation what somebody else read in an instruction, each goal a command; without goals
        what its words name."""
        self._lexicon.learn_rooms(home.rooms)
        self._lexicon.learn_classes(home.all)
        parts = self._read(" ".join(instruction.split())).parts
        if not goals:
            conversation.discourse.remark(named_targets(parts))
            return
        conversation.pending, conversation.last = None, parts
        conversation.discourse = conversation.discourse.copy()
        for goal in goals:
            conversation.discourse.take_over([goal], self._kinds)

    def _settled(self, said: Said, commands: Reading) -> tuple[Understanding, int]:
        """Return what is asked for, where furniture is missing with what stands in for it or with a question; and the
        index of the part that a question is about."""
        decided = self._decided(said, commands)
        if not self._asks:
            goals = tuple(self._stand_ins.added(goal, said.home, said.text) for goal in decided.goals)
            return replace(decided, goals=goals), commands.unclear
        unseen = question_about(decided.goals, said.parts, said.home, self._kinds)
        if unseen is None:
            return decided, commands.unclear
        return Understanding((), decided.source, 0.0, unseen[0]), unseen[1]

    def objection(self, instruction: str, goals: Sequence[Goal], home: HomeClasses) -> str:
        """Return why goals that somebody else reads in an instruction do not fit its words; "" where they do."""
        text = " ".join(instruction.split())
        read = self._read(text)
        said = self._said(text, read, read.parts, home, nothing_recalled, Conversation())
        return objection(goals, self._words.of(said))

    def _read(self, text: str) -> Instruction:
        read = self._instructions.read(text)
        strange = read.strange_nouns if self._open_names else ()
        if not strange:
            return read
        self._lexicon.learn_classes(strange)
        return self._instructions.read(text)

    def _said(
        self, text: str, read: Instruction, parts: Parts, home: HomeClasses, recall: Recall, conversation: Conversation
    ) -> Said:
        licence = licence_of(read.words, self._lexicon, self._instructions.commands, home, self._kinds, self._asks)
        named = {name for called in names_in(parts) for name in meant_by(called, home, self._asks)}
        if parts is not read.parts:  # a command of before goes on: "and the tissue box" behind "throw the paper away"
            named.update(self._implied(parts))
        # Nobody to ask what an unknown noun means: it is a description like others.
        unknown = () if self._asks else licence.unknown
        licence = replace(licence, named=licence.named | named, open=licence.open + unknown)
        licensed, told = self._licensed(licence, home), self._told(licence, home)
        return Said(text, read, parts, licence, licensed, home, told, conversation.discourse, recall)

    def _implied(self, parts: Parts) -> set[str]:
        """Return the classes that commands speak of without naming them: the bin, and whom things are brought to."""
        commands = [part for part in parts if isinstance(part, Command)]
        bins = self._kinds.bins if any(command.away for command in commands) else ()
        recipient = {self._kinds.recipient} if any(command.to_user for command in commands) else set()
        return {*bins, *recipient} - {""}

    def _licensed(self, licence: Licence, home: HomeClasses) -> frozenset[str]:
        """Return the classes that a trained reader may write."""
        if not licence.open:
            return licence.named
        return licence.named | (frozenset(self._kinds.names) if self._asks or not home.all else home.all)

    def _told(self, licence: Licence, home: HomeClasses) -> HomeClasses:
        """Return the home as the trained readers are told of it: with what the words name."""
        if not home.all:
            return home
        if licence.open and self._asks:
            return HomeClasses()  # what is described may be something that memory does not know yet
        return home.with_classes(licence.named, self._kinds)

    # --- what the grammar asks of the others

    def _described(self, words: str, home: HomeClasses) -> Sequence[str]:
        if not self._asks:
            return self._readers.described(words, home) if self._readers is not None else ()
        meant = self._things.classes(words) if self._things is not None else ()
        # What memory knows decides between what "something ..." may mean; it does not stand in for "the thing ...".
        if words.split()[0] in self._english.definite:
            return meant
        return sorted(meant, key=lambda name: name not in home.all)

    def _similar(self, words: str, home: HomeClasses) -> Sequence[str]:
        return self._grounding.by_meaning(words, home.all or self._kinds.names)

    def _preferred(self, said: Said, slot: Slot, among: Sequence[str], surely: bool) -> str:
        """Return the class that trained readers prefer, known or not. surely: of one command, and they are sure."""
        if self._asks or (surely and (len(among) < 2 or len(said.instruction.commands) > 1)):
            return ""
        home = said.home.with_classes(among, self._kinds) if said.home.all else said.home
        shares = self._shares(said.text, home, slot, among)
        best = max(shares, key=lambda name: shares[name], default="")
        return "" if surely and best and shares[best] < _ALMOST_SURE else best

    def _shares(self, text: str, home: HomeClasses, slot: Slot, among: Collection[str]) -> Mapping[str, float]:
        """Return how probable each of some classes is by the trained readers; empty where they do not tell."""
        readers = self._readers
        return readers.preference(text, home, slot, among) if readers is not None and readers.fits(text) else {}

    # --- which reading stands

    def _decided(self, said: Said, commands: Reading) -> Understanding:
        """Return the first reading of arbitration's table that stands."""
        evidence = self._words.of(said)
        by_name = self._words.by_name(said, evidence)
        if commands.goals and self._is_literal(said, commands) and not objection(commands.goals, by_name):
            return self._stands(commands, commands, said)
        if self._readers is None or self._is_plain(said, commands) or not self._readers.fits(said.text):
            return self._without_readers(said, commands, objection(commands.goals, by_name))
        if self._asks and (said.instruction.denies or self._is_half_a_switch(said.instruction)):
            return _unsure(said, (), commands)
        readings = list(ranked(said, commands, self._readers, self._calibration, self._asks))
        evidence, by_name = self._words.guessed(said, evidence), self._words.in_part(said, by_name)
        for reading in readings:
            sure = not self._asks or reading.confidence >= self._sure
            if sure and not objection(reading.goals, by_name if reading.source == commands.source else evidence):
                return self._stands(reading, commands, said)
        return _unsure(said, readings, commands)

    def _is_half_a_switch(self, instruction: Instruction) -> bool:
        """Return whether "turn" stands without "on" or "off", as in "turn the TV down": trained readers guess one."""
        unknown = (command.verb for command in instruction.commands if command.verb in command.unread)
        return any(self._english.with_particle(verb, "on") is not None for verb in unknown)

    def _is_literal(self, said: Said, commands: Reading) -> bool:
        """Return whether the grammar's reading stands alone: every word is explained, and nothing in it is guessed."""
        guessed = any(one.guessed for goal in commands.goals for one in goal.mentions)
        certain = self._asks or said.instruction.taken_back or len(commands.goals) >= _LONG_ROW
        return said.plain and certain and not guessed

    def _is_plain(self, said: Said, commands: Reading) -> bool:
        """Return whether trained readers would only guess: one part is open, or something was taken back."""
        phrases = (one for command in said.instruction.commands for one in command.phrases)
        settled = self._things is not None and any(one.described for one in phrases)
        unclear = said.plain and commands.question is not None and (settled or not said.licence.open)
        return self._asks and (unclear or said.instruction.taken_back)

    def _stands(self, reading: Reading, commands: Reading, said: Said) -> Understanding:
        goals = self._treatments.named(reading.goals, commands.goals, said.text)
        if not self._asks and reading.source != commands.source:
            goals = with_named(goals, commands.goals, names_in(said.parts))
        return Understanding(tuple(goals), reading.source, reading.confidence)

    def _without_readers(self, said: Said, commands: Reading, why: str) -> Understanding:
        if commands.question is not None:
            return Understanding((), commands.source, 0.0, commands.question)
        if commands.goals and said.plain and not why:
            return Understanding(commands.goals, commands.source, commands.confidence)
        return _asked(f"I did not understand {_quoted(said.text)}. What shall I do with which thing?")


def _noted(understanding: Understanding, parts: Parts, conversation: Conversation, index: int) -> Understanding:
    """Remember what a later instruction may refer to."""
    if understanding.question is not None:
        conversation.pending = Pending(understanding.question, parts, index) if parts else None
    elif understanding.goals:
        conversation.pending, conversation.last = None, parts
    return understanding


def _spoken(understanding: Understanding, parts: Parts, commands: Reading, conversation: Conversation) -> None:
    """Remember what was spoken of: "it" may mean what a remark, or a command that is asked about, names."""
    only_remarks = not any(isinstance(part, Command) for part in parts)
    if commands.discourse is not None and (understanding.goals or only_remarks):
        conversation.discourse = commands.discourse
    elif understanding.question is not None:
        conversation.discourse.remark(named_targets(parts))


def _unsure(said: Said, readings: Sequence[Reading], commands: Reading) -> Understanding:
    if commands.question is not None:
        return Understanding((), commands.source, 0.0, commands.question)
    trained = sorted((one for one in readings if one.source != "commands"), key=lambda one: one.source == "model")
    choices = dict.fromkeys(", then ".join(map(str, one.goals)) for one in trained)
    return _asked(f"I am not sure what {_quoted(said.text)} asks for.", tuple(choices))


def _asked(text: str, choices: tuple[str, ...] = ()) -> Understanding:
    return Understanding(question=Question(text, choices), confidence=0.0)


def _asked_now(put_off: str) -> Understanding:
    """Return the question about what is not to be done at once."""
    text = f"I do at once what I am asked for, and cannot wait for {put_off!r}. Shall I do it now?"
    return Understanding(question=Question(text, ("now",), confirms=True), confidence=0.0)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
