"""What the patterns of an instruction share while it is being written."""

from __future__ import annotations

import random
from dataclasses import dataclass

from memory_node.learning.instructions.acts import Act, Effect, Scene
from memory_node.learning.instructions.conversation import Conversation
from memory_node.learning.instructions.corpus import Example
from memory_node.learning.instructions.telling import Telling


@dataclass(frozen=True)
class Told:
    """Words and what they ask for, in order."""

    text: str
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Draft:
    """scene chooses what is spoken of, telling says single acts, conversation joins them."""

    scene: Scene
    telling: Telling
    conversation: Conversation
    random: random.Random

    def pick(self, key: str) -> str:
        """Return one of the phrase book's phrases."""
        return self.telling.pick(key)

    def home(self) -> Example:
        """Return the home for remarks about things that are not spoken of."""
        return self.telling.example(*self.telling.mentioned)

    def told(self, text: str, *acts: Act) -> Told:
        """Return words that ask for these acts."""
        return Told(text, tuple(act.effect for act in acts))
