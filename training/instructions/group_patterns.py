"""Ways to ask for something to be done with several things."""

from __future__ import annotations

from collections.abc import Sequence

from training.instructions.acts import TREATMENTS, VESSELS, Act
from training.instructions.draft import Draft, Told
from training.instructions.inflection import participle


def stacked(draft: Draft) -> Told:
    """Return a thing put into a vessel, and the vessel taken to its place."""
    writer, random = draft.writer, draft.random
    thing = draft.scene.thing()
    vessel = random.choice([name for name in VESSELS if name != thing])
    inside, put = Act("at", thing, vessel), Act("at", vessel, draft.scene.furniture())
    if random.random() < 0.35:
        x, m = writer.thing(thing), writer.thing(vessel)
        where, to = writer.at(put.place), writer.to(put.place)
        writer.last, writer.last_place = vessel, put.place
        return draft.told(draft.pick("carrying").format(x=x, m=m, at=where, to=to), inside, put)
    first = writer.said(inside)
    if random.random() < 0.5:
        writer.last = ""
        second = writer.said(put)
    else:
        writer.last = vessel
        second = writer.base(put, draft.pick("carried"))
    return draft.told(f"{first}{draft.pick('and_then')}{second}", inside, put)


def two(draft: Draft) -> Told:
    """Return two of a class put somewhere."""
    thing = draft.scene.thing()
    act = Act("two", thing, draft.scene.place(thing))
    if draft.random.random() < 0.25:
        first = draft.writer.base(Act("at", thing, act.place))
        return draft.told(f"{first}, {draft.pick('a_second_one')}", act)
    return draft.told(draft.writer.said(act), act)


def another(draft: Draft) -> Told:
    """Return one thing put somewhere and another of its class elsewhere."""
    first = draft.scene.placing()
    second = Act("other", first.target, draft.scene.furniture(first.place))
    text = draft.writer.said(first) + draft.pick("and_then")
    if draft.random.random() < 0.4:
        return draft.told(f"{text}{draft.pick('another')} {draft.writer.at(second.place)}", first, second)
    return draft.told(text + draft.writer.base(second), first, second)


def listed(draft: Draft) -> Told:
    """Return one act on several things, or a treatment of several and a place for all or one of them."""
    writer, random = draft.writer, draft.random
    names = draft.scene.several()
    place = draft.scene.furniture()
    kind = random.choice((*TREATMENTS, "at", "at", "at", "user", "trash"))
    acts = [Act(kind, name, place if kind == "at" else "") for name in names]
    if kind == "at" and random.random() < 0.3:
        rest = [draft.pick("additions").format(x=writer.thing(name)) for name in names[1:]]
        return draft.told(", ".join([writer.said(acts[0]), *rest]), *acts)
    words = _list(draft, names)
    text = writer.base(acts[0], words)
    text = text if random.random() < 0.8 else _plural_passive(draft, text, words)
    if kind in TREATMENTS and random.random() < 0.6:
        chosen = names if random.random() < 0.75 else [random.choice(names)]
        acts += [Act("at", name, place) for name in chosen]
        them = _them(draft, chosen) if len(chosen) > 1 else f"{draft.random.choice(('only ', 'just ', ''))}the "
        them += writer.name(chosen[0]) if len(chosen) == 1 else ""
        text += draft.pick("and_then") + writer.base(Act("at", chosen[0], place), them)
    return draft.told(text, *acts)


def _list(draft: Draft, names: Sequence[str]) -> str:
    words = [draft.writer.thing(name, 0.0) for name in names]
    return ", ".join(words[:-1]) + draft.pick("together") + words[-1] if len(words) > 1 else words[0]


def _them(draft: Draft, names: Sequence[str]) -> str:
    pair = len(names) == 2
    return draft.random.choice(("them", "them both" if pair else "them all", "all of them", "both" if pair else "them"))


def _plural_passive(draft: Draft, order: str, words: str) -> str:
    verb, _, rest = order.partition(" ")
    if words not in rest:
        return order
    auxiliary = draft.random.choice(("should be", "need to be", "have to be", "must be", "are to be"))
    return " ".join(f"{words} {auxiliary} {participle(verb)} {rest.replace(words, '', 1)}".split())


def gapped(draft: Draft) -> Told:
    """Return "put the cup on the table, the fork in the drawer and the knife in the sink"."""
    writer, random = draft.writer, draft.random
    names = draft.scene.several()
    acts = [Act("at", name, draft.scene.place(*names)) for name in names]
    if random.random() < 0.25:
        acts[-1] = Act("two", acts[-1].target, acts[-1].place)
    form, texts = draft.pick("gapped"), []
    for act in acts:
        words = writer.things(act.target) if act.kind == "two" else writer.thing(act.target, 0.0)
        texts.append(form.format(x=words, at=writer.at(act.place)))
        form = "{x} {at}"
        writer.last, writer.last_place = act.target, act.place
    return draft.told(draft.conversation.listed(texts, (", ", " and ", ", and ", "; ")), *acts)


def neighbours(draft: Draft) -> Told:
    """Return one thing at its place and another beside it."""
    writer = draft.writer
    first = draft.scene.placing()
    near = Act("near", draft.scene.thing(first.target, first.place), first.target)
    text = writer.said(first)
    words = writer.thing(near.target, 0.0)
    writer.last = first.target
    beside = writer.near(first.target)
    writer.last = near.target
    return draft.told(
        text + draft.pick("and_then") + draft.pick("put_beside").format(x=words, near=beside), first, near
    )


def respectively(draft: Draft) -> Told:
    """Return "wash the cup and the fork, put the first on the shelf and the second in the drawer"."""
    writer, random, scene = draft.writer, draft.random, draft.scene
    one = scene.thing()
    other = scene.thing(one)
    kind = random.choice(TREATMENTS)
    start = writer.base(Act(kind, one), _list(draft, [one, other]))
    pairs = (("the first", "the second"), ("the former", "the latter"), ("the first one", "the other one"))
    named = (f"the {writer.name(one)}", f"the {writer.name(other)}")
    former, latter = random.choice((*pairs, ("one", "the other"), named, named))
    places = [scene.furniture(), scene.furniture()]
    writer.last_place = ""
    verb = random.choice(("put", "leave", "place", "set"))
    text = f"{start}{draft.pick('and_then')}{verb} {former} {writer.at(places[0])}"
    text += f" and {latter} {writer.at(places[1])}"
    acts = [Act(kind, one), Act(kind, other), Act("at", one, places[0]), Act("at", other, places[1])]
    return draft.told(text, *acts)
