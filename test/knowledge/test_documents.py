"""How files are read."""

import json
from pathlib import Path

import pytest

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.knowledge.documents import ReadCounts, read_document
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.text import stamp_of


def read(path: Path, counts: ReadCounts | None = None) -> list[StandardStep]:
    return list(read_document(path, counts or ReadCounts()))


def test_paragraphs_of_a_text_are_units(tmp_path: Path) -> None:
    (tmp_path / "my_notes.txt").write_text("One. Two.\n\n\nThree.\n")
    steps = read(tmp_path / "my_notes.txt")
    assert [step.observation for step in steps] == ["One. Two.", "Three."]
    assert {step.subject for step in steps} == {"my notes"}
    assert [step.index for step in steps] == [0, 1]


def test_asterisk_of_a_product_is_no_markup(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("* A block has `64 * 1024` bytes.\n\nIt is **2*3** *metres* long.\n")
    texts = [step.observation for step in read_document(path, ReadCounts())]
    assert [" ".join(text.split()) for text in texts] == ["A block has 64 * 1024 bytes.", "It is 2*3 metres long."]


def test_headings_of_markdown_are_subjects_and_markup_goes(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# The *mug*\nIt is **blue**, see [here](http://x) and `some_name`.\n## Key\n> Lost.\n"
    )
    assert [(step.subject, step.observation) for step in read(tmp_path / "a.md")] == [
        ("The mug", "It is blue, see here and some_name."),
        ("Key", "Lost."),
    ]


def test_broken_encoding_is_counted_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Good \xff\xfe text.\n\nMore\x00 here.\n")
    counts = ReadCounts()
    assert [step.observation for step in read(tmp_path / "a.txt", counts)] == ["Good text.", "More here."]
    assert (counts.broken, counts.units) == (3, 2)


def test_half_a_character_of_json_is_counted_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(r'["Good \ud83d text.", "A \ud83d\ude00 and\u0000 more."]')
    counts = ReadCounts()
    assert [step.observation for step in read(tmp_path / "a.json", counts)] == ["Good text.", "A \U0001f600 and more."]
    assert (counts.broken, counts.units) == (2, 2)


def test_same_file_gives_the_same_sources_and_another_one_others(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("One.\n\nTwo.")
    first = read(path)
    assert read(path) == first
    path.write_text("One.\n\nThree.")
    assert read(path)[0].source != first[0].source


def test_file_without_empty_lines_is_read_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("A sentence of some words. " * 20_000)
    sizes: list[int] = []
    steps = list(read_document(path, ReadCounts(), on_bytes=sizes.append))
    assert sum(sizes) == path.stat().st_size
    assert max(len(step.observation) for step in steps) < 1000
    assert sum(step.observation.count("sentence") for step in steps) == 20_000


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["One.", "Two."], [("", "One."), ("", "Two.")]),
        ({"passages": [{"title": "T", "text": "One."}]}, [("T", "One.")]),
        (
            {"sessions": [{"at": "8 May 2023", "turns": [{"speaker": "Ann", "text": "Hi.", "image": "a cat"}]}]},
            [("Ann", "Hi. [a cat]")],
        ),
        ({"turns": [{"speaker": "Ann", "text": "Hi."}]}, [("Ann", "Hi.")]),
    ],
)
def test_json_of_passages_and_talks(tmp_path: Path, values: object, expected: list[tuple[str, str]]) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(values))
    assert [(step.subject, step.action or step.observation) for step in read(path)] == expected


@pytest.mark.parametrize(
    "text",
    [
        *("{", '"text"', '{"other": 1}', "[1]", "3", '{"passages": "One."}', '{"passages": {"One.": "Two."}}'),
        '{"passages": [{"title": 1, "text": "x"}]}',
    ],
)
def test_json_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InvalidValueError, match=r"a\.json"):
        read(tmp_path / "a.json")


def test_other_endings_and_missing_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    with pytest.raises(InvalidValueError, match=r"\.txt"):
        read(tmp_path / "a.pdf")
    with pytest.raises(NotFoundError):
        read(tmp_path / "b.txt")


def test_json_part_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(["Ä word. " * 60_000, "The end."], ensure_ascii=False), encoding="utf-8")
    counts = ReadCounts()
    steps = list(read_document(path, counts))
    assert steps[-1].observation == "The end."
    assert counts.broken == 0


def test_json_with_a_fault_is_refused_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'["The first part.", "Broken \xff byte.", oops]')
    counts = ReadCounts()
    with pytest.raises(InvalidValueError, match="no JSON"):
        next(read_document(path, counts))
    assert counts.broken == 1


def test_day_of_a_talk_may_stand_behind_its_turns(tmp_path: Path) -> None:
    turns = [{"speaker": "Bea", "text": "I moved yesterday."}]
    (tmp_path / "a.json").write_text(json.dumps({"turns": turns, "at": "8 May, 2023"}))
    (step,) = read_document(tmp_path / "a.json", ReadCounts())
    assert step.stamp_ns == stamp_of("8 May, 2023")


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("The vase is Ana's. It must never be moved.", [("owned", "vase"), ("never", "vase")]),
        ("The plates are Ben's. Nobody may wash them.", [("owned", "plates"), ("never", "plates")]),
        ("The vase is Ana's. It was a gift. Never put it in the sink.", [("owned", "vase"), ("never", "vase")]),
        ("Otto is our guest. He must not have nuts.", [("avoids", "Otto")]),
        ("The vase is Ana's. The laptop is old, so nobody may touch it.", [("owned", "vase"), ("never", "laptop")]),
        ("The vase is old. It is raining. The laptop must stay closed.", [("never", "laptop")]),
    ],
)
def test_rule_of_a_document_binds_over_several_sentences_and_keeps_its_words(
    graph: KnowledgeGraph, tmp_path: Path, rule: str, expected: list[tuple[str, str]]
) -> None:
    (tmp_path / "house.txt").write_text(f"{rule}\n")
    graph.add(read(tmp_path / "house.txt"))
    assert [(fact.relation, fact.subject.words) for fact in graph.facts()] == expected
    assert " ".join(one.statement for one in graph.propositions()) == rule


def test_it_at_the_beginning_of_a_paragraph_is_nothing_of_the_one_before(graph: KnowledgeGraph, tmp_path: Path) -> None:
    (tmp_path / "house.txt").write_text("The vase is Ana's.\n\nIt must never be moved.\n")
    graph.add(read(tmp_path / "house.txt"))
    assert [str(fact.relation) for fact in graph.facts()] == ["owned"]
