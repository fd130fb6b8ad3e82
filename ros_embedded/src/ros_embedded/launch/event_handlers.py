"""What is done when a process starts or ends."""

from __future__ import annotations

from typing import Any

from ros_embedded.launch.events import ProcessEvent, ProcessExited, ProcessStarted
from ros_embedded.launch.launch_description import LaunchContext, LaunchDescription


class EventHandler:
    """Carries out actions, or those that a function gives, at events of one kind from one action's process or any."""

    event_type: type[ProcessEvent]

    def __init__(self, target_action: Any, reaction: Any) -> None:
        self.target_action, self.reaction = target_action, reaction

    def handle(self, event: ProcessEvent, context: LaunchContext) -> None:
        """Carry out the actions if the event is the one meant."""
        if isinstance(event, self.event_type) and self.target_action in (None, event.action):
            actions = self.reaction(event, context) if callable(self.reaction) else self.reaction
            LaunchDescription([actions] if hasattr(actions, "visit") else actions).visit(context)


class OnProcessStart(EventHandler):
    """When a process has been started."""

    event_type = ProcessStarted

    def __init__(self, *, target_action: Any = None, on_start: Any) -> None:
        super().__init__(target_action, on_start)


class OnProcessExit(EventHandler):
    """When a process has ended."""

    event_type = ProcessExited

    def __init__(self, *, target_action: Any = None, on_exit: Any) -> None:
        super().__init__(target_action, on_exit)
