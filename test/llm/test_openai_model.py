"""The client of endpoints against servers that do not keep to the protocol, and against one that does."""

import base64
import io
import json
import pickle
import socket
import struct
import time
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import (
    BrokenReplyError,
    Deadline,
    GrammarForm,
    JsonForm,
    LateError,
    LlmError,
    Message,
    ModelMissingError,
    OverloadedError,
    RefusedError,
    Reply,
    TooLongError,
    UnreachableError,
)
from memory_node.llm.chat_completion import tensor_file
from memory_node.llm.config import ModelConfig
from memory_node.llm.openai_model import OpenAiModel

ASKED = [Message("user", "say something")]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
Script = Callable[[socket.socket], None]


def event(text: str, **more: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": {"content": text}, **more}]}).encode() + b"\n\n"


GOOD = HEAD + event("fine", finish_reason="stop") + b"data: [DONE]\n\n"


def sends(*parts: bytes) -> Script:
    def script(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)

    return script


def for_ever(head: bytes, part: bytes, pause_s: float = 0.0) -> Script:
    def script(connection: socket.socket) -> None:
        connection.sendall(head)
        until = time.monotonic() + 15.0
        while time.monotonic() < until:
            connection.sendall(part)
            time.sleep(pause_s)

    return script


def resets(*parts: bytes) -> Script:
    def script(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
        time.sleep(0.05)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return script


def model_at(url: str, **config: Any) -> OpenAiModel:
    return OpenAiModel(ModelConfig(base_url=url, model="m", **{"timeout_s": 10.0, "retries": 0, **config}))


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(for_ever(HEAD, b"x" * 65_536), TooLongError, id="stream without newline"),
        pytest.param(for_ever(HEAD, event("word " * 50)), TooLongError, id="reply without end"),
        pytest.param(for_ever(HEAD, b": still here\n\n"), TooLongError, id="comments without end"),
        pytest.param(for_ever(b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n"), BrokenReplyError, id="headers without end"),
        pytest.param(for_ever(b"", b"\x00" * 4096), BrokenReplyError, id="no HTTP"),
        pytest.param(sends(b"\xff\xfe\x00 garbage\r\n\r\n"), BrokenReplyError, id="garbage for a status"),
        pytest.param(sends(HEAD, b"data: \xff\xfe\xfa\n\n"), BrokenReplyError, id="garbage for an event"),
        pytest.param(sends(HEAD, b'data: {"choices": [\n\n'), BrokenReplyError, id="broken JSON"),
        pytest.param(sends(HEAD, b"data: " + b"[" * 5000 + b"\n\n"), BrokenReplyError, id="deep JSON"),
        pytest.param(sends(HEAD, b'data: {"choices": 7}\n\n'), BrokenReplyError, id="JSON of another shape"),
        pytest.param(
            sends(HEAD, b'data: {"choices": [{"delta": {"content": "\\ud800"}}]}\n\n'),
            BrokenReplyError,
            id="lone surrogate",
        ),
        pytest.param(
            sends(HEAD, b'data: {"error": {"message": "out of memory"}}\n\n'), BrokenReplyError, id="error event"
        ),
        pytest.param(sends(HEAD, event("half of")), BrokenReplyError, id="end in the middle"),
        pytest.param(resets(HEAD, event("half of")), UnreachableError, id="reset in the middle"),
        pytest.param(resets(), UnreachableError, id="reset at once"),
        pytest.param(
            sends(HEAD[:-2], b"Transfer-Encoding: chunked\r\n\r\n", b"zz\r\n"), BrokenReplyError, id="broken chunks"
        ),
        pytest.param(
            sends(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"),
            UnreachableError,
            id="less than announced",
        ),
        pytest.param(sends(HEAD[:-2], b"Content-Encoding: gzip\r\n\r\n", b"\x1f\x8b"), BrokenReplyError, id="packed"),
        pytest.param(sends(b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\n\r\n"), RefusedError, id="redirect"),
        pytest.param(sends(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"), RefusedError, id="401"),
        pytest.param(sends(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), OverloadedError, id="503"),
    ],
)
def test_broken_reply_ends_with_an_error_of_its_own(hostile, script: Script, expected: type[LlmError]) -> None:
    started = time.monotonic()
    with pytest.raises(expected):
        model_at(hostile(script).url, max_reply_tokens=50).reply(ASKED)
    assert time.monotonic() - started < 8.0


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(lambda connection: time.sleep(8.0), id="silence"),
        pytest.param(for_ever(b"HTTP/1.1 200 OK\r\nX: ", b"y", 0.05), id="headers letter by letter"),
        pytest.param(for_ever(HEAD, b"z", 0.05), id="body letter by letter"),
        pytest.param(for_ever(HEAD, event("so "), 0.05), id="words one by one"),
    ],
)
def test_one_deadline_holds_for_the_whole_reply(hostile, script: Script) -> None:
    started = time.monotonic()
    with pytest.raises(LateError):
        model_at(hostile(script).url, timeout_s=60.0).reply(ASKED, Deadline(0.6))
    assert 0.5 < time.monotonic() - started < 3.0


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=60), max_size=6), st.booleans(), st.booleans())
def test_any_bytes_end_with_a_reply_or_a_typed_error(hostile, parts: list[bytes], head: bool, events: bool) -> None:
    sent = [b"data: " + part + b"\n\n" if events else part for part in parts]
    server = hostile(sends(HEAD if head else b"", *sent))
    try:
        ended: Reply | LlmError = model_at(server.url).reply(ASKED, Deadline(5.0))
    except LlmError as error:
        ended = error
    finally:
        server.close()
    assert isinstance(ended, Reply | LlmError)
    assert not isinstance(ended, LateError), "the server closed long before"


def test_endpoint_that_asks_to_wait_is_asked_again_then(hostile) -> None:
    wait = sends(b"HTTP/1.1 429 Wait\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")
    server = hostile(wait, sends(GOOD))
    started = time.monotonic()
    assert model_at(server.url, retries=1).reply(ASKED).text == "fine"
    assert time.monotonic() - started >= 1.0
    assert len(server.requests) == 2


def test_endpoint_that_wants_to_wait_past_the_deadline_is_given_up_at_once(hostile) -> None:
    server = hostile(sends(b"HTTP/1.1 503 No\r\nRetry-After: 100\r\nContent-Length: 5\r\n\r\nsleep"))
    started = time.monotonic()
    with pytest.raises(OverloadedError, match="503: sleep") as caught:
        model_at(server.url, retries=5).reply(ASKED)
    assert time.monotonic() - started < 2.0
    assert caught.value.retry_after_s == 100.0


def test_refusal_is_not_asked_again_and_tells_what_helps(hostile) -> None:
    said = b'{"error": {"message": "response_format is not supported"}}'
    server = hostile(sends(b"HTTP/1.1 400 No\r\nContent-Length: %d\r\n\r\n" % len(said), said))
    with pytest.raises(RefusedError, match="structured: none"):
        model_at(server.url, retries=5).reply(ASKED, form=JsonForm({"type": "object"}))
    assert len(server.requests) == 1


def test_endpoint_that_comes_back_is_reached(hostile) -> None:
    server = hostile(resets(), sends(GOOD))
    assert model_at(server.url, retries=1).reply(ASKED).text == "fine"


def test_nobody_at_the_address_is_unreachable() -> None:
    with pytest.raises(UnreachableError):
        model_at("http://127.0.0.1:9/v1").reply(ASKED)


def test_name_that_is_not_found_in_time_is_late(monkeypatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(5.0))
    started = time.monotonic()
    with pytest.raises(LateError):
        model_at("http://robot.example/v1").reply(ASKED, Deadline(0.3))
    assert time.monotonic() - started < 2.0


def test_reply_comes_whole_with_its_lines_and_tokens(endpoint: Callable[..., Any]) -> None:
    lines: list[str] = []
    reply = model_at(endpoint("one\ntwo").url).reply(ASKED, on_line=lines.append)
    assert (reply.text, reply.tokens_in, reply.tokens_out, reply.whole) == ("one\ntwo", 100, 20, True)
    assert lines == ["one", "two"]


def test_first_token_is_timed_from_the_request_on(hostile) -> None:
    def script(connection: socket.socket) -> None:
        connection.sendall(HEAD + event(""))
        time.sleep(0.2)
        connection.sendall(event("first"))
        time.sleep(0.6)
        connection.sendall(event(" last") + b"data: [DONE]\n\n")

    began = time.monotonic()
    reply = model_at(hostile(script).url).reply(ASKED)
    assert reply.text == "first last"
    assert 0.2 <= reply.first_token_s <= time.monotonic() - began - 0.1


def test_server_that_does_not_stream_is_understood(hostile) -> None:
    whole = json.dumps({"choices": [{"message": {"content": "hello"}, "finish_reason": "length"}]}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(whole)
    reply = model_at(hostile(sends(head, whole)).url).reply(ASKED)
    assert (reply.text, reply.whole) == ("hello", False)


def test_request_carries_pictures_form_and_the_key_of_its_own_variable(hostile, monkeypatch) -> None:
    monkeypatch.setenv("KEY_OF_STATES", "secret")
    server = hostile(sends(GOOD))
    model = model_at(server.url, api_key_variable="KEY_OF_STATES", temperature=0.5, seed=3, grammar_field="grammar")
    model.reply([Message("user", "look", (b"\xff\xd8jpeg", b"\x89PNG..."))], form=JsonForm({"type": "object"}, "state"))
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    sent = json.loads(body)
    assert b"authorization: bearer secret" in head.lower()
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    words, jpeg, png = sent["messages"][0]["content"]
    assert words == {"type": "text", "text": "look"}
    assert jpeg["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert png["image_url"]["url"].startswith("data:image/png;base64,")
    assert sent["response_format"]["json_schema"] == {"name": "state", "schema": {"type": "object"}, "strict": False}
    assert (sent["temperature"], sent["seed"], sent["max_tokens"]) == (0.5, 3, 800)
    model.reply(ASKED, form=GrammarForm('root ::= "yes"'))
    assert json.loads(server.requests[1].partition(b"\r\n\r\n")[2])["grammar"] == 'root ::= "yes"'


def test_public_endpoint_needs_a_key(monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelMissingError, match="OPENAI_API_KEY"):
        OpenAiModel(ModelConfig(backend="openai")).reply(ASKED)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://", "http://host:99999/v1", "http://a b/"])
def test_what_is_no_url_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(InvalidValueError, match="http://localhost:8000/v1"):
        model_at(url)


def test_proxy_of_the_environment_is_used(hostile, monkeypatch) -> None:
    proxy = hostile(sends(GOOD))
    monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
    monkeypatch.setenv("no_proxy", "")
    assert model_at("http://far.example:8080/v1").reply(ASKED).text == "fine"
    assert proxy.requests[0].startswith(b"POST http://far.example:8080/v1/chat/completions HTTP/1.1\r\n")


class TensorUnpickler(pickle.Unpickler):
    """Reads what torch would, and nothing else."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        super().__init__(archive.open("archive/data.pkl"))
        self._archive = archive

    def find_class(self, module: str, name: str) -> Any:
        known = {"FloatStorage": "f4", "_rebuild_tensor_v2": self._tensor, "OrderedDict": dict}
        assert module in ("torch", "torch._utils", "collections")
        return known[name]

    def persistent_load(self, pid: Any) -> Any:
        kind, dtype, key, device, size = pid
        assert (kind, device) == ("storage", "cpu")
        values = np.frombuffer(self._archive.read(f"archive/data/{key}"), dtype)
        assert len(values) == size
        return values

    @staticmethod
    def _tensor(storage: Any, offset: int, shape: Any, strides: Any, gradient: bool, hooks: Any) -> Any:
        assert (gradient, hooks) == (False, {})
        return np.lib.stride_tricks.as_strided(storage[offset:], shape, [4 * one for one in strides])


def test_latent_tokens_go_as_prompt_embeddings(hostile) -> None:
    latent = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    server = hostile(sends(GOOD))
    asked = [Message("system", "be good"), Message("user", "The mug is dirty.", latent=latent[:, ::2])]
    assert model_at(server.url).reply(asked).text == "fine"
    sent = json.loads(server.requests[0].partition(b"\r\n\r\n")[2])["messages"]
    assert sent[0] == {"role": "system", "content": "be good"}
    words, vectors = sent[1]["content"]
    assert words == {"type": "text", "text": "The mug is dirty."}
    assert vectors.keys() == {"type", "data"}
    assert vectors["type"] == "prompt_embeds"
    file = io.BytesIO(base64.b64decode(vectors["data"], validate=True))
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        assert np.array_equal(TensorUnpickler(archive).load(), latent[:, ::2])


def test_torch_reads_what_is_sent() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra learning")
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    read = torch.load(io.BytesIO(tensor_file(matrix)), weights_only=True, map_location="cpu")
    assert read.dtype == torch.float32
    assert np.array_equal(read.numpy(), matrix)


def test_endpoint_that_takes_no_embeddings_says_what_it_needs(hostile) -> None:
    said = b'{"error": {"message": "unknown content part prompt_embeds"}}'
    server = hostile(sends(b"HTTP/1.1 400 No\r\nContent-Length: %d\r\n\r\n" % len(said), said))
    with pytest.raises(RefusedError, match="--enable-prompt-embeds"):
        model_at(server.url).reply([Message("user", "look", latent=np.zeros((1, 2), np.float32))])
