"""Which steps that failed are kept to draw lessons from: those for which nothing that is declared was missing."""

import pytest
from plain_search import HashedWords

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import StepRecord
from memory_node.opening import open_memory


@pytest.mark.parametrize(
    ("call", "reason", "kept"),
    [
        (SkillCall("HeatObject", ("Egg", "Microwave")), FailureReason.EXECUTION, True),
        (SkillCall("HeatObject", ("Egg", "Microwave")), FailureReason.PRECONDITION, True),
        (SkillCall("OpenObject", ("Drawer",)), FailureReason.UNREACHABLE, True),
        (SkillCall("PickupObject", ("Egg",)), FailureReason.NOT_VISIBLE, True),
        (SkillCall("OpenObject", ("Drawer",)), FailureReason.TOO_FAR, False),
        (SkillCall("ToggleOn", ("Microwave",)), FailureReason.PRECONDITION, False),
        (SkillCall("PutObject", ("Egg", "Drawer")), FailureReason.CLOSED, False),
        (SkillCall("GoToObject", ("Egg",)), FailureReason.UNREACHABLE, False),
    ],
)
def test_step_that_failed_for_no_declared_cause_is_kept(call: SkillCall, reason: FailureReason, kept: bool) -> None:
    memory = open_memory(embedder=HashedWords())
    memory.episodes.start("try it", "try", "e1")
    memory.episodes.record(StepRecord("e1", 0, call, False, reason, 1))
    tried = memory.deeds.all()
    memory.close()
    assert [(one.skill, one.reason) for one in tried] == ([(call.skill, str(reason))] if kept else [])
