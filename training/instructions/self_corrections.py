"""Ways to correct oneself, and to say what is not to be done."""

from __future__ import annotations

from training.instructions.acts import UNKNOWN, Act
from training.instructions.draft import Draft, Told
from training.instructions.inflection import capital, gerund
from training.instructions.sentence_writer import SentenceWriter
from training.instructions.single_patterns import simple, treated


def corrected(draft: Draft) -> Told:
    """Return an act whose thing or place, or all of which, was first said wrongly."""
    act = draft.scene.placing() if draft.random.random() < 0.7 else draft.scene.simple()
    choice = draft.random.random()
    if choice < 0.4 and act.target != UNKNOWN:
        return draft.told(_another_thing(draft, act), act)
    if choice < 0.65 and act.kind == "at":
        return draft.told(_another_place(draft, act), act)
    wrong = draft.writer.base(draft.scene.simple())
    if draft.random.random() < 0.5:
        draft.writer.last = ""
    right = draft.writer.base(act)
    return draft.told(draft.pick("retractions").format(w=wrong, t=right, T=capital(right)), act)


def _another_thing(draft: Draft, act: Act) -> str:
    writer, random = draft.writer, draft.random
    wrong = f"the {writer.name(draft.scene.thing(act.target))}"
    right = writer.thing(act.target, 0.0)
    between = draft.pick("corrections")
    if random.random() < 0.5:
        mixed = f"{wrong}{between}{random.choice(('', '', f'not {wrong}, '))}{right}{random.choice((',', '', ','))}"
        return writer.base(act, mixed)
    return f"{writer.base(act, wrong)}{between}{random.choice(('', f'not {wrong}, ', f'not {wrong} but '))}{right}"


def _another_place(draft: Draft, act: Act) -> str:
    writer, random = draft.writer, draft.random
    text = writer.base(Act("at", act.target, draft.scene.furniture(act.place)))
    writer.last_place = ""
    name = f"the {writer.name(act.place)}"
    where = random.choice((writer.at(act.place), name, f"make that {name}"))
    writer.last_place = act.place
    return f"{text}{draft.pick('corrections')}{where}{random.choice(('', '', ' instead'))}"


def instead(draft: Draft) -> Told:
    """Return something asked for, and beside it what is not."""
    told = simple(draft) if draft.random.random() < 0.6 else treated(draft)
    asked = told.effects[0]
    others = [name for name in (draft.scene.thing(*asked), draft.scene.thing(*asked)) if name != UNKNOWN] or ["Book"]
    text = told.text
    if draft.random.random() < 0.5:
        words = {"x": f"the {draft.writer.name(others[0])}", "z": f"the {draft.writer.name(others[-1])}", "t": text}
        return Told(draft.pick("instead").format(u=gerund(_undone(draft, draft.scene.simple())), **words), told.effects)
    unwanted = untouched(draft, Act("clean", others[0]))
    capitals = {"T": capital(text), "U": capital(unwanted)}
    return Told(draft.pick("unlike").format(u=unwanted, t=text, **capitals), told.effects)


def untouched(draft: Draft, act: Act) -> str:
    """Return words that forbid an act or leave its thing alone."""
    return draft.pick("untouched").format(u=_undone(draft, act), x=f"the {draft.writer.name(act.target)}")


def _undone(draft: Draft, act: Act) -> str:
    """Return an act in words that leave no trace in what may be referred to later."""
    writer = draft.writer
    return SentenceWriter(writer.book, writer.wording, writer.task, writer.groups, draft.random).base(act)
