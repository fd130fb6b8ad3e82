"""What a language model's part in a benchmark was: an offline fallback never counts as its work unnoticed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from benchmarks.household_life import Trial
from benchmarks.rows import mean_of, median_of, share_of
from memory_node.llm.command import add_model_arguments, model_parameters
from memory_node.planner.planner_config import LlmConfig

RANK = "rank"
MODES = ("agent", "plan", RANK)


def add_planner_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `--planner llm`."""
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="agent",
        help="with --planner llm: a dialogue of tool calls, all calls at once, or the likeliest call",
    )
    parser.add_argument(
        "--fallback",
        action="store_true",
        help="with --planner llm: let the offline planner do what the model cannot (default: that is a failure)",
    )
    parser.add_argument("--context", type=int, default=2000, metavar="TOKENS", help="of memory in the prompt at most")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="for one answer (default 60)")
    add_model_arguments(parser)


def llm_config(args: argparse.Namespace) -> LlmConfig:
    """Return the parameters that the options give."""
    return LlmConfig(
        mode="agent" if args.mode == RANK else args.mode,
        context_tokens=args.context,
        timeout_s=args.timeout,
        **model_parameters(args),
    )


def model_figures(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the model's share in some trials; empty where the offline planner alone was to work.

    fallback_share: trials that the offline planner carried out instead. valid_share: replies that could be used as they
    came. planner_steps_mean: replies of an instruction. ms_per_step_p50: the median, over trials, of the time outside
    skills for one reply. first_token_ms_p50: the median time until the first written reply of a trial began.
    """
    outcomes = [trial.result.outcome for trial in trials]
    fallbacks = [outcome.planner.endswith("(fallback)") for outcome in outcomes]
    if not any(fallbacks) and all(outcome.planner == "offline" for outcome in outcomes):
        return {}
    asked = [trial.result for trial in trials if trial.result.outcome.cost.replies]
    per_step = [1e3 * result.planning_s / result.outcome.cost.replies for result in asked]
    replies = [outcome.cost.replies for outcome in outcomes]
    return {
        "fallback_share": mean_of(fallbacks),
        "valid_share": share_of(sum(outcome.valid_replies for outcome in outcomes), sum(replies)),
        "planner_steps_mean": mean_of(replies),
        "replans_mean": mean_of([outcome.replans for outcome in outcomes]),
        "tokens_in_mean": mean_of([outcome.cost.tokens_in for outcome in outcomes], 1),
        "tokens_new_mean": mean_of([outcome.cost.tokens_new for outcome in outcomes], 1),
        "tokens_out_mean": mean_of([outcome.cost.tokens_out for outcome in outcomes], 1),
        "ms_per_step_p50": median_of(per_step, 1),
        "first_token_ms_p50": median_of(
            [1e3 * outcome.first_token_s for outcome in outcomes if outcome.first_token_s], 1
        ),
    }
