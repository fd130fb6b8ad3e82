"""Options of commands that ask a language model: which one."""

from __future__ import annotations

import argparse
from typing import Any


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument("--endpoint", default="", metavar="URL", help="an OpenAI-compatible endpoint instead of a file")
    parser.add_argument("--model", default="", help="with --endpoint its name there, else a GGUF file")
    parser.add_argument("--adapter", default="", metavar="FILE", help="GGUF file of a LoRA adapter")
    parser.add_argument(
        "--key-variable", default="OPENAI_API_KEY", metavar="NAME", help="environment variable with the endpoint's key"
    )
    parser.add_argument("--window", type=int, default=8192, metavar="TOKENS", help="of a model in this process")
    parser.add_argument("--threads", type=int, default=0, help="of a model in this process (default: one a core)")


def model_parameters(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a ModelConfig that they give."""
    if args.endpoint:
        named = {"model": args.model} if args.model else {}
        return {"base_url": args.endpoint, "api_key_variable": args.key_variable, **named}
    return {
        "backend": "llama",
        "model_path": args.model,
        "adapter_path": args.adapter,
        "window_tokens": args.window,
        "threads": args.threads,
    }
