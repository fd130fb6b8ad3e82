"""Detectors of other libraries with random weights: exported by the library, and decoded by its own code.

The libraries bring PyTorch and are no dependencies of this package.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

CLASSES = 7
SMALL_PX = 128
OVERLAP = 0.5
NAMES = tuple(f"class{number}" for number in range(CLASSES))
# No library may look for weights on the network.
os.environ["HF_HUB_OFFLINE"] = "1"


@dataclass(frozen=True, eq=False)
class Original:
    """What a library says of `picture()`.

    pixels: (1, 3, h, w) that it gave its model. outputs: of the exported file for these. boxes: (n, 4) corners in the
    picture. masks: (n, 240, 320) or None. overlap: IoU from which of two boxes of a class the weaker was left out.
    prompts: classes as words, and the text inputs that the library makes of them.
    """

    model: Path
    pixels: np.ndarray
    outputs: Mapping[str, np.ndarray]
    boxes: np.ndarray
    scores: np.ndarray
    classes: np.ndarray
    min_score: float
    masks: np.ndarray | None = None
    overlap: float = OVERLAP
    names: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    text: Mapping[str, np.ndarray] = field(default_factory=dict)


def picture() -> np.ndarray:
    """Return a smooth random RGB image (240, 320, 3), of which every way of resizing makes nearly the same."""
    import cv2

    coarse = np.random.default_rng(3).integers(0, 255, (15, 20, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (320, 240), interpolation=cv2.INTER_CUBIC))


def settle(model: Any, pixels: np.ndarray, last: Callable[[Any], list[Any]], bias: float = -1.5) -> None:
    """Make the scores of a model with random weights differ: batch norms take over the figures of some images, and the
    `last` layers are scaled to logits of a deviation of 1.2."""
    import torch

    views = [pixels, pixels[..., ::-1], pixels[..., ::-1, :], np.rot90(pixels, 2, (2, 3))]
    batch = torch.from_numpy(np.ascontiguousarray(np.concatenate(views)))
    model.eval()
    for layer in model.modules():
        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
            layer.train()
            layer.momentum = 1.0
    seen: dict[Any, Any] = {}
    with torch.no_grad():
        for layer in last(model):
            torch.nn.init.normal_(layer.weight)
        for _ in range(2):
            model(batch)
        model.eval()
        hooks = [layer.register_forward_hook(lambda one, _, out: seen.setdefault(one, out)) for layer in last(model)]
        model(batch)
        for layer, out in seen.items():
            layer.weight.mul_(1.2 / out.std().clamp(min=1e-3))
            if layer.bias is not None:
                layer.bias.fill_(bias)
    for hook in hooks:
        hook.remove()


def class_layers(model: Any) -> list[Any]:
    """Return the layers whose outputs are one number a class, perhaps one more."""
    import torch

    kinds = (torch.nn.Conv2d, torch.nn.Linear)
    return [one for one in model.modules() if isinstance(one, kinds) and len(one.weight) in (CLASSES, CLASSES + 1)]


def run_file(model: Path, feed: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the outputs of an ONNX file by name."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    wanted = {one.name: feed[one.name] for one in session.get_inputs()}
    return {one.name: np.asarray(out) for one, out in zip(session.get_outputs(), session.run(None, wanted))}


def libreyolo(folder: Path, kind: str, size: str, small: bool = False, **options: Any) -> Original:
    """LibreYOLO's own ONNX backend on a file of its own exporter.

    Boxes that overlap are all kept: LibreYOLO compares them after it has cut them at the image's edge, other libraries
    and we before.
    """
    import libreyolo as library
    from libreyolo.backends.onnx import OnnxBackend
    from PIL import Image

    made = getattr(library, kind)._from_scratch(size=size, device="cpu", nb_classes=CLASSES, seed=1, **options)
    path = folder / "model.onnx"
    sized = {"imgsz": SMALL_PX} if small else {}
    kept: dict[str, Any] = {}

    def answer() -> Any:
        made.export("onnx", output_path=str(path), simplify=False, **sized)
        backend = OnnxBackend(str(path), nb_classes=CLASSES, device="cpu")
        run = backend._run_inference
        backend._run_inference = lambda pixels: kept.update(pixels=pixels, outputs=run(pixels)) or kept["outputs"]
        kept["names"] = backend.output_names
        return backend(Image.fromarray(picture()), conf=0.35, iou=1.0, max_det=3000)

    answer()
    if class_layers(made.model):
        settle(made.model, np.asarray(kept["pixels"]), class_layers)
    result = answer()
    result = result[0] if isinstance(result, list) else result
    masks = None if getattr(result, "masks", None) is None else np.asarray(result.masks.data)
    boxes, scores = np.asarray(result.boxes.xyxy), np.asarray(result.boxes.conf)
    outputs = dict(zip(kept["names"], map(np.asarray, kept["outputs"])))
    classes = np.asarray(result.boxes.cls).astype(int)
    return Original(path, np.asarray(kept["pixels"]), outputs, boxes, scores, classes, 0.35, masks, 1.0)


def yolox(folder: Path, decoded: bool) -> Original:
    """YOLOX-Nano by pixeltable-yolox, the maintained copy of Megvii's repository."""
    import torch
    from PIL import Image
    from yolox.config import YoloxConfig
    from yolox.models.processor import YoloxProcessor

    config = YoloxConfig.get_named_config("yolox_nano")
    config.num_classes, config.test_size, config.nmsthre = CLASSES, (SMALL_PX, SMALL_PX), OVERLAP
    torch.manual_seed(1)
    model = config.get_model()
    image = Image.fromarray(picture())
    processor = YoloxProcessor(config)
    # Megvii's own demo gives images as OpenCV reads them: blue first.
    pixels = processor([Image.fromarray(picture()[:, :, ::-1])]).numpy()
    settle(model, pixels, lambda one: list(one.head.cls_preds) + list(one.head.obj_preds), bias=1.0)
    model.head.decode_in_inference = decoded
    path = folder / "model.onnx"
    torch.onnx.export(model, (torch.from_numpy(pixels),), str(path), input_names=["images"], dynamo=False)
    outputs = run_file(path, {"images": pixels})
    (rows,) = (torch.from_numpy(array.copy()) for array in outputs.values())
    if not decoded:
        rows = model.head.decode_outputs(rows, dtype=rows.type())
    found = processor.postprocess([image], rows, threshold=0.35)[0]
    boxes, scores = np.array(found["bboxes"], np.float32), np.array(found["scores"], np.float32)
    return Original(path, pixels, outputs, boxes, scores, np.array(found["labels"]), 0.35, names=NAMES)


