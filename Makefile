# `make demo` and `make test` work from a fresh clone; both set up first. `make help` lists the rest.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Everything that we start talks DDS over the loopback interface only.
export ROS_AUTOMATIC_DISCOVERY_RANGE ?= LOCALHOST
export OMP_NUM_THREADS ?= 1
# Whose rclpy, where the real one is wanted: jazzy or kilted.
DISTRIBUTION ?= jazzy

.PHONY: help setup demo test test-oldest test-rclpy test-clients test-servers test-training lint alone clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.ready ## make the virtual environment and the embedder's model

$(VENV)/.ready: pyproject.toml setup.py ros_embedded/pyproject.toml readers/pyproject.toml scripts/set_up
	PYTHON="$(PYTHON)" VENV="$(VENV)" scripts/set_up
	@touch $@

demo: setup ## run the simulated home, the memory and the planner; DEMO_ARGS="--headless --json out.json"; ROS=rclpy: on the real rclpy
	$(if $(filter rclpy,$(ROS)),$(BIN)/python scripts/with_rclpy $(DISTRIBUTION) python -m memory_node.cli,$(BIN)/memory-node) demo $(DEMO_ARGS)

test: setup ## run the linters and every test
	VENV="$(VENV)" scripts/run_tests $(TEST_ARGS)

test-oldest: ## run every test with Python 3.10 and the oldest versions of everything
	scripts/test_oldest $(TEST_ARGS)

test-rclpy: setup ## run the tests of the nodes on the real rclpy of Jazzy and Kilted, from wheels
	VENV="$(VENV)" scripts/test_rclpy $(TEST_ARGS)

test-clients: setup ## run the page in a Chromium, REST under schemathesis, and the readers of Rerun and Foxglove
	VENV="$(VENV)" scripts/test_clients $(TEST_ARGS)

test-servers: setup ## run the client of language models before llama.cpp's server, LiteLLM's proxy and `transformers serve`
	VENV="$(VENV)" scripts/test_servers $(TEST_ARGS)

test-training: setup ## run all tests of training/ with torch, in an environment of its own
	VENV="$(VENV)" scripts/test_training $(TEST_ARGS)

lint: setup ## ruff, import rules and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

alone: ## build ros_embedded, and test it in an environment without robot_memory
	rm -rf out/alone
	$(PYTHON) -m venv out/alone/venv
	out/alone/venv/bin/python -m pip install -q build
	out/alone/venv/bin/python -m build -q ros_embedded -o out/alone/dist
	out/alone/venv/bin/python -m pip install -q "$$(ls out/alone/dist/*.whl)[test]"
	tar -xzf out/alone/dist/*.tar.gz -C out/alone
	cd out/alone/ros_embedded-* && ../venv/bin/python -m pytest $(TEST_ARGS)

clean: ## remove what set-up and the demo made
	rm -rf $(VENV) .venv-oldest build dist out *.egg-info ros_embedded/src/*.egg-info readers/src/*.egg-info readers/build
	for folder in . ros_embedded; do rm -rf $$folder/.pytest_cache $$folder/.mypy_cache $$folder/.ruff_cache; done
