"""SIGINT and SIGTERM shut the contexts down: every spin ends, and peers are told that the endpoints are gone."""

from __future__ import annotations

import signal
import socket
import threading
from enum import IntEnum
from types import FrameType
from typing import Any

from ros_embedded.rclpy.context import contexts_alive


class SignalHandlerOptions(IntEnum):
    """Which signals rclpy handles."""

    NO = 0
    SIGINT = 1
    SIGTERM = 2
    ALL = 3


_previous: dict[int, Any] = {}
_waker: tuple[socket.socket, socket.socket] | None = None


def install_signal_handlers(options: SignalHandlerOptions = SignalHandlerOptions.ALL) -> None:
    """Handle the signals of `options`; only the main thread can, elsewhere this does nothing."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number, option in (
        (signal.SIGINT, SignalHandlerOptions.SIGINT),
        (signal.SIGTERM, SignalHandlerOptions.SIGTERM),
    ):
        if options & option and number not in _previous:
            _previous[number] = signal.signal(number, _on_signal)
    if _previous and _waker is None:
        _start_waker()


def uninstall_signal_handlers() -> None:
    """Put back the handlers that were there before."""
    global _waker
    if threading.current_thread() is not threading.main_thread():
        return
    while _previous:
        number, handler = _previous.popitem()
        signal.signal(number, handler if handler is not None else signal.SIG_DFL)
    if _waker is not None:
        signal.set_wakeup_fd(-1)
        _, sending = _waker
        _waker = None
        sending.close()


def _on_signal(number: int, frame: FrameType | None) -> None:
    for context in contexts_alive():
        context.ended_by_signal = True
        context.try_shutdown()
    previous = _previous.get(number)
    if callable(previous):
        previous(number, frame)


def _start_waker() -> None:
    """Start a thread that wakes executors on signals: Python's handlers need the main thread, which may be waiting."""
    global _waker
    receiving, sending = socket.socketpair()
    sending.setblocking(False)
    signal.set_wakeup_fd(sending.fileno(), warn_on_full_buffer=False)
    _waker = (receiving, sending)
    threading.Thread(target=_wake_on_signals, args=(receiving,), name="rclpy-signals", daemon=True).start()


def _wake_on_signals(receiving: socket.socket) -> None:
    with receiving:
        while receiving.recv(64):
            for context in contexts_alive():
                context.wake()
