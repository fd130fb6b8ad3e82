"""What is known of a model from its family's name, which LibreYOLO writes into the metadata of its exports."""

from __future__ import annotations

from memory_node.perception.detectors.model_description import ModelDescription
from memory_node.perception.detectors.preprocessing import IMAGENET_MEAN, IMAGENET_STD, Preprocessing

_TOP_LEFT = Preprocessing("letterbox_top_left")
_IMAGENET = Preprocessing("stretch", mean=IMAGENET_MEAN, std=IMAGENET_STD)
# As LibreYOLO 1.6 prepares images; families that are not named here are prepared as their layout usually is.
_PREPROCESSING = {
    "yolo7": _TOP_LEFT,
    "yolo9": _TOP_LEFT,
    "yolo9_e2e": _TOP_LEFT,
    "yolo9_p2": _TOP_LEFT,
    "ppyoloe": _IMAGENET,
    "picodet": _IMAGENET,
    "lwdetr": _IMAGENET,
    "deformable_detr": _IMAGENET,
    "detr": _IMAGENET,
    "ec": _IMAGENET,
    "rtmdet": Preprocessing("letterbox_top_left", mean=IMAGENET_MEAN, std=IMAGENET_STD, channels="bgr"),
}
_CENTERED = ("center", "centre")
# DEIMv2's sizes with a DINOv3 backbone see colours as that was trained.
_DINO_SIZES = ("s", "m", "l", "x")
# Trained to give one box a thing, though in the form of those that give several.
_WITHOUT_REPEATS = ("yolo9_e2e",)


def family_preprocessing(model: ModelDescription) -> Preprocessing | None:
    """Return how images are prepared for a model's family; None where that is not known."""
    if model.family.startswith("yolo9") and model.metadata.get("letterbox_pad", "") in _CENTERED:
        return Preprocessing("letterbox")
    if model.family == "deimv2" and model.metadata.get("size", "") in _DINO_SIZES:
        return _IMAGENET
    return _PREPROCESSING.get(model.family)


def usual_size(model: ModelDescription) -> tuple[int, int]:
    """Return height and width of the input of a model that takes any and does not say which it was trained for.

    Grounding DINO's are the most that the image's shorter and longer side may have.
    """
    if model.is_grounded:
        return 800, 1333
    return (960, 960) if model.takes_text else (640, 640)


def gives_repeats(model: ModelDescription) -> bool:
    """Return whether one thing may have several boxes in the dense outputs of a model's family."""
    return model.family not in _WITHOUT_REPEATS
