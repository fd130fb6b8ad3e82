"""The page over a running memory node: what a person mends in the browser is on the ROS topic, and so is the undo."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from headless import chromium, opened, rename, select_first_answer
from inspected_home import Client, serving
from running_memory import running_memory

from memory_node.domain.skill import StateChange
from memory_node.nodes.run import activate_ros


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Client, list[Any]]]:
    """Yield a memory node, a client of its inspector, and the deltas that a listener of its own hears."""
    activate_ros()
    from robot_memory.msg import SceneGraphDelta

    from memory_node.nodes.connected_memory import inspected

    domain_id = 60 + (os.getpid() + 17) % 40
    database = tmp_path_factory.mktemp("page") / "memory.db"
    deltas: list[Any] = []
    with (
        running_memory(domain_id, str(database), publish_period_s=0.1) as node,
        inspected("memory", domain_id) as (memory, views),
        serving(memory, views=views) as client,
    ):
        node.create_subscription(SceneGraphDelta, "memory/scene_graph_delta", deltas.append, 100)
        yield node, client, deltas


def said_on_topic(deltas: list[Any], object_id: str) -> list[str]:
    """Return the classes by which the topic has called an object, each once in a row."""
    told = [
        max(found.classes, key=lambda one: one.probability).name
        for delta in tuple(deltas)
        for found in (*delta.appeared, *delta.updated, *delta.moved)
        if found.id == object_id
    ]
    return [name for before, name in zip([None, *told], told) if name != before]


def until_said(deltas: list[Any], object_id: str, names: list[str]) -> list[str]:
    deadline = time.monotonic() + 20.0
    while said_on_topic(deltas, object_id) != names and time.monotonic() < deadline:
        time.sleep(0.05)
    return said_on_topic(deltas, object_id)


def test_rename_in_the_browser_is_on_the_topic_and_taken_back(node: tuple[Any, Client, list[Any]]) -> None:
    memory, client, deltas = node[0].memory, node[1], node[2]
    table, mug = memory.remember(
        [
            StateChange("table", "DiningTable", 0, position=(2.0, 1.0, 0.4), held=False),
            StateChange("mug", "Mug", 0, position=(2.0, 1.0, 0.8), held=False, support_id="table"),
        ]
    )
    with chromium() as browser:
        page, errors = opened(browser, client.port)
        page.wait_for_selector("#state:has-text('live')")
        page.wait_for_selector("#count:has-text('2 objects')")
        select_first_answer(page, "mug")
        rename(page, "Cup")
        assert until_said(deltas, mug, ["Mug", "Cup"]) == ["Mug", "Cup"]
        page.click(".toast >> text=Undo")
        page.wait_for_selector("#panel-object h2:has-text('Mug')")
        assert until_said(deltas, mug, ["Mug", "Cup", "Mug"]) == ["Mug", "Cup", "Mug"]
        # What the robot does is on the page without anybody asking.
        memory.edit("delete", table)
        page.wait_for_selector("#count:text-is('1 object')")
        assert errors == []


def test_images_of_the_page_are_asked_for_where_they_are_shown_alone(tmp_path: Path) -> None:
    from furnished_home import furnished

    memory, ids = furnished(tmp_path / "memory.db")
    with serving(memory, images=False) as client, chromium() as browser:
        page, errors = opened(browser, client.port)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        select_first_answer(page, "apple")
        page.wait_for_timeout(500)
        assert any(ids["apple"] in url for url in asked)
        assert not any("crop" in url for url in asked)
        assert errors == []
    memory.close()
