"""The layouts of outputs that are known, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

LayoutName = Literal[
    "auto",
    "yolo_v5",
    "yolo_v8",
    "yolo_v5_seg",
    "yolo_v8_seg",
    "yolox",
    "end_to_end",
    "end_to_end_seg",
    "boxes_scores",
    "rtdetr",
    "rtdetr_chosen",
    "detr_official",
    "detr",
    "detr_softmax",
    "rf_detr",
    "torchvision",
    "owl",
    "grounding_dino",
]

# c: number of classes, n: of boxes, k: of prototype masks.
KNOWN: Mapping[str, str] = {
    "yolo_v5": "one output (1, n, 5 + c): YOLO v5 to v7",
    "yolo_v8": "one output (1, 4 + c, n): YOLO v8, v9, 11, 12, YOLO-World with baked-in prompts",
    "yolo_v5_seg": "(1, n, 5 + c + k) and (1, k, h, w): masks of YOLO v5",
    "yolo_v8_seg": "(1, 4 + c + k, n) and (1, k, h, w): masks of YOLO v8, 11",
    "yolox": "one output (1, n, 5 + c), n the cells of grids of 8, 16 and 32 pixels",
    "end_to_end": "one output (1, n, 6), n up to 1000: YOLO v10, 26",
    "end_to_end_seg": "(1, n, 6 + k) and (1, k, h, w): masks of YOLO 26",
    "boxes_scores": "boxes (1, n, 4) as corners and scores (1, n, c): YOLO-NAS, PP-YOLOE",
    "rtdetr": "one output (1, n, 4 + c), n up to 1000: RT-DETR as Ultralytics exported it until 8.3",
    "rtdetr_chosen": "one output (1, n, 6), boxes as parts of the image: RT-DETR as Ultralytics exports it now",
    "detr_official": "inputs images and orig_target_sizes; labels, boxes, scores: RT-DETR, D-FINE, DEIM",
    "detr": "logits (1, n, c) and boxes (1, n, 4): RT-DETR, D-FINE, Deformable DETR of Hugging Face or LibreYOLO",
    "detr_softmax": "logits (1, n, c + 1) and boxes (1, n, 4): DETR",
    "rf_detr": "dets (1, n, 4), labels (1, n, c or c + 1), perhaps masks (1, n, h, w): RF-DETR",
    "torchvision": "boxes (n, 4), labels (n), scores (n), perhaps masks (n, 1, h, w)",
    "owl": "inputs input_ids and pixel_values; logits (1, n, prompts) and pred_boxes (1, n, 4): OWL-ViT, OWLv2",
    "grounding_dino": "inputs input_ids and token_type_ids; logits (1, n, tokens) and pred_boxes (1, n, 4)",
}
