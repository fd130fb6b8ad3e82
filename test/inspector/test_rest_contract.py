"""REST keeps to its contract: versions, unknown parameters, broken bodies, pages, caches and its OpenAPI document."""

import json
from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi")

from furnished_home import furnished
from inspected_home import Client, serving

from memory_node.inspector.access import Caller, TokenBook

_DIRTY = '{"object_id": "Mug 1", "added": ["dirty"]}'


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    memory, _ = furnished()
    with serving(memory) as client:
        yield client
    memory.close()


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("scene_graph?asof=1", None, 422, "as_of_s"),
        ("episodes?count=1", None, 422, "newest"),
        ("objects?limit=0", None, 422, "limit"),
        ("find_objects", "{broken", 400, "JSON"),
        ("find_objects", {"txt": "apple"}, 422, "txt"),
        ("find_objects", {"text": "x" * 5000}, 422, "text"),
        ("find_objects", {"text": "apple", "k": -1}, 422, "k"),
        ("find_objects", {"text": "apple", "states": ["on fire"]}, 422, "states"),
        ("move_object", {"object_id": "x", "position": [1.0, 2.0]}, 422, "position"),
        ("move_object", {"object_id": "x", "position": [1e300, 0.0, 0.0]}, 422, "position"),
        ("edit_object", {"operation": "explode", "object_id": "x"}, 422, "operation"),
        ("edit_object", {"operation": "relabel", "object_id": "Mug 1", "new_class": " "}, 422, "blank"),
        ("tell_fact", {"text": "  "}, 422, "text"),
        ("tell_fact", {"text": "a", "wait_s": 1e9}, 422, "wait_s"),
        ("remember", {"object_class": "Zebra", "added": ["broken"]}, 404, "Zebra"),
        ("remember", {"object_class": "Mug", "added": ["broken"]}, 422, "Mug 2"),
        ("remember", {"object_id": "ann@home", "added": ["broken"]}, 404, "ann@home"),
    ],
)
def test_requests_that_cannot_be_are_refused_and_change_nothing(
    client: Client, path: str, body: str | dict | None, status: int, said: str
) -> None:
    _, before, _ = client.raw("GET", "/api/v1/scene_graph")
    sent = json.dumps(body) if isinstance(body, dict) else body
    got, _, told = client.raw("GET" if body is None else "POST", f"/api/v1/{path}", sent)
    assert (got, said in told["message"]) == (status, True), told
    assert client.raw("GET", "/api/v1/scene_graph", None, If_None_Match=before["etag"])[0] == 304


def test_objects_come_in_pages(client: Client) -> None:
    first = client.get("/api/v1/objects?limit=3")
    second = client.get("/api/v1/objects?limit=3&offset=3")
    assert (first["total"], len(first["objects"]), len(second["objects"])) == (4, 3, 1)
    assert {"Apple", "Mug"} <= {one["class"] for one in first["objects"] + second["objects"]}


def test_unchanged_scene_is_not_sent_again(client: Client) -> None:
    _, headers, _ = client.raw("GET", "/api/v1/scene_graph")
    assert client.raw("GET", "/api/v1/scene_graph", None, If_None_Match=headers["etag"])[0] == 304
    client.post("/api/v1/remember", object_id="Apple 1", added=["cleaned"])
    assert client.raw("GET", "/api/v1/scene_graph", None, If_None_Match=headers["etag"])[0] == 200


def test_head_has_the_headers_of_get_and_no_body(client: Client) -> None:
    status, headers, body = client.raw("HEAD", "/healthz")
    assert (status, body) == (200, b"")
    assert headers["content-length"] == "3"


def test_document_tells_answers_errors_and_how_to_be_let_in(client: Client) -> None:
    document = client.get("/openapi.json")
    assert all(path.startswith(("/api/v1/", "/healthz", "/metrics")) for path in document["paths"])
    scene = document["paths"]["/api/v1/scene_graph"]["get"]
    assert "SceneGraph" in json.dumps(scene["responses"]["200"])
    assert {"400", "401", "404", "422", "503"} <= set(scene["responses"])
    assert scene["security"]
    assert document["components"]["securitySchemes"]


def test_pages_of_named_sites_alone_may_ask() -> None:
    token, site, other = "token-of-the-fleet", "https://fleet.example", "https://elsewhere.example"
    memory, _ = furnished()
    tokens = TokenBook([(token, Caller("fleet", "edit"))])
    try:
        with serving(memory, tokens, origins=frozenset({site})) as client:
            asks = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization"}
            status, headers, _ = client.raw("OPTIONS", "/api/v1/find_objects", Origin=site, **asks)
            assert (status, headers["access-control-allow-origin"]) == (200, site)
            assert client.raw("OPTIONS", "/api/v1/find_objects", Origin=other, **asks)[0] == 400
            client.token = token
            for origin, expected in ((site, 200), (other, 403)):
                sent = {"Origin": origin, "Sec_Fetch_Site": "cross-site"}
                status, headers, _ = client.raw("POST", "/api/v1/remember", _DIRTY, **sent)
                assert (status, headers.get("access-control-allow-origin") == site) == (expected, expected == 200)
            client.token = ""
            assert client.raw("POST", "/api/v1/remember", _DIRTY, Origin=site)[0] == 401
    finally:
        memory.close()


def test_every_answer_has_its_type_in_the_document(client: Client) -> None:
    document = client.get("/openapi.json")
    untyped = [
        f"{method} {path}"
        for path, methods in document["paths"].items()
        for method, told in methods.items()
        for kind, content in told["responses"]["200"].get("content", {}).items()
        if kind == "application/json" and content.get("schema") in (None, {}, {"type": "object"})
    ]
    assert untyped == []
