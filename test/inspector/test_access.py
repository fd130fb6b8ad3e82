"""Who may do what, and what hostile clients get: nothing, and nobody else is held up."""

import http.client
import os
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from inspected_home import Client, serving

from memory_node import cli
from memory_node.domain.errors import RobotMemoryError
from memory_node.inspector.access import Caller, RateLimit, TokenBook, read_tokens
from memory_node.inspector.server import BoundedProtocol
from memory_node.memory import RobotMemory

READ, EDIT, FORGET = "r" * 20, "e" * 20, "f" * 20
TOKENS = TokenBook([(READ, Caller("ada", "read")), (EDIT, Caller("bob", "edit")), (FORGET, Caller("eve", "forget"))])
IDLE_CONNECTIONS = 1000


@pytest.fixture(scope="module")
def port(memory: RobotMemory) -> Iterator[int]:
    with serving(memory, TOKENS, body_within_s=0.5) as client:
        yield client.port


@pytest.fixture(scope="module")
def open_port(memory: RobotMemory) -> Iterator[int]:
    with serving(memory, may="edit") as client:
        yield client.port


def object_id(memory: RobotMemory) -> str:
    return memory.scene().objects[0].id


@pytest.mark.parametrize(
    ("token", "read", "edit", "forget"),
    [("", 401, 401, 401), ("x" * 20, 401, 401, 401), (READ, 200, 403, 403), (EDIT, 200, 200, 403)],
)
def test_role_of_the_token_decides(
    port: int, memory: RobotMemory, token: str, read: int, edit: int, forget: int
) -> None:
    client, thing = Client(port, token), object_id(memory)
    assert client.ask("GET", "/api/v1/scene_graph")[0] == read
    assert client.ask("GET", "/metrics")[0] == read
    fact = {"text": "the cat is called Tom"}
    assert client.ask("POST", "/api/v1/tell_fact", fact)[0] == edit
    assert client.ask("POST", "/api/v1/forget", {"object_id": thing, "wait_s": 60.0})[0] == forget
    assert client.ask("GET", "/healthz")[0] == 200
    assert client.ask("GET", "/")[0] == 200


def test_edit_is_logged_with_who_made_it(port: int, memory: RobotMemory, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "memory_node.inspector.deeds")
    waiting = Client(port, FORGET).post("/api/v1/forget", object_id=object_id(memory), wait_s=60.0)
    undone = Client(port, EDIT).post(f"/api/v1/edits/{waiting['id']}/undo")
    assert (undone["who"], undone["state"]) == ("eve", "undone")
    Client(port, EDIT).post("/api/v1/tell_fact", text="the dog is called Rex")
    assert "by bob: tell: the dog is called Rex" in caplog.text
    assert "bob undid the edit" in caplog.text


def test_guessing_tokens_is_slowed_down(memory: RobotMemory) -> None:
    with serving(memory, TOKENS) as client:
        answers = [Client(client.port, f"{n:020}").ask("GET", "/api/v1/scene_graph")[0] for n in range(15)]
        assert answers[0] == 401
        assert answers[-1] == 429
        assert Client(client.port, READ).ask("GET", "/api/v1/scene_graph")[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_other_sites_pages_cannot_edit(
    open_port: int, memory: RobotMemory, headers: dict[str, str], status: int
) -> None:
    before = memory.hash()
    body = {"question": "what is known?"}
    assert Client(open_port).ask("POST", "/api/v1/ask_memory", body, **headers)[0] == status
    assert memory.hash() == before


def test_other_names_of_this_machine_are_refused(open_port: int) -> None:
    assert Client(open_port).ask("GET", "/api/v1/scene_graph", Host="evil.example")[0] == 421
    assert Client(open_port).ask("GET", "/api/v1/scene_graph", Host="localhost:1")[0] == 200


def test_no_page_may_frame_or_load_from_elsewhere(open_port: int) -> None:
    _, headers, _ = Client(open_port).raw("GET", "/")
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd", "/..%2f..%2fetc/passwd", "/page/../application.py", "/application.py",
        "/api/v1/objects/..%2f..%2fetc%2fpasswd/crop", "//etc/passwd", "/index.html/../../guard.py",
    ],
)  # fmt: skip
def test_no_path_leads_to_the_disk(open_port: int, path: str) -> None:
    status, _, told = Client(open_port).raw("GET", path)
    assert status == 404
    assert "root:" not in str(told)
    assert list(told) == ["message"]


