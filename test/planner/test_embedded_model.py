"""Who gets brief prompts and the adapter for calls, and what is said where it is missing."""

from pathlib import Path

import pytest

from memory_node.domain.resources import readers_folder
from memory_node.planner import embedded_model
from memory_node.planner.embedded_model import ADAPTER, as_embedded_model_plans
from memory_node.planner.planner_config import LlmConfig


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(embedded_model, "readers_folder", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize("mode", ["auto", "rank"])
def test_embedded_model_that_chooses_calls_gets_the_adapter_and_brief_prompts(folder: Path, mode: str) -> None:
    (folder / ADAPTER).touch()
    config = as_embedded_model_plans(LlmConfig(mode=mode))
    assert config.adapter_path == str(folder / ADAPTER)
    assert config.brief


@pytest.mark.parametrize(
    "own",
    [
        {"household_adapter": False},
        {"mode": "plan", "model_path": "m.gguf"},
        {"mode": "plan", "base_url": "http://localhost:1/v1"},
        {"base_url": "http://localhost:1/v1"},
        {"model_path": "m.gguf"},
        {"adapter_path": "a.gguf"},
    ],
)
def test_every_other_model_stays_as_it_is(folder: Path, own: dict[str, object]) -> None:
    (folder / ADAPTER).touch()
    assert as_embedded_model_plans(LlmConfig(**own)) == LlmConfig(**own)


def test_embedded_model_that_writes_plans_gets_brief_prompts_alone(folder: Path) -> None:
    (folder / ADAPTER).touch()
    assert as_embedded_model_plans(LlmConfig(mode="plan")) == LlmConfig(mode="plan", brief=True)


def test_shipped_adapter_is_small() -> None:
    adapter = readers_folder() / ADAPTER
    assert adapter.read_bytes()[:4] == b"GGUF"
    assert adapter.stat().st_size <= 10_000_000


def test_missing_adapter_is_said_and_the_model_plans_without(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert as_embedded_model_plans(LlmConfig()) == LlmConfig()
    assert "without its adapter" in caplog.text
    assert "pip install ./readers" in caplog.text
