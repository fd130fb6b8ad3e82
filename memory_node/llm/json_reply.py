"""Reads a model's reply as JSON of a pydantic schema; errors are worded so that the model can correct it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from memory_node.domain.errors import faults_of
from memory_node.llm.chat import JsonForm
from memory_node.llm.errors import RejectedReplyError
from memory_node.llm.reply_reader import BROKEN, json_values

Schema = TypeVar("Schema", bound=BaseModel)
_SHOWN_PROBLEMS = 5


def json_form(schema: type[BaseModel]) -> JsonForm:
    """Return the form that replies of a schema have."""
    return JsonForm(schema.model_json_schema(), schema.__name__)


def read_json(schema: type[Schema], text: str) -> Schema:
    """Return what the last JSON object of a reply says by the schema. An object that shares no field with the schema is
    about something else, where another shares one. An earlier object never takes the place of a faulty last one.

    Raises:
        RejectedReplyError: there is none (not_json), or it breaks the schema (schema); the message says where.
    """
    document = _last_object(text, frozenset(schema.model_fields))
    if document is None:
        raise RejectedReplyError("not_json", f"expected a JSON object, got {text[:80]!r}")
    try:
        return schema.model_validate(document)
    except ValidationError as error:
        raise RejectedReplyError("schema", _problems(error)) from None


def _last_object(text: str, fields: Collection[str]) -> dict[str, Any] | None:
    """Return the last object that has one of some fields, else the last one; None where that cannot be read."""
    values = [one[0] if isinstance(one, list) and len(one) == 1 else one for one in json_values(text)]
    values = [one for one in values if one is BROKEN or isinstance(one, dict)]
    last = next((one for one in reversed(values) if one is BROKEN or not one.keys().isdisjoint(fields)), None)
    last = last if last is not None else next(reversed(values), None)
    return last if isinstance(last, dict) else None


def _problems(error: ValidationError) -> str:
    found = faults_of(error, "the object")
    more = [f"and {len(found) - _SHOWN_PROBLEMS} more"] if len(found) > _SHOWN_PROBLEMS else []
    return "; ".join([*found[:_SHOWN_PROBLEMS], *more])
