"""Ways to correct oneself, and to say what is not to be done."""

from __future__ import annotations

from memory_node.learning.instructions.acts import UNKNOWN, Act
from memory_node.learning.instructions.draft import Draft, Told
from memory_node.learning.instructions.inflection import capital, gerund
from memory_node.learning.instructions.single_patterns import simple, treated
from memory_node.learning.instructions.telling import Telling


def corrected(draft: Draft) -> Told:
    """Return an act whose thing or place, or all of which, was first said wrongly."""
    act = draft.scene.placing() if draft.random.random() < 0.7 else draft.scene.simple()
    choice = draft.random.random()
    if choice < 0.4 and act.target != UNKNOWN:
        return draft.told(_another_thing(draft, act), act)
    if choice < 0.65 and act.kind == "at":
        return draft.told(_another_place(draft, act), act)
    wrong = draft.telling.base(draft.scene.simple())
    if draft.random.random() < 0.5:
        draft.telling.last = ""
    right = draft.telling.base(act)
    return draft.told(draft.pick("retractions").format(w=wrong, t=right, T=capital(right)), act)


def _another_thing(draft: Draft, act: Act) -> str:
    telling, random = draft.telling, draft.random
    wrong = f"the {telling.name(draft.scene.thing(act.target))}"
    right = telling.thing(act.target, 0.0)
    between = draft.pick("corrections")
    if random.random() < 0.5:
        mixed = f"{wrong}{between}{random.choice(('', '', f'not {wrong}, '))}{right}{random.choice((',', '', ','))}"
        return telling.base(act, mixed)
    return f"{telling.base(act, wrong)}{between}{random.choice(('', f'not {wrong}, ', f'not {wrong} but '))}{right}"


def _another_place(draft: Draft, act: Act) -> str:
    telling, random = draft.telling, draft.random
    text = telling.base(Act("at", act.target, draft.scene.furniture(act.place)))
    telling.last_place = ""
    name = f"the {telling.name(act.place)}"
    where = random.choice((telling.at(act.place), name, f"make that {name}"))
    telling.last_place = act.place
    return f"{text}{draft.pick('corrections')}{where}{random.choice(('', '', ' instead'))}"


def instead(draft: Draft) -> Told:
    """Return something asked for, and beside it what is not."""
    told = simple(draft) if draft.random.random() < 0.6 else treated(draft)
    asked = told.effects[0]
    others = [name for name in (draft.scene.thing(*asked), draft.scene.thing(*asked)) if name != UNKNOWN] or ["Book"]
    text = told.text
    if draft.random.random() < 0.5:
        words = {"x": f"the {draft.telling.name(others[0])}", "z": f"the {draft.telling.name(others[-1])}", "t": text}
        return Told(draft.pick("instead").format(u=gerund(_undone(draft, draft.scene.simple())), **words), told.effects)
    unwanted = untouched(draft, Act("clean", others[0]))
    capitals = {"T": capital(text), "U": capital(unwanted)}
    return Told(draft.pick("unlike").format(u=unwanted, t=text, **capitals), told.effects)


def untouched(draft: Draft, act: Act) -> str:
    """Return words that forbid an act or leave its thing alone."""
    return draft.pick("untouched").format(u=_undone(draft, act), x=f"the {draft.telling.name(act.target)}")


def _undone(draft: Draft, act: Act) -> str:
    """Return an act in words that leave no trace in what may be referred to later."""
    telling = draft.telling
    return Telling(telling.book, telling.wording, telling.task, telling.groups, draft.random).base(act)
