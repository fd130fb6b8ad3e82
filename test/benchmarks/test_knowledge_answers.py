"""Exact match and F1 of a model's answers, at an endpoint and from a cache."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_bench_knowledge import PASSAGES, written

from benchmarks.knowledge_answers import best_score
from benchmarks.reply_cache import ReplyCache
from memory_node.cli import main
from memory_node.llm.chat import Message, Reply, ToolCall

MEMORIES = ["no-memory", "random-nodes", "raw-chunks", "no-reasoning", "knowledge", "gold"]


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


@pytest.mark.parametrize(
    ("said", "answers", "expected"),
    [
        ("The Zadar.", ["Zadar"], (1.0, 1.0)),
        ("in Zadar", ["Zadar"], (0.0, 2 / 3)),
        ("Rome", ["Zadar", "rome"], (1.0, 1.0)),
        ("", ["Zadar"], (0.0, 0.0)),
        ("Split", ["Zadar"], (0.0, 0.0)),
    ],
)
def test_answers_are_compared_as_squad_does(said: str, answers: list[str], expected: tuple[float, float]) -> None:
    assert best_score(said, answers) == pytest.approx(expected)


def test_endpoint_answers_with_each_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], endpoint: Callable[..., Any]
) -> None:
    pytest.importorskip("onnx")
    server = endpoint("Rome", "Rome", "He lives in Zadar", "Zadar\nbecause", "The Zadar.", "Zadar")
    data, cache = str(written(tmp_path, PASSAGES)), str(tmp_path / "replies.jsonl")
    command = ["bench", "knowledge", "--data", data, "--json", "--answers", "--endpoint", server.url, "--model", "m"]
    rows = []
    for _ in range(2):  # the second time without a request: the server has no reply left
        assert main([*command, "--cache", cache]) == 0
        rows.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    assert [row["memory"] for row in rows[0]] == MEMORIES
    assert [row["exact_match"] for row in rows[0]] == [0, 0, 0, 1, 1, 1]
    assert [row["f1"] for row in rows[0]] == pytest.approx([0, 0, 0.4, 1, 1, 1])
    assert all(row["failed"] == 0 and row["questions"] == 1 for row in rows[0])
    assert [row["f1"] for row in rows[1]] == [row["f1"] for row in rows[0]]
    assert len(server.requests) == len(MEMORIES)
    assert "Ivo Quill lives in Zadar" in server.prompts()
    assert "Known" not in server.requests[0]["messages"][-1]["content"]


def test_question_that_the_model_fails_at_counts_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], endpoint: Callable[..., Any]
) -> None:
    pytest.importorskip("onnx")
    server = endpoint(*[404] * len(MEMORIES))
    data = str(written(tmp_path, PASSAGES))
    assert main(["bench", "knowledge", "--data", data, "--json", "--answers", "--endpoint", server.url]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["failed"], row["exact_match"], row["f1"]) for row in rows] == [(1, 0.0, 0.0)] * len(MEMORIES)


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
