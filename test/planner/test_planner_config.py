"""config/planner.yaml and the code agree; wrong values are refused."""

import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.planner.planner_config import LlmConfig, PlannerConfig


def test_shipped_file_gives_the_defaults() -> None:
    assert PlannerConfig.load() == PlannerConfig()


@pytest.mark.parametrize(
    "text", ["llm: {temprature: 1}", "online: {}", "llm: {timeout_s: -1}", "llm: {max_repairs: many}"]
)
def test_wrong_entry_is_refused(tmp_path, text: str) -> None:
    path = tmp_path / "planner.yaml"
    path.write_text(text)
    with pytest.raises(InvalidValueError):
        PlannerConfig.load(path)


def test_file_may_change_one_value(tmp_path) -> None:
    path = tmp_path / "planner.yaml"
    path.write_text("llm: {model: local}")
    assert PlannerConfig.load(path).llm == LlmConfig(model="local")
