"""The compiler that asks a model: what becomes of replies; what words leave out of a thing."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from memory_node.context.brief_state import BriefState, Create, Section
from memory_node.context.config import CompilerModelConfig
from memory_node.context.guidance import Compiled, Delivery, KnownThing, StepObservation, TakenStep
from memory_node.context.prompt_compiler import Choices, PromptCompiler
from memory_node.context.soft_memory import UNSAID, Layer, SoftMemoryWeights, unsaid
from memory_node.context.task_memory import Entry, EntryKind, TaskMemory
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.llm.chat import LateError, Message, RejectedReplyError, Reply

STATE = BriefState(
    "put the mug away", current="place Mug to Fridge", agent=("the hand holds Mug",), facts=("Fridge is closed",)
)
OBSERVATION = StepObservation(
    ("place Mug to Fridge",),
    taken=TakenStep(SkillCall("GoToObject", ("Fridge",)), False, FailureReason.EXECUTION),
    proposed=SkillCall("PutObject", ("Mug", "Fridge")),
    classes={"Mug": "Mug", "Fridge": "Fridge"},
)
MEMORY = TaskMemory.of(
    [
        Entry("fact", EntryKind.ADVICE, "Mug on Shelf", worth=0.9),
        Entry("fix", EntryKind.REMINDER, "Before PutObject, open it.", skill="PutObject"),
    ]
)
OPEN = SkillCall("OpenObject", ("Fridge",))
CHOICES = Choices.of(OBSERVATION, STATE, MEMORY)


def choice(delivery: str, *, opens: bool = False, entries: Sequence[int] = (), **more: object) -> dict[str, object]:
    """A reply; opens: whether it says to open the fridge, because it is closed."""
    call = CHOICES.calls.index(OPEN) if opens else -1
    because = list(CHOICES.items).index("Fridge is closed") if opens else -1
    return {"delivery": delivery, "call": call, "because": because, "entries": list(entries), "forget": [], **more}


GOOD = choice("experience", opens=True, entries=[0])


class Saying:
    """A model that gives the same reply each time."""

    name = "saying"

    def __init__(self, reply: object) -> None:
        self.text = reply if isinstance(reply, str) else json.dumps(reply)
        self.messages: Sequence[Message] = ()

    def reply(self, messages, deadline=None, form=None, on_line=None) -> Reply:
        if self.text == "late":
            raise LateError("too late")
        self.messages = messages
        return Reply(self.text, 100, 20)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


def compiled(reply: object, **config: object) -> Compiled:
    return PromptCompiler(Saying(reply), CompilerModelConfig(**config)).compile(OBSERVATION, STATE, MEMORY)


def test_good_reply_is_guidance() -> None:
    found = compiled(GOOD)
    assert found.delivery is Delivery.EXPERIENCE
    assert found.guidance.goal == OPEN
    assert found.guidance.reason == "Fridge is closed"
    assert found.guidance.entries == ("fix",)
    assert (found.tokens_in, found.tokens_out, found.problem) == (100, 20, "")


DELETED = {"op": "delete", "section": "facts", "text": "no"}


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("open the fridge", "not_json"),
        ({**GOOD, "delivery": "magic"}, "schema"),
        ({**GOOD, "call": 99}, "schema"),
        ({**GOOD, "because": 99}, "schema"),
        ({**GOOD, "call": -1}, "guidance"),
        ({**GOOD, "because": -1}, "guidance"),
        ({**GOOD, "entries": [7]}, "schema"),
        ({**GOOD, "entries": [-1]}, "schema"),
        ("late", "too late"),
    ],
)
def test_what_cannot_be_used_is_no_action(reply: object, problem: str) -> None:
    found = compiled(reply)
    assert found.delivery is Delivery.NOACTION
    assert problem in found.problem


def test_model_may_change_the_state() -> None:
    delta = [{"op": "create", "section": "facts", "text": "Mug is Anna's"}]
    found = compiled({"delivery": "brief", "delta": delta}, changes_state=True)
    assert found.delivery is Delivery.BRIEF
    assert found.delta == (Create(section=Section.FACTS, text="Mug is Anna's"),)
    assert "fold" in json.dumps(replace(CHOICES, writes=True).schema.model_json_schema())


@pytest.mark.parametrize(("operation", "problem"), [(DELETED, "delta"), ({**DELETED, "op": "run"}, "schema")])
def test_change_that_does_not_fit_the_state_is_refused(operation: object, problem: str) -> None:
    found = compiled({**GOOD, "delivery": "hybrid", "delta": [operation]}, changes_state=True)
    assert found.delivery is Delivery.NOACTION
    assert problem in found.problem


def test_no_action_is_one() -> None:
    nothing = Compiled(tokens_in=100, tokens_out=20)
    assert compiled({**GOOD, "delivery": "noaction"}) == compiled({"delivery": "noaction"}) == nothing


class Inner(Saying):
    """A model that tells its states, too: those of its first placeholder's sum."""

    def states(self, messages, reply, wording, vectors, deadline=None):
        self.asked = (messages, reply, wording)
        return vectors + 1.0


