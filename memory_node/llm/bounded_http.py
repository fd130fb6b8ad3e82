"""HTTP requests that end at a deadline and read no more bytes than allowed, whatever the other side does.

A client with a timeout for each read waits for ever on a server that sends one byte now and then, and reads an endless
line into memory. So every wait here is limited to the time left before the deadline, and every byte is counted.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import io
import queue
import socket
import ssl
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from memory_node.domain.errors import InvalidValueError
from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import BrokenReplyError, LateError, TooLongError, UnreachableError

_PORTS = {"http": 80, "https": 443}


def checked_url(url: str) -> SplitResult:
    """Return the parts of an http or https URL with a host.

    Raises:
        InvalidValueError: it is none.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in _PORTS and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or any(letter.isspace() for letter in url):
        raise InvalidValueError(f"expected a URL such as http://localhost:8000/v1, got {url!r}")
    return parts


class BoundedResponse:
    """The answer to one request on a connection of its own; a context manager that closes it.

    Raises:
        LateError: the deadline passed. TooLongError: more bytes came than allowed. UnreachableError: the connection
        broke. BrokenReplyError: what came is no HTTP. Every method raises these.
    """

    def __init__(self, url: str, headers: Mapping[str, str], body: bytes, deadline: Deadline, most_bytes: int) -> None:
        target = checked_url(url)
        self._host = target.hostname or ""
        with _our_errors(self._host):
            self._socket = _connected(target, deadline, most_bytes)
        try:
            with _our_errors(self._host):
                self._response = self._exchange(target, headers, body)
        except BaseException:
            self._socket.really_close()
            raise

    def _exchange(self, target: SplitResult, headers: Mapping[str, str], body: bytes) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self._host)
        connection.sock = self._socket  # type: ignore[assignment]
        path = (target.path or "/") + (f"?{target.query}" if target.query else "")
        proxied = target.scheme == "http" and _proxy_of(target) is not None
        where = f"{target.scheme}://{target.netloc}{path}" if proxied else path
        sent = {"Host": target.netloc.rpartition("@")[2], "Accept-Encoding": "identity", "Connection": "close"}
        connection.request("POST", where, body, {**sent, **headers})
        response = connection.getresponse()
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise BrokenReplyError(f"{self._host} packs its reply, which was not asked for")
        return response

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._response.status

    def header(self, name: str) -> str:
        """Return a header, "" when it was not sent."""
        return self._response.headers.get(name, "")

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the body as they come, without their ends."""
        while True:
            with _our_errors(self._host):
                line = self._response.readline()
            if not line:
                return
            yield line.rstrip(b"\r\n")

    def body(self) -> bytes:
        """Return what is left of the body."""
        with _our_errors(self._host):
            return self._response.read()

    def __enter__(self) -> BoundedResponse:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.really_close()


class _BoundedSocket:
    """What http.client needs of a socket. Each wait ends at the deadline; what is received is counted."""

    def __init__(self, inner: socket.socket, deadline: Deadline, most_bytes: int) -> None:
        self._inner = inner
        self._deadline = deadline
        self._most_bytes = most_bytes
        self._received = 0

    def sendall(self, data: bytes) -> None:
        self._inner.settimeout(self._deadline.left_s())
        self._inner.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_SocketReader(self))

    def receive_into(self, buffer: memoryview) -> int:
        self._inner.settimeout(self._deadline.left_s())
        count = self._inner.recv_into(buffer)
        self._received += count
        if self._received > self._most_bytes:
            raise TooLongError(f"the reply has more than {self._most_bytes} bytes")
        return count

    def close(self) -> None:
        """Do nothing: http.client closes the socket before the body is read, and its reader keeps it open."""

    def really_close(self) -> None:
        self._inner.close()


class _SocketReader(io.RawIOBase):
    def __init__(self, source: _BoundedSocket) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._source.receive_into(buffer)


@contextlib.contextmanager
def _our_errors(host: str) -> Iterator[None]:
    """Turn what the network raises into our errors."""
    try:
        yield
    except TimeoutError as error:
        raise LateError(f"{host} was silent until the deadline") from error
    except http.client.IncompleteRead as error:
        raise UnreachableError(f"{host} broke off its reply") from error
    except OSError as error:
        raise UnreachableError(f"{host}: {error or type(error).__name__}") from error
    except (http.client.HTTPException, ValueError) as error:
        raise BrokenReplyError(f"{host} does not speak HTTP: {type(error).__name__} {error!s:.80}") from error


def _connected(target: SplitResult, deadline: Deadline, most_bytes: int) -> _BoundedSocket:
    proxy = _proxy_of(target)
    first = proxy or target
    plain = _connect(first.hostname or "", first.port or _PORTS[first.scheme], deadline)
    try:
        if target.scheme == "http":
            return _BoundedSocket(plain, deadline, most_bytes)
        if proxy is not None:
            _open_tunnel(_BoundedSocket(plain, deadline, 65_536), proxy, target)
        plain.settimeout(deadline.left_s())
        secure = ssl.create_default_context().wrap_socket(plain, server_hostname=target.hostname)
        return _BoundedSocket(secure, deadline, most_bytes)
    except BaseException:
        plain.close()
        raise


def _connect(host: str, port: int, deadline: Deadline) -> socket.socket:
    """Return a socket to the first address that answers; each gets its part of the time."""
    addresses = _addresses(host, port, deadline)
    for number, (family, kind, protocol, _, address) in enumerate(addresses, start=1):
        connecting = socket.socket(family, kind, protocol)
        connecting.settimeout(deadline.left_s() / (len(addresses) - number + 1))
        try:
            connecting.connect(address)
        except OSError:
            connecting.close()
            if number == len(addresses):
                raise
            continue
        connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connecting
    raise UnreachableError(f"{host} has no address")


def _addresses(host: str, port: int, deadline: Deadline) -> list[tuple]:
    """Look a name up in a thread: the resolver has no deadline, and waits long on a robot that lost its network."""
    answer: queue.Queue[list[tuple] | OSError] = queue.Queue()

    def look_up() -> None:
        try:
            answer.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answer.put(error if isinstance(error, OSError) else OSError(f"{host!r} is no host name"))

    threading.Thread(target=look_up, name="resolver", daemon=True).start()
    try:
        found = answer.get(timeout=deadline.left_s())
    except queue.Empty:
        raise LateError(f"the address of {host} was not found until the deadline") from None
    if isinstance(found, OSError):
        raise found
    return found


def _proxy_of(target: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment names for a host (http_proxy, https_proxy, no_proxy)."""
    named = urllib.request.getproxies().get(target.scheme, "")
    if not named or urllib.request.proxy_bypass(target.hostname or ""):
        return None
    proxy = checked_url(named if "://" in named else f"http://{named}")
    if proxy.scheme != "http":
        raise UnreachableError(f"the proxy {proxy.hostname} is {proxy.scheme}; only http proxies are supported")
    return proxy


def _open_tunnel(through: _BoundedSocket, proxy: SplitResult, target: SplitResult) -> None:
    goal = f"{target.hostname}:{target.port or _PORTS[target.scheme]}"
    asked = [f"CONNECT {goal} HTTP/1.1", f"Host: {goal}"]
    if proxy.username:
        secret = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        asked.append(f"Proxy-Authorization: Basic {base64.b64encode(secret.encode()).decode()}")
    through.sendall("\r\n".join([*asked, "", ""]).encode("latin-1"))
    answer = http.client.HTTPResponse(through, method="CONNECT")  # type: ignore[arg-type]
    answer.begin()
    if answer.status != http.client.OK:
        raise UnreachableError(f"the proxy {proxy.hostname} refuses: {answer.status} {answer.reason}")
