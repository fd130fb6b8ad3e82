"""Reads a language model's reply as skill calls. The reply is parsed, never executed."""

from __future__ import annotations

import ast

from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import check_call
from memory_node.llm.reply_reader import answer_in, last_block

_LONGEST_REPLY = 20_000
_MOST_CALLS = 80
_LONGEST_ARGUMENT = 200


class NotAPlanError(RobotMemoryError):
    """A reply that is no list of valid skill calls; the message tells a language model what to correct."""


def parse_plan(reply: str) -> list[SkillCall]:
    """Return the calls of a reply: those of its last fenced block, else the whole text.

    Raises:
        NotAPlanError: it is anything else than calls of declared skills with literal strings or numbers.
    """
    if len(reply) > _LONGEST_REPLY:
        raise NotAPlanError(f"the answer has {len(reply)} characters; at most {_LONGEST_REPLY} are read")
    text = last_block(answer_in(reply))
    try:
        tree = ast.parse(text.strip(), mode="exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotAPlanError(f"it cannot be read as calls, one a line ({_short(error)})") from None
    if not tree.body:
        raise NotAPlanError("it contains no skill call")
    if len(tree.body) > _MOST_CALLS:
        raise NotAPlanError(f"it has {len(tree.body)} lines; at most {_MOST_CALLS} are allowed")
    return [_call(statement) for statement in tree.body]


def _call(statement: ast.stmt) -> SkillCall:
    where = f"line {statement.lineno}"
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        raise NotAPlanError(f"{where} is no skill call")
    call = statement.value
    if not isinstance(call.func, ast.Name):
        raise NotAPlanError(f"{where}: only the skills of the library can be called")
    if call.keywords:
        raise NotAPlanError(f"{where}: arguments are given without names")
    arguments = tuple(_literal(argument, where) for argument in call.args)
    try:
        parsed = SkillCall(call.func.id, arguments)
        check_call(parsed)
    except InvalidValueError as error:
        raise NotAPlanError(f"{where}: {error}") from None
    return parsed


def _literal(node: ast.expr, where: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if len(node.value) > _LONGEST_ARGUMENT:
            raise NotAPlanError(f"{where}: an argument has {len(node.value)} characters")
        return node.value
    raise NotAPlanError(f"{where}: every argument must be a string in quotes")


def _short(error: Exception) -> str:
    line = getattr(error, "lineno", None)
    message = getattr(error, "msg", "") or type(error).__name__
    return f"line {line}: {message}" if line else str(message)
