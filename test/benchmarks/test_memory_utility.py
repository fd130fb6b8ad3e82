"""The measures of what a memory is worth, against figures worked out by hand."""

import json
import math
from pathlib import Path

import pytest
from knowledge_doubles import BagOfWords

from benchmarks.knowledge_answered import answered_rows
from benchmarks.knowledge_cases import load_dataset
from benchmarks.knowledge_readers import ModelReader, RuleReader
from benchmarks.knowledge_utility import answer_f1, cases_of, utility_rows
from benchmarks.likelihood import Score
from benchmarks.memory_utility import Answered, density_of, epsilon_of, pmi_of
from memory_node.llm.chat import Message, Reply

BETTER = Answered(base=0.1, with_memory=0.4, tokens=20)


def test_pmi_is_the_bits_towards_the_right_answer() -> None:
    assert pmi_of(BETTER, epsilon=0.1) == pytest.approx(math.log2(0.5 / 0.2))


def test_epsilon_is_a_hundredth_of_the_mean_without_memory() -> None:
    other = Answered(0.3, 0.3, 5)
    assert epsilon_of([BETTER, other]) == pytest.approx(0.002)
    assert epsilon_of([Answered(0.0, 1.0, 5)]) == 0.01


def test_density_leaves_out_what_was_known_anyway_and_empty_memories() -> None:
    known = Answered(0.85, 0.1, 1000)
    empty = Answered(0.1, 0.1, 0)
    assert density_of([BETTER, known, empty], 0.0) == pytest.approx(2.0 / 20)
    assert density_of([known], 0.0) is None


def test_f1_counts_words_that_both_have() -> None:
    assert answer_f1("the city of Zadar", "Zadar") == pytest.approx(0.4)
    assert answer_f1("Split", "Zadar") == 0.0


def test_rules_choose_the_candidate_that_stands_beside_the_questions_words() -> None:
    reader = RuleReader()
    question, candidates = "Where does Ivo Quill live?", ["Zadar", "Split", "Rome"]
    assert reader.probabilities(question, [], candidates) == pytest.approx([1 / 3] * 3)
    found = reader.probabilities(question, ["Ivo Quill lives in Zadar.", "Split is a town."], candidates)
    assert found.argmax() == 0
    assert found[1] > found[2]
    assert found.sum() == pytest.approx(1.0)


def test_model_reads_by_the_mean_likelihood_of_a_token() -> None:
    class Scoring:
        name = "scoring"

        def scores(self, messages: tuple[Message, ...], candidates: tuple[str, ...], deadline: object) -> list[Score]:
            assert "Zadar is old" in messages[-1].text
            return [Score(candidates[0], -6.0, 3), Score(candidates[1], -3.0, 1)]

    found = ModelReader(Scoring()).probabilities("Where?", ["Zadar is old"], ["a b c", "d"])  # type: ignore[arg-type]
    assert found == pytest.approx([1 / (1 + math.exp(-1)), 1 - 1 / (1 + math.exp(-1))])


FILE = {
    "name": "small",
    "questions": [
        {"question": "Where does the author of Red Harvest live?", "answers": ["Zadar"], "gold": [0, 2]},
        {"question": "Is Ivo Quill an author?", "answers": ["yes"], "gold": [0]},
    ],
    "passages": [
        {"title": "Red Harvest", "text": "Red Harvest is a novel by Ivo Quill."},
        {"title": "Weather", "text": "Rain falls in autumn."},
        {"title": "Ivo Quill", "text": "Ivo Quill lives in Zadar. He has a dog."},
        {"title": "Apples", "text": "Farmers of Split live where apples grow."},
    ],
}


def test_rows_compare_memories_over_budgets(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(FILE))
    dataset = load_dataset(path)
    cases = list(cases_of(dataset.collections[0], 0))
    assert [case.candidates[0] for case in cases] == ["Zadar", "yes"]
    assert "zadar" not in cases[0].candidates[1:]
    assert cases[1].candidates == ("yes", "no")
    rows = list(utility_rows(dataset, BagOfWords(), RuleReader(), (16, 64), 0))
    by_name = {(row.memory, row.budget, row.p): row for row in rows}
    assert len(rows) == len(by_name) == 6 * 2 * 2
    assert by_name["no-memory", 64, "score"].empty == 2
    assert by_name["no-memory", 64, "score"].density is None
    gold = by_name["gold", 64, "likelihood"]
    assert (gold.p_memory or 0.0) > (gold.p_base or 0.0)
    assert (gold.density or 0.0) > 0.0
    assert (by_name["gold", 16, "score"].tokens or 99.0) <= 16.0


class Reader:
    """Answers the first question as statements of its prompt allow."""

    name = "reader"

    def reply(self, messages: tuple[Message, ...], *_: object) -> Reply:
        asked = messages[-1].text
        if '"mode"' in asked:
            return Reply('{"mode": "semantic"}', 1, 1)
        if '"enough"' in asked:
            return Reply('{"enough": true}', 1, 1)
        lives = next((line for line in asked.splitlines() if "lives in Zadar" in line), "")
        if '"uses"' in asked:
            uses = [int(lives.partition(".")[0])] if lives else []
            return Reply(json.dumps({"answer": "The author lives in Zadar." if uses else "", "uses": uses}), 1, 1)
        return Reply("Zadar" if lives else "unknown", 1, 1)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


def test_what_a_reader_answers_is_compared_over_the_modules_of_knowledge(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps({**FILE, "questions": FILE["questions"][:1]}))
    rows = list(answered_rows(load_dataset(path), BagOfWords(), Reader(), 1, 0, 10.0))  # type: ignore[arg-type]
    by_name = {row.memory: row for row in rows}
    assert set(by_name) == {"knowledge", "no-structuring", "no-retrieval", "no-reasoning"}
    full, plain = by_name["knowledge"], by_name["no-reasoning"]
    assert (full.p_base, full.p_memory, plain.p_memory) == (0.0, 1.0, 1.0)
    assert (full.tokens or 0) < (plain.tokens or 0)
    assert (full.density or 0.0) > (plain.density or 0.0) > 0.0
