"""The teacher's pairs: prompts as the learner gets them, and replies that it may give."""

import json
from dataclasses import replace

import pytest
from small_game import Embedder
from test_alfworld_compiled import HEATED, LEARNT, game_of

from benchmarks.alfworld.games import Game
from memory_node.catalogue.label_space import load_catalogue
from memory_node.cli import main
from memory_node.context.beliefs import Beliefs
from memory_node.context.brief_state import BriefState
from memory_node.context.config import CompilerModelConfig
from memory_node.context.guidance import Delivery, StepObservation, TakenStep
from memory_node.context.prompt_compiler import PromptCompiler
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.context.task_memory import Entry, EntryKind, TaskMemory
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import SkillCall
from memory_node.domain.states import ObjectState
from memory_node.llm.chat import Message, Reply
from memory_node.world.state import Thing, WorldState
from training.compiler.pairs import GameTeacher
from training.compiler.teacher import CompilerPair, RecordingTeacher, balanced, read_pairs, write_pairs

PUT = SkillCall("PutObject", ("Mug", "Fridge"))
THINGS = [Thing("Mug", "Mug"), Thing("Fridge", "Fridge", states=frozenset({ObjectState.CLOSED}))]
WORLD = WorldState.of_things(load_catalogue(), THINGS, "Mug").standing_at("Fridge")
BELIEFS = Beliefs(WORLD, progress=BriefState("put the mug away", current="place Mug to Fridge"))
STATE = BELIEFS.brief()
OBSERVATION = StepObservation(
    ("place Mug to Fridge",), proposed=PUT, classes={"Mug": "Mug", "Fridge": "Fridge"}, beliefs=BELIEFS
)
MEMORY = TaskMemory.of([Entry("fact", EntryKind.ADVICE, "Mug on Shelf")])


class Learner:
    """A model that has learnt one pair by heart."""

    name = "learner"

    def __init__(self, pair: CompilerPair) -> None:
        self._pair = pair

    def reply(self, messages, deadline=None, form=None, on_line=None) -> Reply:
        assert tuple(messages) == self._pair.messages
        return Reply(self._pair.reply, 10, 5)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


def pair_of(beliefs: Beliefs) -> tuple[CompilerPair, object]:
    pairs: list[CompilerPair] = []
    teacher = RecordingTeacher(RulesCompiler(), lambda: "t1", pairs.append)
    compiled = teacher.compile(replace(OBSERVATION, beliefs=beliefs), beliefs.brief(), MEMORY)
    (pair,) = pairs
    return pair, compiled.guidance


def test_who_learns_a_pair_by_heart_delivers_what_the_teacher_did() -> None:
    pair, guidance = pair_of(BELIEFS)
    assert pair.delivery is Delivery.EXPERIENCE
    found = PromptCompiler(Learner(pair), CompilerModelConfig()).compile(OBSERVATION, STATE, MEMORY)
    assert found.problem == ""
    assert found.guidance.goal == getattr(guidance, "goal", None) == SkillCall("OpenObject", ("Fridge",))
    assert found.guidance.reason == "Fridge is closed"


def test_learner_is_asked_as_the_pair_says_where_steps_repeat() -> None:
    again = replace(OBSERVATION, recent=(TakenStep(PUT, True),) * 2)
    pairs: list[CompilerPair] = []
    teacher = RecordingTeacher(RulesCompiler(), lambda: "t1", pairs.append)
    teacher.compile(again, STATE, MEMORY)
    assert "These steps repeat: PutObject(Mug, Fridge)." in pairs[0].messages[1].text
    assert PromptCompiler(Learner(pairs[0]), CompilerModelConfig()).compile(again, STATE, MEMORY).problem == ""


def test_what_a_learner_could_not_say_is_no_pair() -> None:
    """The call opens a drawer that the next step does not name."""
    drawer = Thing("Drawer", "Drawer", states=frozenset({ObjectState.CLOSED}))
    shut = WORLD.with_thing(drawer).holding("").put("Mug", "Drawer", inside=True).standing_at("Drawer")
    beliefs = replace(BELIEFS, world=shut)
    pairs: list[CompilerPair] = []
    teacher = RecordingTeacher(RulesCompiler(), lambda: "t1", pairs.append)
    picking = replace(OBSERVATION, proposed=SkillCall("PickupObject", ("Mug",)), beliefs=beliefs)
    compiled = teacher.compile(picking, beliefs.brief(), MEMORY)
    assert compiled.guidance.goal == SkillCall("OpenObject", ("Drawer",))
    assert pairs == []


