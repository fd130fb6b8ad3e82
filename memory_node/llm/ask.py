"""The one loop that asks a model, checks its reply and sends a faulty one back with what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

import jinja2
from pydantic import BaseModel

from memory_node.domain.resources import resource_path
from memory_node.llm.chat import ChatModel, Deadline, Message, RejectedReplyError, Reply, ReplyForm, ignore
from memory_node.llm.reply_reader import answer_in, json_form, read_json

_LONGEST_QUOTED = 2000  # characters


def prompt_templates(trim_blocks: bool = True, folder: Path | None = None) -> jinja2.Environment:
    """Return the templates. A value that one of them names and is not given is an error.

    trim_blocks: False for templates that say themselves where lines end. folder: None for config/prompts.
    """
    loader = jinja2.FileSystemLoader(str(folder or resource_path("config/prompts")))
    templates = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=trim_blocks)
    templates.filters["quoted"] = quoted
    return templates


@cache
def _prompts() -> jinja2.Environment:
    return prompt_templates()


def filled(template: str, **values: object) -> str:
    """Return a prompt of config/prompts with its values, stripped."""
    return _prompts().get_template(template).render(**values).strip()


def quoted(text: str, longest: int = _LONGEST_QUOTED) -> str:
    """Return somebody's words on one line, cut, and without what could end their quotation."""
    return " ".join(text[:longest].replace("<", "(").replace(">", ")").split())


Value = TypeVar("Value")
Schema = TypeVar("Schema", bound=BaseModel)
# Characters of a faulty reply that are sent back: with the prompt it must fit into a small model's window.
_MOST_SENT_BACK = 4000


@dataclass(frozen=True)
class Question(Generic[Value]):
    """What a model is asked, and how its reply is read.

    read: returns what the reply says, its reasoning taken off, or raises RejectedReplyError with words that tell the
    model what to correct. repair: puts those words into the message that sends the reply back. form: what the reply
    must look like.
    """

    messages: tuple[Message, ...]
    read: Callable[[str], Value]
    repair: Callable[[str], str]
    form: ReplyForm | None = None


def ask(
    model: ChatModel,
    question: Question[Value],
    deadline: Deadline,
    max_repairs: int,
    on_line: Callable[[str], None] = ignore,
    on_reply: Callable[[Reply], None] = ignore,
    on_rejected: Callable[[RejectedReplyError], None] = ignore,
) -> Value:
    """Return what the first good reply says.

    A faulty reply goes back with the error, at most `max_repairs` times; of several, only the last is shown to the
    model. One deadline covers all of it. on_reply gets every reply, faulty ones too, for the account.

    Raises:
        RejectedReplyError: no reply was good; it is the error of the last one.
        LlmError: the model gave no reply, or the deadline passed.
    """
    messages = question.messages
    for repairs_left in range(max_repairs, -1, -1):
        deadline.left_s()
        reply = model.reply(messages, deadline, question.form, on_line)
        on_reply(reply)
        try:
            return question.read(answer_of(reply))
        except RejectedReplyError as error:
            on_rejected(error)
            if not repairs_left:
                raise
            faulty = Message("assistant", reply.text[:_MOST_SENT_BACK])
            messages = (*question.messages, faulty, Message("user", question.repair(str(error))))
    raise AssertionError("the loop ends by returning or raising")


def ask_by_prompt(
    model: ChatModel,
    schema: type[Schema],
    template: str,
    deadline: Deadline,
    max_repairs: int,
    read: Callable[[Schema], Value],
    **said: object,
) -> Value:
    """Return what `read` makes of a JSON reply to a prompt of config/prompts; said: the template's values, texts of
    others with the filter `quoted`.

    Raises:
        RejectedReplyError: no reply was good, by the schema or by `read`.
        LlmError: the model gave no reply, or the deadline passed.
    """
    text = _prompts().get_template(template).render(**said)
    question = Question(
        (Message("user", text),),
        lambda reply: read(read_json(schema, reply)),
        "That cannot be used: {}. Reply again as JSON.".format,
        json_form(schema),
    )
    return ask(model, question, deadline, max_repairs)


def answer_of(reply: Reply) -> str:
    """Return what a reply answers, without reasoning.

    Raises:
        RejectedReplyError: it was cut off, is a refusal, or says nothing.
    """
    if not reply.whole:
        raise RejectedReplyError("cut_off", f"it was cut off after {reply.tokens_out} tokens; say it shorter")
    if reply.refusal:
        raise RejectedReplyError("refused", reply.refusal)
    answer = answer_in(reply.text)
    if not answer:
        raise RejectedReplyError("empty", "there is only reasoning, no answer" if reply.text.strip() else "it is empty")
    return answer