def test_oversized_bodies_are_refused(open_port: int) -> None:
    assert Client(open_port).ask("POST", "/api/v1/ask_memory", {"question": "x" * 100_000})[0] == 413
    with socket.create_connection(("127.0.0.1", open_port), timeout=10) as endless:
        head = b"POST /api/v1/ask_memory HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        endless.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + b"2710\r\n" + b"x" * 10_000 + b"\r\n")
        endless.sendall((b"2710\r\n" + b"x" * 10_000 + b"\r\n") * 6)
        assert b" 413 " in endless.recv(1000)


def test_slow_body_is_given_up(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as slow:
        head = f"POST /api/v1/ask_memory HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {READ}\r\n"
        slow.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 20\r\n\r\n".encode() + b'{"qu')
        began = time.monotonic()
        assert b" 408 " in slow.recv(1000)
        assert time.monotonic() - began < 5.0


def test_connections_without_a_request_are_closed(open_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedProtocol, "head_within_s", 0.3)
    with socket.create_connection(("127.0.0.1", open_port), timeout=10) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHo")
        assert slow.recv(1000) == b""


def test_many_idle_connections_keep_nobody_out(open_port: int) -> None:
    idle: list[socket.socket] = []
    try:
        for _ in range(min(IDLE_CONNECTIONS, _spare_files() // 2)):
            idle.append(socket.create_connection(("127.0.0.1", open_port), timeout=10))
        began = time.monotonic()
        assert Client(open_port).get("/healthz") == b"ok\n"
        assert time.monotonic() - began < 5.0
    finally:
        for connection in idle:
            connection.close()


def test_too_many_requests_are_refused(memory: RobotMemory) -> None:
    with serving(memory, per_s=5.0) as client:
        answers = [client.raw("GET", "/api/v1/about") for _ in range(20)]
        assert [status for status, _, _ in answers[:10]] == [200] * 10
        refused = next(headers for status, headers, _ in answers if status == 429)
        assert int(refused["retry-after"]) >= 1


def test_buckets_fill_again_and_do_not_grow_without_end() -> None:
    now_s = 0.0
    limit = RateLimit(2.0, 2.0, lambda: now_s, most_clients=10)
    assert [limit.take("a") for _ in range(3)] == [0.0, 0.0, 0.5]
    now_s = 0.5
    assert limit.take("a") == 0.0
    for client in range(100):
        limit.take(str(client))
    assert len(limit._buckets) == 10


def test_pictures_stay_private(memory: RobotMemory) -> None:
    with serving(memory, images=False) as client:
        status, told = client.ask("GET", f"/api/v1/objects/{object_id(memory)}/crop")
        assert status == 404
        assert "--no-images" in told["message"]


def test_tls_by_files(memory: RobotMemory, tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "1",
    ]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    try:
        subprocess.run([*command, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no openssl to make a certificate with")
    with serving(memory, certificate=certificate, key=key) as client:
        trusting = ssl.create_default_context(cafile=certificate)
        secure = http.client.HTTPSConnection("localhost", client.port, timeout=20, context=trusting)
        secure.request("GET", "/healthz")
        assert secure.getresponse().read() == b"ok\n"
        secure.close()


def test_token_file_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"# who may\n\nada read {READ}\nbob edit {EDIT}\n")
    path.chmod(0o644)
    with pytest.raises(RobotMemoryError, match="chmod 600"):
        read_tokens(path)
    path.chmod(0o600)
    book = read_tokens(path)
    assert book.caller(EDIT) == Caller("bob", "edit")
    assert book.limited_to("read").caller(EDIT) == Caller("bob", "read")
    assert book.caller("nobody") is None
    path.write_text("ada king " + READ)
    with pytest.raises(RobotMemoryError, match="line 1"):
        read_tokens(path)
    path.write_text("ada read short")
    with pytest.raises(RobotMemoryError, match="16 characters"):
        read_tokens(path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "0.0.0.0"], "need a token"),
        (["--host", "0.0.0.0", "--token-file", "TOKENS"], "--without-tls"),
        (["--tls-key", "x"], "expected both"),
        (["--tls-key", "/nowhere", "--tls-certificate", "/nowhere"], "no such file"),
        (["--database", "/nowhere/memory.db"], "/nowhere/memory.db"),
    ],
)
def test_command_refuses_to_be_open(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROBOT_MEMORY_TOKEN", raising=False)
    tokens = tmp_path / "TOKENS"
    tokens.write_text(f"ada read {READ}")
    tokens.chmod(0o600)
    given = [str(tokens) if option == "TOKENS" else option for option in options]
    assert cli.main(["inspect", *given]) == 1
    told = capsys.readouterr().err
    assert said in told
    assert told.strip().count("\n") == 0


def _spare_files() -> int:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft - len(os.listdir("/proc/self/fd"))
