"""What the patterns of an instruction share while it is being written."""

from __future__ import annotations

import random
from dataclasses import dataclass

from training.instructions.acts import Act, Effect, Scene
from training.instructions.conversation import Conversation
from training.instructions.corpus import Example
from training.instructions.sentence_writer import SentenceWriter


@dataclass(frozen=True)
class Told:
    """Words and what they ask for, in order."""

    text: str
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Draft:
    """scene chooses what is spoken of, writer says single acts, conversation joins them."""

    scene: Scene
    writer: SentenceWriter
    conversation: Conversation
    random: random.Random

    def pick(self, key: str) -> str:
        """Return one of the phrase book's phrases."""
        return self.writer.pick(key)

    def home(self) -> Example:
        """Return the home for remarks about things that are not spoken of."""
        return self.writer.example(*self.writer.mentioned)

    def told(self, text: str, *acts: Act) -> Told:
        """Return words that ask for these acts."""
        return Told(text, tuple(act.effect for act in acts))
