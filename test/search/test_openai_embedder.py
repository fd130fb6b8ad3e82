import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.search.config import RetrievalConfig
from memory_node.search.embedders import build_embedder
from memory_node.search.openai_embedder import EmbeddingError, OpenAiEmbedder


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, request))
        body = json.dumps(self.server.reply(request)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def good_reply(request):
    # Out of order on purpose: the index says which vector is whose.
    data = [
        {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0, 0.0]}
        for index, text in enumerate(request["input"])
    ]
    return {"object": "list", "model": request["model"], "data": data[::-1], "usage": {}}


@pytest.fixture
def server() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.requests, server.reply = [], good_reply
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def embedder_of(server, **options):
    return OpenAiEmbedder(f"http://127.0.0.1:{server.server_port}/v1", "some-model", timeout_s=5.0, **options)


def test_texts_go_in_batches_and_unit_vectors_come_back_in_order(server):
    embedder = embedder_of(server, batch_size=2)
    vectors = embedder.embed(["mug", "apple", ""])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1], [3.0, 5.0, 1.0], rtol=1e-5)
    assert [len(request["input"]) for _, request in server.requests] == [2, 1]
    assert server.requests[0][0] == "/v1/embeddings"
    assert server.requests[0][1]["model"] == "some-model"
    assert embedder.dimension == 3
    assert embedder.embed([]).shape == (0, 3)


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1.0, float("nan"), 0.0]}],
        [{"index": 0, "embedding": [0.0, 0.0]}],
        [{"index": 0, "embedding": []}],
        [{"index": 0, "embedding": "AAAA"}],
        [{"index": 7, "embedding": [1.0]}],
        "nonsense",
    ],
)
def test_replies_that_are_no_embeddings_are_refused(server, data):
    server.reply = lambda request: {"object": "list", "data": data, "model": "x"}
    with pytest.raises(EmbeddingError):
        embedder_of(server).embed(["mug"])


def test_other_length_than_before_is_refused(server):
    embedder = embedder_of(server)
    embedder.embed(["mug"])
    server.reply = lambda request: {"data": [{"index": 0, "embedding": [1.0, 2.0]}]}
    with pytest.raises(EmbeddingError, match="expected vectors of 3 numbers, got 2"):
        embedder.embed(["mug"])


def test_endpoint_that_is_not_there_says_where_it_was_looked_for():
    embedder = OpenAiEmbedder("http://127.0.0.1:9/v1", "some-model", timeout_s=1.0)
    with pytest.raises(EmbeddingError, match=r"some-model.*127\.0\.0\.1:9"):
        embedder.embed(["mug"])


def test_config_without_an_address_is_refused():
    with pytest.raises(InvalidValueError, match="openai_base_url"):
        build_embedder(RetrievalConfig(embedder="openai"))
    config = RetrievalConfig(embedder="openai", openai_base_url="http://127.0.0.1:9/v1", openai_model="m")
    assert isinstance(build_embedder(config), OpenAiEmbedder)
