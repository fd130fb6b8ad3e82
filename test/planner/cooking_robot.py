"""A robot whose appliances may heat nothing, and what it does while it learns that."""

from seeing_robot import SeeingRobot

from memory_node.context.recalled import Recalled
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.step import Deed
from memory_node.lessons.expectations import expectations_of
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.memory_mode import memory_in
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.reading.conversation import Conversation
from memory_node.planner.reading.plain_reader import Known
from memory_node.planner.reading.understanding import Understander
from memory_node.planner.told_limits import ToldLimits


class CookingRobot(SeeingRobot):
    """A robot for which some kinds of appliances heat nothing; heated_at: where it tried to heat, in order."""

    def __init__(self, home: str, embedder: TextEmbedder, database: str = "") -> None:
        super().__init__(home, embedder, database=database)
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

    def carry_out(
        self, instruction: str, embedder: TextEmbedder, conversation: Conversation | None = None
    ) -> InstructionResult:
        """Carry an instruction out with all that memory holds, as the planner's node does, and record it."""
        memory, now_ns = self.memory, lambda: self.world.now_ns
        past: Recalled = memory.recall_past()
        lessons = expectations_of(past.tried, past.facts, self.kinds, memory.scene, now_ns(), past.zone)
        inner = OfflinePlanner(Understander(self.kinds, None, embedder), self.kinds)
        planner = GuidedPlanner(inner, memory.episodes, now_ns, guidance=memory.guidance)
        known = Known(past, now_ns, memory.tell_in_words, lessons, memory.ask)
        result = InstructionExecutor(
            memory_in("full+experience", memory),
            self,
            planner,
            told=memory.told_facts,
            limits=ToldLimits(past.facts, memory.scene, self.kinds, now_ns, past.zone),
            known=known,
            conversation=conversation or Conversation(),
        ).execute(instruction)
        memory.commit()
        return result
