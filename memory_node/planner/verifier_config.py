"""The parameters of the verifier that looks at pictures."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from memory_node.domain.parameters import Expert, Live, Parameters, Profile
from memory_node.llm.config import SHARED
from memory_node.planner.planner_config import PricedModelConfig

_PRICES = {"usd_per_million_in", "usd_per_million_out"}


class SeeingModelConfig(PricedModelConfig):
    """The model that sees. No model in this process does, so it needs an endpoint."""

    max_reply_tokens: Expert[int] = Field(default=800, ge=1, le=32_000, description="tokens of one reply at most")
    timeout_s: float = Field(
        default=20.0,
        ge=0.1,
        le=3600.0,
        description="time for one picture: waiting, corrections and all, from the request to the last word",
    )
    max_repairs: Expert[int] = Field(
        default=1, ge=0, le=20, description="corrections asked of a reply that cannot be used"
    )


class VerifierConfig(Parameters):
    """Which pictures count, and who looks at them."""

    max_age_s: Live[Expert[float]] = Field(
        default=10.0, ge=0.1, le=3600.0, description="age beyond which a picture is not used, by its stamp"
    )
    picture_max_px: Expert[int] = Field(
        default=1024, ge=64, le=8192, description="longer side of the picture that the model is sent"
    )
    llm: Annotated[SeeingModelConfig, Profile("llm.verifier", SHARED | _PRICES)] = SeeingModelConfig()
