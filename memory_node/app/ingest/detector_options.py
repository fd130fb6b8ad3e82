"""The options that name a detector, for ingest and for measurements."""

from __future__ import annotations

import argparse
from pathlib import Path

from memory_node.domain.errors import InvalidValueError
from memory_node.perception.config import OnnxDetectorConfig
from memory_node.perception.onnx_detector import OnnxDetector


def add_detector_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--detector", type=Path, metavar="MODEL", help="an .onnx detector (default: geometry alone)")
    parser.add_argument("--class-names", type=Path, metavar="FILE", help="the detector's classes, one name a line")


def open_detector(args: argparse.Namespace) -> OnnxDetector | None:
    """Return the detector that the options name, None where they name none.

    Raises:
        InvalidValueError: names without a detector.
    """
    if args.detector is None:
        if args.class_names is not None:
            raise InvalidValueError("--class-names without --detector; name the model, too")
        return None
    names = str(args.class_names) if args.class_names is not None else ""
    return OnnxDetector(OnnxDetectorConfig(model=str(args.detector), class_names=names))
