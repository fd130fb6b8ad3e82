"""Ways to ask for something to be done with one thing, in one go or step by step."""

from __future__ import annotations

from collections.abc import Sequence

from training.instructions.acts import FOOD, LAMPS, LIDDED, TREATMENTS, VESSELS, Act, Effect
from training.instructions.draft import Draft, Told

_SWITCH_WORDS = {"switch_on": "on", "switch_off": "off", "open": "open", "close": "shut"}
_SPOTS = {"clean": ("sink",), "heat": ("microwave",), "cool": ("fridge", "refrigerator")}


def simple(draft: Draft) -> Told:
    """Return one act that stands alone."""
    return single(draft, draft.scene.simple())


def command(draft: Draft) -> Told:
    """Return one act that ALFRED has no goal for."""
    return single(draft, draft.scene.command())


def single(draft: Draft, act: Act) -> Told:
    """Return one act, sometimes in words for its kind alone: "lamp on", "the keys, here", "where is the book"."""
    writer, random = draft.writer, draft.random
    if writer.terse and act.kind in _SWITCH_WORDS and random.random() < 0.5:
        text = f"{writer.name(act.target)} {_SWITCH_WORDS[act.kind]}"
    elif act.kind in ("switch_on", "switch_off") and random.random() < 0.15:
        verb = random.choice(("should be", "needs to be", "must be", "has to be", "should go", "goes"))
        text = f"the {writer.name(act.target)} {verb} {_SWITCH_WORDS[act.kind]}"
    elif act.kind in ("user", "find") and random.random() < 0.25:
        text = draft.pick("here" if act.kind == "user" else "where_is").format(x=writer.thing(act.target))
    else:
        text = writer.said(act)
    return draft.told(text, act)


def treated(draft: Draft) -> Told:
    """Return a treatment and a place for what was treated."""
    kind, thing = draft.random.choice(TREATMENTS), draft.scene.thing()
    place = draft.scene.place(thing)
    choice = draft.random.random()
    put = Act("user", thing) if choice < 0.06 else Act("near" if choice < 0.14 else "at", thing, place)
    if put.kind == "at" and draft.random.random() < 0.45:
        return draft.told(_in_a_state(draft, kind, put), Act(kind, thing), put)
    return both(draft, Act(kind, thing), put)


def _in_a_state(draft: Draft, kind: str, put: Act) -> str:
    """Return "put a clean mug on the table", "I'd like my mug cold, leave it on the table"."""
    writer = draft.writer
    article = draft.random.choice(("a ", "the ", "my ", "one ", "some ", "" if writer.terse else "a "))
    where, to = writer.at(put.place), writer.to(put.place)
    writer.last, writer.last_place, writer.mentioned[put.target] = put.target, put.place, {kind}
    bare, full = writer.name(put.target), writer.wording.thing(put.target, 0.15)
    return draft.pick("in_a_state").format(
        a=article,
        w=draft.pick(f"states {kind}"),
        b=bare,
        bs=f"{bare}s",
        at=where,
        to=to,
        x=full,
        d=draft.pick(f"participles {kind}"),
        need=draft.pick(f"needs {kind}").format(x=full),
        y=writer.name(put.place),
    )


def reordered(draft: Draft) -> Told:
    """Return two acts that have nothing to do with each other."""
    return both(draft, draft.scene.simple(), draft.scene.simple())


def both(draft: Draft, first: Act, second: Act) -> Told:
    """Return two acts that are done in this order, told in this order or the other."""
    return draft.told(_in_order(draft, first, second), first, second)


def _in_order(draft: Draft, first: Act, second: Act) -> str:
    writer, random = draft.writer, draft.random
    choice = random.random()
    once = random.choice(("after", "once", "when", "as soon as"))
    if choice < 0.5:
        return f"{writer.said(first)}{draft.pick('and_then')}{writer.said(second)}"
    if choice < 0.58:
        return f"after {writer.gerund(first)}, {writer.base(second)}"
    if choice < 0.66:
        return f"{once} you have {writer.done(first)}, {writer.said(second)}"
    if choice < 0.71:
        return f"{once} {writer.passive(first, 'has been')}, {writer.said(second)}"
    if choice < 0.76:
        return f"{writer.said(first)} before {writer.gerund(second)}"
    if choice < 0.8:
        return f"{writer.said(first)} before you {writer.base(second)}"
    if choice < 0.85:
        opening = writer.gerund(second) if random.random() < 0.5 else f"you {writer.base(second)}"
        return f"before {opening}, {writer.base(first)}"
    text = writer.said(second)
    if choice < 0.89:
        return f"{text} {random.choice(('after', 'once'))} you have {writer.done(first)}"
    if choice < 0.93:
        return f"{text} after {writer.gerund(first)}"
    return draft.pick("but_first").format(t=text, w=writer.base(first))


