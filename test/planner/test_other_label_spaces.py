"""Instructions are carried out in the classes of another label space, those of a user's own file included."""

from pathlib import Path

import pytest
from seeing_robot import SeeingRobot, executor

from memory_node.domain.ports import TextEmbedder
from memory_node.domain.states import ObjectState

S = ObjectState


@pytest.fixture
def coco_robot(word_embedder: TextEmbedder) -> SeeingRobot:
    return SeeingRobot("apartment", word_embedder, "coco")


@pytest.mark.parametrize(
    ("text", "thing", "place"),
    [
        ("put the apple in the refrigerator", "apple", "refrigerator"),
        ("bring me the apple", "apple", "person"),
        ("put the mug in the sink", "cup", "sink"),
    ],
)
def test_things_are_carried_to_where_coco_names_it(
    coco_robot, word_embedder, text: str, thing: str, place: str
) -> None:
    result = executor(coco_robot, word_embedder).execute(text)
    assert result.success, result.outcome.failures
    world = coco_robot.world
    assert any(world[one.parent_id].class_name == place for one in world.of_class(thing) if one.parent_id in world)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("wash the apple", ObjectState.CLEANED),
        ("chill the apple", ObjectState.COLD),
    ],
)
def test_things_are_treated_at_the_appliances_of_coco(coco_robot, word_embedder, text: str, state: ObjectState) -> None:
    result = executor(coco_robot, word_embedder).execute(text)
    assert result.success, result.outcome.failures
    assert state in coco_robot.world["apple"].states


def test_verb_and_class_of_a_users_file_are_understood_at_once(tmp_path: Path, word_embedder) -> None:
    space = tmp_path / "mine.yaml"
    space.write_text(
        "name: mine\nbase: household\n"
        "classes:\n  Butter: {names: [margarine]}\n"
        "treatments:\n  defrost: {skill: HeatObject, verbs: [defrost, thaw], at: [Oven]}\n"
    )
    robot = SeeingRobot("apartment", word_embedder, str(space))
    result = executor(robot, word_embedder).execute("thaw the margarine")
    assert result.success, result.outcome.failures
    heated = [step.step.call.arguments for step in result.steps if step.step.call.skill == "HeatObject"]
    assert [robot.world[place].class_name if place in robot.world else place[:4] for _, place in heated] == ["Oven"]
