"""Durable records: nothing acknowledged is lost, on one robot or a fleet.

Names are imported on first use, so that reading the store's parameters needs no database library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_node.store.config import StoreConfig
    from memory_node.store.forget_request import ForgetReport, ForgetRequest
    from memory_node.store.records import Document, Removed, StoreChange, step_key
    from memory_node.store.store import Store, open_store
    from memory_node.store.write_backlog import Ticket
    from memory_node.store.writer import WriterDiagnostics

_HOME_OF = {
    "Document": "memory_node.store.records",
    "ForgetReport": "memory_node.store.forget_request",
    "ForgetRequest": "memory_node.store.forget_request",
    "Removed": "memory_node.store.records",
    "Store": "memory_node.store.store",
    "StoreChange": "memory_node.store.records",
    "StoreConfig": "memory_node.store.config",
    "Ticket": "memory_node.store.write_backlog",
    "WriterDiagnostics": "memory_node.store.writer",
    "open_store": "memory_node.store.store",
    "step_key": "memory_node.store.records",
}
__all__ = [
    "Document",
    "ForgetReport",
    "ForgetRequest",
    "Removed",
    "Store",
    "StoreChange",
    "StoreConfig",
    "Ticket",
    "WriterDiagnostics",
    "open_store",
    "step_key",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
