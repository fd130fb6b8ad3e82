"""Managed nodes."""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

from ros_embedded.interfaces import get_message, get_service
from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.exceptions import RCLError
from ros_embedded.rclpy.lifecycle.managed_entity import ManagedEntity
from ros_embedded.rclpy.lifecycle.publisher import LifecyclePublisher
from ros_embedded.rclpy.lifecycle.state_machine import (
    STATES,
    TRANSITIONS,
    StateMachine,
    Transition,
    TransitionCallbackReturn,
)
from ros_embedded.rclpy.node import Node
from ros_embedded.rclpy.publisher import Publisher
from ros_embedded.rclpy.qos import qos_profile_default


class LifecycleState(NamedTuple):
    """A state by label and number."""

    label: str
    state_id: int


_CALLBACKS = {
    "configuring": "on_configure",
    "cleaningup": "on_cleanup",
    "shuttingdown": "on_shutdown",
    "activating": "on_activate",
    "deactivating": "on_deactivate",
    "errorprocessing": "on_error",
}


def _message(name: str, **fields: Any) -> Any:
    return get_message(f"lifecycle_msgs/msg/{name}")(**fields)


def _state(number: int) -> Any:
    return _message("State", id=number, label=STATES[number])


def _description(transition: Transition) -> Any:
    return _message(
        "TransitionDescription",
        transition=_message("Transition", id=transition.id, label=transition.label),
        start_state=_state(transition.start),
        goal_state=_state(transition.goal),
    )


