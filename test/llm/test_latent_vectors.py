"""Vectors in a prompt, and the states of a model's last layer: what Soft-Mem needs of the model in this process."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from token_embeddings import embeddings

from benchmarks.likelihood import LlamaScores
from memory_node.llm.chat import Deadline, LatentModel, Message, UnsupportedError
from memory_node.llm.llama.engine import Prompt, passes, vector_tokens
from memory_node.llm.llama.model import LlamaModel

Embedded = Callable[..., LlamaModel]
TOLD = "Where is the mug? It stands on the"


def test_numbers_of_vectors_are_no_tokens_and_tell_vectors_apart() -> None:
    rows = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]], np.float32)
    first, second, again = vector_tokens(rows)
    assert first == again != second
    assert max(first, second) < 0


def test_passes_are_of_tokens_or_of_vectors() -> None:
    assert [list(part) for part in passes([1, 2, -3, -4, -5, 6, 7], 2)] == [[1, 2], [-3, -4], [-5], [6, 7]]
    assert list(passes([], 2)) == []


def test_embeddings_of_tokens_are_read_as_the_tokens_are(embedded: Embedded) -> None:
    model = embedded()
    assert isinstance(model, LatentModel)
    engine = model.engine
    tokens = engine.template.tokens([Message("user", TOLD)])
    middle = slice(5, 12)
    vectors = embeddings(model, tokens[middle])
    numbers = vector_tokens(vectors)
    mixed = Prompt((*tokens[:5], *numbers, *tokens[12:]), vectors=dict(zip(numbers, vectors)))
    plain = Prompt(tuple(tokens))

    def read(prompt: Prompt) -> NDArray[np.float32]:
        with engine.behind(prompt, 0, Deadline(60.0)) as logits:
            return logits

    engine.forget()
    expected = read(plain)
    engine.forget()
    assert read(mixed) == pytest.approx(expected, abs=2e-2)
    # What was read of one prompt is not taken for the other's.
    assert read(plain) == pytest.approx(expected, abs=1e-3)
    other = replace(mixed, vectors={number: 0.0 * vector for number, vector in mixed.vectors.items()})
    engine.forget()
    assert read(other) != pytest.approx(expected, abs=0.5)


def test_latent_vectors_stand_behind_their_message(embedded: Embedded) -> None:
    model = embedded()
    native, template = model.engine.native, model.engine.template
    said = native.vocabulary.tokens(" table")
    vectors = embeddings(model, said)
    with_words = [Message("system", "Be brief."), Message("user", f"{TOLD} table")]
    with_vectors = [with_words[0], Message("user", TOLD, latent=vectors)]
    tokens = template.tokens(with_vectors)
    assert [token for token in tokens if token < 0] == vector_tokens(vectors)
    assert [token for token in tokens if token >= 0] + said == [
        *template.tokens([*with_words[:1], Message("user", TOLD)]),
        *said,
    ]
    words, latent = (LlamaScores(model).scores(dialogue, ["Yes.", "No."]) for dialogue in (with_words, with_vectors))
    for one, other in zip(words, latent):
        assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=5e-3)


def test_states_are_those_behind_the_reply_and_leave_nothing_behind(embedded: Embedded) -> None:
    model = embedded()
    asked = [Message("user", TOLD)]
    unknown = embeddings(model, [0, 0, 0])
    model.engine.forget()
    before = LlamaScores(model).scores(asked, ["table"])
    states = model.states(asked, "table", "It is on the table.", unknown)
    assert states.shape == (3, model.engine.native.width)
    assert np.isfinite(states).all()
    assert not np.allclose(states[0], states[1]), "each stands at a place of its own"
    assert np.allclose(states, model.states(asked, "table", "It is on the table.", unknown), atol=1e-4)
    assert not np.allclose(states, model.states(asked, "moon", "It is on the table.", unknown), atol=1e-2), (
        "they depend on the reply"
    )
    assert not np.allclose(states, model.states(asked, "table", "On the moon.", unknown), atol=1e-2), "and its wording"
    assert LlamaScores(model).scores(asked, ["table"])[0].log_likelihood == pytest.approx(
        before[0].log_likelihood, abs=1e-4
    )


def test_vectors_of_another_width_are_refused(embedded: Embedded) -> None:
    latent = Message("user", TOLD, latent=np.zeros((2, 7), np.float32))
    with pytest.raises(UnsupportedError, match="width 576"):
        LlamaScores(embedded()).scores([latent], ["table"])
