"""The state of a node, in an object of its own: attributes of subclasses cannot overwrite it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ros_embedded.rclpy.impl.arguments import RosArguments
from ros_embedded.rclpy.impl.discovery import NodeEntities
from ros_embedded.rclpy.impl.entity import ExecutableEntity
from ros_embedded.rclpy.impl.executor_interface import ExecutorInterface
from ros_embedded.rclpy.names import (
    expand_topic_name,
    validate_full_topic_name,
    validate_namespace,
    validate_node_name,
    validate_topic_name,
)


class NodeCore:
    """A node's name, arguments, endpoints, callbacks, and the executor that spins it.

    `name` and `namespace` are those given by the program; remapping is applied. Raises NameValidationException.
    """

    def __init__(self, name: str, namespace: str, arguments: RosArguments) -> None:
        self.arguments = arguments
        namespace = self._checked(name, namespace)
        self.namespace = self._checked(name, arguments.node_namespace(name, namespace))
        self.name = arguments.node_name(name)
        validate_node_name(self.name)
        self.entities = NodeEntities(self.namespace, self.name)
        self.executables: list[ExecutableEntity] = []
        self.hidden: set[ExecutableEntity] = set()  # created by the node itself; not listed among the subclass's
        self.is_destroyed = False
        self._executor: Callable[[], ExecutorInterface | None] = lambda: None

    @staticmethod
    def _checked(name: str, namespace: str) -> str:
        namespace = namespace if namespace.startswith("/") else f"/{namespace}"
        validate_node_name(name)
        validate_namespace(namespace)
        return namespace

    @property
    def logger_name(self) -> str:
        return f"{self.namespace}/{self.name}".replace("/", ".").lstrip(".")

    @property
    def executor(self) -> ExecutorInterface | None:
        return self._executor()

    @executor.setter
    def executor(self, executor: ExecutorInterface | None) -> None:
        self._executor = (lambda: None) if executor is None else weakref.ref(executor)

    def wake_executor(self) -> None:
        executor = self.executor
        if executor is not None:
            executor.wake()

    def _refresh_executor(self) -> None:
        executor = self.executor
        if executor is not None:
            executor._refresh()

    def add(self, entity: ExecutableEntity) -> None:
        """Let the executor wait for `entity`."""
        if entity.callback_group is not None:
            entity.callback_group.add_entity(entity)
        self.executables.append(entity)
        self._refresh_executor()

    def destroy(self, entity: Any) -> bool:
        """Free `entity`; False if it is not the node's."""
        if entity not in self.executables:
            return False
        self.executables.remove(entity)
        if entity.callback_group is not None:
            entity.callback_group.remove_entity(entity)
        entity.destroy()
        self._refresh_executor()
        return True

    def of_type(self, kind: type) -> list[Any]:
        return [entity for entity in list(self.executables) if isinstance(entity, kind) and entity not in self.hidden]

    def resolve(self, name: str, kind: str, only_expand: bool = False) -> str:
        """The full, remapped name of a "topic" or "service". Raises InvalidTopicNameException."""
        validate_topic_name(name, is_service=kind == "service")
        full_name = expand_topic_name(name, self.name, self.namespace)
        if not only_expand:
            full_name = self.arguments.remapped(full_name, kind, self.name, self.namespace)
        validate_full_topic_name(full_name, is_service=kind == "service")
        return full_name
