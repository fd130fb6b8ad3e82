"""Keeps a model's replies in a file, so that a long measurement goes on where it was interrupted."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from memory_node.llm.chat import ChatModel, Deadline, Message, Reply, ReplyForm, ignore
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.native import WHEEL_RELEASE
from memory_node.llm.open_model import ModelShelf, model_file


def mark_of(model: ModelConfig) -> str:
    """Return what decides a model's choices: its files by their contents, its window, and llama.cpp's release; of an
    endpoint its address and the model's name.

    Raises:
        ModelMissingError: there is no such file.
    """
    if not model.in_process:
        return f"{model.base_url} {model.model}"
    files = [model_file(model), *([Path(model.adapter_path)] if model.adapter_path else [])]
    marks = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    return " ".join((*marks, str(model.window_tokens), WHEEL_RELEASE))


_REPLY = TypeAdapter(Reply)


class ReplyCache:
    """A ChatModel that asks another one once for each dialogue and form; a failure is not kept.

    path: one JSON object a line, appended to; a torn last line is passed over. mark: what decides the replies besides
    the dialogue (`mark_of`). Only for models without randomness.
    """

    def __init__(self, model: ChatModel, path: Path, mark: str) -> None:
        self._model = model
        self._mark = mark
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._replies: dict[str, Reply] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
            try:
                values = json.loads(line)
                key = values.pop("key")
                self._replies[key] = _REPLY.validate_python(values)
            except (ValueError, TypeError, KeyError, AttributeError):
                continue

    @property
    def name(self) -> str:
        """The other model's name."""
        return self._model.name

    def count_tokens(self, text: str) -> int:
        """Return the other model's count."""
        return self._model.count_tokens(text)

    def reply(
        self,
        messages: Sequence[Message],
        deadline: Deadline | None = None,
        form: ReplyForm | None = None,
        on_line: Callable[[str], None] = ignore,
    ) -> Reply:
        """Return the kept reply, or the other model's, which is kept then."""
        asked = [self._mark, [dataclasses.astuple(message) for message in messages], form and dataclasses.asdict(form)]
        key = hashlib.sha256(json.dumps(asked, default=repr).encode()).hexdigest()
        if key not in self._replies:
            self._replies[key] = found = self._model.reply(messages, deadline, form)
            with open(self._path, "a", encoding="utf-8") as file:
                # A line that an earlier run tore must not swallow this one.
                file.write("\n" + json.dumps({"key": key, **dataclasses.asdict(found)}) + "\n")
        for line in self._replies[key].text.splitlines():
            on_line(line)
        return self._replies[key]


def open_shelf(replies: Path | None) -> ModelShelf:
    """Return a shelf whose models' replies a file keeps (they write, and tell no likelihoods); None: a plain one."""
    return ModelShelf() if replies is None else _ReplyKeepingShelf(replies)


class _ReplyKeepingShelf(ModelShelf):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def open(self, config: ModelConfig) -> ChatModel:
        """Return the model of a config, asked once for each dialogue; see ModelShelf."""
        return ReplyCache(super().open(config), self._path, f"{mark_of(config)} {config.max_reply_tokens}")
