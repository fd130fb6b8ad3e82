"""Replies that learning needs token by token, held to a grammar."""

import contextlib
from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra learning")
pytest.importorskip("transformers", reason="needs the extra learning")

from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import Deadline, Message, ModelMissingError
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.open_model import ModelShelf
from training.adapters.writing import Grammar, TokenChoice, written

FRANCE = [Message("user", "What is the capital of France? Answer in one sentence.")]


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaModel]:
    shelf = ModelShelf()
    try:
        yield shelf.open_in_process(ModelConfig(threads=1))
    except ModelMissingError as missing:
        pytest.skip(str(missing))
    finally:
        shelf.close()


def write(model: LlamaModel, temperature: float, seed: int, grammar: Grammar | None = None) -> tuple[str, bool]:
    choice = TokenChoice(temperature, np.random.default_rng(seed), grammar)
    said, whole = written(model.engine, model.prompt(FRANCE), 20, choice, Deadline(100.0))
    return model.file.vocabulary.text(said), whole


def test_the_likeliest_reply_is_written_to_its_end(model: LlamaModel) -> None:
    assert write(model, 0.0, 0) == ("The capital of France is Paris.", True)


def test_a_drawn_reply_keeps_to_its_grammar_and_is_the_same_for_a_seed(model: LlamaModel) -> None:
    said = []
    for _ in range(2):
        with contextlib.closing(Grammar(model.file.vocabulary, 'root ::= "left" | "right"')) as grammar:
            said.append(write(model, 1.0, 3, grammar))
    assert said[0] == said[1]
    assert said[0][0] in ("left", "right")


def test_a_grammar_tells_what_may_come_next(model: LlamaModel) -> None:
    vocabulary = model.file.vocabulary
    with contextlib.closing(Grammar(vocabulary, 'root ::= "ab"')) as grammar:
        a, b = (np.array(vocabulary.tokens(letter), np.int32) for letter in "ab")
        assert (grammar.allows(a).all(), grammar.allows(b).any()) == (True, False)
        grammar.follow(int(a[0]))
        assert grammar.allows(b).all()


def test_a_grammar_that_cannot_be_read_is_refused(model: LlamaModel) -> None:
    with pytest.raises(InvalidValueError, match="cannot read this grammar"):
        Grammar(model.file.vocabulary, "root ::= (")
