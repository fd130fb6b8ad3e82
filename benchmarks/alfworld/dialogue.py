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
    parts = (told, f"Experience: {experience}" if experience else "", _advised(advice))
    return [Message("system", system), Message("user", "\n\n".join(filter(None, parts)))]


def turn(command: str, reply: str, task: str, advice: str = "") -> tuple[Message, Message]:
    """Return what a command and its reply add to the dialogue. advice: for the next step.

    The task is repeated each time, because a small model loses track of text some hundred tokens earlier.
    """
    heard = "\n\n".join(filter(None, (reply.strip(), f"Task: {task}", _advised(advice))))
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
    return "\n\n".join(filter(None, ("\n".join(lines), _advised(advice))))


def without_advice(dialogue: Sequence[Message]) -> list[Message]:
    """Return a dialogue of `with_memory` as it is where no advice is given."""
    *before, last = dialogue
    told = last.text.rpartition(f"\n\n{_ADVICE}")[0]
    return [*before, Message(last.role, told or last.text)]


def choices(commands: Iterable[str]) -> Sequence[str]:
    """Return the commands that a policy chooses among."""
    return tuple(command for command in dict.fromkeys(commands) if command not in _IDLE)


def _advised(advice: str) -> str:
    return f"{_ADVICE}{advice}" if advice else ""