NUMBERED = np.arange(6, dtype=np.float32).reshape(2, 3)
NOTHING = np.zeros(UNSAID, np.float32)


def soft_memory() -> SoftMemoryWeights:
    """Doubles the states, and adds the sum of what words leave out."""
    weight = np.hstack((2.0 * np.eye(3), np.ones((3, UNSAID)))).astype(np.float32)
    return SoftMemoryWeights(NUMBERED, None, Layer(weight, np.zeros(3, np.float32)))


def test_guidance_comes_as_latent_tokens_too() -> None:
    model = Inner(GOOD)
    found = PromptCompiler(model, CompilerModelConfig(), soft=soft_memory()).compile(OBSERVATION, STATE, MEMORY)
    assert found.guidance is not None
    assert found.latent.tolist() == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]
    assert model.asked[1:] == (model.text, str(OPEN))
    seen = replace(OBSERVATION, known={"Fridge": KnownThing("Fridge", unsaid=lambda: NOTHING + 1.0)})
    found = PromptCompiler(model, CompilerModelConfig(), soft=soft_memory()).compile(seen, STATE, MEMORY)
    assert found.latent.tolist() == [
        [2.0 + UNSAID, 4.0 + UNSAID, 6.0 + UNSAID],
        [8.0 + UNSAID, 10.0 + UNSAID, 12.0 + UNSAID],
    ]
    silent = Inner(choice("noaction"))
    nothing = PromptCompiler(silent, CompilerModelConfig(), soft=soft_memory()).compile(OBSERVATION, STATE, MEMORY)
    assert nothing.latent is None


def test_latent_tokens_say_what_the_executor_reads() -> None:
    model = Inner(GOOD)
    compiler = PromptCompiler(model, CompilerModelConfig(), soft=soft_memory())
    compiler.compile(replace(OBSERVATION, worded=lambda call: f"Advice: {call.skill}."), STATE, MEMORY)
    assert model.asked[2] == "Advice: OpenObject."
    untold = compiler.compile(replace(OBSERVATION, worded=lambda _: ""), STATE, MEMORY)
    assert untold.guidance is not None
    assert untold.latent is None


def test_without_a_model_that_tells_its_states_guidance_stays_in_words() -> None:
    found = PromptCompiler(Saying(GOOD), CompilerModelConfig(), soft=soft_memory()).compile(OBSERVATION, STATE, MEMORY)
    assert found.guidance is not None
    assert found.latent is None
    assert "inner states" in found.problem


