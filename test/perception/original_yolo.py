"""YOLO v5 by the package of its first authors, v5u and YOLO-World by Ultralytics, with random weights."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from original_detectors import CLASSES, NAMES, OVERLAP, SMALL_PX, Original, picture, run_file, settle

_LEAST = 0.35
# Ultralytics may install nothing, and ask no network.
os.environ |= {"YOLO_AUTOINSTALL": "false", "YOLO_OFFLINE": "true"}


def yolo_v5(folder: Path, segments: bool = False) -> Original:
    """YOLO v5 and its masks: rows of centre, size, whether there is a thing, and classes."""
    import torch
    import yolov5
    from yolov5.models import yolo
    from yolov5.utils.augmentations import letterbox
    from yolov5.utils.general import non_max_suppression, scale_boxes
    from yolov5.utils.segment.general import process_mask_upsample

    torch.manual_seed(1)
    models = Path(yolov5.__file__).parent / "models"
    kind, name = (
        (yolo.SegmentationModel, "segment/yolov5n-seg.yaml") if segments else (yolo.DetectionModel, "yolov5n.yaml")
    )
    model = kind(str(models / name), nc=CLASSES).eval()
    canvas = letterbox(picture(), (SMALL_PX, SMALL_PX), auto=False)[0]
    pixels = (canvas.transpose(2, 0, 1)[None] / np.float32(255.0)).astype(np.float32)
    settle(model, pixels, lambda one: list(one.model[-1].m), bias=0.5)
    model.model[-1].export = True
    path = folder / "model.onnx"
    outputs = ["output0", "output1"] if segments else ["output0"]
    names = {"input_names": ["images"], "output_names": outputs, "opset_version": 17, "dynamo": False}
    torch.onnx.export(model, (torch.from_numpy(pixels),), str(path), **names)
    told = run_file(path, {"images": pixels})
    rows = torch.from_numpy(told["output0"].copy())
    factors = told["output1"].shape[1] if segments else 0
    (found,) = non_max_suppression(rows, _LEAST, OVERLAP, nm=factors, max_det=1000)
    boxes = scale_boxes((SMALL_PX, SMALL_PX), found[:, :4].clone(), (240, 320)).numpy()
    masks = None
    if segments:
        # The input at the picture's scale, without the margins above and below.
        grown = found[:, :4] * (320 / SMALL_PX)
        whole = process_mask_upsample(torch.from_numpy(told["output1"][0]), found[:, 6:], grown, (320, 320))
        masks = whole[:, 40:280].numpy()
    scores, classes = found[:, 4].numpy(), found[:, 5].numpy().astype(int)
    return Original(path, pixels, told, boxes, scores, classes, _LEAST, masks, names=NAMES)


def ultralytics(folder: Path, kind: str, name: str) -> Original:
    """A model of Ultralytics, by its own exporter and reader of ONNX files; YOLO-World with random vectors of texts."""
    import torch
    import ultralytics as library

    torch.manual_seed(1)
    made = getattr(library, kind)(name)
    inner = made.model
    blank = np.random.default_rng(0).random((1, 3, SMALL_PX, SMALL_PX), np.float32)
    if kind == "YOLOWorld":
        inner.txt_feats = torch.nn.functional.normalize(torch.randn(1, CLASSES, 512), dim=-1)
        inner.model[-1].nc = CLASSES
        settle(inner, blank, lambda one: [])
        for part in inner.model[-1].cv4:
            torch.nn.init.constant_(part.bias, -1.5)
            torch.nn.init.constant_(part.logit_scale, -1.0)
    else:
        inner = made.model = type(inner)(name, nc=CLASSES, verbose=False)
        inner.args, inner.task = made.overrides | library.utils.DEFAULT_CFG_DICT, "detect"
        settle(inner, blank, lambda one: [part[-1] for part in one.model[-1].cv3])
    inner.names = dict(enumerate(NAMES))
    inner.yaml_file = str(folder / "model.yaml")
    inner.pt_path = str(folder / "model.pt")
    path = Path(made.export(format="onnx", imgsz=SMALL_PX, simplify=False, opset=17))
    reader = library.YOLO(str(path), task="detect")
    kept: dict[str, Any] = {}
    bgr = np.ascontiguousarray(picture()[:, :, ::-1])

    def read() -> Any:
        return reader.predict(bgr, conf=_LEAST, iou=OVERLAP, max_det=1000, imgsz=SMALL_PX, verbose=False)[0].boxes

    read()
    prepare = reader.predictor.preprocess
    reader.predictor.preprocess = lambda images: kept.setdefault("pixels", prepare(images))
    found = read()
    pixels = kept["pixels"].numpy()
    outputs = run_file(path, {"images": pixels})
    classes = found.cls.numpy().astype(int)
    return Original(path, pixels, outputs, found.xyxy.numpy(), found.conf.numpy(), classes, _LEAST, names=NAMES)
