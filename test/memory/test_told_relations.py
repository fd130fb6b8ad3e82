"""What steps tell goes into the scene graph where it is news; what the graph knows around them goes into the steps."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.step import StepRecord
from memory_node.memory import RobotMemory
from memory_node.scene_graph.free_space import OccupancyMap

SECOND_NS = 1_000_000_000
See = Callable[..., Frame]


def furniture(name: str, x_m: float) -> ObjectObservation:
    return ObjectObservation({name: 0.9}, OrientedBox([x_m, 2.0, 0.4], [0.8, 0.8, 0.8]), np.eye(3) * 1e-4)


@pytest.fixture
def home(memory: RobotMemory, see: See) -> RobotMemory:
    """A cabinet at x = 0, a fridge at 3 and a table at 6; a mug on the floor; one episode, "e1", runs."""
    frame = see(1, Mug=(1.5, 0.0, 0.05))
    things = (furniture("Cabinet", 0.0), furniture("Fridge", 3.0), furniture("DiningTable", 6.0))
    memory.observe(replace(frame, observations=(*frame.observations, *things)))
    memory.episodes.start("put it away", "place", "e1")
    return memory


def step(action: str, *arguments: str, **told: object) -> StepRecord:
    done = StepRecord("e1", 0, SkillCall(action, arguments), True, FailureReason.NONE, 5 * SECOND_NS)
    return replace(done, **told)  # type: ignore[arg-type]


def known(memory: RobotMemory, name: str) -> list[SceneObject]:
    return [found for found in memory.scene().objects if found.class_name == name]


def place_of(memory: RobotMemory, name: str) -> str:
    (found,) = known(memory, name)
    support = [o.class_name for o in memory.scene().objects if o.id == found.support_id]
    return f"{'in' if found.inside else 'on'} {support[0]}" if support else found.support_id


def test_what_a_skill_changed_comes_in_by_its_report_alone(home: RobotMemory) -> None:
    (mug,), (table,) = known(home, "Mug"), known(home, "DiningTable")
    put = StateChange(mug.id, "Mug", 4 * SECOND_NS, held=False, support_id=table.id, position=(6.2, 2.1, 0.85))
    home.remember([put])
    version = home.scene().version
    home.episodes.record(step("PutObject", "Mug", "DiningTable"))
    home.episodes.record(step("PutObject", "Mug", "Fridge", index=1))
    assert home.scene().version == version
    assert place_of(home, "Mug") == "on DiningTable"


def test_unknown_thing_that_was_found_in_a_cabinet_is_remembered_there(home: RobotMemory) -> None:
    home.episodes.record(step("OpenObject", "Cabinet", relations=("Plate in Cabinet",)))
    assert place_of(home, "Plate") == "in Cabinet"
    (plate,) = known(home, "Plate")
    assert plate.provenance == "episode"


def test_relation_that_was_told_later_than_seen_wins_and_an_older_one_does_not(home: RobotMemory) -> None:
    home.episodes.record(step("GoToObject", "Cabinet", relations=("Mug in Cabinet",), stamp_ns=SECOND_NS // 2))
    assert place_of(home, "Mug") == ""
    home.episodes.record(step("GoToObject", "Cabinet", relations=("Mug in Cabinet",), index=1))
    assert place_of(home, "Mug") == "in Cabinet"


def test_what_could_be_several_things_or_is_held_or_unknown_changes_nothing(home: RobotMemory, see: See) -> None:
    home.observe(see(2, Mug=(4.5, 0.0, 0.05)))
    version = home.scene().version
    home.episodes.record(step("GoToObject", "Cabinet", relations=("Mug in Cabinet", "Fork in Nowhere", "nonsense")))
    home.episodes.record(step("GoToObject", "Sofa", index=1, held_object="Spoon", relations=("Spoon on DiningTable",)))
    assert home.scene().version == version


def test_the_only_one_in_reach_of_the_robot_is_meant(home: RobotMemory, see: See) -> None:
    home.observe(see(2, Mug=(4.5, 0.0, 0.05)))
    home.episodes.record(step("GoToObject", "Cabinet", relations=("Mug in Cabinet",), position=(1.0, 0.5, 0.0)))
    assert sorted(round(mug.box.center[0], 1) for mug in known(home, "Mug")) == [0.0, 4.5]


def test_told_relation_survives_a_restart(open_at: Callable[[], RobotMemory], home: RobotMemory) -> None:
    home.episodes.record(step("OpenObject", "Cabinet", relations=("Plate in Cabinet",)))
    home.close()
    assert place_of(open_at(), "Plate") == "in Cabinet"


def test_steps_get_the_key_objects_in_view_and_no_others(home: RobotMemory, see: See) -> None:
    home.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.1, Pose()), SECOND_NS)
    home.observe(see(2, Fork=(1.6, 0.0, 0.05), Spoon=(1.7, 0.0, 0.05)))
    home.episodes.record(step("GoToObject", "Fork"))
    home.episodes.record(step("PickupObject", "Mug", index=1))
    view = home.experience.working_memory("e1")
    first, second = view.window
    assert (first.visible, second.visible) == ((), ("Fork",))
    assert first.area == second.area != ""
