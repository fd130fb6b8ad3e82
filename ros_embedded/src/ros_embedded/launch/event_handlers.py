"""Handlers of the start and end of processes."""

from __future__ import annotations

from typing import Any

from ros_embedded.launch.events import ProcessEvent, ProcessExited, ProcessStarted
from ros_embedded.launch.launch_description import LaunchContext, LaunchDescription


class EventHandler:
    """Runs actions, or those that a function returns, on events of one type, of one action's process or of any."""

    event_type: type[ProcessEvent]

    def __init__(self, target_action: Any, reaction: Any) -> None:
        self.target_action, self.reaction = target_action, reaction

    def handle(self, event: ProcessEvent, context: LaunchContext) -> None:
        """Run the actions if the event matches."""
        if isinstance(event, self.event_type) and self.target_action in (None, event.action):
            actions = self.reaction(event, context) if callable(self.reaction) else self.reaction
            LaunchDescription([actions] if hasattr(actions, "visit") else actions).visit(context)


class OnProcessStart(EventHandler):
    """Handles the start of a process."""

    event_type = ProcessStarted

    def __init__(self, *, target_action: Any = None, on_start: Any) -> None:
        super().__init__(target_action, on_start)


class OnProcessExit(EventHandler):
    """Handles the end of a process."""

    event_type = ProcessExited

    def __init__(self, *, target_action: Any = None, on_exit: Any) -> None:
        super().__init__(target_action, on_exit)
