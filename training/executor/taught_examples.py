"""Taught dialogues as token sequences, with what is learnt of each: the teacher's calls, each in its place."""

from __future__ import annotations

from collections.abc import Iterable

from training.adapters.example import Example, Tokenizer, grown
from training.executor.plain_names import with_plain_names
from training.executor.run_files import TaughtDialogue


def example_of(dialogue: TaughtDialogue, tokenizer: Tokenizer, most_tokens: int) -> Example | None:
    """Return a dialogue as one sequence, cut after its last whole call within `most_tokens`; None where not one fits.

    Raises:
        ValueError: the chat template changes what was said before.
    """
    turns = ((dialogue.messages[:index], dialogue.messages[index].text, True) for index in dialogue.learnt)
    return grown(turns, tokenizer, most_tokens)


def examples_of(dialogues: Iterable[TaughtDialogue], tokenizer: Tokenizer, most_tokens: int) -> list[Example]:
    """Return the dialogues that fit, with plain names."""
    examples = (example_of(with_plain_names(dialogue), tokenizer, most_tokens) for dialogue in dialogues)
    return [example for example in examples if example is not None]
