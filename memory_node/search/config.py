"""The parameters of search."""

from __future__ import annotations

from typing import ClassVar, Literal

from memory_node.domain.parameters import Expert, Parameters, parameter


class RetrievalConfig(Parameters):
    """How remembered objects are ranked. A weight of 0 switches a part off."""

    embedder: Literal["minilm", "openai"] = parameter(
        "minilm", "who embeds texts: the built-in MiniLM, or an endpoint that speaks /v1/embeddings"
    )
    precision: Expert[Literal["fp32", "int8"]] = parameter(
        "fp32", "embedder minilm: int8 takes a third of the time, at a cosine of 0.99 to fp32"
    )
    openai_base_url: str = parameter("", "embedder openai: address of the endpoint")
    openai_model: str = parameter("", "embedder openai: name of the model")
    clip_path: str = parameter(
        "", "folder with a CLIP's text.onnx, image.onnx and tokenizer.json, for how things look; empty: none"
    )

    # the first three add log-odds of "this is what is meant"
    # weight of the cosine between the query and a class's texts (names, glosses, kinds)
    dense_weight: ClassVar[float] = 1.0
    lexical_weight: ClassVar[float] = 1.0  # weight of BM25 of the query's words in a class's texts
    # log-odds for a class that the query names, and against it when the query names another one
    class_weight: ClassVar[float] = 4.0
    # the next seven scale the score by up to their share
    recency_weight: ClassVar[float] = 0.05  # share of the score for how recently it was seen or used
    # share of the score for how recently the robot used it: of many cups, "the cup" is the one that it had in hand
    use_weight: ClassVar[float] = 0.10
    nearness_weight: ClassVar[float] = 0.10  # share of the score for how near the query's `near` it is
    likeness_weight: ClassVar[float] = 0.10  # share of the score for how like the request its own words are
    state_penalty: ClassVar[float] = 0.9  # share of the score that an object in another state than asked for loses
    # share of the score that an object loses where nothing is known of the state asked for
    unknown_state_penalty: ClassVar[float] = 0.4
    # share of the score that an object elsewhere than asked for loses; half of it where nobody knows
    place_penalty: ClassVar[float] = 0.3
    recency_half_life_s: ClassVar[float] = 600.0  # age at which recency counts half
    use_half_life_s: ClassVar[float] = 14_400.0  # time since the robot used it at which that counts half
    nearness_scale_m: ClassVar[float] = 3.0  # distance at which nearness has fallen to 1/e

    # cosine between query and class at which the class is as likely right as wrong
    cosine_center: ClassVar[float] = 0.56
    cosine_slope: ClassVar[float] = 16.0  # log-odds for each unit of cosine beyond cosine_center
    # log-odds against a class for each unit of cosine by which the best known class fits better
    rivalry_slope: ClassVar[float] = 20.0
    picture_weight: ClassVar[float] = 2.0  # most log-odds that CLIP may add or take by an object's picture
    # CLIP: cosine between query and picture at which the picture is as likely right as wrong
    picture_center: ClassVar[float] = 0.25
    picture_slope: ClassVar[float] = 40.0  # CLIP: log-odds for each unit of cosine beyond picture_center
    abstain_below: Expert[float] = parameter(
        0.5, "fit that the best object must reach; below it the answer is that memory does not know", 0.0, 1.0
    )
    # a kind of thing whose odds of being meant are less than this share of the likeliest's is left out
    rival_share: ClassVar[float] = 0.25
