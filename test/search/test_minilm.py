import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import erf
from tokenizers import Tokenizer

pytest.importorskip("onnx")
safetensors_numpy = pytest.importorskip("safetensors.numpy")

from memory_node.domain.errors import ResourceMissingError  # noqa: E402
from memory_node.search import minilm  # noqa: E402
from memory_node.search.embedders import CachingEmbedder  # noqa: E402
from memory_node.search.minilm import MiniLmEmbedder  # noqa: E402

SENTENCES = ["mug", "Wash an apple, and put it in the bowl!", "the café's 2nd “high-calorie” food"]


def numpy_reference(sentence: str, published: Path) -> np.ndarray:
    """The published model step by step as Devlin et al. 2019 write it, one sentence, no masks."""
    weights = safetensors_numpy.load_file(published / "model.safetensors")
    config = json.loads((published / "config.json").read_text())
    tokenizer = Tokenizer.from_file(str(published / "tokenizer.json"))
    tokenizer.no_padding()
    ids = tokenizer.encode(sentence).ids

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(-1, keepdims=True) + config["layer_norm_eps"])
        return centred / scale * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def table(name):
        return weights[f"embeddings.{name}_embeddings.weight"].astype(np.float64)

    x = norm(table("word")[ids] + table("position")[: len(ids)] + table("token_type")[0], "embeddings.LayerNorm")
    heads = config["num_attention_heads"]
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            linear(x, f"{name}.attention.self.{part}").reshape(len(ids), heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])
        attention = np.exp(scores - scores.max(-1, keepdims=True))
        attention /= attention.sum(-1, keepdims=True)
        mixed = (attention @ value).swapaxes(0, 1).reshape(len(ids), -1)
        x = norm(linear(mixed, f"{name}.attention.output.dense") + x, f"{name}.attention.output.LayerNorm")
        inner = linear(x, f"{name}.intermediate.dense")
        inner = 0.5 * inner * (1.0 + erf(inner / np.sqrt(2.0)))
        x = norm(linear(inner, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


def test_graph_agrees_with_the_published_weights(embedder):
    published = minilm.published_folder()
    for sentence, vector in zip(SENTENCES, embedder.embed(SENTENCES)):
        np.testing.assert_allclose(vector, numpy_reference(sentence, published), atol=2e-6)


def test_batch_gives_what_single_sentences_give(embedder):
    single = np.vstack([embedder.embed([sentence]) for sentence in SENTENCES])
    np.testing.assert_allclose(embedder.embed(SENTENCES), single, atol=1e-6)
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_int8_stays_close_to_fp32(embedder):
    cosine = (MiniLmEmbedder("int8").embed(SENTENCES) * embedder.embed(SENTENCES)).sum(axis=1)
    assert cosine.min() > 0.98
    assert not np.allclose(cosine, 1.0, atol=1e-6), "int8 must be another graph than fp32"


def test_long_text_is_cut_not_refused(embedder):
    vector = embedder.embed(["apple " * 2000])
    np.testing.assert_allclose(np.linalg.norm(vector), 1.0, atol=1e-5)


def test_missing_graph_and_weights_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(minilm, "WEIGHTS_PACKAGE", "a-package-that-nobody-has")
    with pytest.raises(ResourceMissingError, match="memory-node model build"):
        MiniLmEmbedder(folder=tmp_path / "empty")
    assert not list(tmp_path.rglob("*.onnx"))


class CountingEmbedder:
    dimension = 2

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        self.asked.append(list(texts))
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


def test_caching_embedder_asks_once_and_in_one_batch():
    inner = CountingEmbedder()
    cached = CachingEmbedder(inner, capacity=2)
    np.testing.assert_array_equal(cached.embed(["a", "bb", "a"])[:, 0], [1, 2, 1])
    np.testing.assert_array_equal(cached.embed(["bb", "ccc"])[:, 0], [2, 3])
    assert inner.asked == [["a", "bb"], ["ccc"]]
    cached.embed(["a"])
    assert inner.asked[-1] == ["a"], "the least recently used text leaves first"
    assert cached.embed([]).shape == (0, 2)


def test_many_long_texts_give_what_each_gives_alone(embedder):
    texts = [f"the robot saw mug {number} on the table and a plate in the sink " * 30 for number in range(20)]
    assert np.allclose(embedder.embed(texts)[7], embedder.embed([texts[7]])[0], atol=1e-5)
