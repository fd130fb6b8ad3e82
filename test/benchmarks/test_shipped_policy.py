"""The adapter that comes with a checkout: who gets it, and what it is."""

from benchmarks.alfworld.policy import ADAPTER, with_shipped_adapter
from memory_node.planner.planner_config import LlmConfig


def test_embedded_model_without_an_adapter_gets_the_shipped_one() -> None:
    assert with_shipped_adapter(LlmConfig()).adapter_path == str(ADAPTER)
    own = LlmConfig(base_url="http://localhost:1/v1"), LlmConfig(model_path="m.gguf"), LlmConfig(adapter_path="a.gguf")
    for config in own:
        assert with_shipped_adapter(config) == config


def test_adapter_is_small_and_has_a_card() -> None:
    assert ADAPTER.read_bytes()[:4] == b"GGUF"
    assert ADAPTER.stat().st_size <= 10_000_000
    assert "Recipe" in ADAPTER.with_name("executor_card.md").read_text(encoding="utf-8")