class LifecycleNodeMixin(ManagedEntity):
    """Makes a Node managed; inherit it together with Node. Triggers raise RCLError if the state forbids them."""

    def __init__(
        self, *, enable_communication_interface: bool = True, callback_group: CallbackGroup | None = None
    ) -> None:
        self._state_machine = StateMachine()
        self._managed_entities: set[ManagedEntity] = set()
        self.__transition_publisher: Publisher | None = None
        if enable_communication_interface:
            self.__communicate(self, callback_group)

    def __communicate(self, node: Any, group: CallbackGroup | None) -> None:
        event = get_message("lifecycle_msgs/msg/TransitionEvent")
        with node.context.participant.graph.announcement():
            self.__transition_publisher = node.create_publisher(event, "~/transition_event", qos_profile_default)
            node._rclpy_core.hidden.add(self.__transition_publisher)
            for name, type_name, callback in (
                ("change_state", "ChangeState", self.__on_change_state),
                ("get_state", "GetState", self.__on_get_state),
                ("get_available_states", "GetAvailableStates", self.__on_get_states),
                ("get_available_transitions", "GetAvailableTransitions", self.__on_get_transitions),
                ("get_transition_graph", "GetAvailableTransitions", self.__on_get_graph),
            ):
                service = get_service(f"lifecycle_msgs/srv/{type_name}")
                node.create_service(service, f"~/{name}", callback, callback_group=group)

    def trigger_configure(self) -> TransitionCallbackReturn:
        return self.__change_state("configure")

    def trigger_cleanup(self) -> TransitionCallbackReturn:
        return self.__change_state("cleanup")

    def trigger_activate(self) -> TransitionCallbackReturn:
        return self.__change_state("activate")

    def trigger_deactivate(self) -> TransitionCallbackReturn:
        return self.__change_state("deactivate")

    def trigger_shutdown(self) -> TransitionCallbackReturn:
        if all(transition.label != "shutdown" for transition in self._state_machine.available()):
            raise RCLError("Shutdown transtion not possible")
        return self.__change_state("shutdown")

    def add_managed_entity(self, entity: ManagedEntity) -> None:
        """Let an entity take part in transitions. Raises TypeError."""
        if not isinstance(entity, ManagedEntity):
            raise TypeError("Expected a rclpy.lifecycle.ManagedEntity instance.")
        self._managed_entities.add(entity)

    def create_lifecycle_publisher(self, *args: Any, **kwargs: Any) -> LifecyclePublisher:
        """Create a publisher that is silent while the node is not active; arguments as for create_publisher."""
        if "publisher_class" in kwargs:
            raise TypeError("create_publisher() got an unexpected keyword argument 'publisher_class'")
        publisher: Any = Node.create_publisher(self, *args, **kwargs, publisher_class=LifecyclePublisher)  # type: ignore[arg-type]
        self._managed_entities.add(publisher)
        return publisher

    def destroy_lifecycle_publisher(self, publisher: LifecyclePublisher) -> bool:
        """False if it is not the node's."""
        self._managed_entities.discard(publisher)
        return Node.destroy_publisher(self, publisher)  # type: ignore[arg-type]

    def __call_entities(self, callback_name: str, state: LifecycleState) -> TransitionCallbackReturn:
        for entity in self._managed_entities:
            result = getattr(entity, callback_name)(state)
            if not isinstance(result, TransitionCallbackReturn):
                raise TypeError(
                    f"{callback_name}() return value of class {type(entity)} should be `TransitionCallbackReturn`.\n"
                    f"Instance of the class that caused the failure: {entity}"
                )
            if result is not TransitionCallbackReturn.SUCCESS:
                return result
        return TransitionCallbackReturn.SUCCESS

    # a subclass that overrides one should call it
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self.__call_entities("on_configure", state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self.__call_entities("on_cleanup", state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self.__call_entities("on_shutdown", state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self.__call_entities("on_activate", state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self.__call_entities("on_deactivate", state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self.__call_entities("on_error", state)

    def __trigger(self, transition: int | str) -> None:
        made = self._state_machine.trigger(transition)
        if self.__transition_publisher is not None:
            event = _message("TransitionEvent", start_state=_state(made.start), goal_state=_state(made.goal))
            self.__transition_publisher.publish(event)

    def __run_callback(self, previous: LifecycleState) -> TransitionCallbackReturn:
        name = _CALLBACKS[self._state_machine.current_state[1]]
        try:
            result = getattr(self, name)(previous)
        except Exception as error:
            node: Any = self
            node.get_logger().error(f"{name} raised {error!r}")
            return TransitionCallbackReturn.ERROR
        return result if isinstance(result, TransitionCallbackReturn) else TransitionCallbackReturn.ERROR

    def __change_state(self, transition: int | str) -> TransitionCallbackReturn:
        number, label = self._state_machine.current_state
        previous = LifecycleState(label, number)
        self.__trigger(transition)
        result = self.__run_callback(previous)
        self.__trigger(result.to_label())
        if result is TransitionCallbackReturn.ERROR:
            self.__trigger(self.__run_callback(previous).to_label())
        return result

    def __on_change_state(self, request: Any, response: Any) -> Any:
        with contextlib.suppress(RCLError):  # the transition is not possible now; the state machine has logged it
            result = self.__change_state(request.transition.label or request.transition.id)
            response.success = result is TransitionCallbackReturn.SUCCESS
        return response

    def __on_get_state(self, request: Any, response: Any) -> Any:
        response.current_state = _state(self._state_machine.state)
        return response

    def __on_get_states(self, request: Any, response: Any) -> Any:
        response.available_states = [_state(number) for number in STATES]
        return response

    def __on_get_transitions(self, request: Any, response: Any) -> Any:
        response.available_transitions = [_description(transition) for transition in self._state_machine.available()]
        return response

    def __on_get_graph(self, request: Any, response: Any) -> Any:
        response.available_transitions = [_description(transition) for transition in TRANSITIONS]
        return response


class LifecycleNode(LifecycleNodeMixin, Node):
    """A managed node; arguments as for Node."""

    def __init__(self, node_name: str, *, enable_communication_interface: bool = True, **kwargs: Any) -> None:
        Node.__init__(self, node_name, **kwargs)
        LifecycleNodeMixin.__init__(self, enable_communication_interface=enable_communication_interface)
