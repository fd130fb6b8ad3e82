from typing import Any

import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.lessons.config import ExperienceConfig


def test_defaults_are_those_that_brainmem_names() -> None:
    config = ExperienceConfig()
    assert (config.window, config.active_guidelines, config.prune_factor, config.top_k) == (5, 20, 1.5, 2)
    assert (config.protected_confidence, config.protected_successes) == (0.8, 5)
    assert (config.confidence_weight, config.usage_weight, config.usage_full) == (0.7, 0.3, 10)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"window": 0}, "window"),
        ({"top_k": 0}, "top_k"),
        ({"expert.parts": ["telepathic"]}, "telepathic"),
    ],
)
def test_impossible_setting_is_refused_by_name(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        ExperienceConfig.of(wrong)
