"""A language model in this process, for one use: a GGUF file, perhaps with a LoRA adapter of its own."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.chat import (
    BrokenReplyError,
    Deadline,
    GrammarForm,
    JsonForm,
    Message,
    ModelMissingError,
    Pieces,
    Reply,
    ReplyForm,
    TooLongError,
    UnsupportedError,
    ignore,
)
from memory_node.llm.chat_completion import ReplyLines, completion_request, parse_chunk, read_reply
from memory_node.llm.config import ModelConfig
from memory_node.llm.gbnf import json_grammar
from memory_node.llm.llama.engine import LlamaEngine, Prompt, vector_tokens
from memory_node.llm.llama.native import GgufModel, llama_library

# Requests that are answered side by side: the planner's, and one of lessons or knowledge.
_REQUESTS = 2
# Memory for prompts that were read before (MB); llama.cpp's default of 8 GB is a server's.
_KEPT_PROMPTS_MB = 256


class ServedModel:
    """A loaded model that answers chat completions: the server inside llama.cpp's wheel; thread-safe.

    It fills in the model's chat template, holds replies to a grammar, reads tool calls, batches requests and keeps
    prompts.

    Args:
        path: the GGUF file.
        window_tokens: tokens of the longest prompt with its reply.
        threads: that compute.
        adapter: path of a LoRA adapter (GGUF), "" for none.

    Raises:
        ModelMissingError: the wheel is missing, or it cannot read the file or the adapter.
    """

    def __init__(self, path: Path, window_tokens: int, threads: int, adapter: str = "") -> None:
        llama_library()  # checks the wheel's release, and says to OpenMP how to wait before it is loaded
        wheel: Any = importlib.import_module("xllamacpp")
        params = wheel.CommonParams()
        params.model.path = os.fspath(path)
        params.n_ctx = window_tokens
        params.n_parallel = _REQUESTS
        params.kv_unified = True  # each request may have the whole window
        params.cache_ram_mib = _KEPT_PROMPTS_MB
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.n_threads_http = 1
        params.warmup = params.webui = params.fit_params = False
        params.verbosity = -1
        params.api_keys = [secrets.token_hex()]  # nobody else is to use the port that it opens on the loopback
        if adapter:
            with contextlib.closing(GgufModel(path)) as file:
                file.adapter(adapter)  # of a file that is none, the server would end the process
            params.lora_adapters = [wheel.CommonAdapterLoraInfo(adapter, 1.0)]
        try:
            self._server = wheel.Server(params)
        except RuntimeError as error:
            raise ModelMissingError(f"llama.cpp cannot serve {path.name} {adapter}: {error}") from error

    def chunks(self, request: Mapping[str, Any], deadline: Deadline) -> Iterator[Mapping[str, Any]]:
        """Yield the pieces of a streamed chat completion; whoever stops listening ends it.

        Raises:
            LateError: the deadline passed. TooLongError: the prompt exceeds the window. LlmError: the server refuses.
        """

        def bring(to: Pieces) -> None:
            def take(chunk: Any) -> bool:
                to.put(chunk)
                return not to.is_wanted

            try:
                self._server.handle_chat_completions(dict(request), take)
                to.put(None)
            except Exception as error:  # whoever waits raises it
                to.put(BrokenReplyError(f"llama.cpp: {error}"))

        pieces = Pieces(bring, "llama", deadline, f"no whole reply within {deadline.seconds:g} s")
        try:
            while (chunk := pieces.next()) is not None:
                error = chunk.get("error") if isinstance(chunk, Mapping) else None
                if isinstance(error, Mapping) and error.get("type") == "exceed_context_size_error":
                    raise TooLongError(f"llama.cpp: {error.get('message')}")
                yield chunk
        finally:
            pieces.is_wanted = False

    def close(self) -> None:
        """Free the model; nothing can be asked afterwards."""
        self._server = None


# Says nothing to a model.
FILLER = "\n"


def fitted(tokens: Sequence[int], count: int, filler: int) -> tuple[int, ...]:
    """Return the last `count` tokens, behind as many fillers as miss."""
    last = tokens[-count:] if count else ()
    return (*(filler,) * (count - len(last)), *last)


# With these a token is drawn from all that the model finds possible.
_WHOLE_DISTRIBUTION = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}


class LlamaModel:
    """A ToolModel and LatentModel. Several of them may share what is loaded.

    file: tells the tokenizer, the template and the name. served, engine: load what chats, and what tells inner states
    and likelihoods.
    """

    def __init__(
        self,
        file: GgufModel,
        served: Callable[[], ServedModel],
        engine: Callable[[], LlamaEngine],
        config: ModelConfig,
    ) -> None:
        self.file = file
        self._served = served
        self._engine = engine
        self.config = config
        self._random = np.random.default_rng(config.seed)
        self._controls = re.compile("|".join(map(re.escape, filter(None, file.vocabulary.controls()))) or r"\Z.")

    @property
    def name(self) -> str:
        """The model's own name, and its adapter's file."""
        adapter = self.config.adapter_path.rpartition("/")[2]
        return f"{self.file.title}{f' with {adapter}' if adapter else ''}"

    @property
    def native_tools(self) -> bool:
        """Whether the model's template tells tools."""
        return self.config.tools == "native" and "tools" in self.file.chat_template

    @property
    def engine(self) -> LlamaEngine:
        """What tells inner states and likelihoods; the first call loads it."""
        return self._engine()

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model's tokenizer makes of a text."""
        return len(self.file.vocabulary.tokens(text))

    def reply(
        self,
        messages: Sequence[Message],
        deadline: Deadline | None = None,
        form: ReplyForm | None = None,
        on_line: Callable[[str], None] = ignore,
    ) -> Reply:
        """Write a reply; it keeps to the form by construction. See ChatModel.

        What is said is plain text: the name of a control token in it, such as <|im_end|>, is broken up by a space.
        """
        if any(message.pictures for message in messages):
            raise UnsupportedError(f"{self.name} reads no pictures; an endpoint of a model that does is needed")
        if any(message.latent is not None for message in messages):
            raise UnsupportedError(f"{self.name} takes no latent tokens in a chat; likelihoods and states do")
        told = [replace(message, text=self._controls.sub(_broken_up, message.text)) for message in messages]
        # Of the server's own grammar for a schema a small model fills half with blanks, and leaves out what it may.
        held = GrammarForm(json_grammar(form.schema)) if isinstance(form, JsonForm) else form
        asked = completion_request(self.config, told, held)
        if isinstance(held, GrammarForm):
            asked["grammar"] = held.grammar
        if self.config.temperature > 0.0:
            asked |= _WHOLE_DISTRIBUTION | {"seed": int(self._random.integers(2**31))}
        lines = ReplyLines(on_line)
        chunks = map(parse_chunk, self._served().chunks(asked, self.within(deadline)))
        return read_reply(chunks, messages, lines, self.config.max_reply_tokens)

    def states(
        self,
        messages: Sequence[Message],
        reply: str,
        wording: str,
        vectors: NDArray[np.float32],
        deadline: Deadline | None = None,
    ) -> NDArray[np.float32]:
        """Return the states of vectors behind a reply. See LatentModel."""
        asked = self.prompt(messages)
        said = (*self.file.vocabulary.tokens(reply), self.engine.template.end)
        whole = replace(asked, tokens=asked.tokens + said + self.wording_tokens(wording, len(vectors)))
        return self.engine.states(whole, vectors, self.within(deadline))

    def wording_tokens(self, wording: str, count: int) -> tuple[int, ...]:
        """Return a wording in `count` tokens; see fitted."""
        tokens = self.file.vocabulary.tokens
        return fitted(tokens(wording), count, tokens(FILLER)[0])

    def within(self, deadline: Deadline | None) -> Deadline:
        """Return the earlier of a deadline and the model's own."""
        return (deadline or Deadline(self.config.timeout_s)).within(self.config.timeout_s)

    def prompt(self, messages: Sequence[Message]) -> Prompt:
        """Return what the engine reads of a dialogue, up to where the model's turn begins.

        Raises:
            UnsupportedError: latent tokens of another width.
        """
        latent = [message.latent for message in messages if message.latent is not None]
        width = self.engine.native.width
        if any(vectors.shape[1:] != (width,) for vectors in latent):
            raise UnsupportedError(f"{self.name} takes latent tokens of width {width} alone")
        known = {number: row for vectors in latent for number, row in zip(vector_tokens(vectors), vectors)}
        return Prompt(tuple(self.engine.template.tokens(messages)), known)


def _broken_up(control: re.Match[str]) -> str:
    return f"{control[0][:1]} {control[0][1:]}"
