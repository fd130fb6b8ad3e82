"""The household's grammar of commands, for tests of what is read before anything is interpreted."""

from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.language.english import load_english
from memory_node.planner.language.instruction_grammar import InstructionReader
from memory_node.planner.language.instruction_words import words_of
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.spoken_instruction import Instruction

KINDS = load_catalogue()
ENGLISH = load_english().with_treatments(KINDS.treatments)
READER = InstructionReader(Lexicon(KINDS, ENGLISH.rooms), ENGLISH)


def read(text: str) -> Instruction:
    """Return an instruction as the grammar reads it."""
    return READER.read(text)


def command(text: str) -> Command:
    """Return the only command of an instruction."""
    (found,) = read(text).commands
    return found


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return words_of(text, ENGLISH)
