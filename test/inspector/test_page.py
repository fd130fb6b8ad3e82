"""The page as people use it: in a headless Chromium, over a running inspector."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi")

from headless import NARROW, WIDE, chromium, opened, rename, select_first_answer
from inspected_home import Client, serving

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import StepRecord
from memory_node.memory import RobotMemory


@pytest.fixture(scope="module")
def client(memory: RobotMemory) -> Iterator[Client]:
    with serving(memory) as client:
        yield client


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def window(browser: Any, client: Client) -> Iterator[tuple[Any, list[str]]]:
    """Yield the open page and what its console has complained of."""
    page, errors = opened(browser, client.port)
    yield page, errors
    page.close()


@pytest.fixture
def page(window: tuple[Any, list[str]]) -> Iterator[Any]:
    """Yield the page; at the end there must have been no error on its console."""
    page, errors = window
    page.set_viewport_size(WIDE)
    page.click("#tab-search")
    yield page
    assert errors == []


def test_object_is_found_renamed_and_the_name_taken_back(page: Any, client: Client, memory: RobotMemory) -> None:
    select_first_answer(page, "apple")
    assert page.inner_text("#panel-object h2") == "Apple"
    apple = client.post("/api/find_objects", text="apple")["objects"][0]["object_id"]
    rename(page, "Tomato")
    assert {one.id: one.class_name for one in memory.scene().objects}[apple] == "Tomato"
    page.click(".toast >> text=Undo")
    page.wait_for_selector("#panel-object h2:has-text('Apple')")
    page.click("#tab-search")
    page.fill("#panel-search input", "")
    assert {one.id: one.class_name for one in memory.scene().objects}[apple] == "Apple"


def test_view_shows_the_whole_floor_at_first(page: Any, memory: RobotMemory) -> None:
    page.focus("#scene")
    page.keyboard.press("Home")
    (slab,) = page.evaluate("inspector.view.drawn.slabs")
    boxes = [found.box.corners() for found in memory.scene().objects]
    for axis in (0, 1):
        assert slab["low"][axis] <= min(corners[:, axis].min() for corners in boxes)
        assert slab["high"][axis] >= max(corners[:, axis].max() for corners in boxes)
    assert slab["height"] == 0.0
    page.wait_for_function("inspector.view.floors.count === 1")
    target = page.evaluate("[...inspector.view.camera.target, inspector.view.camera.distance]")
    assert all(slab["low"][axis] < target[axis] < slab["high"][axis] for axis in (0, 1))
    assert 1.0 < target[3] < 100.0


def test_slider_shows_what_was_and_what_changed(page: Any) -> None:
    count = page.inner_text("#count")
    page.wait_for_timeout(300)
    page.evaluate("const s = document.getElementById('when'); s.value = 300; s.dispatchEvent(new Event('input'))")
    page.wait_for_selector("#count:has-text('then')")
    assert int(page.inner_text("#count").split()[0]) < int(count.split()[0])
    page.click("#tab-changes")
    page.wait_for_selector("#panel-changes h3:has-text('Came (')")
    page.click("#now")
    page.wait_for_selector(f"#count:text-is('{count}')")


def test_change_made_elsewhere_comes_by_itself(page: Any, client: Client) -> None:
    page.wait_for_selector("#state:has-text('live')")
    before = int(page.inner_text("#count").split()[0])
    told = client.post("/api/remember", object_class="Bowl", position=[3.0, 3.0, 0.8])
    page.wait_for_selector(f"#count:has-text('{before + 1} objects')")
    client.post(f"/api/edits/{told['id']}/undo")
    page.wait_for_selector(f"#count:has-text('{before} objects')")


def test_prompt_is_shown_as_a_planner_was_sent_it(page: Any, memory: RobotMemory) -> None:
    episode = memory.episodes.start("bring me the apple", "bring")
    context = memory.context("the apple", 300)
    step = StepRecord(episode, 0, SkillCall("GoToObject", ("Apple",)), True, FailureReason.NONE, 0)
    memory.episodes.record(step, context.id)
    memory.commit()
    page.click("#tab-prompt")
    page.click("#panel-prompt >> text=bring me the apple")
    page.click("#panel-prompt summary:has-text('for step 1')")
    assert context.text.splitlines()[0] in page.inner_text("#panel-prompt details pre >> nth=-1")
    memory.episodes.end(episode, True)


def test_keyboard_reaches_view_tabs_and_objects(page: Any) -> None:
    page.focus("#scene")
    frames = page.evaluate("inspector.view.frames")
    for key in ("ArrowLeft", "+", "q", "r", "Home"):
        page.keyboard.press(key)
    page.wait_for_timeout(200)
    assert page.evaluate("inspector.view.frames") > frames
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className || 'other'"))
    assert {"when", "tab-search", "link"} <= reached
    page.focus("#tab-search")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-object", "aria-selected") == "true"


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_page_fits_its_window(page: Any, viewport: dict[str, int]) -> None:
    page.set_viewport_size(viewport)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    small = page.evaluate(
        "[...document.querySelectorAll('button, input, p, td, li, output')]"
        ".filter((e) => e.offsetParent && parseFloat(getComputedStyle(e).fontSize) < 12).length"
    )
    assert small == 0


def test_names_are_never_read_as_html(page: Any, client: Client) -> None:
    name = "<img src=x onerror=document.title='broken'>"
    told = client.post("/api/remember", object_class=name, position=[4.0, 4.0, 0.8])
    page.wait_for_selector(f"#panel-search >> text={name}")
    assert page.title() == "robot_memory"
    client.post(f"/api/edits/{told['id']}/undo")


def test_less_is_drawn_while_frames_are_slow_and_all_at_rest(page: Any) -> None:
    boxes = page.evaluate("""async () => {
      const { Detail } = await import("/detail.js");
      let rests = 0;
      const detail = new Detail(() => { rests += 1; });
      const moving = (waitedMs) => detail.frame(true, waitedMs).boxes;
      const slow = [5, 90, 90, 90, 90].map(moving);
      await new Promise((resume) => setTimeout(resume, 500));
      const still = detail.frame(false, 90).boxes;
      return { slow, rests, still, fast: Array.from({ length: 120 }, () => moving(5)).at(-1) };
    }""")
    assert boxes["slow"][0] == boxes["still"] == boxes["fast"] == 4000
    assert boxes["slow"][-1] < 4000
    assert boxes["rests"] == 1


def test_twenty_thousand_objects_are_drawn_and_can_be_chosen(browser: Any, client: Client) -> None:
    scene = client.get("/api/scene_graph")
    one = scene["objects"][0]
    many = [
        {**one, "id": f"thing-{i}", "class": f"Kind{i % 40}", "at": [i % 200 * 0.5, i // 200 * 0.5, 0.4]}
        for i in range(20_000)
    ]
    page = browser.new_page(viewport=WIDE)
    body = json.dumps({**scene, "objects": many, "relations": []})
    page.route("**/api/scene_graph", lambda route: route.fulfill(body=body, content_type="application/json"))
    page.goto(f"http://127.0.0.1:{client.port}/")
    page.wait_for_selector("body[data-ready-ms]", timeout=60_000)
    drawn = page.evaluate("[inspector.view.boxes.count, inspector.view.dots.count]")
    assert sum(drawn) == 20_000
    assert drawn[0] < 20_000
    page.evaluate("inspector.view.select('thing-20', true); inspector.view.draw()")
    middle = page.evaluate("[inspector.view.camera.width / 2, inspector.view.camera.height / 2]")
    assert page.evaluate("([x, y]) => inspector.view.at(x, y).id", middle) == "thing-20"
    page.close()
