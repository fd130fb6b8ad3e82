from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field

from memory_node.llm.chat import RejectedReplyError
from memory_node.llm.reply_reader import read_json


class Fruit(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    ripe: Annotated[float, Field(ge=0.0, le=1.0)]


@pytest.mark.parametrize("wrap", ["{}", "Sure!\n```json\n{}\n```\nDone.", "a {{ brace }} first {}"])
def test_object_is_found_in_words_around_it(wrap: str) -> None:
    assert read_json(Fruit, wrap.replace("{}", '{"name": "apple", "ripe": 0.5}')) == Fruit(name="apple", ripe=0.5)


@pytest.mark.parametrize(
    ("text", "reason", "said"),
    [
        ("", "not_json", "expected a JSON object"),
        ("[1, 2]", "not_json", "expected a JSON object"),
        ('{"name": "apple", "ripe": NaN}', "schema", "ripe: Input should be a valid number"),
        ('{"name": "apple"}', "schema", "ripe: Field required"),
        ('{"name": "apple", "ripe": 3.0}', "schema", "ripe: Input should be less than or equal to 1"),
        ('{"name": 7, "ripe": 0.5, "colour": "red"}', "schema", "name: Input should be a valid string; colour"),
    ],
)
def test_what_is_wrong_is_told_precisely(text: str, reason: str, said: str) -> None:
    with pytest.raises(RejectedReplyError, match=said) as caught:
        read_json(Fruit, text)
    assert caught.value.reason == reason


def test_deeply_nested_text_ends() -> None:
    with pytest.raises(RejectedReplyError, match="not_json"):
        read_json(Fruit, '{"a":' * 5000)


def test_last_object_counts_and_no_draft_takes_the_place_of_a_faulty_one() -> None:
    good, bad = '{"name": "apple", "ripe": 0.5}', '{"name": "pear", "ripe": 7}'
    assert read_json(Fruit, f"{bad} no: {good} {{}}").name == "apple"
    with pytest.raises(RejectedReplyError, match="ripe"):
        read_json(Fruit, f"{good} no: {bad}")
    with pytest.raises(RejectedReplyError, match="not_json"):
        read_json(Fruit, f'{good} no: {{"name": "pe')
