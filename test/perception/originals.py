"""All models of other libraries that detectors are compared with, and what makes each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from original_detectors import Original, hugging_face, libreyolo, rf_detr, torchvision, yolox
from original_open_vocabulary import grounding_dino, owl
from original_yolo import ultralytics, yolo_v5

_FASTER_RCNN = "fasterrcnn_mobilenet_v3_large_320_fpn"
Maker = Callable[[Path], Original]
# Name -> the package that must be there, and what makes it.
ORIGINALS: dict[str, tuple[str, Maker]] = {
    **{
        f"libreyolo_{name}": ("libreyolo", lambda folder, made=made: libreyolo(folder, *made[:2], **made[2]))  # type: ignore[misc]
        for name, made in {
            "yolox": ("LibreYOLOX", "n", {"small": True}),
            "yolo9": ("LibreYOLO9", "t", {"small": True}),
            "yolo9_e2e": ("LibreYOLO9E2E", "t", {"small": True}),
            "yolonas": ("LibreYOLONAS", "s", {"small": True}),
            "ppyoloe": ("LibrePPYOLOE", "s", {"small": True}),
            "dfine": ("LibreDFINE", "n", {}),
            "deim": ("LibreDEIM", "n", {}),
            "deimv2": ("LibreDEIMv2", "atto", {}),
            "deimv2_s": ("LibreDEIMv2", "s", {}),
            "ec": ("LibreEC", "s", {}),
            "rtdetr": ("LibreRTDETR", "r18", {}),
            "rtdetrv2": ("LibreRTDETRv2", "r18", {}),
            "rtdetrv4": ("LibreRTDETRv4", "s", {}),
            "rfdetr": ("LibreRFDETR", "n", {}),
            "rfdetr_seg": ("LibreRFDETR", "n", {"task": "segment"}),
            "lwdetr": ("LibreLWDETR", "t", {}),
            "detr": ("LibreDETR", "r50", {}),
            "deformable_detr": ("LibreDeformableDETR", "r50", {}),
        }.items()
    },
    "yolox_undecoded": ("yolox", lambda folder: yolox(folder, False)),
    "yolox_decoded": ("yolox", lambda folder: yolox(folder, True)),
    "torchvision_faster_rcnn": (
        "torchvision",
        lambda folder: torchvision(folder, _FASTER_RCNN),
    ),
    "torchvision_mask_rcnn": ("torchvision", lambda folder: torchvision(folder, "maskrcnn_resnet50_fpn")),
    "torchvision_ssd": ("torchvision", lambda folder: torchvision(folder, "ssdlite320_mobilenet_v3_large")),
    "transformers_rtdetr": ("transformers", lambda folder: hugging_face(folder, "RTDetr")),
    "transformers_dfine": ("transformers", lambda folder: hugging_face(folder, "DFine")),
    "transformers_detr": ("transformers", lambda folder: hugging_face(folder, "Detr")),
    "transformers_owlv2": ("transformers", lambda folder: owl(folder, "Owlv2")),
    "transformers_owlvit": ("transformers", lambda folder: owl(folder, "OwlViT")),
    "transformers_grounding_dino": ("transformers", grounding_dino),
    "yolov5": ("yolov5", yolo_v5),
    "yolov5_seg": ("yolov5", lambda folder: yolo_v5(folder, segments=True)),
    "ultralytics_yolov5u": ("ultralytics", lambda folder: ultralytics(folder, "YOLO", "yolov5nu.yaml")),
    "ultralytics_yolo_world": ("ultralytics", lambda folder: ultralytics(folder, "YOLOWorld", "yolov8s-worldv2.yaml")),
    "rfdetr": ("rfdetr", lambda folder: rf_detr(folder, "RFDETRNano")),
    "rfdetr_seg": ("rfdetr", lambda folder: rf_detr(folder, "RFDETRSegNano")),
}
