"""Which classes the names in a text stand for."""

import pytest

from memory_node.catalogue.label_space import load_catalogue


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("Slice an apple with a butter knife.", ["Apple", "ButterKnife"]),
        ("butter, knife", ["Butter", "Knife"]),
        ("Put the spray bottle beside the table lamp", ["SprayBottle", "DeskLamp"]),
        ("Put the mugs in the sink, then the mug", ["Mug", "SinkBasin", "Mug"]),
        ("come here", []),
        ("where is the switch on the wall", ["LightSwitch"]),
        ("switch on the lamp and find a switch", ["DeskLamp", "LightSwitch"]),
    ],
)
def test_name_within_a_longer_one_names_nothing(text: str, classes: list[str]) -> None:
    assert [names[0] for names in load_catalogue().spoken_names.named_in(text)] == classes
