"""`memory-node llm check`."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from memory_node.cli import main
from memory_node.llm.open_model import ModelShelf


def test_check_says_model_context_speed_and_answers(shelf: ModelShelf, capsys: pytest.CaptureFixture[str]) -> None:
    # `shelf` skips where the embedded model is not installed.
    question = "What is the capital of France? Answer in one word."
    options = ["--json", "--window", "1024", "--threads", "1", "--ask", question, "--timeout", "100"]
    assert main(["llm", "check", *options]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["context_tokens"] == 1024
    assert row["file"].endswith(".gguf")
    assert row["tokens_in_per_s"] > 0
    assert row["tokens_out_per_s"] > 0
    assert "Paris" in row["answer"]


def test_check_of_an_endpoint_asks_it(endpoint: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    server = endpoint(*["word word word"] * 20)
    assert main(["llm", "check", "--json", "--endpoint", server.url, "--model", "m", "--ask", "Are you there?"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["model"], row["endpoint"]) == ("m at 127.0.0.1", server.url)
    assert row["answer"] == "word word word"
    assert "Are you there?" in server.prompts()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--model", "/nowhere/model.gguf"], "/nowhere/model.gguf is no file"),
        (["--endpoint", "http://127.0.0.1:9/v1", "--timeout", "2"], "127.0.0.1"),
        (["--endpoint", "localhost"], "http://localhost:8000/v1"),
    ],
)
def test_check_of_a_model_that_is_not_there_fails_with_the_reason(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["llm", "check", *options]) == 1
    assert said in capsys.readouterr().err
