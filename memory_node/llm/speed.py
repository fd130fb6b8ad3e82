"""Measures how fast a model reads, writes and scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_node.llm.chat import ChatModel, Message, Reply, ScoringModel
from memory_node.llm.config import ModelConfig

_PROMPT_TOKENS = 500
_REPLY_TOKENS = 64
_CANDIDATES = 20
_REPEATS = 3
_SENTENCE = "Area {n}: three things lie at ({n}.2, 0.4, 0.9), last seen {n} minutes ago; one of them is warm. "


@dataclass(frozen=True)
class Speed:
    """Tokens a second, in and out, and what choosing among 20 calls takes with a prompt that was read before.

    score_ms: None for a model that does not score.
    """

    prompt_tokens: int
    tokens_in_per_s: float
    tokens_out_per_s: float
    score_ms: float | None = None


def measure_speed(open_model: Callable[[ModelConfig], ChatModel], config: ModelConfig) -> Speed:
    """Return the best of three runs each; of an endpoint, the way there and back counts too.

    Raises:
        LlmError: the model does not answer.
    """
    one_token = open_model(config.changed(max_reply_tokens=1, temperature=0.0))
    many_tokens = open_model(config.changed(max_reply_tokens=_REPLY_TOKENS, temperature=0.0))
    told, read_s, tokens_in = _told(one_token), [], 0
    for number in range(_REPEATS):
        # Each prompt begins in a way of its own, so that nothing of it is known from before.
        asked = [Message("system", f"Home {number}. {told}"), Message("user", "Which one is warm?")]
        seconds, reply = _timed(one_token, asked)
        read_s.append(seconds)
        tokens_in = reply.tokens_in
    story = [Message("user", "Tell a long story about a robot that lives in a home with many rooms.")]
    one_token.reply(story)
    write_s = []
    for _ in range(_REPEATS):
        first_s, _ = _timed(one_token, story)
        whole_s, reply = _timed(many_tokens, story)
        write_s.append(max(whole_s - first_s, 1e-6) / max(reply.tokens_out - 1, 1))
    score_ms = None
    if isinstance(one_token, ScoringModel):
        score_ms = min(_score_ms(one_token, asked) for _ in range(_REPEATS))
    return Speed(tokens_in, tokens_in / min(read_s), 1.0 / min(write_s), score_ms)


def _timed(model: ChatModel, asked: Sequence[Message]) -> tuple[float, Reply]:
    started = time.perf_counter()
    reply = model.reply(asked)
    return time.perf_counter() - started, reply


def _told(model: ChatModel) -> str:
    told = ""
    number = 0
    while model.count_tokens(told) < _PROMPT_TOKENS - 40:
        number += 1
        told += _SENTENCE.format(n=number)
    return told


def _score_ms(model: ScoringModel, asked: Sequence[Message]) -> float:
    things = [f"Thing {letter}" for letter in "ABCDEFGHIJ"]
    candidates = [f'{skill}("{thing}")' for skill in ("GoToObject", "PickupObject") for thing in things]
    assert len(candidates) == _CANDIDATES
    model.read(asked)
    started = time.perf_counter()
    model.scores(asked, candidates)
    return 1e3 * (time.perf_counter() - started)
