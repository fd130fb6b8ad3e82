"""What Soft-Mem learns from: a step's prompt and reply of the compiler, and the executor's prompt and action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.alfworld.policy import split_advice
from memory_node.llm.chat import Message
from training.adapters.example import Tokenizer
from training.compiler.teacher import CompilerPair


@dataclass(frozen=True)
class SoftExample:
    """One step. prompt, reply: of the compiler. before, after: of the executor's prompt, with the latent tokens between
    them. wording: the advice as the executor reads it, action: the right command. All are tokens.

    unsaid: (UNSAID,), what words leave out of the thing that is advised; () where that is nothing.
    """

    prompt: tuple[int, ...]
    reply: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    wording: tuple[int, ...]
    action: tuple[int, ...]
    unsaid: tuple[float, ...] = ()


def soft_example(
    pair: CompilerPair, tokenizer: Tokenizer, most_tokens: int, in_words: bool = True
) -> SoftExample | None:
    """Return a pair as an example; None where it does not say what the executor was advised, or is too long.

    in_words: whether the executor reads the advice, too. Where it does not, the latent tokens must tell all of it.
    """
    if not pair.executor or not pair.action:
        return None
    state_alone, advice = split_advice(pair.executor)
    if not advice:
        return None
    before, after = around_latent(pair.executor if in_words else state_alone, tokenizer)
    prompt, reply = tokenizer.prompt(pair.messages), tokenizer.reply(pair.reply)
    if max(len(prompt) + len(reply), len(before) + len(after)) > most_tokens:
        return None
    wording, action = tokenizer.reply(advice)[:-1], tokenizer.reply(pair.action)
    return SoftExample(tuple(prompt), tuple(reply), before, after, tuple(wording), tuple(action), pair.unsaid)


def around_latent(dialogue: Sequence[Message], tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return an executor's prompt in two parts: latent tokens stand at the end of what was said last."""
    *before, last = dialogue
    tokens = tokenizer.prompt(dialogue)
    # What follows the text is what two prompts share that end in different words.
    one, other = (tokenizer.prompt([*before, Message(last.role, f"{last.text} {word}")]) for word in ("one", "other"))
    at = len(tokens) - _shared(one[::-1], other[::-1])
    return tuple(tokens[:at]), tuple(tokens[at:])


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many tokens two sequences begin with alike."""
    limit = min(len(one), len(other))
    return next((at for at in range(limit) if one[at] != other[at]), limit)
