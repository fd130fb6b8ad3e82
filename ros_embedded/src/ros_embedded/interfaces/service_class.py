"""Service and action classes: they hold their messages' classes and are never instantiated, as in rosidl's Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ros_embedded.interfaces.message_class import module_name


def make_service_class(name: str, message: Callable[[str], Any]) -> Any:
    """Make the class of a service, with Request, Response and Event."""
    return _holder(name, "Service", {part: message(f"{name}_{part}") for part in ("Request", "Response", "Event")})


def make_action_class(name: str, message: Callable[[str], Any], service: Callable[[str], Any]) -> Any:
    """Make the class of an action, with Goal, Result, Feedback and the types that carry them in Impl."""
    members = {part: message(f"{name}_{part}") for part in ("Goal", "Result", "Feedback")}
    impl = {
        "SendGoalService": service(f"{name}_SendGoal"),
        "GetResultService": service(f"{name}_GetResult"),
        "CancelGoalService": service("action_msgs/srv/CancelGoal"),
        "FeedbackMessage": message(f"{name}_FeedbackMessage"),
        "GoalStatusMessage": message("action_msgs/msg/GoalStatusArray"),
    }
    return _holder(name, "Action", members | {"Impl": type("Impl", (), impl)})


def _holder(full_name: str, what: str, members: dict[str, Any]) -> Any:
    package, kind, name = full_name.split("/")

    def refuse(self: Any) -> NoReturn:
        raise NotImplementedError(f"{what} classes can not be instantiated")

    members |= {"__init__": refuse, "_TYPE_NAME": full_name, "__module__": module_name(package, kind, name)}
    return type(name, (), members)
