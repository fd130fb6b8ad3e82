"""Fixtures that the whole suite shares."""

import contextlib
import itertools
import json
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from free_domain import free_domain
from hypothesis import HealthCheck, settings

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import StepRecord

# Nothing that a test starts may leave this machine.
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Nothing that a test starts may outlive it, also when it is killed.
os.environ["ROBOT_MEMORY_END_WITH_PARENT"] = "1"
# A shell starts a suite in the background with Ctrl-C ignored, and so would be all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
# A busy machine is no defect of what is tested: how long an example takes to draw or to run fails nothing.
settings.register_profile("any_machine", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any_machine")
# What nodes keep where nothing else is said (a session) is not this user's.
_DATA_FOLDER = tempfile.TemporaryDirectory(prefix="robot_memory_test_")
os.environ["XDG_DATA_HOME"] = _DATA_FOLDER.name


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Return the folder of real data that lies beside the checkout; tests on it skip where it is absent."""
    folder = Path(os.environ.get("ROBOT_MEMORY_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder} (set ROBOT_MEMORY_SHARED)")
    return folder


@pytest.fixture(scope="session")
def domain_id() -> int:
    """Return a ROS domain of this process's own: of the tests that run side by side none hears another."""
    return free_domain()


PreparedReply = str | int | float | Callable[[dict[str, Any]], str]


class Endpoint:
    """Answers chat completions with prepared replies, in a stream.

    An int is a status of HTTP, a float makes it wait so many seconds, a function makes the reply from the request; the
    last reply is given again where it is a function.
    """

    def __init__(self, replies: tuple[PreparedReply, ...]) -> None:
        self.replies = list(replies)
        self.requests: list[dict[str, Any]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append(body)
                is_last = len(endpoint.replies) == 1 and callable(endpoint.replies[0])
                reply = endpoint.replies[0] if is_last else endpoint.replies.pop(0)
                if isinstance(reply, int):
                    self.send_error(reply)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                if isinstance(reply, float):
                    time.sleep(reply)
                    reply = "late"
                if not isinstance(reply, str):
                    reply = reply(body)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # whoever asked has given up
                    self._stream(reply)

            def _stream(self, reply: str) -> None:
                for piece in [reply[i : i + 7] for i in range(0, len(reply), 7)]:
                    self._event({"choices": [{"index": 0, "delta": {"content": piece}}]})
                self._event(
                    {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}}
                )
                self.wfile.write(b"data: [DONE]\n\n")

            def _event(self, fields: dict[str, Any]) -> None:
                chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", **fields}
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def prompts(self) -> str:
        """Return all messages of the last request."""
        return "\n".join(message["content"] for message in self.requests[-1]["messages"])


@pytest.fixture
def endpoint() -> Iterator[Callable[..., Endpoint]]:
    """Return a maker of local servers that speak the OpenAI protocol: endpoint(reply, ...)."""
    opened: list[Endpoint] = []

    def serve(*replies: PreparedReply) -> Endpoint:
        opened.append(Endpoint(replies))
        return opened[-1]

    yield serve
    for one in opened:
        one.server.shutdown()
        one.server.server_close()


Script = Callable[[socket.socket], None]


class HostileServer:
    """Does to each connection what its script says, after the request came; the last script is done again and again."""

    def __init__(self, scripts: tuple[Script, ...]) -> None:
        self.scripts = list(scripts)
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
            threading.Thread(target=self._handle, args=(connection, script), daemon=True).start()

    def _handle(self, connection: socket.socket, script: Script) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(20.0)
            self.requests.append(self._request(connection))
            script(connection)

    @staticmethod
    def _request(connection: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        while len(body) < length:
            body += connection.recv(65536)
        return head + b"\r\n\r\n" + body

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def hostile() -> Iterator[Callable[..., HostileServer]]:
    """Return a maker of servers: hostile(script, ...)."""
    opened: list[HostileServer] = []

    def serve(*scripts: Script) -> HostileServer:
        opened.append(HostileServer(scripts))
        return opened[-1]

    yield serve
    for server in opened:
        server.close()


StepMaker = Callable[..., StepRecord]


@pytest.fixture
def step() -> StepMaker:
    """Return a maker of steps: step("PickupObject", "Apple", fails="hand_full", held="Apple"); index counts up."""
    counter = itertools.count()

    def make(
        skill: str,
        *arguments: str,
        fails: str = "none",
        held: str = "",
        episode: str = "e1",
        index: int | None = None,
        room: str = "kitchen",
        visible: tuple[str, ...] = (),
        relations: tuple[str, ...] = (),
    ) -> StepRecord:
        number = next(counter) if index is None else index
        return StepRecord(
            episode_id=episode,
            index=number,
            action=SkillCall(skill, arguments),
            success=fails == "none",
            reason=FailureReason(fails),
            stamp_ns=(number + 1) * 1_000_000_000,
            held_object=held,
            room=room,
            visible=visible,
            relations=relations,
        )

    return make
