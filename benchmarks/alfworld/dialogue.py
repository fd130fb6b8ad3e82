"""A game as a dialogue with a language model: what it is told, and what it may answer. Training uses the same words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.chat import Message

SYSTEM = "You are a robot in a house. You are told what you see. Answer with your next command."
SYSTEM_REACT = (
    "You are a robot in a house. You are told what you see. Answer with a line `Thought: ...` that says what to do "
    "next and why, and then a line with your next command, one of those that are possible."
)
# They change nothing, and tell nothing that was not printed before.
_IDLE = frozenset({"help", "inventory", "look"})
_ADVICE = "Advice: "
_WELCOME = "-= Welcome to TextWorld, ALFRED! =-"


def opening(text: str, experience: str = "", advice: str = "", system: str = SYSTEM) -> list[Message]:
    """Return the dialogue before the first command.

    text: a game's first text. experience: what is remembered of other games, "" for nothing. advice: for this step.
    """
    told = text.replace(_WELCOME, "").strip()
    parts = (told, f"Experience: {experience}" if experience else "", advised(advice))
    return [Message("system", system), Message("user", "\n\n".join(filter(None, parts)))]


def turn(command: str, reply: str, task: str, advice: str = "") -> tuple[Message, Message]:
    """Return what a command and its reply add to the dialogue. advice: for the next step.

    The task is repeated each time, because a small model loses track of text some hundred tokens earlier.
    """
    heard = "\n\n".join(filter(None, (reply.strip(), f"Task: {task}", advised(advice))))
    return Message("assistant", command), Message("user", heard)


def with_memory(
    dialogue: Sequence[Message], lines: Sequence[str], advice: str, latent: NDArray[np.float32] | None = None
) -> list[Message]:
    """Return a dialogue whose last message ends in what memory says of this step.

    lines: the brief state. advice: a command, in words. latent: the same as latent tokens.
    """
    *before, last = dialogue
    told = "\n\n".join(filter(None, (last.text, told_text(lines, advice))))
    return [*before, Message(last.role, told, latent=latent)]


def told_text(lines: Sequence[str], advice: str) -> str:
    """Return what memory says of a step in words. lines: the brief state. advice: a command."""
    return "\n\n".join(filter(None, ("\n".join(lines), advised(advice))))


def split_advice(dialogue: Sequence[Message]) -> tuple[list[Message], str]:
    """Return a dialogue of `with_memory` as it is where no advice is given, and the advice as it was told, "" for
    none."""
    *before, last = dialogue
    told, mark, advice = last.text.rpartition(f"\n\n{_ADVICE}")
    return [*before, Message(last.role, told or last.text)], advised(advice if mark else "")


def choices(commands: Iterable[str]) -> Sequence[str]:
    """Return the commands that a policy chooses among."""
    return tuple(command for command in dict.fromkeys(commands) if command not in _IDLE)


def advised(advice: str) -> str:
    """Return how advice is told, "" for none."""
    return f"{_ADVICE}{advice}" if advice else ""
