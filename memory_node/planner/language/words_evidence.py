"""What the words of an instruction say for and against a reading: the evidence of the audit."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.planner.language.audit import Evidence
from memory_node.planner.language.instruction_grammar import InstructionReader
from memory_node.planner.language.known_words import KnownWords
from memory_node.planner.language.lexicon import Called
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.reading import Said
from memory_node.planner.language.roles import roles_of
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.spoken_instruction import Instruction, Parts, unread_runs
from memory_node.planner.language.treatments import TreatmentWords


class WordsEvidence:
    """Gathers evidence. counts: words for numbers. asks: somebody can be asked, so nothing has to be guessed."""

    def __init__(
        self,
        kinds: ObjectCatalogue,
        instructions: InstructionReader,
        known: KnownWords,
        treatments: TreatmentWords,
        counts: frozenset[str],
        asks: bool,
    ) -> None:
        self._kinds = kinds
        self._instructions = instructions
        self._known = known
        self._treatments = treatments
        self._counts = counts if asks else frozenset()
        self._asks = asks

    def of(self, said: Said) -> Evidence:
        """Return the evidence that any reading is held to."""
        roles = roles_of(said.instruction.kept, self._instructions.commands)
        left = self._left_unread(said.instruction) if self._asks else ()
        put_off = said.instruction.put_off if self._asks else ""
        return Evidence(
            said.instruction,
            said.licence,
            roles,
            self._kinds,
            said.text,
            self._treatments,
            left,
            self._counts,
            self._instructions.commands.english if self._asks else None,
            put_off=put_off,
        )

    def by_name(self, said: Said, evidence: Evidence) -> Evidence:
        """Return the evidence that the grammar is held to: it has its reasons which class of a name it takes."""
        named = said.licence.named | _called(said.parts)
        if any(phrase.is_water for command in said.instruction.commands for phrase in command.targets):
            named |= frozenset(self._kinds.able(Property.WATERS))  # "turn the water off"
        licence = replace(said.licence, named=named)
        left = self._instructions.names_in(said.instruction.unread, places=True)
        return replace(evidence, licence=licence, unexplained=(*left, *evidence.unexplained))

    def guessed(self, said: Said, evidence: Evidence) -> Evidence:
        """Return the evidence that a trained reader is held to: every word that is not said aside has to be known."""
        return replace(self._with_strange(evidence, _heard(said.instruction)), guessed=True)

    def in_part(self, said: Said, evidence: Evidence) -> Evidence:
        """Return the evidence that the grammar is held to where it leaves words unexplained: those have to be known."""
        return self._with_strange(evidence, [word for words in unread_runs(said.instruction) for word in words])

    def _with_strange(self, evidence: Evidence, words: list[str]) -> Evidence:
        return replace(evidence, strange=self._known.strange(words)) if self._asks else evidence

    def _left_unread(self, instruction: Instruction) -> tuple[NounPhrase, ...]:
        """Return the things that words name which no rule explains."""
        return tuple(name for words in unread_runs(instruction) for name in self._instructions.names_in(words))


def names_in(parts: Parts) -> list[Called]:
    """Return what the names in commands may mean."""
    phrases = [phrase for part in parts if isinstance(part, Command) for phrase in part.phrases]
    return [phrase.called for phrase in phrases if phrase.called is not None]


def _called(parts: Parts) -> set[str]:
    """Return every class that answers to a name in commands."""
    return {name for called in names_in(parts) for name in called.all}


def _heard(instruction: Instruction) -> list[str]:
    """Return the words but for what is not to be done, and why something is."""
    left = Counter(instruction.aside)
    left.subtract(instruction.kept)
    return [word for word, count in left.items() if count < 0]
