"""Scores of given replies by the model in this process: exact, however prompts were read."""

from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.alfworld.policy import ADAPTER
from benchmarks.likelihood import LlamaScores, scoring_model
from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import Message, ModelMissingError, TooLongError
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.llama.native import EVERY
from memory_node.llm.open_model import ModelShelf

FRANCE = [Message("user", "What is the capital of France? Answer in one sentence.")]
TALE = "The robot saw a mug on the table, a plate in the sink and nothing in the drawer. " * 12
# Wide and narrow passes over 4-bit weights round differently.
_KERNELS = 0.3


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaModel]:
    shelf = ModelShelf()
    try:
        yield shelf.open_in_process(ModelConfig(threads=1, timeout_s=100.0))
    except ModelMissingError as missing:
        pytest.skip(str(missing))
    finally:
        shelf.close()


@pytest.fixture
def scored(model: LlamaModel) -> LlamaScores:
    return LlamaScores(model)


def test_scores_are_those_of_reading_token_by_token(model: LlamaModel, scored: LlamaScores) -> None:
    texts = ["Paris", "The capital of France is Paris.", "The capital of France is London.", "The", "open"]
    scores = scored.scores(FRANCE, texts)
    native, template = model.engine.native, model.engine.template
    for score, text in zip(scores, texts):
        tokens, prompt, expected = [*native.vocabulary.tokens(text), template.end], template.tokens(FRANCE), 0.0
        native.cut(EVERY, 0)
        native.compute([(token, i, (0,), False) for i, token in enumerate(prompt[:-1])])
        for i, token in enumerate(tokens):
            before = [*prompt, *tokens][len(prompt) - 1 + i]
            logits = native.compute([(before, len(prompt) - 1 + i, (0,), True)])[0].astype(np.float64)
            expected += logits[token] - logits.max() - np.log(np.exp(logits - logits.max()).sum())
        assert score.log_likelihood == pytest.approx(expected, abs=_KERNELS)
        assert score.tokens == len(tokens)
    model.engine.forget()
    assert scores[1].log_likelihood > scores[2].log_likelihood


def test_reply_that_breaks_off_is_less_likely_than_the_whole_one(scored: LlamaScores) -> None:
    part, longer = scored.scores(FRANCE, ["The capital", "The capital of France is Paris."])
    assert part.log_likelihood < longer.log_likelihood


def test_many_candidates_are_scored_as_few_are(model: LlamaModel, scored: LlamaScores) -> None:
    texts = [f"{name} {i}" for i in range(35) for name in ("apple", "mug")]
    scores = scored.scores(FRANCE, texts)
    assert [score.text for score in scores] == texts
    alone = scored.scores(FRANCE, texts[40:41])[0]
    assert scores[40].log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-3)
    assert scored.scores(FRANCE, []) == ()


def test_adapter_changes_what_is_likely_and_only_for_its_own_use(scored: LlamaScores) -> None:
    shelf = ModelShelf()
    config = ModelConfig(threads=1, timeout_s=100.0, adapter_path=str(ADAPTER))
    adapted = LlamaScores(shelf.open_in_process(config))
    before, changed = scored.scores(FRANCE, ["Paris"]), adapted.scores(FRANCE, ["Paris"])
    assert scored.scores(FRANCE, ["Paris"]) == before
    assert abs(changed[0].log_likelihood - before[0].log_likelihood) > 0.1
    shelf.close()


def test_candidate_that_is_too_long_is_refused(scored: LlamaScores) -> None:
    with pytest.raises(TooLongError, match="512"):
        scored.scores(FRANCE, [TALE * 3])
    with pytest.raises(TooLongError, match="the window has 4096"):
        scored.scores([Message("user", TALE * 30)], ["Paris"])


def test_an_endpoint_tells_no_likelihoods(model: LlamaModel) -> None:
    assert isinstance(scoring_model(model, "--mode rank"), LlamaScores)
    with pytest.raises(InvalidValueError, match="--mode rank needs a model in this process"):
        scoring_model(ModelShelf().open(ModelConfig(base_url="http://127.0.0.1:9/v1")), "--mode rank")


@pytest.mark.parametrize("count", [3, 80])
def test_likeliest_is_the_best_of_all_scores(scored: LlamaScores, count: int) -> None:
    chance = np.random.default_rng(count)
    texts = ["Paris", "The capital of France is Paris.", "The", *(f"go to cabinet {i}" for i in range(count - 3))]
    values = {text: float(chance.uniform(1e-6, 1.0)) for text in texts}
    best = max(scored.scores(FRANCE, texts), key=lambda score: score.log_likelihood + np.log(values[score.text]))
    found = scored.likeliest(FRANCE, values)
    assert (found.text, found.tokens) == (best.text, best.tokens)
    assert found.log_likelihood == pytest.approx(best.log_likelihood, abs=_KERNELS)
