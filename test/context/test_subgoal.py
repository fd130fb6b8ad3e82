import pytest

from memory_node.context.subgoal import Subgoal
from memory_node.domain.skill import SkillCall


@pytest.mark.parametrize(
    ("text", "subgoal"),
    [
        ("heat Mug to Fridge", Subgoal("heat", "Mug", "Fridge")),
        ("place_two 2 x SaltShaker to Cabinet", Subgoal("place_two", "SaltShaker", "Cabinet")),
        ("stack sliced Apple in Pot to Fridge", Subgoal("stack", "Apple", "Fridge", "Pot")),
        ("examine KeyChain with FloorLamp", Subgoal("examine", "KeyChain", light="FloorLamp")),
        ("go kitchen", Subgoal("go")),
        ("", Subgoal("")),
    ],
)
def test_parts(text: str, subgoal: Subgoal) -> None:
    assert Subgoal.parse(text) == subgoal


def test_usual_arguments() -> None:
    stack = Subgoal.parse("stack Fork in Mug to Shelf")
    assert stack.filled("PutObject", True) == SkillCall("PutObject", ("Mug", "Shelf"))
    assert stack.filled("GoToObject", False) == SkillCall("GoToObject", ("Fork",))
    assert Subgoal.parse("fetch Mug").filled("PutObject", True) is None
