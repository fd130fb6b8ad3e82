from collections.abc import Callable
from typing import Any

import pytest

from memory_node.domain.chat_model import ChatConfig, ChatModelError, OpenAiChatModel
from memory_node.domain.errors import InvalidValueError

ASKED = [{"role": "user", "content": "say something"}]


def test_reply_comes_whole_with_its_lines_and_tokens(endpoint: Callable[..., Any]) -> None:
    lines: list[str] = []
    reply = OpenAiChatModel(ChatConfig(base_url=endpoint("one\ntwo").url)).reply(ASKED, lines.append)
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("one\ntwo", 100, 20)
    assert lines == ["one", "two"]


def test_endless_reply_is_cut_off(endpoint: Callable[..., Any]) -> None:
    model = OpenAiChatModel(ChatConfig(base_url=endpoint("word " * 1000).url, max_reply_tokens=10))
    with pytest.raises(ChatModelError, match="more than 10 tokens"):
        model.reply(ASKED)


def test_caller_may_allow_less_time_than_the_model_has(endpoint: Callable[..., Any]) -> None:
    model = OpenAiChatModel(ChatConfig(base_url=endpoint(5.0, 5.0).url, timeout_s=60.0))
    with pytest.raises(ChatModelError):
        model.reply(ASKED, timeout_s=0.2)


def test_impossible_setting_is_refused_by_name() -> None:
    with pytest.raises(InvalidValueError, match=r"temperature.*0 to 2"):
        ChatConfig(temperature=3.0)
