"""Classes that are met: their names are embedded within what one call may cost, and found by their words until then."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.names import CHARACTERS_A_CALL, embedded_now
from memory_node.search.class_scores import ClassScores
from memory_node.search.config import RetrievalConfig
from memory_node.search.glosses import ClassGlosses, NamedClasses
from memory_node.search.request_phrases import RequestPhrases


class RecordingEmbedder:
    """Gives every text the same vector; asked: what it was given."""

    fingerprint = ""
    dimension = 4

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.full((len(texts), self.dimension), 0.5, np.float32)


def scores() -> tuple[ClassScores, RecordingEmbedder]:
    embedder = RecordingEmbedder()
    made = ClassScores(embedder, ClassGlosses.of(load_catalogue()), RetrievalConfig())
    embedder.asked.clear()
    return made, embedder


def test_many_long_names_cost_one_call_no_more_than_a_thousand_ordinary_ones() -> None:
    classes, embedder = scores()
    names = [f"{number:04d} {'thing ' * 12}".strip() for number in range(1000)]
    waiting: list[int] = []
    while not waiting or waiting[-1]:
        embedder.asked.clear()
        classes.meet(names)
        assert 0 < sum(map(len, embedder.asked)) <= CHARACTERS_A_CALL
        waiting.append(classes.waiting)
    assert 5 < len(waiting) < 10
    embedder.asked.clear()
    classes.meet(names)
    assert embedder.asked == []


def test_ordinary_names_are_embedded_at_once() -> None:
    classes, embedder = scores()
    classes.meet([f"gadget {number}" for number in range(800)])
    assert len(embedder.asked) == 800
    assert classes.waiting == 0


def test_name_of_200_characters_is_not_embedded_but_found_by_its_words() -> None:
    classes, embedder = scores()
    number = classes.number_of("xylophone " * 19)
    assert embedder.asked == []
    assert classes.waiting == 0
    fit = classes.fit(RequestPhrases("the xylophone"), np.full(4, 0.5, np.float32))
    assert fit.word_log_odds[number] > np.median(fit.word_log_odds) + 2.0


def test_call_takes_the_first_names_that_are_short_enough() -> None:
    assert embedded_now(["mug", "x" * 81, "bowl"]) == ["mug", "bowl"]
    assert len(embedded_now(["y" * 80] * 1000)) == CHARACTERS_A_CALL // 80


def test_what_a_named_thing_is_for_is_not_named() -> None:
    named = NamedClasses(ClassGlosses.of(load_catalogue()), ["Cup", "RemoteControl", "Soup"])
    assert named.find("the cup for the remote control").meant == {"Cup"}
    assert named.find("looking for the remote control").meant == {"RemoteControl"}
    assert named.find("seasoning for the soup").meant == {"Soup"}
