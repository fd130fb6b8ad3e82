"""Durable records: nothing acknowledged is lost, on one robot or a fleet.

Names are imported on first use, so that reading the store's parameters needs no database library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_node.store.config import StoreConfig as StoreConfig
    from memory_node.store.forget_request import ForgetReport as ForgetReport
    from memory_node.store.forget_request import ForgetRequest as ForgetRequest
    from memory_node.store.records import Document as Document
    from memory_node.store.records import Removed as Removed
    from memory_node.store.records import StoreChange as StoreChange
    from memory_node.store.records import step_key as step_key
    from memory_node.store.store import Store as Store
    from memory_node.store.store import open_store as open_store
    from memory_node.store.write_backlog import Ticket as Ticket
    from memory_node.store.writer import WriterDiagnostics as WriterDiagnostics

_NAMES_OF = {
    "config": ("StoreConfig",),
    "forget_request": ("ForgetReport", "ForgetRequest"),
    "records": ("Document", "Removed", "StoreChange", "step_key"),
    "store": ("Store", "open_store"),
    "write_backlog": ("Ticket",),
    "writer": ("WriterDiagnostics",),
}


def __getattr__(name: str) -> Any:
    for module, names in _NAMES_OF.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