def torchvision(folder: Path, kind: str) -> Original:
    """A detector of torchvision, whose own postprocessing is part of the exported graph; PyTorch runs the original."""
    import torch
    import torchvision.models.detection as detection

    torch.manual_seed(1)
    options: dict[str, Any] = {"score_thresh": 0.18}
    if "rcnn" in kind:
        options = {
            "box_score_thresh": 0.18,
            "min_size": 160,
            "rpn_post_nms_top_n_test": 60,
            "box_detections_per_img": 30,
        }
    model = getattr(detection, kind)(weights=None, weights_backbone=None, num_classes=CLASSES + 1, **options)
    pixels = (picture().transpose(2, 0, 1)[None] / np.float32(255.0)).astype(np.float32)
    settle(model, pixels, lambda one: [layer for layer in one.modules() if _gives_classes(layer)])
    path = folder / "model.onnx"
    image = torch.from_numpy(pixels[0])
    names = ["boxes", "labels", "scores", "masks"] if "mask" in kind else ["boxes", "labels", "scores"]
    if "rcnn" not in kind:
        names = ["boxes", "scores", "labels"]
    torch.onnx.export(
        model, ([image],), str(path), input_names=["images"], output_names=names, opset_version=17, dynamo=False
    )
    with torch.no_grad():
        (told,) = model([image])
    masks = told["masks"][:, 0].numpy() > 0.5 if "masks" in told else None
    outputs = run_file(path, {"images": pixels[0]})
    boxes, scores, labels = (told[name].numpy() for name in ("boxes", "scores", "labels"))
    return Original(path, pixels, outputs, boxes, scores, labels - 1, 0.0, masks, names=NAMES)


