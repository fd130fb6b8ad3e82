import pytest

from memory_node.context.ways import Subgoal


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
