"""A camera whose picture has the colour of how a thing is, and a model that sees the colour."""

import base64
import json
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from memory_node.perception.crop import picture_jpeg

AS_WANTED, OTHERWISE, NOTHING = (240, 240, 240), (130, 70, 40), (10, 10, 10)  # red, green, blue
REASONS = {"met": "it is white", "not_met": "it is still brown", "not_visible": "the picture is black"}


def picture_of(color: tuple[int, int, int]) -> bytes:
    return picture_jpeg(np.full((48, 64, 3), color, np.uint8), 1024, 90)


def verdict_on(jpeg: bytes) -> str:
    """Return what there is to be said of a picture by its middle."""
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    blue, _, red = image[image.shape[0] // 2, image.shape[1] // 2].tolist()
    if red < 50:
        return "not_visible"
    return "not_met" if red > blue + 40 else "met"


def looks(goals: int = 1, reason: str = "") -> Callable[[dict[str, Any]], str]:
    """Return a reply of an endpoint by the picture that is in the request, the same for each goal."""

    def reply(request: dict[str, Any]) -> str:
        picture = next(part for part in request["messages"][0]["content"] if part["type"] == "image_url")
        verdict = verdict_on(base64.b64decode(picture["image_url"]["url"].partition(",")[2]))
        said = reason or REASONS[verdict]
        return json.dumps({"goals": [{"goal": n + 1, "verdict": verdict, "reason": said} for n in range(goals)]})

    return reply
