"""Keeps what a model replied, or another value, in a file: a long measurement goes on where it was interrupted."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import ChatModel, Deadline, Message, Reply, ReplyForm, ignore
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.native import WHEEL_RELEASE
from memory_node.llm.open_model import ModelShelf, model_file

Made = TypeVar("Made")


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


class KeptLines(Generic[Made]):
    """What was made before, by its key; a file of JSON objects, one a line, keeps it from run to run.

    A last line that an interrupted run tore is cut off.

    path: the file, None for this process alone. made: makes a value of an object without its key.

    Raises:
        InvalidValueError: another line is none that was kept; the message names it, and the file stays as it is.
    """

    def __init__(self, path: Path | None, made: Callable[[dict[str, Any]], Made]) -> None:
        self._path = path
        self._known: dict[str, Made] = {}
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes() if path.is_file() else b""
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), 1):
            if not line:  # files of earlier checkouts have empty ones
                continue
            try:
                row = json.loads(line)
                key = row.pop("key")
                self._known[key] = made(row)
            except (ValueError, TypeError, LookupError, AttributeError) as error:
                raise InvalidValueError(f"{path}, line {number}: nothing that was kept: {error!r}") from error
        if whole < len(content):
            os.truncate(path, whole)

    def __len__(self) -> int:
        return len(self._known)

    @staticmethod
    def key_of(decides: object) -> str:
        """Return the key of what decides a value."""
        return hashlib.sha256(json.dumps(decides, default=repr).encode()).hexdigest()

    def get(self, key: str) -> Made | None:
        """Return what is kept under a key."""
        return self._known.get(key)

    def put(self, key: str, value: Made, row: Mapping[str, Any]) -> None:
        """Keep a value. row: the object of which it is made again."""
        self._known[key] = value
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, **row}) + "\n")


class ReplyCache:
    """A ChatModel that asks another one once for each dialogue and form; a failure is not kept.

    path: see KeptLines. mark: what decides the replies besides the dialogue (`mark_of`). Only for models without
    randomness.
    """

    def __init__(self, model: ChatModel, path: Path, mark: str) -> None:
        self._model = model
        self._mark = mark
        self._replies = KeptLines(path, TypeAdapter(Reply).validate_python)

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
        key = self._replies.key_of(asked)
        found = self._replies.get(key)
        if found is None:
            found = self._model.reply(messages, deadline, form)
            self._replies.put(key, found, dataclasses.asdict(found))
        for line in found.text.splitlines():
            on_line(line)
        return found


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
