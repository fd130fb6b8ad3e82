from typing import Any

import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.lessons.config import ExperienceConfig


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
