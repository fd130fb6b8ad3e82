"""Which language model to ask, where, and how: the block `llm`, of which every use of a model is a profile."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import ConfigDict

from memory_node.domain.parameters import Expert, Parameters, parameter

_MOST_THREADS = 8


class ModelChoice(Parameters):
    """A model in this process (a GGUF file) or behind an OpenAI-compatible endpoint."""

    model_config = ConfigDict(protected_namespaces=())  # older pydantic reserves names such as model_path

    backend: Literal["auto", "llama", "openai"] = parameter(
        "auto", "llama: a GGUF in this process; openai: an endpoint; auto: openai where base_url is given"
    )
    model_path: str = parameter("", "GGUF file of the model in this process; empty: the embedded SmolLM2-135M")
    adapter_path: str = parameter("", "GGUF file of a LoRA adapter for it; empty: none")
    window_tokens: int = parameter(
        4096,
        "tokens of the longest prompt with its reply, of the model in this process, and of all prompts that it keeps",
        256,
        1_048_576,
    )
    threads: int = parameter(0, "threads of the model in this process; 0: one for each core, at most 8", 0, 256)
    base_url: str = parameter("", "OpenAI-compatible endpoint, for example http://localhost:8000/v1")
    model: str = parameter("gpt-4o", "name of the model at the endpoint")
    api_key_variable: str = parameter(
        "OPENAI_API_KEY", "environment variable that holds the endpoint's key; local endpoints need none"
    )
    structured: Literal["json_schema", "json_object", "none"] = parameter(
        "json_schema", "how the endpoint is told to answer in JSON"
    )
    tools: Literal["native", "json"] = parameter(
        "native", "how the endpoint is told of tools: native: its own tool calls; json: in words, with calls as JSON"
    )
    grammar_field: str = parameter(
        "", "field of the endpoint's request that takes a GBNF grammar (llama-server: grammar); empty: none"
    )
    retries: Expert[int] = parameter(2, "how often an endpoint that cannot answer now is asked again", 0, 20)
    temperature: Expert[float] = parameter(0.0, "randomness of the replies; 0: always the likeliest", 0.0, 2.0)
    seed: Expert[int] = parameter(0, "seed of that randomness", 0, 2**31 - 1)

    @property
    def in_process(self) -> bool:
        """Whether the model runs in this process."""
        return self.backend == "llama" or (self.backend == "auto" and not self.base_url)

    @property
    def thread_count(self) -> int:
        """How many threads the model in this process computes with."""
        return self.threads or min(len(os.sched_getaffinity(0)), _MOST_THREADS)


SHARED = frozenset(ModelChoice.model_fields)
"""What a profile takes from the block `llm`: which model, not how long it may take."""


class ModelConfig(ModelChoice):
    """A model, and the limits of one use of it."""

    max_reply_tokens: Expert[int] = parameter(800, "tokens of one reply at most", 1, 32_000)
    timeout_s: float = parameter(
        60.0, "time for one answer: waiting, corrections and all, from the request to the last word", 0.1, 3600.0
    )
