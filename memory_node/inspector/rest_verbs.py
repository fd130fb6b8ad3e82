"""REST: a path for each verb, `POST /NAME`, made from its declaration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter

from memory_node.inspector.inspector import NEEDS, Here
from memory_node.inspector.robot_tasks import RobotTasks
from memory_node.inspector.verbs import Verb, verbs_of


def verb_routes(robot: RobotTasks | None) -> APIRouter:
    """Return the paths of the verbs that there are with a robot, or without one."""
    router = APIRouter(tags=["verbs"])
    for verb in verbs_of(robot):
        router.add_api_route(f"/{verb.name}", _endpoint(verb), methods=["POST"], name=verb.name, description=verb.words)
    return router


def _endpoint(verb: Verb) -> Callable[..., Any]:
    def answer(asked: Any, here: Here, caller: Any) -> Any:
        return verb.run(here.desk.of(caller.name), asked)

    answer.__annotations__ |= {"asked": verb.request, "here": Here, "caller": NEEDS[verb.role], "return": verb.answer}
    return answer
