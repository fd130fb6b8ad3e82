"""Servers of language models that are not ours, each with the embedded model, on the loopback interface."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from running_server import Server

from memory_node.llm.chat import ModelMissingError
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.native import library_path
from memory_node.llm.open_model import model_file

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
# `make test-servers` installs them there.
_INSTALLED = Path(os.environ.get("SERVERS", _ROOT / "out/servers"))
_START_S = 180.0
KEY = "sk-of-these-tests"


@pytest.fixture(scope="session")
def gguf() -> Path:
    try:
        library_path()
        return model_file(ModelConfig())
    except ModelMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def llama_server(gguf: Path) -> Iterator[Server]:
    port = _free_port()
    command = [sys.executable, str(_HERE / "llama_server.py"), str(gguf), str(port), KEY]
    with _running(command, f"http://127.0.0.1:{port}/v1/models", {}):
        lacks = {"models": "it serves one model, whatever it is called in a request"}
        yield Server(f"http://127.0.0.1:{port}/v1", "small", KEY, lacks)


@pytest.fixture(scope="session")
def litellm(llama_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    program = _program("litellm")
    config = tmp_path_factory.mktemp("litellm") / "config.yaml"
    behind = {"model": "openai/small", "api_base": llama_server.url, "api_key": KEY}
    config.write_text(
        json.dumps(
            {
                "model_list": [{"model_name": "small", "litellm_params": behind}],
                "litellm_settings": {"num_retries": 0, "telemetry": False},
                "general_settings": {"master_key": KEY},
            }
        )
    )
    port = _free_port()
    command = [program, "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONPATH": ""}
    with _running(command, f"http://127.0.0.1:{port}/health/liveliness", offline):
        yield Server(f"http://127.0.0.1:{port}/v1", "small", KEY, {})


@pytest.fixture(scope="session")
def transformers(gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    program = _program("transformers")
    folder = str(tmp_path_factory.mktemp("smollm2"))
    offline = {"HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
    python = str(Path(program).resolve().parent / "python")
    making = [python, str(_HERE / "gguf_folder.py"), str(gguf), folder]
    subprocess.run(making, check=True, env=os.environ | offline, timeout=4 * _START_S)
    port = _free_port()
    command = [program, "serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    lacks = {
        "keys": "it knows no keys",
        "schema": "it holds replies to no schema",
        "overflow": "it reads beyond the model's window",
    }
    with _running(command, f"http://127.0.0.1:{port}/health", offline):
        yield Server(f"http://127.0.0.1:{port}/v1", folder, "", lacks)


@pytest.fixture(params=["llama_server", "litellm", "transformers"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return each server in turn; its key is in $SERVER_KEY."""
    started: Server = request.getfixturevalue(request.param)
    monkeypatch.setenv("SERVER_KEY", started.key)
    return started


def _program(name: str) -> str:
    path = _INSTALLED / "bin" / name
    if not path.is_file():
        pytest.skip(f"{name} is not installed in {_INSTALLED}; `make test-servers` does it")
    return str(path)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def _running(command: list[str], answers: str, environment: Mapping[str, str]) -> Iterator[None]:
    """Run a server until the end of the block, which begins when an address answers."""
    with ExitStack() as stack:
        log = stack.enter_context(open(os.devnull, "wb"))
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=os.environ | dict(environment)
        )
        stack.callback(process.wait, 30.0)
        stack.callback(process.kill)
        _wait_until(lambda: _answers(answers), process)
        yield


def _wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_S
    while not ready():
        if process.poll() is not None or time.monotonic() > end:
            pytest.fail(f"{process.args} did not start: {process.poll()}")
        time.sleep(0.2)


def _answers(url: str) -> bool:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {KEY}"})
    try:
        with urllib.request.urlopen(request, timeout=5.0) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
