"""Options that leave parts of experience out."""

import argparse

import pytest

from benchmarks.household import add_experience_arguments, experience_config
from memory_node.domain.errors import InvalidValueError
from memory_node.lessons.config import ExperienceConfig


def config_of(*options: str) -> ExperienceConfig:
    parser = argparse.ArgumentParser()
    add_experience_arguments(parser)
    return experience_config(parser.parse_args(options))


def test_defaults_are_the_products() -> None:
    assert config_of() == ExperienceConfig()


def test_parts_are_left_out() -> None:
    config = config_of("--working-memory", "3", "--top-k", "1", "--without-graphs", "rooms", "actions")
    assert (config.window, config.top_k) == (3, 1)
    assert config.graphs == {"relations", "trajectories"}


def test_a_window_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="window"):
        config_of("--working-memory", "0")
