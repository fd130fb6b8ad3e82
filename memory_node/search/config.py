"""The parameters of search."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from memory_node.domain.parameters import Parameters


class RetrievalConfig(Parameters):
    """How remembered objects are ranked. A weight of 0 switches a part off."""

    embedder: Literal["minilm", "openai"] = Field(
        default="minilm", description="who embeds texts: the built-in MiniLM, or an endpoint that speaks /v1/embeddings"
    )
    precision: Literal["fp32", "int8"] = Field(
        default="fp32", description="embedder minilm: int8 takes a third of the time, at a cosine of 0.99 to fp32"
    )
    openai_base_url: str = Field(default="", description="embedder openai: address of the endpoint")
    openai_model: str = Field(default="", description="embedder openai: name of the model")
    clip_path: str = Field(
        default="",
        description="folder with a CLIP's text.onnx, image.onnx and tokenizer.json, for how things look; empty: none",
    )

    # the first three add log-odds of "this is what is meant"
    dense_weight: float = Field(
        default=1.0,
        ge=0.0,
        le=100.0,
        description="weight of the cosine between the query and a class's texts (names, glosses, kinds)",
    )
    lexical_weight: float = Field(
        default=1.0, ge=0.0, le=100.0, description="weight of BM25 of the query's words in a class's texts"
    )
    class_weight: float = Field(
        default=4.0,
        ge=0.0,
        le=100.0,
        description="log-odds for a class that the query names, and against it when the query names another one",
    )
    # the next six scale the score by up to their share
    recency_weight: float = Field(
        default=0.05, ge=0.0, le=1.0, description="share of the score for how recently it was seen or used"
    )
    nearness_weight: float = Field(
        default=0.10, ge=0.0, le=1.0, description="share of the score for how near the query's `near` it is"
    )
    likeness_weight: float = Field(
        default=0.10, ge=0.0, le=1.0, description="share of the score for how like the request its own words are"
    )
    state_penalty: float = Field(
        default=0.9,
        ge=0.0,
        le=1.0,
        description="share of the score that an object in another state than asked for loses",
    )
    unknown_state_penalty: float = Field(
        default=0.4,
        ge=0.0,
        le=1.0,
        description="share of the score that an object loses where nothing is known of the state asked for",
    )
    place_penalty: float = Field(
        default=0.3,
        ge=0.0,
        le=1.0,
        description="share of the score that an object elsewhere than asked for loses; half of it where nobody knows",
    )
    recency_half_life_s: float = Field(default=600.0, ge=0.001, le=1e9, description="age at which recency counts half")
    nearness_scale_m: float = Field(
        default=3.0, ge=0.001, le=1000.0, description="distance at which nearness has fallen to 1/e"
    )

    cosine_center: float = Field(
        default=0.56,
        ge=-1.0,
        le=1.0,
        description="cosine between query and class at which the class is as likely right as wrong",
    )
    cosine_slope: float = Field(
        default=16.0, ge=0.001, le=1000.0, description="log-odds for each unit of cosine beyond cosine_center"
    )
    rivalry_slope: float = Field(
        default=20.0,
        ge=0.0,
        le=1000.0,
        description="log-odds against a class for each unit of cosine by which the best known class fits better",
    )
    picture_weight: float = Field(
        default=2.0, ge=0.0, le=100.0, description="most log-odds that CLIP may add or take by an object's picture"
    )
    picture_center: float = Field(
        default=0.25,
        ge=-1.0,
        le=1.0,
        description="CLIP: cosine between query and picture at which the picture is as likely right as wrong",
    )
    picture_slope: float = Field(
        default=40.0,
        ge=0.001,
        le=1000.0,
        description="CLIP: log-odds for each unit of cosine beyond picture_center",
    )
    abstain_below: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="fit that the best object must reach; below it the answer is that memory does not know",
    )
    rival_share: float = Field(
        default=0.25,
        ge=0.0,
        le=1.0,
        description="a kind of thing whose odds of being meant are less than this share of the likeliest's is left out",
    )
    exact_below: int = Field(
        default=12_000,
        ge=1,
        le=2**31 - 1,
        description="most vectors that are searched exactly; above, an HNSW index is used",
    )