def test_step_that_needs_nothing_is_a_pair_as_well() -> None:
    beliefs = replace(BELIEFS, world=WORLD.with_state("Fridge", ObjectState.OPENED))
    opened = beliefs.brief()
    pair, guidance = pair_of(beliefs)
    assert guidance is None
    assert json.loads(pair.reply)["delivery"] == "noaction"
    found = PromptCompiler(Learner(pair), CompilerModelConfig()).compile(OBSERVATION, opened, MEMORY)
    assert (found.guidance, found.problem) == (None, "")


def test_steps_without_guidance_are_thinned_out() -> None:
    guided = CompilerPair("t", (Message("user", "a"),), "{}", Delivery.EXPERIENCE)
    nothing = CompilerPair("t", (Message("user", "b"),), "{}", Delivery.NOACTION)
    draws = iter([0.0, 0.3, 0.6, 0.9])
    assert balanced([guided, *[nothing] * 4, guided], lambda: next(draws)) == [guided, nothing, nothing, guided]


def test_teacher_walks_tasks(shared_dir, tmp_path) -> None:
    rows = json.loads((shared_dir / "data/alfred_l/tasks.json").read_text())
    tasks, out = tmp_path / "tasks.json", tmp_path / "pairs.jsonl"
    tasks.write_text(json.dumps([row for row in rows if row["floor_plan"] == "FloorPlan19"][:2]))
    files = ["--scenes", str(shared_dir / "data/alfred_home/scenes.json.gz"), "--tasks", str(tasks), "--out", str(out)]
    assert main(["train", "compiler-pairs", *files, "--suite", "alfred-l"]) == 0
    pairs = [json.loads(line) for line in out.read_text().splitlines()]
    assert pairs
    assert all([message["role"] for message in pair["messages"]] == ["system", "user"] for pair in pairs)
    assert any(json.loads(pair["reply"])["delivery"] == "experience" for pair in pairs)


def chosen(pair: CompilerPair) -> str:
    """The call that a pair's reply names by its number."""
    calls = pair.messages[1].text.partition("\nCalls:\n")[2].splitlines()
    return calls[json.loads(pair.reply)["call"]].partition(": ")[2]


def test_games_that_are_won_become_pairs(tmp_path) -> None:
    attempts = tmp_path / "attempts.jsonl"
    attempts.write_text(json.dumps(HEATED) + "\n")
    teacher = GameTeacher(attempts, Embedder(), lambda _: game_of())
    pairs = list(teacher.walk([Game("a/b/game.tw-pddl", "a", b"")], LEARNT))
    goals = list(map(chosen, pairs))
    assert goals[0] == "Explore(Mug)"
    assert goals[1].startswith("PickupObject(")
    assert goals[-1].startswith("PutObject(")
    assert all("Memory:\n0: " in pair.messages[1].text for pair in pairs)
    vain = GameTeacher(None, Embedder(), lambda _: game_of())  # it knows where, but no way
    assert list(vain.walk([Game("a/b/game.tw-pddl", "a", b"")], LEARNT)) == []
    write_pairs(tmp_path / "pairs.jsonl", pairs)
    assert list(read_pairs(tmp_path / "pairs.jsonl")) == pairs


def test_line_that_is_no_pair_is_named(tmp_path) -> None:
    (tmp_path / "pairs.jsonl").write_text('{"task": "a", "messages": [], "reply": "no"}\n')
    with pytest.raises(InvalidValueError, match="line 1: no pair"):
        list(read_pairs(tmp_path / "pairs.jsonl"))


def test_learner_is_taught_all_four_outputs(tmp_path) -> None:
    pairs: list[CompilerPair] = []
    teacher = RecordingTeacher(RulesCompiler(), lambda: "t1", pairs.append)
    shut, opened = BELIEFS, replace(BELIEFS, world=WORLD.with_state("Fridge", ObjectState.OPENED))
    for beliefs in (shut, opened):
        state = beliefs.brief()
        beside = replace(state, locations=(*state.locations, "Lamp is in or on Desk"))
        for one in (state, beside):
            teacher.compile(replace(OBSERVATION, beliefs=beliefs), one, MEMORY)
    assert [pair.delivery for pair in pairs] == ["experience", "hybrid", "noaction", "brief"]
    write_pairs(tmp_path / "pairs.jsonl", pairs)
    assert list(read_pairs(tmp_path / "pairs.jsonl")) == pairs
    for pair, state, beliefs in zip(pairs[1::2], (beside, beside), (shut, opened)):
        learner = PromptCompiler(Learner(pair), CompilerModelConfig())
        known = beliefs.brief()
        found = learner.compile(
            replace(OBSERVATION, beliefs=beliefs), replace(known, locations=state.locations), MEMORY
        )
        assert found.problem == ""
        assert [one.text for one in found.delta] == ["Lamp is in or on Desk"]
