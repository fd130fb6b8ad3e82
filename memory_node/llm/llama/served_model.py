"""Chat with a GGUF file in this process: the server inside llama.cpp's wheel, by its Python interface.

It fills in the model's chat template, holds replies to a grammar, reads tool calls, batches requests and keeps prompts.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import queue
import secrets
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import BrokenReplyError, LateError, LlmError, ModelMissingError, TooLongError
from memory_node.llm.llama.native import GgufModel, llama_library

# Requests that are answered side by side: the planner's, and one of lessons or knowledge.
_REQUESTS = 2
# Memory for prompts that were read before (MB); llama.cpp's default of 8 GB is a server's.
_KEPT_PROMPTS_MB = 256


class ServedModel:
    """A loaded model that answers chat completions; thread-safe.

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
        came: queue.Queue[Any] = queue.Queue()
        is_wanted = threading.Event()
        is_wanted.set()

        def take(chunk: Any) -> bool:
            came.put(chunk)
            return not is_wanted.is_set()

        def run() -> None:
            try:
                self._server.handle_chat_completions(dict(request), take)
                came.put(None)
            except Exception as error:  # whoever waits raises it
                came.put(BrokenReplyError(f"llama.cpp: {error}"))

        threading.Thread(target=run, name="llama", daemon=True).start()
        try:
            while (chunk := self._next(came, deadline)) is not None:
                yield chunk
        finally:
            is_wanted.clear()

    def close(self) -> None:
        """Free the model; nothing can be asked afterwards."""
        self._server = None

    def _next(self, came: queue.Queue[Any], deadline: Deadline) -> Any:
        try:
            chunk = came.get(timeout=deadline.left_s())
        except queue.Empty:
            raise LateError(f"no whole reply within {deadline.seconds:g} s") from None
        if isinstance(chunk, LlmError):
            raise chunk
        error = chunk.get("error") if isinstance(chunk, Mapping) else None
        if isinstance(error, Mapping) and error.get("type") == "exceed_context_size_error":
            raise TooLongError(f"llama.cpp: {error.get('message')}")
        return chunk
