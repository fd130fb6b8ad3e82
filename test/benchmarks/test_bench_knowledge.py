"""The figures of `bench knowledge`, on a small file of each format."""

import json
from pathlib import Path

import pytest

from benchmarks.knowledge_cases import load_dataset
from memory_node.domain.errors import InvalidValueError

PASSAGES = {
    "name": "small",
    "questions": [{"question": "Where does the author of Red Harvest live?", "answers": ["Zadar"], "gold": [0, 2]}],
    "passages": [
        {"title": "Red Harvest", "text": "Red Harvest is a novel by Ivo Quill."},
        {"title": "Weather", "text": "Rain falls in autumn."},
        {"title": "Ivo Quill", "text": "Ivo Quill lives in Zadar. He has a dog."},
        {"title": "Apples", "text": "Farmers live where red apples grow."},
    ],
}
TALK = {
    "conversations": [
        {
            "id": "c",
            "sessions": [
                {
                    "at": "1:00 pm on 8 May, 2023",
                    "turns": [
                        {"id": "D1:1", "speaker": "Ann", "text": "Hi! How are you?"},
                        {
                            "id": "D1:2",
                            "speaker": "Ben",
                            "text": "I bought a red bicycle yesterday.",
                            "image": "a bike",
                        },
                        {"id": "D1:3", "speaker": "Ann", "text": "Lovely. I baked bread."},
                    ],
                }
            ],
            "questions": [
                {
                    "question": "When did Ben buy a bicycle?",
                    "answer": "7 May",
                    "evidence": ["D1:2; D9:9"],
                    "category": 2,
                },
                {"question": "What did Ben never say?", "answer": "no", "evidence": ["D1:2"], "category": 5},
                {"question": "What is without evidence?", "answer": "no", "evidence": [], "category": 1},
            ],
        }
    ]
}


def written(folder: Path, values: object) -> Path:
    path = folder / "data.json"
    path.write_text(json.dumps(values))
    return path


def test_rows_of_passages_have_the_columns(tmp_path: Path, rows_of) -> None:
    methods = ("bm25", "dense", "fused", "knowledge", "knowledge-one-hop")
    printed = rows_of("knowledge", "--data", str(written(tmp_path, PASSAGES)), "--methods", *methods)
    rows = {row["method"]: row for row in printed}
    assert list(rows) == list(methods)
    columns = "dataset method questions passages recall_at_2 recall_at_5 recall_at_10 ms_p50 ms_p99 build_s nodes edges"
    assert list(rows["knowledge"]) == columns.split()
    assert rows["knowledge"]["recall_at_2"] == 1.0
    assert rows["knowledge"]["nodes"] > 4
    assert rows["knowledge-one-hop"]["recall_at_2"] == 0.5


def test_without_a_model_it_counts_where_the_answer_was_found(tmp_path: Path, rows_of) -> None:
    nowhere = {"question": "Where does the author of Red Harvest work?", "answers": ["Split"], "gold": [2]}
    path = written(tmp_path, {**PASSAGES, "questions": [*PASSAGES["questions"], nowhere]})
    rows = rows_of("knowledge", "--data", str(path), "--answered", "5")
    assert [(row["memory"], row["questions"], row["held"]) for row in rows[:2]] == [
        ("knowledge", 2, 0.5),
        ("no-structuring", 2, 0.5),
    ]


def test_talks_are_searched_turn_by_turn(tmp_path: Path, rows_of) -> None:
    (row,) = rows_of("knowledge", "--data", str(written(tmp_path, TALK)), "--methods", "knowledge")
    assert (row["dataset"], row["questions"], row["passages"]) == ("locomo", 1, 3)
    assert row["recall_at_2"] == 1.0


def test_evidence_in_one_text_and_unknown_turns_are_read(tmp_path: Path) -> None:
    (collection,) = load_dataset(written(tmp_path, TALK)).collections
    (question,) = collection.questions
    assert question.gold == {1}


def test_file_of_another_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="passages"):
        load_dataset(written(tmp_path, {"other": []}))