def sliced(draft: Draft) -> Told:
    """Return cutting, and what is done with a slice."""
    thing, random, writer = draft.random.choice(sorted(FOOD)), draft.random, draft.writer
    acts = [Act("slice", thing)]
    if random.random() < 0.45:
        acts.append(Act(random.choice(TREATMENTS), thing))
    if random.random() < 0.85:
        acts.append(Act("at", thing, draft.scene.place(thing)))
    if acts[-1].kind == "at" and random.random() < 0.4:
        state = f"{draft.pick(f'states {acts[1].kind}')} " if len(acts) == 3 else ""
        where = writer.at(acts[-1].place)
        writer.last, writer.last_place, writer.mentioned[thing] = thing, acts[-1].place, {"slice"}
        return draft.told(draft.pick("in_slices").format(w=state, b=writer.name(thing), at=where), *acts)
    words = [writer.base(acts[0])]
    if random.random() < 0.3:
        words.append(draft.pick("knife_asides"))
    words += [writer.base(act) for act in acts[1:]]
    return draft.told(draft.conversation.listed(words), *acts)


def examined(draft: Draft) -> Told:
    """Return looking at a thing under a lamp, in one go or step by step."""
    writer, random = draft.writer, draft.random
    act = Act("examine", draft.scene.thing(), random.choice(LAMPS))
    if writer.terse and random.random() < 0.4:
        words = writer.thing(act.target)
        lamp = random.choice((writer.name(act.place), "lamp", "the light"))
        return draft.told(f"{words} {random.choice(('under', 'in', 'by', 'with'))} {lamp}", act)
    if random.random() >= 0.35:
        return draft.told(writer.said(act), act)
    thing, lamp = writer.thing(act.target), writer.name(act.place)
    light_up = draft.pick("light_up").format(l=lamp)
    if random.random() < 0.2:
        return draft.told(draft.conversation.listed([light_up, f"look at {thing}"]), act)
    steps = [f"{random.choice(('pick up', 'get', 'take', 'grab'))} {thing}"]
    steps += [draft.pick("stand_by").format(l=lamp)] if random.random() < 0.5 else []
    steps.append(random.choice((light_up, "switch it on")) if len(steps) > 1 else light_up)
    steps += [draft.pick("look").format(b=writer.name(act.target))] if random.random() < 0.5 else []
    return draft.told(draft.conversation.listed(steps), act)


def opened(draft: Draft) -> Told:
    """Return opening, putting in or taking out, and closing."""
    writer, random = draft.writer, draft.random
    place, thing = random.choice(LIDDED), draft.scene.thing()
    acts = [Act("open", place)] if random.random() < 0.7 else []
    words = [writer.base(act) for act in acts]
    if not acts or random.random() < 0.6:
        writer.last = place if words else ""
        known = writer.thing(thing)
        inside = random.choice(("inside", "in it", "in there", "into it")) if words else writer.at(place)
        order = f"{random.choice(('put', 'place', 'drop', 'leave'))} {known} {inside}"
        words.append(f"{inside} goes {known}" if random.random() < 0.1 else order)
        acts.append(Act("at", thing, place))
        writer.last_place = place
    else:
        acts.append(Act("at", thing, draft.scene.furniture(place)))
        words += [draft.pick("take_out").format(x=writer.thing(thing)), writer.base(acts[-1])]
    if random.random() < 0.6:
        it = random.choice(("it", "it", f"the {writer.name(place)}")) if acts[-1].place == place else ""
        words.append(f"{random.choice(('close', 'shut'))} {it or f'the {writer.name(place)}'}")
        acts.append(Act("close", place))
    return draft.told(draft.conversation.listed(words), *acts)


def walked(draft: Draft) -> Told:
    """Return steps as to a child: where to walk, what to pick up, where to put it."""
    writer, random = draft.writer, draft.random
    thing = draft.scene.thing()
    kind = random.choice((*TREATMENTS, "", "", ""))
    acts = [Act(kind, thing)] if kind else []
    acts.append(Act("at", thing, draft.scene.place(thing)))
    words = [_walk(draft)] if random.random() < 0.8 else []
    words += [writer.base(Act("fetch", thing))] if random.random() < 0.8 else []
    words += [_walk(draft)] if random.random() < 0.5 else []
    if kind and thing in writer.mentioned and random.random() < 0.4:
        words.append(f"{random.choice(('carry', 'take', 'bring'))} it to the {random.choice(_SPOTS[kind])}")
    for act in acts:
        words.append(writer.base(act))
        if act is not acts[-1] and random.random() < 0.4:
            words.append(draft.pick("between_acts") if random.random() < 0.8 else _walk(draft))
    return draft.told(draft.conversation.listed(words), *acts)


def _walk(draft: Draft) -> str:
    known = [name for name in sorted(draft.scene.task.fixtures) if name in draft.writer.wording]
    return draft.pick("walks").format(f=f"the {draft.writer.name(draft.random.choice(known or ['CounterTop']))}")


def again(draft: Draft, before: Sequence[Effect]) -> Told:
    """Return something done with what was handled before."""
    random, scene = draft.random, draft.scene
    name = random.choice([effect for effect in before if effect[0] in (*TREATMENTS, "at", "slice")])[1]
    choice = random.random()
    if choice < 0.15:
        act = Act(random.choice((*TREATMENTS, "trash", "user", "back")), name)
    elif choice < 0.32:
        act = Act("near", scene.thing(name), name)
    elif choice < 0.48 and name in VESSELS:
        act = Act("at", scene.thing(name), name)
    else:
        act = Act("at", name, scene.place(name))
    return draft.told(draft.writer.said(act), act)
