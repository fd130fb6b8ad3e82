"""Replies as models write them: their answers, and what their JSON says by a schema."""

from __future__ import annotations

import json
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from memory_node.llm.chat import RejectedReplyError
from memory_node.llm.reply_reader import (
    BROKEN,
    answer_in,
    json_values,
    last_block,
    read_json,
    repaired_json,
    strict_json,
)

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>a</think>b", "b"),
        ("<THINKING>\na\n</THINKING>\nb", "b"),
        ("◁think▷a◁/think▷b", "b"),
        ("a</think>b", "b"),
        ("b<think>a", "b"),
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "b"),
        ("b<|im_end|>", "b"),
    ],
)
def test_reasoning_and_marks_are_taken_off(text: str, answer: str) -> None:
    assert answer_in(text) == answer


def test_last_fenced_block_is_the_answer() -> None:
    assert last_block("```\nbreak it\n```\nno:\n```python\nput it\n```\n") == "put it\n"


@given(st.dictionaries(st.text(max_size=5), _VALUES, max_size=4))
def test_valid_json_is_never_changed(value: dict[str, object]) -> None:
    text = json.dumps(value)
    assert json_values(f"so: {text} .") == [value]
    assert answer_in(text) == text


@pytest.mark.parametrize("text", ['{"a": "put the kni', '{"a": 1', '{"a": [1, 2}', '{"a": "b" // sure\n, "c": NaN}'])
def test_what_is_cut_off_or_would_lose_a_word_stays_broken(text: str) -> None:
    assert all(value is BROKEN for value in json_values(text))


def test_inner_object_of_a_broken_one_is_no_answer() -> None:
    assert json_values('{"goal": {"kind": "break"}, "because" the') == [BROKEN]


@given(st.text(alphabet="{}[]'\",:\\ abTrue1\n", max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    json_values(text)
    repaired_json(text)
    assert strict_json("NaN") is BROKEN


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
