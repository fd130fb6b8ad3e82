"""One chat completion of an endpoint as a stream that ends at a deadline and brings no more bytes than allowed.

httpx, under the openai client, has a timeout for each read and none for a name that is looked up. So the request runs
in a thread of its own, and whoever asked waits until the deadline and no longer. A hook of the client refuses every
answer but a plain 200 before its body is read.
"""

from __future__ import annotations

import importlib
import itertools
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import openai

from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import BrokenReplyError, LateError, LlmError, TooLongError, UnreachableError

# The release of httpx that this release of openai is built on.
_BASES = (base.__module__.partition(".")[0] for base in openai.DefaultHttpxClient.__mro__)
_httpx: Any = importlib.import_module(next(name for name in _BASES if name.startswith("httpx")))
_MOST_TOLD_BYTES = 1200
# How httpx says that the other side closed the connection: not that it speaks no HTTP.
_CLOSED = ("peer closed connection", "Server disconnected")

# Makes an error of an answer's status, headers and the beginning of its body.
Refusal = Callable[[int, Mapping[str, str], str], LlmError]


def open_client(base_url: str, key: str, refusal: Refusal) -> openai.OpenAI:
    """Return a client that follows no redirect and asks once. key: "" for none."""
    host = _httpx.URL(base_url).host

    def check(response: Any) -> None:
        if response.status_code != _httpx.codes.OK:
            raise refusal(response.status_code, response.headers, _beginning(response))
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise BrokenReplyError(f"{host} packs its reply, which was not asked for")

    def sign(request: Any) -> None:
        request.headers["Accept-Encoding"] = "identity"
        if not key:
            del request.headers["Authorization"]

    http = openai.DefaultHttpxClient(follow_redirects=False, event_hooks={"request": [sign], "response": [check]})
    return openai.OpenAI(base_url=base_url, api_key=key or "none", max_retries=0, http_client=http)


def _beginning(response: Any) -> str:
    try:
        said = b"".join(itertools.islice(response.iter_raw(_MOST_TOLD_BYTES), 1))
    except _httpx.HTTPError:
        return ""
    return said.decode("utf-8", "replace")


class EndpointStream:
    """The answer to one request; a context manager that lets go of it.

    Raises:
        LateError: the deadline passed. TooLongError: more bytes came than allowed. UnreachableError: the connection
        broke. BrokenReplyError: what came is no HTTP. LlmError: what the client's refusal made. Every method raises
        these.
    """

    def __init__(self, client: openai.OpenAI, request: Mapping[str, Any], deadline: Deadline, most_bytes: int) -> None:
        self._host = client.base_url.host
        self._deadline = deadline
        self._came: queue.Queue[bytes | Mapping[str, str] | LlmError] = queue.Queue()
        self._is_wanted = True
        arguments = (client, dict(request), deadline.left_s(), most_bytes)
        threading.Thread(target=self._run, args=arguments, name="endpoint", daemon=True).start()
        self.headers: Any = self._next()

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the body as they come, without their ends."""
        rest = b""
        while piece := self._next():
            *whole, rest = (rest + piece).split(b"\n")
            yield from (line.rstrip(b"\r") for line in whole)
        if rest:
            yield rest

    def body(self) -> bytes:
        """Return the whole body."""
        return b"".join(iter(self._next, b""))

    def __enter__(self) -> EndpointStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_wanted = False

    def _next(self) -> Any:
        """Return the headers, then each piece of the body, b"" behind the last."""
        try:
            came = self._came.get(timeout=self._deadline.left_s())
        except queue.Empty:
            raise LateError(f"{self._host} was silent until the deadline") from None
        if isinstance(came, LlmError):
            raise came
        return came

    def _run(self, client: openai.OpenAI, request: dict[str, Any], timeout_s: float, most_bytes: int) -> None:
        try:
            named = {name: request.pop(name) for name in ("model", "messages", "stream")}
            asking = client.chat.completions.with_streaming_response
            with asking.create(**named, extra_body=request, timeout=timeout_s) as response:
                self._came.put(response.headers)
                received = 0
                for piece in response.http_response.iter_raw():
                    received += len(piece)
                    if received > most_bytes:
                        raise TooLongError(f"the reply has more than {most_bytes} bytes")
                    self._came.put(piece)
                    if not self._is_wanted:
                        return
            self._came.put(b"")
        except Exception as error:  # whoever waits raises it
            self._came.put(self._as_ours(error))

    def _as_ours(self, error: Exception) -> LlmError:
        cause = error.__cause__ if isinstance(error, openai.APIConnectionError) and error.__cause__ else error
        if isinstance(cause, LlmError):
            return cause
        if isinstance(cause, _httpx.TimeoutException | openai.APITimeoutError):
            return LateError(f"{self._host} was silent until the deadline")
        text = f"{type(cause).__name__} {cause!s:.80}"
        if isinstance(cause, _httpx.RemoteProtocolError) and not str(cause).startswith(_CLOSED):
            return BrokenReplyError(f"{self._host} does not speak HTTP: {text}")
        if isinstance(cause, _httpx.TransportError | OSError):
            return UnreachableError(f"{self._host}: {text}")
        return BrokenReplyError(f"{self._host}: {text}")
