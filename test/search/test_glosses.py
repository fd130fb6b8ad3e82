"""Glosses of classes: their vectors are made once, and names of classes are embedded within what one call may cost."""

import logging
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.names import CHARACTERS_A_CALL, embedded_now
from memory_node.search.class_scores import ClassScores
from memory_node.search.config import RetrievalConfig
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.glosses import ClassGlosses, NamedClasses, gloss_vectors
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


class Embedder:
    dimension = 2

    def __init__(self, fingerprint="model 1"):
        self.fingerprint = fingerprint
        self.asked = 0

    def embed(self, texts):
        self.asked += 1
        return np.array([[len(text), len(self.fingerprint)] for text in texts], dtype=np.float32)


def test_vectors_are_made_once_for_each_model_and_texts(tmp_path):
    first = gloss_vectors(["a", "bb"], Embedder(), tmp_path)
    np.testing.assert_array_equal(first, [[1, 7], [2, 7]])
    again = CachingEmbedder(inner := Embedder())
    np.testing.assert_array_equal(gloss_vectors(["a", "bb"], again, tmp_path), first)
    assert inner.asked == 0
    np.testing.assert_array_equal(gloss_vectors(["a", "ccc"], again, tmp_path), [[1, 7], [3, 7]])
    assert inner.asked == 1, "other texts, other vectors"
    np.testing.assert_array_equal(gloss_vectors(["a", "ccc"], Embedder("model 22"), tmp_path), [[1, 8], [3, 8]])
    gloss_vectors(["a", "bb"], again, tmp_path)
    assert inner.asked == 1, "label spaces that are used side by side keep theirs"
    for number in range(20):
        gloss_vectors([str(number)], again, tmp_path)
    assert len(list(tmp_path.iterdir())) < 10


@pytest.mark.parametrize("damage", [lambda body: body[:-1], lambda body: b"", lambda body: body[:-2] + b"xx"])
def test_damaged_file_is_made_again_with_a_line_in_the_log(tmp_path, caplog, damage):
    expected = gloss_vectors(["a", "bb"], Embedder(), tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(gloss_vectors(["a", "bb"], Embedder(), tmp_path), expected)
    assert "damaged" in caplog.text
    caplog.clear()
    gloss_vectors(["a", "bb"], untouched := Embedder(), tmp_path)
    assert untouched.asked == 0
    assert caplog.text == ""


def test_folder_that_cannot_be_written_costs_time_only(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    assert gloss_vectors(["a"], Embedder(), tmp_path / "file").shape == (1, 2)
    assert "made again" in caplog.text


def test_embedder_that_cannot_be_told_from_others_is_asked_each_time(tmp_path):
    embedder = Embedder(fingerprint="")
    gloss_vectors(["a"], embedder, tmp_path)
    gloss_vectors(["a"], embedder, tmp_path)
    assert embedder.asked == 2
    assert not list(tmp_path.iterdir())
