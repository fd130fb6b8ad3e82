"""Replies of a model that a file keeps."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.reply_cache import ReplyCache, open_shelf
from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import Message, Reply, ToolCall
from memory_node.llm.config import ModelConfig


class Talker:
    """Replies with a number that grows."""

    name = "talker"

    def __init__(self, *calls: ToolCall) -> None:
        self.asked, self.calls = 0, calls

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def reply(self, *_: Any, **__: Any) -> Reply:
        self.asked += 1
        return Reply(f"reply {self.asked}\nand more", 3, 2, tool_calls=self.calls)


def test_cache_outlives_a_torn_line_and_asks_only_what_is_new(tmp_path: Path) -> None:
    path, model = tmp_path / "replies.jsonl", Talker(ToolCall("look", {"at": ["mug"]}, "1"))
    first = (Message("user", "one"),)
    said = ReplyCache(model, path, "m").reply(first)
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"key": "torn')
    again, lines = ReplyCache(model, path, "m"), list[str]()
    assert again.reply(first, on_line=lines.append) == said
    assert lines == ["reply 1", "and more"]
    assert again.reply((Message("user", "two"),)).text.startswith("reply 2")
    assert ReplyCache(model, path, "m").reply((Message("user", "two"),)).text.startswith("reply 2")
    assert model.asked == 2
    assert ReplyCache(model, path, "with other weights").reply(first).text.startswith("reply 3")


def test_file_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path, content = tmp_path / "games.jsonl", '{"task": "put a mug in sink.", "won": true}\n{"task": '
    path.write_text(content)
    with pytest.raises(InvalidValueError, match=r"games\.jsonl, line 1"):
        ReplyCache(Talker(), path, "m")
    assert path.read_text() == content


def test_model_of_a_shelf_is_asked_once_by_all_runs(tmp_path: Path, endpoint: Any) -> None:
    server = endpoint("one", "another")
    for model, said in (("m", "one"), ("m", "one"), ("n", "another")):
        shelf = open_shelf(tmp_path / "deep" / "lessons.jsonl")
        opened = shelf.open(ModelConfig(base_url=server.url, model=model))
        assert opened.reply((Message("user", "what did you learn?"),)).text == said
    assert len(server.requests) == 2
