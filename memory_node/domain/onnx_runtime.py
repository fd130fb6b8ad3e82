"""The one door to onnxruntime: import it from here, with its telemetry switched off.

From 1.31 on it keeps a device id and a database of events below the user's home from its import on, and sends them to
its makers. What a robot does in a home is nobody's business. A user who wants it sets ORT_DISABLE_TELEMETRY=0.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime

__all__ = ["onnxruntime"]
