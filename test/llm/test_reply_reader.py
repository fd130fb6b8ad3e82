import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_node.llm.reply_reader import BROKEN, answer_in, json_values, last_block, repaired_json, strict_json

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
