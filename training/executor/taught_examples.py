"""Taught dialogues as token sequences, with what is learnt of each: the teacher's calls, each in its place."""

from __future__ import annotations

from collections.abc import Iterable

from training.adapters.example import Example, Tokenizer
from training.executor.plain_names import with_plain_names
from training.executor.run_files import TaughtDialogue


def example_of(dialogue: TaughtDialogue, tokenizer: Tokenizer, most_tokens: int) -> Example | None:
    """Return a dialogue as one sequence, cut after its last whole call within `most_tokens`; None where not one fits.

    Raises:
        ValueError: the chat template changes what was said before.
    """
    tokens: list[int] = []
    learnt: list[bool] = []
    for index in dialogue.learnt:
        prompt, said = tokenizer.prompt(dialogue.messages[:index]), tokenizer.reply(dialogue.messages[index].text)
        if prompt[: len(tokens)] != tokens:
            raise ValueError("the chat template changes what was said before: its dialogues cannot be learnt as one")
        if len(prompt) + len(said) > most_tokens:
            break
        learnt += [False] * (len(prompt) - len(tokens)) + [True] * len(said)
        tokens = [*prompt, *said]
    return Example(tuple(tokens), tuple(learnt)) if tokens else None


def examples_of(dialogues: Iterable[TaughtDialogue], tokenizer: Tokenizer, most_tokens: int) -> list[Example]:
    """Return the dialogues that fit, with plain names."""
    examples = (example_of(with_plain_names(dialogue), tokenizer, most_tokens) for dialogue in dialogues)
    return [example for example in examples if example is not None]
