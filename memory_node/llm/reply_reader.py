"""Reads what models write: the answer without its reasoning, its JSON, its fenced block, its tool calls.

Every use of a model reads through here, so one place knows how models wrap an answer. A draft never counts: reasoning
is taken off first, and of several values or blocks the last one is the answer.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection
from functools import partial
from typing import Any, NamedTuple, NoReturn, TypeVar

import json_repair
from pydantic import BaseModel, ValidationError

from memory_node.domain.errors import faults_of
from memory_node.llm.chat import JsonForm, RejectedReplyError

_TAGS = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad|seed:think"
_MARK = re.compile(
    rf"<(?P<end>/?)\s*(?:{_TAGS})\s*>|\[(?P<end2>/?)(?:THINK|REASONING)\]|◁(?P<end3>/?)think▷", re.IGNORECASE
)
# gpt-oss: what stands in its channels "analysis" and "commentary" (without a recipient) is for nobody.
_CHANNEL = re.compile(
    r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?:analysis|commentary)\s*<\|message\|>.*?(?:<\|end\|>|\Z)",
    re.DOTALL,
)
_FINAL = re.compile(
    r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*final\s*(?:<\|constrain\|>\s*\w+\s*)?<\|message\|>"
)
_ENDS = re.compile(r"(?:<\|(?:im_end|eot_id|eom_id|end|return|endoftext)\|>|</s>)\s*\Z")
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_WORD = re.compile(r"[^\W_]+")
_SAME_WORD = {"True": "true", "False": "false", "None": "null"}
# A value of a reply is no longer than this (characters); what is longer is not repaired.
_LONGEST_REPAIRED = 20_000
_MOST_VALUES = 50
# Openings that are looked at: each may cost a pass over what is left of the text.
_MOST_TRIES = 100
_CLOSING = {"{": "}", "[": "]"}


class BrokenJson:
    """Stands for a value that cannot be read."""


BROKEN = BrokenJson()


def answer_in(text: str) -> str:
    """Return a reply without reasoning, in whatever tags, and without marks of its end.

    An end without a beginning closes reasoning that began in the prompt; a beginning without an end is reasoning that
    was cut off, so nothing behind it is an answer.
    """
    text = text.strip()
    if text.startswith(("{", "[")) and strict_json(text) is not BROKEN:
        return text  # tags in its strings are words
    text = _FINAL.sub("", _CHANNEL.sub("", text))
    kept: list[str] = []
    at, thinks = 0, False
    for mark in _MARK.finditer(text):
        if mark["end"] or mark["end2"] or mark["end3"]:
            if not thinks:
                kept.clear()
            thinks = False
        else:
            kept.append("" if thinks else text[at : mark.start()])
            thinks = True
        at = mark.end()
    if not thinks:
        kept.append(text[at:])
    return _ENDS.sub("", "".join(kept)).strip()


def last_block(text: str) -> str:
    """Return the last fenced block of an answer, the whole answer where it has none."""
    blocks = _FENCE.findall(text)
    return str(blocks[-1]) if blocks else text


def json_values(text: str) -> list[Any]:
    """Return the outermost JSON objects and lists of an answer in their order; BROKEN for each that cannot be read.

    What is nearly JSON (trailing commas, single quotes, Python's literals) is repaired, see repaired_json.
    """
    return [one.value for one in spans_of_json(text)]


class _Span(NamedTuple):
    value: Any
    start: int
    end: int


def spans_of_json(text: str) -> list[_Span]:
    """Return the values of json_values, each with where in the text it begins and ends."""
    decoder = json.JSONDecoder(parse_constant=_no_number)
    found: list[_Span] = []
    at, tries = _next_opening(text, 0), 0
    while at >= 0 and len(found) < _MOST_VALUES and tries < _MOST_TRIES:
        tries += 1
        value: Any
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = _end_of(text, at)
            value = repaired_json(text[at:end]) if end > 0 else BROKEN
            end = end if end > 0 else len(text)
        if not (isinstance(value, BrokenJson) and text[at] == "["):
            found.append(_Span(value, at, end))
            at = _next_opening(text, end)
        else:  # words in brackets are no list
            at = _next_opening(text, at + 1)
    return found


def strict_json(text: str) -> Any:
    """Return a text's JSON value, BROKEN where it is none. NaN and Infinity are no JSON."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return BROKEN


def repaired_json(text: str) -> Any:
    """Return the value of a text that is nearly JSON; BROKEN where a repair would lose, add or move a word of it.

    So a repair changes punctuation only. What was cut off stays broken, because its end is not known.
    """
    if len(text) > _LONGEST_REPAIRED:
        return BROKEN
    for read in (ast.literal_eval, partial(json_repair.loads, skip_json_loads=True)):
        try:
            value = read(text)
            if isinstance(value, (dict, list)) and _words(text) == _words(json.dumps(value, ensure_ascii=False)):
                return value
        except (ValueError, SyntaxError, RecursionError, IndexError, TypeError, MemoryError):
            continue
    return BROKEN


def _words(text: str) -> list[str]:
    plain = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    plain = re.sub(r"\\[nrtbf]", " ", plain)
    return [_SAME_WORD.get(word, word) for word in _WORD.findall(plain)]


def _next_opening(text: str, start: int) -> int:
    places = [place for place in (text.find("{", start), text.find("[", start)) if place >= 0]
    return min(places, default=-1)


def _end_of(text: str, start: int) -> int:
    """Return where what opens at `start` is closed, -1 where it never is; brackets in strings do not count."""
    open_: list[str] = []
    quote = ""
    at = start
    while at < len(text) and at - start <= _LONGEST_REPAIRED:
        letter = text[at]
        if quote:
            if letter == "\\":
                at += 1
            elif letter == quote and (quote == '"' or not _is_apostrophe(text, at)):
                quote = ""
        elif letter == '"' or (letter == "'" and not _is_apostrophe(text, at)):
            quote = letter
        elif letter in _CLOSING:
            open_.append(_CLOSING[letter])
        elif open_ and letter == open_[-1]:
            open_.pop()
            if not open_:
                return at + 1
        at += 1
    return -1


def _is_apostrophe(text: str, at: int) -> bool:
    return 0 < at < len(text) - 1 and text[at - 1].isalnum() and text[at + 1].isalnum()


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


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
