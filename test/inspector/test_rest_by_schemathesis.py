"""REST holds what its OpenAPI document says: requests that another program makes of the document, good and bad ones."""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("schemathesis", reason="schemathesis is not installed: make test-clients")

from furnished_home import furnished
from inspected_home import Client, serving

from memory_node.inspector.access import Caller, RateLimit, TokenBook

TOKEN = "token-of-another-program"


@pytest.fixture
def client() -> Iterator[Client]:
    memory, _ = furnished()
    tokens = TokenBook([(TOKEN, Caller("program", "forget"))])
    # Wrong tokens and the longest lists are part of what it tries.
    bounds = {"wrong_tokens": RateLimit(1e6, 1e6, time.monotonic), "most_body_bytes": 16 * 2**20}
    with serving(memory, tokens, **bounds) as client:
        client.token = TOKEN
        yield client
    memory.close()


@pytest.mark.timeout(900)
def test_another_program_finds_no_breach_of_the_document(client: Client) -> None:
    client.get("/openapi.json")  # it is made once, which on a busy machine takes longer than that program waits
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{client.port}/openapi.json"),
        *("-H", f"Authorization: Bearer {TOKEN}", "--max-examples", "10", "--seed", "1", "--no-color"),
        *("--exclude-path", "/api/v1/events"),  # it has no end
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=880)
    assert done.returncode == 0, "\n".join(line[:300] for line in done.stdout.splitlines())[-20_000:]
