"""The network that reads instructions of several goals, and what is shipped of it."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from training.instructions.sequence_network import (  # noqa: E402
    SequenceReader,
    SequenceSizes,
    SequenceWriter,
)


@pytest.fixture
def writer() -> SequenceWriter:
    torch.manual_seed(0)
    return SequenceWriter(SequenceSizes(symbols=7, longest=9, home=4)).eval()


def logits(writer: SequenceWriter, written: list[int], mask: list[float]) -> np.ndarray:
    words = torch.arange(3 * 256, dtype=torch.float32).reshape(1, 3, 256) / 768
    with torch.no_grad():
        one = writer(torch.tensor([written]), words, torch.tensor([mask]), torch.zeros(1, 4), torch.zeros(1, 7))
    return one[0].numpy()


def test_symbols_do_not_see_those_behind_them(writer: SequenceWriter) -> None:
    short, long = logits(writer, [1, 2], [1.0, 1.0, 1.0]), logits(writer, [1, 2, 5, 6], [1.0, 1.0, 1.0])
    assert np.allclose(short, long[:2], atol=1e-5)


def test_masked_words_do_not_matter(writer: SequenceWriter) -> None:
    assert not np.allclose(logits(writer, [1], [1.0, 1.0, 0.0]), logits(writer, [1], [1.0, 1.0, 1.0]), atol=1e-5)
    reader = SequenceReader().eval()
    hidden = torch.randn(1, 3, 384)
    other = hidden.clone()
    other[0, 2] = 0.0
    mask = torch.tensor([[1.0, 1.0, 0.0]])
    with torch.no_grad():
        assert torch.allclose(reader(hidden, mask)[0, :2], reader(other, mask)[0, :2], atol=1e-5)
