"""Weights that are made ready once: the same model, its adapter in them, in kinds that llama.cpp computes fast."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memory_node.llm.chat import Message
from memory_node.llm.config import ModelConfig
from memory_node.llm.errors import ModelMissingError
from memory_node.llm.gguf_files import model_file
from memory_node.llm.llama.fast_weights import fast_weights
from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.llama.tensor_file import FLOAT32, Q4_1, Q8_0, TensorFile
from memory_node.llm.open_model import ModelShelf
from test.llm.conftest import write_lora

Embedded = Callable[..., LlamaModel]
Lora = Callable[[float], str]
QUERY = "blk.0.attn_q.weight"
ASKED = [Message("system", "You are a robot in a house."), Message("user", "Where is the mug? Answer with a place.")]
ANSWERS = ["on the table", "in the sink", "in the fridge", "go to shelf 1", "apple", "I do not know."]


@pytest.fixture
def file(shelf: ModelShelf) -> Path:
    return model_file(ModelConfig())  # `shelf` skips where it is not installed


def test_slow_kinds_become_q8_0_and_all_else_stays(file: Path) -> None:
    with TensorFile(file) as base, fast_weights(file) as path, TensorFile(path) as fast:
        assert Q4_1 in base.kinds.values()
        assert {Q8_0, FLOAT32} == set(fast.kinds.values())
        assert fast.names == base.names
        for name in base.names:
            assert fast.shape(name) == base.shape(name)
            if base.kinds[name] in (FLOAT32, Q8_0):
                assert np.array_equal(fast.stored(name), base.stored(name))
        step = np.abs(base.weights(QUERY)).max() / 127  # of the coarsest block
        assert np.abs(fast.weights(QUERY) - base.weights(QUERY)).max() <= 0.51 * step


def test_adapter_is_added_with_its_scale(file: Path, tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    a, b = chance.normal(size=(4, 576)).astype(np.float32), chance.normal(size=(576, 4)).astype(np.float32)
    path = tmp_path / "lora.gguf"
    write_lora(path, {QUERY: (a, b)}, alpha=8.0)
    with TensorFile(file) as base, fast_weights(file, str(path)) as made, TensorFile(made) as fast:
        expected = base.weights(QUERY) + 2.0 * b @ a  # alpha 8 / rank 4
        assert np.abs(fast.weights(QUERY) - expected).max() <= 0.51 * np.abs(expected).max() / 127
        other = "blk.1.attn_q.weight"
        assert np.abs(fast.weights(other) - base.weights(other)).max() < 0.01


def test_merged_adapter_says_what_it_says_beside_the_weights(embedded: Embedded, lora: Lora) -> None:
    adapter = lora(4.0)
    merged = embedded(adapter_path=adapter)
    beside = embedded(adapter_path=adapter, fast_weights_mb=0)
    plain = embedded()
    assert len({id(model.engine) for model in (merged, beside, plain)}) == 3
    found = [[score.log_likelihood for score in model.scores(ASKED, ANSWERS)] for model in (merged, beside, plain)]
    to_beside, to_plain = (np.abs(np.subtract(found[0], other)) for other in found[1:])
    assert to_beside.max() < 0.5 * to_plain.max()
    assert np.argmax(found[0]) == np.argmax(found[1])


def test_uses_with_one_adapter_share_its_weights(embedded: Embedded, lora: Lora) -> None:
    adapter = lora(1.0)
    assert embedded(adapter_path=adapter).engine is embedded(adapter_path=adapter, temperature=0.5).engine
    assert embedded(adapter_path=adapter).engine is not embedded().engine


def test_adapter_beside_the_weights_is_taken_off_for_who_has_none(embedded: Embedded, lora: Lora) -> None:
    plain = embedded(fast_weights_mb=0)
    adapted = embedded(adapter_path=lora(3.0), fast_weights_mb=0)
    assert plain.engine is adapted.engine, "one memory serves both"
    before = plain.scores(ASKED, ANSWERS)[0].log_likelihood
    assert adapted.scores(ASKED, ANSWERS)[0].log_likelihood != pytest.approx(before, abs=1e-2)
    plain.engine.forget()
    assert plain.scores(ASKED, ANSWERS)[0].log_likelihood == pytest.approx(before, abs=1e-4)


def test_weights_leave_no_file_behind(embedded: Embedded, lora: Lora, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delattr(os, "memfd_create")
    adapter, before = lora(3.0), len(os.listdir("/proc/self/fd"))
    assert "with lora-3.gguf" in embedded(adapter_path=adapter).name
    assert embedded(adapter_path=adapter).scores(ASKED, ANSWERS[:1])
    assert [path.name for path in tmp_path.iterdir()] == ["lora-3.gguf"]
    assert len(os.listdir("/proc/self/fd")) == before


def test_larger_files_are_used_as_they_are(embedded: Embedded, file: Path) -> None:
    small = int(file.stat().st_size / 1e6)
    assert embedded(fast_weights_mb=small).engine is embedded(fast_weights_mb=0).engine
    assert embedded(fast_weights_mb=small + 1).engine is embedded().engine


def test_without_room_for_weights_the_file_serves_with_a_warning(
    embedded: Embedded, lora: Lora, monkeypatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(name: str) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "memfd_create", full)
    adapter = lora(0.25)
    with caplog.at_level(logging.WARNING):
        model = embedded(adapter_path=adapter)
    assert "used as they are, which is slower: [Errno 28]" in caplog.text
    assert model.engine is embedded(fast_weights_mb=0).engine


@pytest.mark.parametrize(
    ("name", "shapes"), [("blk.0.attn_q.weight", (512, 576)), ("blk.99.attn_q.weight", (576, 576))]
)
def test_adapter_of_another_model_is_refused(file: Path, tmp_path: Path, name: str, shapes: tuple[int, int]) -> None:
    path = tmp_path / "other.gguf"
    write_lora(path, {name: (np.ones((4, shapes[1]), np.float32), np.ones((shapes[0], 4), np.float32))}, alpha=4.0)
    with (
        pytest.raises(ModelMissingError, match=r"no adapter for this model: blk\.\d+\.attn_q"),
        fast_weights(file, str(path)),
    ):
        pass


def test_file_that_ends_early_is_refused(file: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(file.read_bytes()[:30_000_000])
    with pytest.raises(ModelMissingError), fast_weights(cut):
        pass
