"""The page as people use it: in a headless Chromium, over a running inspector."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("fastapi")

from cooking_robot import CookingRobot
from furnished_home import SECOND_NS, START_NS, embedder
from headless import NARROW, WIDE, chromium, opened, rename, select_first_answer
from inspected_home import Client, serving

from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.step import EpisodeAccount, ModelCost, StepRecord
from memory_node.inspector.access import Caller, TokenBook
from memory_node.memory import RobotMemory
from memory_node.opening import MemoryConfig, open_memory

NOW_NS = START_NS + 600 * SECOND_NS


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
    page.fill("#panel-search input", "")
    yield page
    assert errors == []


def test_object_is_found_renamed_and_the_name_taken_back(page: Any, client: Client, memory: RobotMemory) -> None:
    select_first_answer(page, "apple")
    assert page.inner_text("#panel-object h2") == "Apple Apple 1"
    apple = client.post("/api/v1/find_objects", text="apple")["objects"][0]["object_id"]
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
    page.evaluate("const s = document.getElementById('when'); s.value = 0.3; s.dispatchEvent(new Event('input'))")
    page.wait_for_selector("#count:has-text('then')")
    assert int(page.inner_text("#count").split()[0]) < int(count.split()[0])
    page.click("#tab-changes")
    page.wait_for_selector("#panel-changes h3:has-text('Came (')")
    page.click("#now")
    page.wait_for_selector(f"#count:text-is('{count}')")


def test_past_is_shown_as_the_past(page: Any, memory: RobotMemory) -> None:
    apple = memory.one_object("Apple 1")
    (moved,) = memory.remember([StateChange(apple.id, "Apple", NOW_NS, position=(4.0, 2.0, 0.8), held=False)])
    page.evaluate("inspector.timeline.load()")
    select_first_answer(page, "apple")
    page.wait_for_selector("#panel-object dd:has-text('4.00, 2.00')")
    page.click("#before")
    page.wait_for_selector("#past:has-text('As of')")
    page.wait_for_selector("#panel-object dd:has-text('2.00, 1.00')")
    assert "Rename" not in page.inner_text("#panel-object")
    assert "Is it still there?" not in page.inner_text("#panel-object")
    page.click("#tab-knowledge")
    assert not page.is_visible("#panel-knowledge >> text=Tell a fact")
    page.click("#tab-cache")
    page.wait_for_selector("#panel-cache .notice")
    with page.expect_request(lambda one: "find_objects" in one.url and json.loads(one.post_data)["as_of_s"] > 0):
        page.click("#tab-search")
    page.select_option("#panel-search form select", "recall_objects")
    page.wait_for_selector("#panel-search .notice")
    page.select_option("#panel-search form select", "find_objects")
    page.wait_for_selector("#panel-search li.answer")
    page.click("#now")
    page.wait_for_selector("#past", state="hidden")
    page.fill("#panel-search input", "")
    assert moved == apple.id


def test_time_is_gone_through_by_changes_by_date_and_by_zoom(page: Any) -> None:
    page.evaluate("inspector.timeline.load()")
    moments = page.evaluate("inspector.timeline.span.moments")
    for _ in range(3):
        page.click("#before")
    assert page.evaluate("inspector.asOf()") in moments
    was = page.evaluate("inspector.asOf()")
    page.focus("#when")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("inspector.asOf()") == moments[moments.index(was) + 1]
    page.keyboard.press("Home")
    page.click("#closer")
    shown = page.evaluate("inspector.timeline.shown")
    assert shown[1] - shown[0] < 0.3 * (moments[-1] - moments[0])
    page.fill("#date", page.evaluate("inspector.timeline.slider.value = 0, document.getElementById('date').value"))
    page.wait_for_function("inspector.asOf() > 0")
    page.keyboard.press("End")
    page.click("#now")
    page.click("#wider")


def test_address_leads_to_thing_and_moment_again(page: Any, browser: Any, client: Client) -> None:
    page.wait_for_selector("#past", state="hidden")
    select_first_answer(page, "apple")
    page.click("#before")
    page.wait_for_selector("#past:has-text('As of')")
    page.wait_for_function("location.hash.includes('at=')")
    address, told = page.evaluate("location.href"), page.inner_text("#past")
    page.click("#now")
    page.wait_for_selector("#past", state="hidden")
    other = browser.new_page(viewport=NARROW)
    other.goto(address)
    other.wait_for_selector("#panel-object h2:has-text('Apple')")
    other.wait_for_selector("#past:has-text('As of')")
    assert other.inner_text("#past") == told
    other.close()


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", ["L" + "ong" * 66, "Word " * 39 + "Mug", "W" * 250], ids=["long", "words", "wide"])
def test_long_names_push_no_control_out_of_sight(
    page: Any, client: Client, memory: RobotMemory, viewport: dict[str, int], name: str
) -> None:
    page.set_viewport_size(viewport)
    # As a detector calls it: people may tell 200 characters.
    (told,) = memory.remember([StateChange("", name, NOW_NS, position=(4.0, 4.0, 0.8), held=False)])
    page.click("#tab-search")
    shown = client.get(f"/api/v1/objects/{told}")["name"]
    page.click(f"#panel-search .objects button:text-is('{shown}')")
    page.wait_for_selector("#panel-object h2")
    page.click("#panel-object >> text=Delete")
    page.click("dialog >> text=Do it")
    page.wait_for_selector(".toast >> text=Undo")
    page.click("#tab-edits")
    page.wait_for_selector("#panel-edits td")
    outside = page.evaluate(
        "[...document.querySelectorAll('button, input, select, h2, td, li')].filter((e) => e.offsetParent)"
        ".filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))"
    )
    assert outside == []
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    page.click(".toast >> text=Undo")
    page.wait_for_selector(".toast:has-text('undone')")
    memory.forget(object_id=told)


def test_list_is_filtered_and_saved(page: Any, client: Client, tmp_path: Any) -> None:
    dirty = client.post("/api/v1/remember", object_id="Mug 1", added=["dirty"])
    page.wait_for_selector("#panel-search .filters option[value=dirty]", state="attached")
    page.select_option("#panel-search .filters select >> nth=1", "dirty")
    page.wait_for_selector("#panel-search .objects li >> nth=0")
    assert page.locator("#panel-search .objects li").count() == 1
    assert "ago" in page.inner_text("#panel-search .objects li")
    with page.expect_download() as saved:
        page.click("text=Download as JSON")
    saved.value.save_as(tmp_path / "saved.json")
    told = json.loads((tmp_path / "saved.json").read_text())
    assert [one["name"] for one in told["objects"]] == ["Mug 1"]
    with page.expect_download() as saved:
        page.click("text=Download as CSV")
    saved.value.save_as(tmp_path / "saved.csv")
    assert len((tmp_path / "saved.csv").read_text().splitlines()) == 2
    page.select_option("#panel-search .filters select >> nth=1", "")
    client.post(f"/api/v1/edits/{dirty['id']}/undo")


def test_newest_facts_are_shown_without_a_search(page: Any, client: Client) -> None:
    page.click("#tab-knowledge")
    page.wait_for_selector("#panel-knowledge h2:has-text('What people told')")
    for text, teller in (("Zoe is allergic to eggs", "Ben"), ("The chair was a gift from my aunt", "Ida")):
        client.post("/api/v1/tell_fact", text=text, teller=teller)
    page.wait_for_selector("#panel-knowledge li:has-text('gift from Ida')")
    newest, before = page.locator("#panel-knowledge li").all_inner_texts()[:2]
    assert ("gift from Ida's aunt" in newest, "told by Ida" in newest) == (True, True)
    assert ("allergic to eggs" in before, "told by Ben" in before) == (True, True)


def test_fact_told_elsewhere_comes_by_itself_and_can_be_removed(page: Any, client: Client) -> None:
    page.click("#tab-knowledge")
    page.fill("#panel-knowledge input[type=search]", "Emil")
    page.press("#panel-knowledge input[type=search]", "Enter")
    page.wait_for_selector("#panel-knowledge >> text=Nothing is known")
    client.post("/api/v1/tell_fact", text="Emil likes oranges", teller="Ben")
    page.wait_for_selector("#panel-knowledge li:has-text('oranges')")
    assert "told by Ben" in page.inner_text("#panel-knowledge li:has-text('oranges')")
    page.click("#panel-knowledge li >> text=Remove")
    page.click("dialog >> text=Do it")
    page.wait_for_selector("#panel-knowledge >> text=Nothing is known")
    page.click(".toast:has-text('retract') >> text=Undo")
    page.wait_for_selector("#panel-knowledge li:has-text('oranges')")


def test_episode_that_begins_comes_by_itself(page: Any, memory: RobotMemory) -> None:
    page.click("#tab-episodes")
    page.wait_for_selector("#panel-episodes h2")
    episode = memory.episodes.start("water the plants", "water")
    page.wait_for_selector("#panel-episodes td:has-text('water the plants')")
    memory.episodes.end(episode, True, "", EpisodeAccount(ModelCost(1200, 900, 80, 3, 4.5, 0.0125)))
    page.click("#panel-episodes >> text=water the plants")
    page.wait_for_selector("#panel-episodes .cost:has-text('1200 tokens read (75 % cached), 80 written · $0.0125')")
    page.click("#panel-episodes >> text=all episodes")


def test_lesson_that_a_step_used_is_drawn(browser: Any, tmp_path: Any) -> None:
    robot = CookingRobot("apartment", embedder(), str(tmp_path / "memory.db"))
    robot.cold = {"Microwave"}
    for instruction in ("heat the apple in the microwave", "heat the apple"):
        assert robot.carry_out(instruction, embedder()).success
    assert robot.heated_at[-1] == "Oven"
    with serving(robot.memory) as client:
        page, errors = opened(browser, client.port)
        page.click("#tab-episodes")
        page.click("#panel-episodes td button:text-is('heat the apple')")
        page.wait_for_selector(
            "#panel-episodes li:has-text('I have learnt: HeatObject of Apple at this Microwave fails.')"
        )
        used = page.inner_text("#panel-episodes h3:has-text('Lessons that it used') + *")
        assert "HeatObject of Apple at this Microwave fails" in used
        page.close()
    robot.memory.close()
    assert errors == []


def test_token_is_asked_for_once_and_a_wrong_one_is_told(browser: Any, memory: RobotMemory) -> None:
    token = "right-token-of-ada"
    with serving(memory, TokenBook([(token, Caller("ada", "edit"))])) as guarded:
        page = browser.new_page(viewport=WIDE)
        page.goto(f"http://127.0.0.1:{guarded.port}/")
        page.fill("dialog input[name=token]", "a-wrong-token-123")
        page.press("dialog input[name=token]", "Enter")
        page.wait_for_selector("dialog:has-text('not valid')")
        assert page.locator("dialog").count() == 1
        page.fill("dialog input[name=token]", token)
        page.press("dialog input[name=token]", "Enter")
        page.wait_for_selector("body[data-ready-ms]")
        assert "ada may edit" in page.inner_text("#source")
        assert page.locator("dialog").count() == 0
        page.close()


def test_memory_whose_clock_began_at_zero_is_told_by_its_own_time(browser: Any) -> None:
    now = SimpleNamespace(s=0)
    memory = open_memory(MemoryConfig(), embedder=embedder(), clock=lambda: now.s * SECOND_NS)
    for now.s, kind, x in ((0, "Mug", 1.0), (60, "Apple", 3.0)):
        memory.remember([StateChange("", kind, 0, position=(x, 1.0, 0.8), held=False, source="user")])
    with serving(memory) as client:
        page, errors = opened(browser, client.port)
        listed = page.inner_text("#panel-search")
        assert "2 objects are remembered" in listed
        assert "1 minute ago" in listed
        page.click("#panel-search .objects button:text-is('Mug 1')")
        page.wait_for_selector("#panel-object dd:has-text('0.0 s, 1 minute ago')")
        assert "0.0 s to now" in page.inner_text("#begin")
        page.click("#before")
        page.wait_for_selector("#past:has-text('As of 0.0 s')")
        assert "1 object then" in page.inner_text("#count")
        page.close()
    memory.close()
    assert errors == []


def test_change_made_elsewhere_comes_by_itself(page: Any, client: Client) -> None:
    page.wait_for_selector("#state:has-text('live')")
    before = int(page.inner_text("#count").split()[0])
    told = client.post("/api/v1/remember", object_class="Bowl", position=[3.0, 3.0, 0.8])
    page.wait_for_selector(f"#count:has-text('{before + 1} objects')")
    client.post(f"/api/v1/edits/{told['id']}/undo")
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
    told = client.post("/api/v1/remember", object_class=name, position=[4.0, 4.0, 0.8])
    shown = client.get(f"/api/v1/objects/{told['ids'][0]}")["name"]
    page.click(f'#panel-search .objects button:text-is("{shown}")')
    page.wait_for_selector(f"#panel-object h2:has-text({json.dumps(name)})")
    assert page.title() == "robot_memory"
    client.post(f"/api/v1/edits/{told['id']}/undo")


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
    scene = client.get("/api/v1/scene_graph")
    one = scene["objects"][0]
    many = [
        {**one, "id": f"thing-{i}", "class": f"Kind{i % 40}", "at": [i % 200 * 0.5, i // 200 * 0.5, 0.4]}
        for i in range(20_000)
    ]
    page = browser.new_page(viewport=WIDE)
    body = json.dumps({**scene, "objects": many, "relations": []})
    page.route("**/api/v1/scene_graph", lambda route: route.fulfill(body=body, content_type="application/json"))
    page.goto(f"http://127.0.0.1:{client.port}/")
    page.wait_for_selector("body[data-ready-ms]", timeout=60_000)
    drawn = page.evaluate("[inspector.view.boxes.count, inspector.view.dots.count]")
    assert sum(drawn) == 20_000
    assert drawn[0] < 20_000
    page.evaluate("inspector.view.select('thing-20', true); inspector.view.draw()")
    middle = page.evaluate("[inspector.view.camera.width / 2, inspector.view.camera.height / 2]")
    assert page.evaluate("([x, y]) => inspector.view.at(x, y).id", middle) == "thing-20"
    page.close()
