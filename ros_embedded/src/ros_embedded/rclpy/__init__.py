"""rclpy over Cyclone DDS: ROS 2's Python client library for machines without ROS 2.

Modules, names, signatures and behaviour are those of rclpy in ROS 2 Jazzy; what is below `impl` is this package's own.
"""
# ruff: noqa: F401 - the imported names are the API

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ros_embedded.rclpy import utilities
from ros_embedded.rclpy.context import Context
from ros_embedded.rclpy.impl.process_settings import settle_process
from ros_embedded.rclpy.parameter import Parameter
from ros_embedded.rclpy.signals import SignalHandlerOptions, install_signal_handlers, uninstall_signal_handlers
from ros_embedded.rclpy.task import Future
from ros_embedded.rclpy.utilities import get_default_context, get_rmw_implementation_identifier, ok, try_shutdown

if TYPE_CHECKING:
    from ros_embedded.rclpy.executors import Executor
    from ros_embedded.rclpy.node import Node

_executor: Executor | None = None


def __getattr__(name: str) -> ModuleType:
    """Import a submodule at its first use: programs rely on the original's modules importing each other."""
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"module 'rclpy' has no attribute {name!r}") from None


def init(
    *,
    args: list[str] | None = None,
    context: Context | None = None,
    domain_id: int | None = None,
    signal_handler_options: SignalHandlerOptions | None = None,
) -> None:
    """Start communication for a context; for the default one SIGINT and SIGTERM are handled too."""
    default = get_default_context()
    context = default if context is None else context
    if signal_handler_options is None:
        signal_handler_options = SignalHandlerOptions.ALL if context is default else SignalHandlerOptions.NO
    if context is default:
        settle_process()  # before the threads of the middleware, which would each get an arena of memory
    context.init(args, domain_id=domain_id)
    install_signal_handlers(signal_handler_options)


def get_global_executor() -> Executor:
    """The executor of spin(), spin_once() and spin_until_future_complete() where none is given."""
    from ros_embedded.rclpy.executors import SingleThreadedExecutor

    global _executor
    if _executor is None or not _executor.context.ok():
        _executor = SingleThreadedExecutor()
        _executor._ends_silently = True
    return _executor


def shutdown(*, context: Context | None = None, uninstall_handlers: bool | None = None) -> None:
    """End communication for a context and, for the default one, the handling of signals."""
    utilities.shutdown(context=context)
    if uninstall_handlers or (uninstall_handlers is None and context is None):
        uninstall_signal_handlers()


def create_node(
    node_name: str,
    *,
    context: Context | None = None,
    cli_args: list[str] | None = None,
    namespace: str | None = None,
    use_global_arguments: bool = True,
    enable_rosout: bool = True,
    start_parameter_services: bool = True,
    parameter_overrides: list[Parameter] | None = None,
    allow_undeclared_parameters: bool = False,
    automatically_declare_parameters_from_overrides: bool = False,
    enable_logger_service: bool = False,
) -> Node:
    """Create a node; see Node."""
    options = dict(locals())
    from ros_embedded.rclpy.node import Node

    return Node(**options)


def spin_once(node: Node, *, executor: Executor | None = None, timeout_sec: float | None = None) -> None:
    """Run one callback of the node, waiting for it up to `timeout_sec`."""
    executor = get_global_executor() if executor is None else executor
    try:
        executor.add_node(node)
        executor.spin_once(timeout_sec=timeout_sec)
    finally:
        executor.remove_node(node)


def spin(node: Node, executor: Executor | None = None) -> None:
    """Run callbacks of the node until its context is shut down."""
    executor = get_global_executor() if executor is None else executor
    try:
        executor.add_node(node)
        while executor.context.ok():
            executor.spin_once()
    finally:
        executor.remove_node(node)


def spin_until_future_complete(
    node: Node, future: Future, executor: Executor | None = None, timeout_sec: float | None = None
) -> None:
    """Run callbacks of the node until the future is done, or `timeout_sec` has passed."""
    executor = get_global_executor() if executor is None else executor
    node_added = False
    try:
        node_added = executor.add_node(node)
        executor.spin_until_future_complete(future, timeout_sec)
    finally:
        if node_added:
            executor.remove_node(node)