def test_soft_memory_is_read_back_or_refused(tmp_path: Path) -> None:
    arrays = {"placeholders": NUMBERED, "mean.weight": 2.0 * np.eye(3), "mean.bias": np.zeros(3)}
    body = {"body.weight": np.eye(3, 3 + UNSAID), "body.bias": np.zeros(3)}
    np.savez(tmp_path / "soft.npz", **arrays, **body)
    means = SoftMemoryWeights.read(tmp_path / "soft.npz")(np.array([[0.0, 1.0, -1.0]], np.float32), NOTHING)
    np.testing.assert_allclose(means, [[0.0, 1.6827, -0.3173]], atol=1e-3)  # twice the GELU
    with pytest.raises(NotFoundError, match="no file"):
        SoftMemoryWeights.read(tmp_path / "nowhere.npz")
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(InvalidValueError, match="no soft memory"):
        SoftMemoryWeights.read(tmp_path / "broken.npz")
    np.savez(tmp_path / "other.npz", placeholders=np.zeros((2, 3)))
    with pytest.raises(InvalidValueError, match="no soft memory"):
        SoftMemoryWeights.read(tmp_path / "other.npz")


@pytest.mark.parametrize("forgets", [False, True])
@pytest.mark.parametrize("advises", [False, True])
def test_model_chooses_each_of_the_four_outputs(advises: bool, forgets: bool) -> None:
    state = replace(STATE, facts=(*STATE.facts, "Mug is in or on Shelf"))
    gone = [list(Choices.of(OBSERVATION, state, MEMORY).items).index("Mug is in or on Shelf")] if forgets else []
    delivery = (("noaction", "brief"), ("experience", "hybrid"))[advises][forgets]
    model = Saying(choice(delivery, opens=advises, forget=gone))
    found = PromptCompiler(model, CompilerModelConfig()).compile(OBSERVATION, state, MEMORY)
    assert (found.problem, found.delivery) == ("", delivery)
    assert (found.guidance.goal if found.guidance is not None else None) == (OPEN if advises else None)
    assert [one.text for one in found.delta] == ["Mug is in or on Shelf"] * forgets
    assert "0 (goal): put the mug away" in model.messages[1].text


def test_grammar_asks_for_all_that_a_reply_may_leave_out() -> None:
    schema = CHOICES.schema.model_json_schema()
    assert set(schema["required"]) == set(schema["properties"]) == {"delivery", "call", "because", "entries", "forget"}


def test_what_is_the_task_itself_is_not_forgotten() -> None:
    with pytest.raises(RejectedReplyError):
        CHOICES.read(json.dumps(choice("brief", forget=[0])))


def test_choice_that_forgets_too_much_is_refused() -> None:
    choices = Choices((), BriefState(locations=tuple(f"Mug {number} is on Shelf" for number in range(9))), ())
    assert len(choices.read(json.dumps(choice("brief", forget=[*range(8)]))).delta) == 8
    with pytest.raises(RejectedReplyError):
        choices.read(json.dumps(choice("brief", forget=[*range(9)])))


CAMERA = np.array([1.0, 0.0, 1.5])


def mug(colour: tuple[int, int, int], embedding: np.ndarray | None = None) -> SceneObject:
    crop = cv2.imencode(".png", np.full((8, 8, 3), colour, np.uint8))[1].tobytes()
    box = OrientedBox(np.array([2.0, 1.0, 1.0]), np.full(3, 0.1))
    return SceneObject("m", {"Mug": 1.0}, box, np.eye(3), 1.0, 1, 1, embedding=embedding, crop_jpeg=crop)


def test_place_size_and_colour_are_told() -> None:
    told = unsaid(mug((0, 0, 255)), CAMERA)
    assert told.shape == (UNSAID,)
    np.testing.assert_allclose(told[:9], [1.0, 1.0, -0.5, 0.1, 0.1, 0.1, 0.0, 0.0, 1.0], atol=1e-6)
    assert not told[9:].any(), "no crop was embedded"


def test_looks_keep_how_near_they_are() -> None:
    vectors = np.random.default_rng(1).standard_normal((2, 512)).astype(np.float32)
    first, second = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    like = 0.95 * first + 0.05 * second
    one, near, far = (unsaid(mug((9, 9, 9), embedding=vector), CAMERA)[9:] for vector in (first, like, second))
    assert np.linalg.norm(one - near) < 0.2 * np.linalg.norm(one - far)
