import logging

import numpy as np
import pytest

from memory_node.search.embedders import CachingEmbedder
from memory_node.search.glosses import gloss_vectors


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
