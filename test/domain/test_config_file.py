"""A config file that does not fit is refused with the name of what does not."""

import pytest

from memory_node.domain.config_file import config_from
from memory_node.domain.errors import InvalidValueError
from memory_node.experience.config import ExperienceConfig
from memory_node.perception.config import PerceptionConfig, SegmentationConfig
from memory_node.planner.planner_config import PlannerConfig
from memory_node.planner.stand_off_poses import StandOffConfig
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.search.config import RetrievalConfig
from memory_node.short_term.config import ShortTermConfig
from memory_node.store.config import StoreConfig

FLAT = (ExperienceConfig, RetrievalConfig, ShortTermConfig)
IN_SECTIONS = {
    "perception": PerceptionConfig,
    "segmentation": SegmentationConfig,
    "llm": PlannerConfig,
    "scene_graph": SceneGraphConfig,
    "store": StoreConfig,
}


@pytest.mark.parametrize("kind", [*FLAT, *IN_SECTIONS.values()])
@pytest.mark.parametrize("text", ["unheard_of: 1", "- a list", "just words"])
def test_file_with_an_unknown_key_or_none_is_refused(kind, text, tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(InvalidValueError, match=r"unheard_of|expected keys with values"):
        kind.load(path)


@pytest.mark.parametrize("section", IN_SECTIONS)
def test_section_with_an_unknown_key_is_refused(section, tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(f"{section}: {{unheard_of: 1}}")
    with pytest.raises(InvalidValueError, match=f"{section}: unknown key.s. unheard_of; known are "):
        IN_SECTIONS[section].load(path)


def test_list_becomes_what_the_field_holds():
    assert config_from(ExperienceConfig, {"parts": ["working"]}, "here").parts == frozenset({"working"})
    assert config_from(StandOffConfig, {"reach_m": [0.1, 0.2, 0.3]}, "here").reach_m == (0.1, 0.2, 0.3)


def test_value_of_a_wrong_type_names_the_file(tmp_path):
    path = tmp_path / "short_term.yaml"
    path.write_text("capacity: many")
    with pytest.raises(InvalidValueError, match=r"short_term\.yaml"):
        ShortTermConfig.load(path)
