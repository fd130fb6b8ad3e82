"""Figures for Prometheus: of the memory, read when they are asked for, and of the requests."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.types import Scope

from memory_node.inspector.agent_memory import MemoryViews
from memory_node.inspector.change_feed import ChangeFeed

_NO_NAME = re.compile(r"[^a-z0-9_]+")
_BUCKETS_S = (0.002, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class MemoryCollector(Collector):
    """Reads a memory's figures at each scrape."""

    def __init__(self, views: MemoryViews, feed: ChangeFeed) -> None:
        self._views = views
        self._feed = feed

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Yield nothing: what there is depends on the memory."""
        yield from ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield one gauge for each figure of /diagnostics."""
        for name, value in self._views.figures().items():
            yield GaugeMetricFamily(f"robot_memory_{_NO_NAME.sub('_', name.lower())}", f"diagnostics: {name}", value)
        yield GaugeMetricFamily("robot_memory_streams", "open streams of changes", len(self._feed))


class Figures:
    """All figures of one inspector."""

    def __init__(self, views: MemoryViews, feed: ChangeFeed) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(MemoryCollector(views, feed))
        self._requests = Histogram(
            "robot_memory_request_seconds",
            "time until an answer begins",
            ("method", "route", "status"),
            registry=self._registry,
            buckets=_BUCKETS_S,
        )

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count an answer. Paths that no route has count as one, so that nobody makes labels without end."""
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if route != "other" else "other"
        self._requests.labels(method, route, str(status)).observe(seconds)

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)
