"""The form of a candidate: read strictly, or not at all."""

import pytest

from memory_node.lessons.optimizer.candidate import MOST_LETTERS, Candidate, read_candidate
from memory_node.llm.chat import RejectedReplyError

BLOCK = "<experience><value>words</value><operation>{}</operation></experience>"


@pytest.mark.parametrize(("operation", "replaces"), [("ADD", None), ("UPDATE 0", 0), ("UPDATE 2", 2)])
def test_analysis_and_one_block_are_read(operation: str, replaces: int | None) -> None:
    text = "It worked, because ...\n" + BLOCK.format(operation)
    assert read_candidate(text, 3) == Candidate("words", replaces)


@pytest.mark.parametrize("candidate", [Candidate("some words"), Candidate("some words", 2)])
def test_what_is_written_is_read_again(candidate: Candidate) -> None:
    assert read_candidate(candidate.text("why"), 3) == candidate


def test_spaces_and_lines_around_the_parts_do_not_count() -> None:
    text = "<experience>\n<value> two\n words </value>\n<operation> ADD </operation>\n</experience>\n"
    assert read_candidate(text, 0) == Candidate("two words")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "remember this",
        BLOCK.format("DELETE 0"),
        BLOCK.format("update 0"),
        BLOCK.format("UPDATE"),
        BLOCK.format("UPDATE -1"),
        BLOCK.format("UPDATE 00"),
        BLOCK.format("ADD") + " and more",
        BLOCK.format("ADD") * 2,
        BLOCK.format("ADD").replace("words", " "),
        BLOCK.format("ADD").replace("words", "a<value>b"),
        BLOCK.format("ADD").replace("words", "w" * (MOST_LETTERS + 1)),
        "<experience><operation>ADD</operation><value>words</value></experience>",
        "<value>words</value><operation>ADD</operation>",
    ],
)
def test_anything_else_breaks_the_format(text: str) -> None:
    with pytest.raises(RejectedReplyError) as refused:
        read_candidate(text, 3)
    assert refused.value.reason == "format"


@pytest.mark.parametrize("shown", [0, 2])
def test_entry_that_was_not_shown_cannot_be_replaced(shown: int) -> None:
    with pytest.raises(RejectedReplyError) as refused:
        read_candidate(BLOCK.format("UPDATE 2"), shown)
    assert refused.value.reason == "index"
