from collections.abc import Callable, Sequence

from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.lessons.extractor import Lesson, RuleExtractor
from memory_node.lessons.guideline import Guideline
from memory_node.lessons.record import ExperienceRecord

StepMaker = Callable[..., StepRecord]


def lesson(steps: Sequence[StepRecord], earlier: Sequence[ExperienceRecord] = (), success: bool = True) -> Lesson:
    episode = EpisodeSummary(steps[0].episode_id, "do it", "clean", 0, steps[-1].stamp_ns, success)
    return RuleExtractor().extract(episode, steps, earlier)


def only(guidelines: Sequence[Guideline], kind: str) -> Guideline:
    (found,) = (guideline for guideline in guidelines if guideline.kind == kind)
    return found


def test_opening_is_learnt_for_the_classes_that_needed_it(step: StepMaker) -> None:
    steps = [
        step("PutObject", "Egg", "Fridge@1,2,3", fails="closed"),
        step("GoToObject", "Sofa"),
        step("OpenObject", "Fridge@1,2,3"),
        step("PutObject", "Egg", "Fridge@1,2,3"),
    ]
    repair = only(lesson(steps).guidelines, "repair")
    assert list(map(str, repair.remedy)) == ["OpenObject({receptacle})"]
    assert repair.object_classes == {"Fridge"}
    assert repair.task_types == frozenset()


def test_where_a_thing_was_shut_in_is_learnt_for_things_of_its_class(step: StepMaker) -> None:
    steps = [
        step("PickupObject", "Mug@1,2,3", fails="closed"),
        step("OpenObject", "Fridge@1,2,3"),
        step("PickupObject", "Mug@1,2,3", held="Mug"),
    ]
    repair = only(lesson(steps).guidelines, "repair")
    assert list(map(str, repair.remedy)) == ["OpenObject(Fridge)"]
    assert repair.object_classes == {"Mug"}, "a vase is not in the fridge for that"


def test_going_near_is_learnt_for_everything(step: StepMaker) -> None:
    repair = only(lesson([step("PickupObject", "Mug", fails="too_far")]).guidelines, "repair")
    assert list(map(str, repair.remedy)) == ["GoToObject({object})"]
    assert repair.object_classes == frozenset()


def test_success_by_repetition_teaches_no_repair(step: StepMaker) -> None:
    steps = [step("PickupObject", "Mug", fails="execution"), step("PickupObject", "Mug", held="Mug")]
    assert lesson(steps).guidelines == ()


def successes(step: StepMaker, count: int, *skills: str) -> list[ExperienceRecord]:
    records = []
    for number in range(count):
        steps = [step(skill, "Mug", episode=f"s{number}") for skill in ("GoToObject", *skills)]
        records.append(lesson(steps).record)
    return records


def test_order_that_every_success_kept_becomes_a_rule_with_its_support(step: StepMaker) -> None:
    earlier = successes(step, 3, "PickupObject", "CleanObject", "PutObject")
    steps = [step(skill, "Cup", episode="e9") for skill in ("PickupObject", "CleanObject", "PutObject")]
    rules = {g.key: g.support for g in lesson(steps, earlier).guidelines if g.kind == "order"}
    assert rules == {"order|clean|PickupObject|CleanObject": 4, "order|clean|CleanObject|PutObject": 4}


def test_order_that_one_success_broke_is_no_rule(step: StepMaker) -> None:
    earlier = [
        *successes(step, 3, "CleanObject", "PutObject", "CloseObject"),
        *successes(step, 1, "PutObject", "CleanObject", "PutObject", "CloseObject"),
    ]
    steps = [step(skill, "Cup", episode="e9") for skill in ("CleanObject", "PutObject", "CloseObject")]
    keys = [g.key for g in lesson(steps, earlier).guidelines if g.kind == "order"]
    assert keys == ["order|clean|PutObject|CloseObject"]


def test_procedure_keeps_what_all_successes_share(step: StepMaker) -> None:
    earlier = [*successes(step, 1, "PickupObject", "OpenObject", "PutObject", "CloseObject")]
    steps = [step(skill, "Cup", episode="e9") for skill in ("GoToObject", "PickupObject", "PutObject", "CloseObject")]
    procedure = only(lesson(steps, earlier).guidelines, "procedure")
    assert procedure.text.endswith("GoToObject, then PickupObject, then PutObject, then CloseObject.")
