"""The inspector as an ASGI application: REST with OpenAPI, the page, health and figures."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import resources
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.security import HTTPBearer
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Match
from starlette.types import ASGIApp, Scope

from memory_node import __version__
from memory_node.domain.errors import ConflictError, InvalidValueError, NotFoundError, RobotMemoryError
from memory_node.inspector.agent_memory import MemoryViews
from memory_node.inspector.change_feed import ChangeFeed
from memory_node.inspector.guard import Guard, GuardConfig
from memory_node.inspector.inspector import NEEDS, Here, Inspector, Reader
from memory_node.inspector.inspector import router as view_routes
from memory_node.inspector.robot_tasks import RobotTasks
from memory_node.inspector.verbs import Verb, verbs_of

_NO_NAME = re.compile(r"[^a-z0-9_]+")
_BUCKETS_S = (0.002, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class Figures(Collector):
    """All figures of one inspector; a memory's are read at each scrape."""

    def __init__(self, views: MemoryViews, feed: ChangeFeed) -> None:
        self._views = views
        self._feed = feed
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self._requests = Histogram(
            "robot_memory_request_seconds",
            "time until an answer begins",
            ("method", "route", "status"),
            registry=self._registry,
            buckets=_BUCKETS_S,
        )

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Yield nothing: what there is depends on the memory."""
        yield from ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield one gauge for each figure of /diagnostics."""
        for name, value in self._views.figures().items():
            yield GaugeMetricFamily(f"robot_memory_{_NO_NAME.sub('_', name.lower())}", f"diagnostics: {name}", value)
        yield GaugeMetricFamily("robot_memory_streams", "open streams of changes", len(self._feed))

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count an answer. Paths that no route has count as one, so that nobody makes labels without end."""
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if route != "other" else "other"
        self._requests.labels(method, route, str(status)).observe(seconds)

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)


def verb_routes(robot: RobotTasks | None) -> APIRouter:
    """Return the paths of the verbs that there are with a robot, or without one."""
    router = APIRouter(tags=["verbs"])
    for verb in verbs_of(robot):
        router.add_api_route(f"/{verb.name}", _endpoint(verb), methods=["POST"], name=verb.name, description=verb.words)
    return router


def _endpoint(verb: Verb) -> Callable[..., Any]:
    def answer(asked: Any, here: Here, caller: Any) -> Any:
        return verb.run(here.desk.of(caller.name), asked)

    answer.__annotations__ |= {"asked": verb.request, "here": Here, "caller": NEEDS[verb.role], "return": verb.answer}
    return answer


_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class PageFile:
    """One file with what HTTP says of it."""

    body: bytes
    content_type: str
    etag: str


def page_files() -> dict[str, PageFile]:
    """Return the page's files by name."""
    found = {}
    for entry in (resources.files("memory_node.inspector") / "page").iterdir():
        ending = "." + entry.name.rpartition(".")[2]
        if ending in _TYPES:
            body = entry.read_bytes()
            found[entry.name] = PageFile(body, _TYPES[ending], f'"{hashlib.sha256(body).hexdigest()[:16]}"')
    return found


class Problem(BaseModel):
    """Why a request was refused."""

    message: str


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        400: "a body that is no JSON",
        401: "no valid token",
        403: "the role does not allow it",
        404: "there is no such thing",
        408: "the body does not come in time",
        409: "what does not fit what memory holds now: an edit that was undone already",
        413: "a body that is too long",
        415: "a body that is not application/json",
        421: "another host's name",
        422: "a value that cannot be",
        429: "too many requests",
        503: "memory refuses, or does not answer",
    }.items()
}


def build_application(inspector: Inspector, guard: GuardConfig) -> ASGIApp:
    """Return the application behind its guard; at its end it closes the inspector."""
    figures = Figures(inspector.views, inspector.feed)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        inspector.close()

    # FastAPI's own pages of documentation load scripts from elsewhere.
    app = FastAPI(
        title="robot_memory", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan, responses=_PROBLEMS
    )
    app.state.inspector = inspector
    app.state.figures = figures
    app.add_middleware(GZipMiddleware, minimum_size=2000, compresslevel=3)
    checks = [Depends(only_known_parameters), Depends(HTTPBearer(auto_error=False))]  # the guard asks for the token
    for router in (verb_routes(inspector.desk.robot), view_routes):
        app.include_router(router, prefix="/api/v1", dependencies=checks)
    app.add_api_route("/healthz", healthz, response_class=PlainTextResponse)
    app.add_api_route("/metrics", metrics, response_class=PlainTextResponse)
    files = page_files()
    for name, file in files.items():
        _serve_file(app, f"/{name}", file)
    _serve_file(app, "/", files["index.html"])
    app.add_exception_handler(RobotMemoryError, _refused)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _http_error)

    def takes_posts(scope: Scope) -> bool:
        return any(route.matches(scope)[0] is Match.FULL for route in app.routes)

    guarded = Guard(app, guard, figures.note, takes_posts)
    if not guard.origins:
        return guarded
    headers = ("Authorization", "Content-Type", "If-None-Match")
    return CORSMiddleware(guarded, sorted(guard.origins), ("GET", "POST"), headers, expose_headers=("ETag",))


def only_known_parameters(request: Request) -> None:
    """Refuse a query parameter that the path does not have: a misspelt one would be answered as if it were not there.

    Raises:
        InvalidValueError: there is one.
    """
    known = {field.alias for field in request.scope["route"].dependant.query_params}
    unknown = sorted(set(request.query_params) - known)
    if unknown:
        expected = ", ".join(sorted(known)) or "none"
        raise InvalidValueError(f"{', '.join(unknown)[:200]}: no such parameter; expected {expected}")


def healthz(request: Request) -> str:
    """Say that memory answers."""
    request.app.state.inspector.views.figures()
    return "ok\n"


def metrics(request: Request, _: Reader) -> Response:
    """Return the figures for Prometheus."""
    return Response(request.app.state.figures.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _serve_file(app: FastAPI, path: str, file: PageFile) -> None:
    # Not in a thread: there is nothing to wait for, and a page asks for many of these at once.
    async def serve(request: Request) -> Response:
        headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        return Response(file.body, media_type=file.content_type, headers=headers)

    app.add_api_route(path, serve, include_in_schema=False, response_class=Response)


def _refused(_: Request, error: Exception) -> JSONResponse:
    statuses = ((NotFoundError, 404), (ConflictError, 409), (InvalidValueError, 422))
    return _problem(next((status for kind, status in statuses if isinstance(error, kind)), 503), str(error))


def _not_valid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return _problem(400, f"the body is no JSON: {first.get('ctx', {}).get('error', first['msg'])}")
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    return _problem(422, f"{where or 'the body'}: {first['msg']}")


def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code != 405:
        return _problem(error.status_code, str(error.detail), error.headers)
    # Paths that a verb and a view share are two routes, of which each knows its own method alone.
    routes = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
    allowed = sorted({method for route in routes for method in getattr(route, "methods", None) or ()})
    return _problem(405, str(error.detail), {"allow": ", ".join(allowed)})


def _problem(status: int, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"message": message}, status, headers)
