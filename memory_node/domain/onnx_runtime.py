"""The one place that imports onnxruntime, with its telemetry switched off. From 1.31 on it stores a device id and a
database of events in the user's home folder, and sends them to its makers. A user who wants it sets
ORT_DISABLE_TELEMETRY=0.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime

__all__ = ["onnxruntime"]
