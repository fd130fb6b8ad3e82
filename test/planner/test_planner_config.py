"""The planners' parameters: one value may be changed, wrong ones are refused."""

import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.planner.planner_config import LlmConfig, PlannerConfig


@pytest.mark.parametrize(
    ("name", "value"),
    [("llm.temprature", 1.0), ("online", {}), ("llm.timeout_s", -1.0), ("expert.llm.max_repairs", "many")],
)
def test_wrong_entry_is_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidValueError, match=name):
        PlannerConfig.of({name: value})


def test_one_value_may_be_changed() -> None:
    assert PlannerConfig.of({"llm": {"model": "local"}}).llm == LlmConfig(model="local")


def test_small_window_leaves_room_for_the_steps() -> None:
    assert LlmConfig(base_url="http://127.0.0.1:9/v1").context_budget == 2000
    assert LlmConfig(window_tokens=2048).context_budget == 512
    assert LlmConfig(context_tokens=100).context_budget == 100
