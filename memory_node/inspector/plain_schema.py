"""JSON schemas in the plain words that every agent's client takes: without $ref, $defs and anyOf."""

from __future__ import annotations

from typing import Any

_HIDDEN = ("$defs", "title")


def plain_schema(schema: dict[str, Any], with_null: bool = False) -> dict[str, Any]:
    """Return a schema with each reference replaced by what it refers to, and each choice between a type and null by the
    type: what may be left out need not be sent. with_null: of answers, in which null says that there is none.

    Pydantic's models refer to others and to enumerations. Models that contain themselves have no such form.

    Raises:
        ValueError: a choice between several types.
    """
    plain = _plain(schema, schema.get("$defs", {}), with_null)
    assert isinstance(plain, dict)
    return plain


def _plain(part: Any, known: dict[str, Any], with_null: bool) -> Any:
    if isinstance(part, list):
        return [_plain(one, known, with_null) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = {**known[part["$ref"].rpartition("/")[2]], **{key: one for key, one in part.items() if key != "$ref"}}
    if "anyOf" in part:
        only = _only_type(part["anyOf"])
        part = {**only, **{key: one for key, one in part.items() if key != "anyOf"}}
        if with_null and isinstance(only.get("type"), str):
            part["type"] = [only["type"], "null"]
        if part.get("default", "") is None:
            del part["default"]
        return _plain(part, known, with_null)
    return {
        key: _plain(one, known, with_null) for key, one in part.items() if key not in _HIDDEN or not _is_note(key, one)
    }


def _is_note(key: str, value: Any) -> bool:
    """Whether a key is pydantic's own: a property may be called `title`, too."""
    return key == "$defs" or isinstance(value, str)


def _only_type(choices: list[dict[str, Any]]) -> dict[str, Any]:
    types = [choice for choice in choices if choice.get("type") != "null"]
    if len(types) != 1:
        raise ValueError(f"expected one type or null, got {choices}")
    return types[0]
