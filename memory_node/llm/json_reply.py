"""Reads a model's reply as JSON of a pydantic schema; errors are worded so that the model can correct it."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from memory_node.domain.validation_faults import faults_of
from memory_node.llm.chat import JsonForm
from memory_node.llm.errors import RejectedReplyError

Schema = TypeVar("Schema", bound=BaseModel)
_SHOWN_PROBLEMS = 5


def json_form(schema: type[BaseModel]) -> JsonForm:
    """Return the form that replies of a schema have."""
    return JsonForm(schema.model_json_schema(), schema.__name__)


def read_json(schema: type[Schema], text: str) -> Schema:
    """Return the first JSON object of a reply as what the schema says.

    Raises:
        RejectedReplyError: there is none (not_json), or it breaks the schema (schema); the message says where.
    """
    document = first_json_object(text)
    if document is None:
        raise RejectedReplyError("not_json", f"expected a JSON object, got {text[:80]!r}")
    try:
        return schema.model_validate(document)
    except ValidationError as error:
        raise RejectedReplyError("schema", _problems(error)) from None


def first_json_object(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in the text, None when there is none: models wrap it in words or a code fence."""
    decoder = json.JSONDecoder(parse_constant=_no_number)
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _problems(error: ValidationError) -> str:
    found = faults_of(error, "the object")
    more = [f"and {len(found) - _SHOWN_PROBLEMS} more"] if len(found) > _SHOWN_PROBLEMS else []
    return "; ".join([*found[:_SHOWN_PROBLEMS], *more])
