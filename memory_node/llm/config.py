"""Which language model to ask, where, and how: the block `llm`, of which every use of a model is a profile."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import ConfigDict, Field

from memory_node.domain.parameters import Expert, Parameters

_MOST_THREADS = 8


class ModelChoice(Parameters):
    """A model in this process (a GGUF file) or behind an OpenAI-compatible endpoint."""

    model_config = ConfigDict(protected_namespaces=())  # older pydantic reserves names such as model_path

    backend: Literal["auto", "llama", "openai"] = Field(
        default="auto",
        description="llama: a GGUF in this process; openai: an endpoint; auto: openai where base_url is given",
    )
    model_path: str = Field(
        default="", description="GGUF file of the model in this process; empty: the embedded SmolLM2-135M"
    )
    adapter_path: str = Field(default="", description="GGUF file of a LoRA adapter for it; empty: none")
    window_tokens: int = Field(
        default=4096,
        ge=256,
        le=1_048_576,
        description="tokens of the longest prompt with its reply, of the model in this process, and of all prompts that"
        " it keeps",
    )
    threads: int = Field(
        default=0, ge=0, le=256, description="threads of the model in this process; 0: one for each core, at most 8"
    )
    base_url: str = Field(default="", description="OpenAI-compatible endpoint, for example http://localhost:8000/v1")
    model: str = Field(default="gpt-4o", description="name of the model at the endpoint")
    api_key_variable: str = Field(
        default="OPENAI_API_KEY",
        description="environment variable that holds the endpoint's key; local endpoints need none",
    )
    structured: Literal["json_schema", "json_object", "none"] = Field(
        default="json_schema", description="how the endpoint is told to answer in JSON"
    )
    tools: Literal["native", "json"] = Field(
        default="native",
        description="how the endpoint is told of tools: native: its own tool calls; json: in words, with calls as JSON",
    )
    grammar_field: str = Field(
        default="",
        description="field of the endpoint's request that takes a GBNF grammar (llama-server: grammar); empty: none",
    )
    retries: Expert[int] = Field(
        default=2, ge=0, le=20, description="how often an endpoint that cannot answer now is asked again"
    )
    temperature: Expert[float] = Field(
        default=0.0, ge=0.0, le=2.0, description="randomness of the replies; 0: always the likeliest"
    )
    seed: Expert[int] = Field(default=0, ge=0, le=2**31 - 1, description="seed of that randomness")

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

    max_reply_tokens: Expert[int] = Field(default=800, ge=1, le=32_000, description="tokens of one reply at most")
    timeout_s: float = Field(
        default=60.0,
        ge=0.1,
        le=3600.0,
        description="time for one answer: waiting, corrections and all, from the request to the last word",
    )
