"""Answers the questions of an instruction as any question about what is now is answered, without motion."""

from __future__ import annotations

from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.scene import SceneSnapshot
from memory_node.planner.goal import Goal
from memory_node.questions.present import PresentQuestions

# The plain question of each kind; of all other goals it is whether things are so.
_QUESTIONS = {"place": "where is {}", "count": "how many {}s", "exists": "is there {}"}


def answer_to(goal: Goal, kinds: ObjectCatalogue, scene: SceneSnapshot) -> str:
    """Return the answer to a TELL goal: about the likeliest class of which memory knows anything."""
    scene = replace(scene, objects=scene.believed)
    questions = PresentQuestions(kinds, scene, lambda _stamp_ns: scene, scene.stamp_ns)
    told = []
    for object_class in goal.target.candidates:
        form = _QUESTIONS.get(goal.asked, f"is {{}} {goal.asked}")
        if goal.asked == "contents":
            form = f"what is {kinds[object_class].holds or 'in'} {{}}"
        name = goal.target.thing_id or kinds[object_class].best_name
        told.append(questions.answer(form.format(name)))
    answers = [one for one in told if one is not None]
    best = next((one for one in answers if one.known), answers[0] if answers else None)
    return best.text if best is not None else f"I know of no {goal.target} here."
