"""Durable records: nothing acknowledged is lost, on one robot or a fleet."""

from memory_node.store.config import StoreConfig
from memory_node.store.forget_request import ForgetReport, ForgetRequest
from memory_node.store.records import Document, Removed, StoreChange, step_key
from memory_node.store.store import Store, open_store
from memory_node.store.writer import Ticket, WriterDiagnostics

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
