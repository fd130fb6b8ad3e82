"""Where a call is expected to fail is the last place to try it, and what never worked is tried once."""

import pytest
from seeing_robot import SeeingRobot, executor

from memory_node.context.recalled import Recalled
from memory_node.domain.deed import Deed
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.lessons.expectations import Expectations
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.reading.plain_reader import Known
from memory_node.planner.reading.understanding import Understander


class CookingRobot(SeeingRobot):
    """A robot for which some kinds of appliances heat nothing; heated_at: where it tried to heat, in order."""

    def __init__(self, home: str, embedder: TextEmbedder) -> None:
        super().__init__(home, embedder)
        self.cold: set[str] = set()
        self.heated_at: list[str] = []
        for fixture in ("microwave", "oven"):
            self.execute(SkillCall("GoToObject", (fixture,)))

    def execute(self, call: SkillCall) -> SkillResult:
        if call.skill == "HeatObject":
            self.heated_at.append(call.arguments[1].partition("@")[0])
            if self.heated_at[-1] in self.cold:
                return SkillResult(call, False, FailureReason.EXECUTION, "HeatObject failed")
        return super().execute(call)

    def failed_at(self, *classes: str) -> list[Deed]:
        places = [one for one in self.memory.scene().objects if one.class_name in classes]
        assert len(places) == len(classes)
        return [
            Deed(f"e:{n}", "HeatObject", "b", "Bread", n, to_id=one.id, to_class=one.class_name, reason="execution")
            for n, one in enumerate(places, 1)
        ]


@pytest.fixture
def robot(word_embedder: TextEmbedder) -> CookingRobot:
    return CookingRobot("apartment", word_embedder)


def heat(robot: CookingRobot, embedder: TextEmbedder, tried: list[Deed]) -> InstructionResult:
    now_ns = lambda: robot.world.now_ns  # noqa: E731
    known = Known(Recalled(), now_ns, str, lessons=Expectations(tried))
    planner = OfflinePlanner(Understander(robot.kinds, None, embedder), robot.kinds)
    return InstructionExecutor(robot.memory, robot, planner, known=known).execute("heat the apple")


def test_place_that_failed_before_is_tried_when_the_other_fails(robot, word_embedder) -> None:
    tried = robot.failed_at("Microwave")
    robot.cold = {"Oven"}
    result = heat(robot, word_embedder, tried)
    assert result.success
    assert robot.heated_at[0] == "Oven"
    assert robot.heated_at[-1] == "Microwave"


def test_what_never_worked_is_tried_once(robot, word_embedder) -> None:
    robot.cold = {"Oven", "Microwave"}
    result = heat(robot, word_embedder, robot.failed_at("Microwave", "Oven"))
    assert not result.success
    assert sorted(robot.heated_at) == ["Microwave", "Oven"]


class ThirstyRobot(SeeingRobot):
    """A robot whose tap in the kitchen is dry; filled_at: where it tried to fill what it held, in order."""

    def __init__(self, home: str, embedder: TextEmbedder) -> None:
        super().__init__(home, embedder)
        self.filled_at: list[str] = []
        for thing in ("bath_faucet", "faucet", "cup"):
            self.execute(SkillCall("GoToObject", (thing,)))

    def execute(self, call: SkillCall) -> SkillResult:
        if call.skill == "FillObject":
            self.filled_at.append(self._robot.resolve(call.arguments[1]).id)
            if self.filled_at[-1] == "faucet":
                return SkillResult(call, False, FailureReason.EXECUTION, "FillObject failed")
        return super().execute(call)


def test_vessel_is_filled_at_another_tap_where_one_is_dry(word_embedder) -> None:
    robot = ThirstyRobot("apartment", word_embedder)
    result = executor(robot, word_embedder).execute("fill the cup with water")
    assert result.success
    assert set(robot.filled_at[:-1]) == {"faucet"}
    assert robot.filled_at[-1] == "bath_faucet"
