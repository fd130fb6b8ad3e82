"""Memory compiled step by step in one process: brief state, guidance, and what counts as given."""

from collections.abc import Callable

import pytest

from memory_node.context.brief_state import Section, apply
from memory_node.context.guidance import Delivery, StepObservation, TakenStep
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.observation import Frame
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.states import ObjectState
from memory_node.domain.step import StepRecord
from memory_node.lessons.lesson import Wording
from memory_node.lessons.whereabouts import Whereabouts, written
from memory_node.memory import RobotMemory

FRIDGE, EGG = "Fridge@3.000,0.000,0.800", "Egg@2.000,0.000,0.900"
PUT = SkillCall("PutObject", (EGG, FRIDGE))
GOALS = ("place Egg to Fridge",)


@pytest.fixture
def home(memory: RobotMemory, see: Callable[..., Frame]) -> RobotMemory:
    memory.observe(see(1.0, Egg=(2.0, 0.0, 0.9), Fridge=(3.0, 0.0, 0.8)))
    fridge = next(found.id for found in memory.scene().objects if found.class_name == "Fridge")
    memory.remember([StateChange(fridge, "Fridge", 2_000_000_000, added=(ObjectState.CLOSED,))])
    return memory


def test_scene_graph_tells_of_the_door(home: RobotMemory) -> None:
    episode = home.episodes.start("put the egg in the fridge")
    step = home.guidance.compile(episode, StepObservation(GOALS, proposed=PUT))
    assert step.compiled.delivery is Delivery.HYBRID
    assert "Fridge is closed" in step.state.items(Section.FACTS)
    # Nobody has said yet that the egg is in the hand, so that comes first, and before that the way to it.
    assert step.guidance.goal == SkillCall("GoToObject", (EGG,))
    assert step.lines[0] == "Goal: put the egg in the fridge"
    assert step.lines[-1] == step.guidance.text


def test_guidance_goes_step_by_step_and_speaks_of_the_robots_ids(home: RobotMemory) -> None:
    episode = home.episodes.start("put the egg in the fridge")
    taken, goals = None, []
    for _ in range(5):
        step = home.guidance.compile(episode, StepObservation(GOALS, taken=taken, proposed=PUT))
        if step.guidance is None:
            break
        goals.append(str(step.guidance.goal))
        call = step.guidance.goal
        taken = TakenStep(
            call, True, object_id=f"robots-{call.arguments[0].partition('@')[0].removeprefix('robots-').lower()}"
        )
    assert goals == [
        f"GoToObject({EGG})",
        "PickupObject(robots-egg)",
        f"GoToObject({FRIDGE})",
        "OpenObject(robots-fridge)",
    ]
    delivered = tuple(home.guidance.of(episode).delivered)
    assert delivered[-1].state == step.state
    before, last = delivered[-2:]
    assert apply(last.compiled.delta, before.state) == last.state


def test_what_tries_taught_is_in_m_and_guides_the_step(home: RobotMemory) -> None:
    egg = next(found for found in home.scene().objects if found.class_name == "Egg")
    fridge = next(found for found in home.scene().objects if found.class_name == "Fridge")
    episode, call = home.episodes.start("cool the egg", "cool"), SkillCall("CoolObject", (egg.id, fridge.id))
    home.episodes.record(StepRecord(episode, 0, call, False, FailureReason.EXECUTION, 1_000))
    home.episodes.end(episode, False)
    assert home.experience.wait_settled(30.0)
    lessons = [one.text for one in home.lessons()]
    assert any(text.startswith("CoolObject of Egg at this Fridge") for text in lessons)
    episode = home.episodes.start("cool the egg again", "cool")
    home.guidance.compile(episode, StepObservation(("cool Egg to Fridge",)))
    kept = home.guidance.of(episode)
    told = [entry.text for entry in kept.memory.entries]
    assert any(text.startswith(f"CoolObject of Egg at {fridge.name}") for text in told)
    assert not any("this Fridge" in text for text in told)


def test_place_that_leads_nowhere_is_given_up(home: RobotMemory) -> None:
    note = written("note", Wording("bring me the mug", Whereabouts("Mug", ("Shelf",)).text, "e0"), "rules")
    home.experience.load((), [note])
    search, goals = SkillCall("Explore", ("Mug",)), ("place Mug to Table",)
    for number in range(3):
        episode = home.episodes.start("bring me the mug", "place")
        step = home.guidance.compile(episode, StepObservation(goals))
        assert (step.guidance.goal, step.guidance.entries) == (search, ("note",)), number
        home.episodes.record(StepRecord(episode, 0, search, False, FailureReason.NOT_FOUND, 1_000))
        home.episodes.end(episode, None)
    assert note.id not in [one.id for one in home.experience.lessons()]


def test_where_a_thing_was_found_is_no_lesson_while_memory_has_it(home: RobotMemory) -> None:
    home.experience.load(
        (), [written("note", Wording("cool the egg", "Thing: Egg. Look first at: Shelf.", "e0"), "rules")]
    )
    episode = home.episodes.start("put the egg in the fridge")
    step = home.guidance.compile(episode, StepObservation(GOALS, proposed=SkillCall("GoToObject", (EGG,))))
    assert step.compiled.lessons == ()
    assert "Shelf" not in home.context("put the egg in the fridge", 2000).text


def test_hand_is_known_from_the_start(home: RobotMemory) -> None:
    egg = next(found.id for found in home.scene().objects if found.class_name == "Egg")
    home.remember([StateChange(egg, "Egg", 3_000_000_000, held=True)])
    episode = home.episodes.start("put it in the fridge")
    step = home.guidance.compile(episode, StepObservation(GOALS, proposed=SkillCall("PutObject", ("Egg", FRIDGE))))
    assert "the hand holds Egg" in step.state.items(Section.AGENT)
    assert step.guidance.goal == SkillCall("GoToObject", (FRIDGE,))


def test_what_is_no_episode_or_no_compiler_is_said(home: RobotMemory) -> None:
    with pytest.raises(NotFoundError, match="not running"):
        home.guidance.compile("nobody", StepObservation())
    episode = home.episodes.start("wait")
    with pytest.raises(InvalidValueError, match="expected one of none, rules, model"):
        home.guidance.compile(episode, StepObservation(), "oracle")
    with pytest.raises(InvalidValueError, match="goal_index"):
        StepObservation(("a",), 2)
