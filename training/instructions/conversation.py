"""What people say around a command: how they ask, join, chat and misspell."""

from __future__ import annotations

import random
from collections.abc import Sequence

from training.instructions.augment import Wording
from training.instructions.corpus import Example
from training.instructions.inflection import capital, gerund
from training.instructions.phrase_book import PhraseBook

_MARKS = (
    ("1. ", "2. ", "3. ", "4. ", "5. "),
    ("1) ", "2) ", "3) ", "4) ", "5) "),
    ("First, ", "Second, ", "Third, ", "Fourth, ", "Fifth, "),
    ("First ", "Then ", "Next ", "After that ", "Finally "),
    ("Step one: ", "Step two: ", "Step three: ", "Step four: ", "Step five: "),
    ("Step 1: ", "Step 2: ", "Step 3: ", "Step 4: ", "Step 5: "),
    ("- ", "- ", "- ", "- ", "- "),
    ("First of all ", "Secondly ", "Thirdly ", "Fourthly ", "Lastly "),
    ("Start by ", "then ", "then ", "then ", "and finish by "),
)


class Conversation:
    """Puts words around commands; every choice comes from `generator`."""

    def __init__(self, book: PhraseBook, wording: Wording, generator: random.Random) -> None:
        self._book = book
        self._wording = wording
        self._random = generator
        self._orders = frozenset(book["orders"])

    def listed(self, words: Sequence[str], joints: Sequence[str] = (", ", ", ", ". ", ", then ", " and ", "; ")) -> str:
        """Return commands in one row."""
        joint = self._random.choice(joints)
        text = words[0]
        for index, word in enumerate(words[1:], start=1):
            last = index == len(words) - 1
            between = self._random.choice((", and ", " and ", ", then ", joint)) if last else joint
            text += between + (capital(word) if between == ". " else word)
        return text

    def joined(self, pieces: Sequence[str], home: Example) -> str:
        """Return the parts of an instruction, numbered or joined in many ways."""
        if len(pieces) > 1 and self._random.random() < 0.14:
            between = self._random.choice((". ", ". ", "; ", "\n", ", "))
            return between.join(f"{mark}{piece}" for mark, piece in zip(self._random.choice(_MARKS), pieces))
        text = pieces[0]
        for piece in pieces[1:]:
            joint = f". {self.remark(home)}. " if self._random.random() < 0.06 else self._pick("joints")
            text += joint + (capital(piece) if joint.endswith((". ", "\n")) else piece)
        return text

    def asked(self, text: str, ending: float = 0.3) -> str:
        """Return an order as people put it: "could you ...", "..., please"."""
        lowered = text[:1].lower() + text[1:]
        if lowered.partition(" ")[0] in self._orders:
            text = self._pick("asking").format(v=lowered, g=gerund(lowered))
        if self._random.random() < ending:
            text += self._random.choice((", ", " ", ", ")) + self._pick("endings")
        return text

    def remark(self, home: Example) -> str:
        """Return words that ask for nothing."""
        choice = self._random.random()
        if choice < 0.55:
            return self._pick("chatter")
        if choice < 0.85:
            return self._wording.aside(self._pick("chatter_of_things"), home)
        return self._wording.remark_text(home)

    def chatted(self, text: str, home: Example) -> str:
        """Return the words with chatter, reasons or a purpose around them."""
        lowered = text[:1].lower() + text[1:]
        if self._random.random() < 0.12:
            return f"{text} {self._pick('purposes')}"
        said = self.remark(home)
        while self._random.random() < 0.35:
            said += self._random.choice((", ", " and ", ", and ", ", you know, ", ". ", ", but ")) + self.remark(home)
        frame = self._pick("reasons")
        if "{v}" in frame and lowered.partition(" ")[0] not in self._orders:
            frame = "{r}, so {t}"
        return frame.format(r=said, R=capital(said), t=lowered, T=capital(text), v=lowered)

    def beginners(self, text: str) -> str:
        """Return the words with articles left out."""
        articles = ("the", "a", "an")
        return " ".join(
            word for word in text.split(" ") if word.lower() not in articles or self._random.random() >= 0.6
        )

    def mistyped(self, text: str) -> str:
        """Return the words with a letter lost, two letters swapped, or without punctuation."""
        at = self._random.randrange(max(1, len(text) - 1))
        choice = self._random.random()
        if choice < 0.4:
            return text[:at] + text[at + 1 :]
        if choice < 0.8:
            return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
        return text.replace(",", "").replace(".", "")

    def _pick(self, key: str) -> str:
        return self._random.choice(self._book[key])
