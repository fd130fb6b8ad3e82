import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.short_term.config import ShortTermConfig
from memory_node.short_term.object_cache import ObjectCache
from memory_node.short_term.state_conflicts import StateClaim
from memory_node.short_term.state_estimation import StateRequest, VisionStateEstimator
from memory_node.short_term.state_queue import StateEstimationQueue, open_state_queue
from memory_node.short_term.state_reply import STATE_MEANINGS, StateEstimationError, StateReply, parse_state_reply

GOOD = {
    "description": "A white mug with brown stains.",
    "relevant": "stains on the mug",
    "states": [{"state": "dirty", "probability": 0.9}, {"state": "filled", "probability": 0.1}],
}


def request_of(object_id="mug1", stamp_ns=7):
    return StateRequest(object_id, "Mug", b"\xff\xd8jpeg", stamp_ns, "wash the mug", ("Mug", "SinkBasin"))


def test_every_state_is_explained_to_the_model():
    assert set(STATE_MEANINGS) == set(ObjectState)


@pytest.mark.parametrize("wrap", ["{}", "Sure!\n```json\n{}\n```\nDone.", "a {{ brace }} first {}"])
def test_good_reply_becomes_claims(wrap):
    reply = parse_state_reply(wrap.replace("{}", json.dumps(GOOD)), 7)
    assert reply.relevant == "stains on the mug"
    assert reply.claims == (StateClaim(ObjectState.DIRTY, 0.9, 7), StateClaim(ObjectState.FILLED, 0.1, 7))


def test_none_of_the_states_claims_nothing():
    assert parse_state_reply('{"states": [{"state": "none", "probability": 1.0}]}', 7).claims == ()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected a JSON object"),
        ("I cannot help with that.", "expected a JSON object"),
        ('{"states": "dirty"}', "expected a list"),
        ('{"states": [{"state": "on fire", "probability": 1}]}', "no such state"),
        ('{"states": [{"state": "dirty", "probability": 1.2}]}', "expected 0 to 1"),
        ('{"states": [{"state": "dirty", "probability": NaN}]}', "expected 0 to 1"),
        ('{"states": [{"state": "dirty", "probability": true}]}', "expected 0 to 1"),
        ('{"states": [{"state": "dirty"}]}', "expected 0 to 1"),
        ('{"states": [["dirty", 1]]}', "expected objects"),
        ('{"states": [{"state": "on", "probability": 1}, {"state": "on", "probability": 0}]}', "twice"),
        ('{"states": [], "description": {"__import__": "os"}}', "expected text"),
        ("[" * 5000 + "{" * 5000, "expected a JSON object"),
    ],
)
def test_reply_that_breaks_the_schema_is_refused(text, complaint):
    with pytest.raises(StateEstimationError, match=complaint):
        parse_state_reply(text, 7)


class ChatEndpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, request))
        self.server.stop.wait(self.server.delay_s)
        message = {"role": "assistant", "content": self.server.content}
        body = json.dumps({"id": "1", "object": "chat.completion", "choices": [{"index": 0, "message": message}]})
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body.encode())
        except BrokenPipeError:
            pass  # the client's patience ended

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), ChatEndpoint)
    server.requests, server.content, server.delay_s, server.stop = [], json.dumps(GOOD), 0.0, threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.stop.set()
    server.shutdown()
    server.server_close()


def estimator_of(server):
    return VisionStateEstimator(f"http://127.0.0.1:{server.server_port}/v1", "a-model-that-sees")


def test_picture_and_task_go_to_the_model_and_claims_reach_the_cache(server):
    url = f"http://127.0.0.1:{server.server_port}/v1"
    cache = ObjectCache(ShortTermConfig(capacity=4, policy="lru", vlm_base_url=url, vlm_model="a-model-that-sees"))
    cleaned = StateBelief(ObjectState.CLEANED, 0.6, 1)
    cache.put(MemoryUnit("mug1", "Mug", np.zeros(3), np.eye(3), 1, states=(cleaned,)))
    queue = open_state_queue(cache, clock=lambda: 8)
    queue.submit(request_of())
    assert queue.wait_idle(10.0)
    queue.close()
    assert queue.counts.answered == 1
    path, sent = server.requests[0]
    assert path == "/v1/chat/completions"
    words, picture = sent["messages"][0]["content"]
    assert "wash the mug" in words["text"]
    assert "SinkBasin" in words["text"]
    assert all(f"- {state}:" in words["text"] for state in ObjectState)
    assert picture["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert [belief.state for belief in cache.get("mug1").states] == [ObjectState.DIRTY]
    assert [conflict.claim_won for conflict in cache.conflicts] == [True]


def test_hostile_reply_is_counted_and_changes_nothing(server):
    server.content = "__import__('os').system('echo hello')"
    claims = []
    queue = StateEstimationQueue(estimator_of(server).estimate, lambda *claim: claims.append(claim))
    queue.submit(request_of())
    assert queue.wait_idle(10.0)
    queue.close()
    assert claims == []
    assert queue.counts.failed == 1


def test_slow_model_is_left_behind_at_the_deadline(server):
    server.delay_s = 30.0
    claims = []
    queue = StateEstimationQueue(estimator_of(server).estimate, lambda *claim: claims.append(claim), deadline_s=0.3)
    started = time.monotonic()
    queue.submit(request_of())
    assert time.monotonic() - started < 0.1, "the node goes on at once"
    assert queue.wait_idle(5.0)
    queue.close()
    assert claims == []
    assert queue.counts.late == 1


def test_queue_keeps_the_newest_and_one_request_for_each_object():
    asked, go, entered = [], threading.Event(), threading.Event()

    def estimate(request, timeout_s):
        entered.set()
        go.wait(5.0)
        asked.append((request.object_id, request.stamp_ns))
        return StateReply("", "", ())

    queue = StateEstimationQueue(estimate, lambda *_: None, capacity=2, deadline_s=30.0)
    queue.submit(request_of("first"))
    assert entered.wait(5.0)
    for object_id, stamp_ns in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        queue.submit(request_of(object_id, stamp_ns))
    go.set()
    assert queue.wait_idle(5.0)
    queue.close()
    assert asked == [("first", 7), ("a", 3), ("c", 4)]
    assert (queue.counts.submitted, queue.counts.dropped, queue.counts.answered) == (5, 2, 3)


def test_closing_does_not_wait_for_what_is_queued():
    queue = StateEstimationQueue(lambda request, timeout_s: StateReply("", "", ()), lambda *_: None)
    queue.close()
    assert not queue._thread.is_alive()


def test_without_a_model_there_is_no_queue():
    assert open_state_queue(ObjectCache(ShortTermConfig(capacity=4)), clock=lambda: 0) is None
    with pytest.raises(InvalidValueError, match="vlm_model"):
        ShortTermConfig(vlm_base_url="http://127.0.0.1:9/v1")