def _gives_classes(layer: Any) -> bool:
    """Return whether a layer of torchvision has a number for each class, and the background, of one or more anchors."""
    sides = getattr(getattr(layer, "weight", None), "shape", (0,))
    return len(sides) in (2, 4) and sides[0] in [count * (CLASSES + 1) for count in (1, 3, 4, 6)] and sides[0] < 50


def hugging_face(folder: Path, kind: str) -> Original:
    """RT-DETR, D-FINE or DETR by transformers, with the processor that belongs to it."""
    import torch
    import transformers

    torch.manual_seed(1)
    config = getattr(transformers, f"{kind}Config")(num_labels=CLASSES)
    if hasattr(config, "use_pretrained_backbone"):
        config.use_pretrained_backbone = False
    model = getattr(transformers, f"{kind}ForObjectDetection")(config).eval()
    processor = getattr(transformers, "DetrImageProcessor" if kind == "Detr" else "RTDetrImageProcessor")()
    processor.size = {"height": 256, "width": 256}
    processor.save_pretrained(folder)
    pixels = processor(images=picture(), return_tensors="np", do_resize=True)["pixel_values"].astype(np.float32)
    settle(model, pixels, class_layers)

    class Plain(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, pixel_values: Any) -> Any:
            told = self.model(pixel_values)
            return told.logits, told.pred_boxes

    path = folder / "model.onnx"
    names = {"input_names": ["pixel_values"], "output_names": ["logits", "pred_boxes"]}
    torch.onnx.export(Plain(), (torch.from_numpy(pixels),), str(path), **names, opset_version=17, dynamo=False)
    outputs = run_file(path, {"pixel_values": pixels})
    told = transformers.utils.ModelOutput({name: torch.from_numpy(array) for name, array in outputs.items()})
    (found,) = processor.post_process_object_detection(told, threshold=0.35, target_sizes=[(240, 320)])
    boxes, scores, labels = (found[name].numpy() for name in ("boxes", "scores", "labels"))
    return Original(path, pixels, outputs, boxes, scores, labels, 0.35, names=NAMES)


def rf_detr(folder: Path, kind: str) -> Original:
    """RF-DETR by Roboflow's own package."""
    import rfdetr
    import torch

    torch.manual_seed(1)
    made = getattr(rfdetr, kind)(pretrain_weights=None, num_classes=CLASSES, device="cpu")
    side = made.model.resolution
    blank = np.random.default_rng(0).normal(size=(1, 3, side, side)).astype(np.float32)
    settle(made.model.model, blank, class_layers)
    path = Path(made.export(output_dir=str(folder), verbose=False))
    kept: dict[str, Any] = {}
    made.model.model.register_forward_pre_hook(lambda _, given: kept.update(given=given[0]))
    made.predict(picture(), threshold=0.35)
    given = kept["given"]
    pixels = (given.tensors if hasattr(given, "tensors") else given).detach().numpy()
    outputs = run_file(path, {"input": pixels})
    names = {"dets": "pred_boxes", "labels": "pred_logits", "masks": "pred_masks"}
    told = {names[name]: torch.from_numpy(array) for name, array in outputs.items()}
    (found,) = made.model.postprocess(told, target_sizes=torch.tensor([[240, 320]]))
    good = found["scores"].numpy() > 0.35
    boxes, scores, labels = (found[name].numpy()[good] for name in ("boxes", "scores", "labels"))
    masks = found["masks"].numpy().reshape(len(good), 240, 320)[good] if "masks" in found else None
    return Original(path, pixels, outputs, boxes, scores, labels, 0.35, masks, names=NAMES)
