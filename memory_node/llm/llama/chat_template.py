"""Turns a dialogue into a model's tokens by the chat template that its file carries.

What is said is put in as plain text: "<|im_end|>" in a label or a reply stays these ten letters, and can never end a
turn or begin one that a person or the system did not say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn, Protocol

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from memory_node.llm.chat import Message, ModelMissingError
from memory_node.llm.llama.vector_tokens import vector_tokens

# Stands for what is said while the template is filled in; the template's own text has no such letters.
_MARK = "\ue000{}\ue001"
_MARKS = re.compile("\ue000(\\d+)\ue001")


class TemplateVocabulary(Protocol):
    """What a template needs of a model's tokenizer; see Vocabulary, which is llama.cpp's."""

    begin: int
    begins_with_it: bool
    end: int

    def tokens(self, text: str, control: bool = False) -> list[int]:
        """Return the tokens of a text. control: names of control tokens in it are those tokens."""

    def ends(self, token: int) -> bool:
        """Return whether a token ends the model's turn."""

    def text_of_control(self, token: int) -> str:
        """Return how a control token is written in a template, "" for none."""


class ChatTemplate:
    """A template in the form that Hugging Face gave it (Jinja2), run in a sandbox: it comes with a file from outside.

    source: "" for a model without one, which gets the texts separated by empty lines. `end` is the token that ends a
    turn of the model.

    Raises:
        ModelMissingError: the template cannot be read.
    """

    def __init__(self, source: str, vocabulary: TemplateVocabulary) -> None:
        self._vocabulary = vocabulary
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = _refuse
        try:
            self._template = environment.from_string(source or _PLAIN)
        except jinja2.TemplateError as error:
            raise ModelMissingError(f"the model's chat template cannot be read: {error}") from error
        self.end = self._end_of_turn()

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """Return the tokens of a dialogue, up to where the model's turn begins or goes on.

        Latent vectors of a message stand behind its text, under numbers below 0 (vector_tokens.py).

        Raises:
            ModelMissingError: the template fails.
        """
        said = list(messages)
        begun = said.pop().text if said and said[-1].role == "assistant" else ""
        try:
            text = self._filled(said)
        except jinja2.TemplateError:
            said = _without_system(said)  # some templates know no system
            try:
                text = self._filled(said)
            except jinja2.TemplateError as error:
                raise ModelMissingError(f"the model's chat template fails: {error}") from error
        tokens: list[int] = []
        for index, part in enumerate(_MARKS.split(text)):
            if index % 2 == 0:
                tokens += self._vocabulary.tokens(part, control=True)
                continue
            message = said[int(part)]
            tokens += self._vocabulary.tokens(message.text.strip())
            tokens += vector_tokens(message.latent) if message.latent is not None else []
        tokens += self._vocabulary.tokens(begun)
        if self._vocabulary.begins_with_it and tokens[:1] != [self._vocabulary.begin]:
            tokens.insert(0, self._vocabulary.begin)
        return tokens

    def _end_of_turn(self) -> int:
        """Return the token that the template writes behind what the model said."""
        try:
            behind = _MARKS.split(self._filled([Message("user", ""), Message("assistant", "")]))[-1]
        except jinja2.TemplateError:
            behind = ""
        ends = (token for token in self._vocabulary.tokens(behind, control=True) if self._vocabulary.ends(token))
        return next(ends, self._vocabulary.end)

    def _filled(self, messages: Sequence[Message]) -> str:
        """Return the template with a mark for each message. Those of image-text models may take a list of parts only,
        and say nothing of a plain text."""
        marks = [_MARK.format(number) for number in range(len(messages))]
        for contents in (marks, [[{"type": "text", "text": mark}] for mark in marks]):
            text = self._template.render(
                messages=[{"role": one.role, "content": content} for one, content in zip(messages, contents)],
                add_generation_prompt=True,
                bos_token=self._vocabulary.text_of_control(self._vocabulary.begin),
                eos_token=self._vocabulary.text_of_control(self._vocabulary.end),
            )
            if all(mark in text for mark in marks):
                return text
        raise jinja2.TemplateError("it leaves out what is said")


_PLAIN = "{% for message in messages %}{{ message.content }}\n\n{% endfor %}"


def _refuse(text: str) -> NoReturn:
    raise jinja2.TemplateError(text)


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """Return the dialogue with what the system says before what the user says first."""
    system = [message.text for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not others:
        return [Message("user", "\n\n".join(system))]
    return [replace(others[0], text="\n\n".join([*system, others[0].text])), *others[1:]]
