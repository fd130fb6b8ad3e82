"""`python record_originals.py FOLDER NAME...` writes what other libraries say, for test_original_libraries.py."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from original_detectors import Original
from originals import ORIGINALS

_METADATA = ("names", "model_family", "size", "letterbox_pad", "imgsz", "head")
_MASKS = 12


def record(original: Original, path: Path) -> None:
    """Write what a library said, and of its model the outputs, class names and the metadata that tell its layout."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(original.model), providers=["CPUExecutionProvider"])
    metadata = {k: v for k, v in session.get_modelmeta().custom_metadata_map.items() if k in _METADATA}
    arrays = {f"out_{name}": array for name, array in original.outputs.items()}
    if original.masks is not None:
        # The largest, which the others follow.
        order = np.argsort(-original.masks.astype(bool).sum(axis=(1, 2)), kind="stable")
        told = {name: getattr(original, name)[order] for name in ("boxes", "scores", "classes", "masks")}
        original = replace(original, **told)
        arrays["masks"] = np.packbits(told["masks"][:_MASKS].astype(bool), axis=2)
    arrays |= {f"text_{name}": array for name, array in original.text.items()}
    if original.text:
        arrays["prompts"] = np.array(original.prompts)
        for name in ("tokenizer.json", "preprocessor_config.json"):
            arrays[name] = np.array(original.model.with_name(name).read_text(encoding="utf-8"))
    np.savez_compressed(
        path,
        boxes=original.boxes.astype(np.float32),
        scores=original.scores.astype(np.float32),
        classes=original.classes.astype(np.int16),
        min_score=np.float64(original.min_score),
        input_shape=np.array(original.pixels.reshape(1, *original.pixels.shape[-3:]).shape),
        names=np.array(original.names, dtype=str),
        metadata_keys=np.array(list(metadata), dtype=str),
        metadata_values=np.array(list(metadata.values()), dtype=str),
        **arrays,
    )


if __name__ == "__main__":
    for wanted in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as made:
            record(ORIGINALS[wanted][1](Path(made)), Path(sys.argv[1]) / f"{wanted}.npz")
