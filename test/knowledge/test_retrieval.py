"""How knowledge finds what answers: by words, by meaning, by links, two steps at a time."""

import numpy as np
import pytest
from knowledge_doubles import BagOfWords, ListedLog

from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.standard_step import Turn, document_steps, talk_steps
from memory_node.search.lexical_index import LexicalIndex

PASSAGES = {
    "The Hukilau Song": "The song was written by Jack Owens in 1948 after he attended a luau in Laie, Hawaii.",
    "Laie": "Laie is a place in the Koolauloa District on the island of Oahu.",
    "Oahu": "Oahu is an island with many beaches and hotels.",
    "Luau": "A luau is a party with food that is held on an island.",
    "Jane Doe": "Jane Doe wrote many songs about a district of a big city.",
    "Koolauloa": "The Koolauloa region was studied by geographers.",
}
QUESTION = "Who wrote a song after attending a luau in the Koolauloa District on the island of Oahu?"


def graph_of_passages() -> KnowledgeGraph:
    graph = KnowledgeGraph(BagOfWords(), ListedLog())
    for title, text in PASSAGES.items():
        graph.add(document_steps(title, title, [text]))
    return graph


def found(graph: KnowledgeGraph, question: str, k: int, hops: int) -> list[str]:
    return [hit.step.rpartition(":")[0] for hit in graph.search(question, k, hops)]


def test_second_hop_finds_what_the_first_names() -> None:
    assert set(found(graph_of_passages(), QUESTION, 2, hops=2)) == {"The Hukilau Song", "Laie"}


def test_step_that_no_channel_proposes_is_reached_by_its_link() -> None:
    graph = KnowledgeGraph(BagOfWords(), ListedLog(), KnowledgeConfig(channel=1))
    graph.add(document_steps("a", "Red Harvest", ["It was written by Ivo Quill."]))
    graph.add(document_steps("b", "Ivo Quill", ["He was born at Zadar."]))
    graph.add(document_steps("c", "Weather", ["Rain falls."]))
    assert found(graph, "red harvest written", 1, hops=1) == ["a"]
    assert set(found(graph, "red harvest written", 2, hops=2)) == {"a", "b"}


def test_what_a_step_says_beside_its_best_statement_is_found_before_other_steps() -> None:
    graph = graph_of_passages()
    graph.add(document_steps("Ivo", "Ivo Quill", ["He is a painter of the sea. At Zadar he was born."]))
    texts = [one.text for one in graph.find("Ivo Quill, the painter of the sea", 5)]
    assert texts[:2] == ["Ivo Quill: He is a painter of the sea.", "Ivo Quill: At Zadar he was born."]


@pytest.mark.parametrize(("titled", "lower"), [(True, False), (False, False), (True, True)])
def test_link_is_followed_in_texts_without_titles_or_capitals(titled: bool, lower: bool) -> None:
    graph = KnowledgeGraph(BagOfWords(), ListedLog(), KnowledgeConfig(channel=1))
    texts = {
        "Red Harvest": "Red Harvest was written by Ivo Quill.",
        "Ivo Quill": "Ivo Quill was born at Zadar.",
        "Weather": "Rain falls.",
    }
    for title, text in texts.items():
        name, said = (title.lower(), text.lower()) if lower else (title, text)
        graph.add(document_steps(title, name if titled else "", [said]))
    assert found(graph, "red harvest written", 1, hops=1) == ["Red Harvest"]
    assert set(found(graph, "red harvest written", 2, hops=2)) == {"Red Harvest", "Ivo Quill"}
    graph.forget("Red Harvest")
    graph.forget("Ivo Quill")
    assert found(graph, "rain", 2, hops=2) == ["Weather"]


def test_step_is_reached_by_a_rare_thing_that_both_mention() -> None:
    pages = {
        "a": "The valve of the heater sticks; turn it with the pliers from the red toolbox.",
        "b": "A red toolbox lies on top of the wardrobe.",
        "c": "On top of the fridge lies a cake.",
        "d": "The heater is warm.",
    }
    for weight, second in ((0.1, "b"), (0.0, "d")):
        graph = KnowledgeGraph(BagOfWords(), ListedLog(), KnowledgeConfig(concept_weight=weight))
        for name, text in pages.items():
            graph.add(document_steps(name, "", [text]))
        assert found(graph, "Where do I find the pliers for the valve of the heater?", 2, hops=2) == ["a", second]


def test_names_lead_to_the_last_of_three_hops_before_things_that_are_shared() -> None:
    pages = {
        "Ivo Kresk": "The watch of the teacher Ivo Kresk is kept in the Vessel Museum.",
        "Vessel Museum": "It was founded by the whaler Oda Finn.",
        "Oda Finn": "She lived at the cape.",
        "Puppets": "A heron is kept in a box.",
        "Bridges": "The teacher of engineers drew bridges.",
        "Clocks": "A watch is no clock.",
    }
    graph = KnowledgeGraph(BagOfWords(), ListedLog())
    for title, text in pages.items():
        graph.add(document_steps(title, title, [text]))
    question = "Where lived the founder of the museum that has the watch of Ivo Kresk?"
    assert found(graph, question, 3, hops=2) == ["Ivo Kresk", "Vessel Museum", "Oda Finn"]


def test_answer_stands_behind_its_question() -> None:
    graph = KnowledgeGraph(BagOfWords(), ListedLog())
    turns = [
        Turn("Ann", "Hello there!"),
        Turn("Bob", "Which instrument is being practised?"),
        Turn("Ann", "Clarinet, mostly."),
        Turn("Bob", "Nice weather."),
        Turn("Ann", "Bread was burnt."),
        Turn("Bob", "Trains were late."),
    ]
    graph.add(talk_steps("t", turns))
    steps = [hit.step for hit in graph.search("Which instrument does Ann practise?", 6)]
    assert steps.index("t:2") < steps.index("t:4")


def test_speaker_that_is_asked_about_comes_first() -> None:
    graph = KnowledgeGraph(BagOfWords(), ListedLog())
    graph.add(talk_steps("t", [Turn("Bob", "My cat is Tom."), Turn("Ann", "My cat is Pixel."), Turn("Cy", "Hm.")]))
    assert graph.search("What is Ann's cat?", 1)[0].step == "t:1"


def test_nothing_is_found_in_nothing() -> None:
    graph = KnowledgeGraph(BagOfWords(), ListedLog())
    assert graph.search("anything", 5) == []
    assert graph.ask("anything?").abstains


def test_bm25_ranks_rare_words_first_and_forgets_removed_rows() -> None:
    index = LexicalIndex()
    for text in ("red cup", "red plate", "red fork", "blue cup"):
        index.add(text.split())
    rows, scores = index.search(["blue", "red"], 2)
    assert rows[0] == 3
    assert scores[0] > scores[1]
    index.remove(3)
    assert 3 not in index.search(["blue", "red"], 4)[0]
    assert index.search(["blue"], 4)[0].size == 0
    assert len(index) == 3


def test_bm25_of_many_removals_equals_a_fresh_one() -> None:
    generator = np.random.default_rng(0)
    texts = [[f"w{n}" for n in generator.integers(0, 30, 8)] for _ in range(80)]
    grown, fresh = LexicalIndex(), LexicalIndex()
    for text in texts:
        grown.add(text)
    for row in range(0, 80, 2):
        grown.remove(row)
    for row in range(1, 80, 2):
        fresh.add(texts[row])
    expected_rows, expected = fresh.search(["w1", "w2", "w3"], 10)
    rows, scores = grown.search(["w1", "w2", "w3"], 10)
    assert [2 * row + 1 for row in expected_rows.tolist()] == rows.tolist()
    assert scores == pytest.approx(expected)
