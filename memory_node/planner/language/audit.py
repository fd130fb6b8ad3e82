"""Holds goals against the words of an instruction: nothing unnamed is handled, nothing named is left out or reversed.

One audit for every reader, and for a language model's plan, before the first motion. It explains itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.audit_abilities import impossibility, into_itself
from memory_node.planner.language.audit_guesses import half_guess, unread_content
from memory_node.planner.language.audit_quantities import dropped_quantity, made_up_number
from memory_node.planner.language.bare_things import bare_thing
from memory_node.planner.language.english import English
from memory_node.planner.language.licence import Licence
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.roles import Roles
from memory_node.planner.language.spoken_instruction import Instruction, Remark
from memory_node.planner.language.treatments import TreatmentWords

_HARMS = (GoalKind.BREAK, GoalKind.THROW)  # they need a command: nothing is broken for a word that was misread
_UNSAID = (GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL)  # what trained readers may add to a place
_CARRYING = (GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK, GoalKind.FETCH, GoalKind.THROW)
_TREATED = (*_UNSAID, GoalKind.FILL, GoalKind.EMPTY)


@dataclass(frozen=True)
class Evidence:
    """What the words say: as commands, by the classes that they account for, and by what is origin and what goal.

    unexplained: things named in words that no rule of the grammar explains, where its commands are what is judged.
    counts: words for numbers; without them a reading's number is not judged. english: tells which number words say;
    None where it does not matter that a reading leaves one out. strange: words that nobody taught the
    robot; put_off: the time or condition that what is asked for is put off to. guessed: the goals come from a trained
    reader, which does not know what can be done with a thing.
    """

    instruction: Instruction
    licence: Licence
    roles: Roles
    kinds: ObjectCatalogue
    text: str
    treatments: TreatmentWords
    unexplained: Sequence[NounPhrase] = ()
    counts: frozenset[str] = frozenset()
    english: English | None = None
    strange: Sequence[str] = ()
    put_off: str = ""
    guessed: bool = False


def objection(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Return why goals do not fit the words, in one sentence; "" where they do."""
    return next(filter(None, (rule(goals, evidence) for rule in _RULES)), "")


def _question(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Object to doing anything where the words only ask how things are."""
    acts = any(goal.kind is not GoalKind.TELL for goal in goals)
    return "it is a question" if evidence.instruction.asks and acts else ""


def _put_off(_goals: Sequence[Goal], evidence: Evidence) -> str:
    return f"{evidence.put_off!r} is not now" if evidence.put_off else ""


def _strange(_goals: Sequence[Goal], evidence: Evidence) -> str:
    """Object to guessing what words ask for that are unknown."""
    return f"{evidence.strange[0]!r} is an unknown word" if evidence.strange else ""


def _half_read(_goals: Sequence[Goal], evidence: Evidence) -> str:
    """Object to a command whose verb asks for something else in these words: "read me the newspaper"."""
    commands = evidence.instruction.commands if evidence.english is not None else ()
    unread = unread_content(evidence.instruction, evidence.english, evidence.guessed) if evidence.english else ""
    if unread:
        return unread
    commands = () if evidence.guessed else commands
    verb = next((command.verb for command in commands if command.verb in command.unread), "")
    return f"nobody knows what {verb!r} asks for here" if verb else ""


def _untold(_goals: Sequence[Goal], evidence: Evidence) -> str:
    bare = bare_thing(evidence.instruction)
    return f"nothing tells what {bare.text!r} is" if bare is not None else ""


def _undue(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Object to the first goal that nothing asks for, or that cannot be."""
    whys = (rule(goal, evidence) for goal in goals for rule in _OF_EACH)
    return next(filter(None, whys), "")


def _unasked(goal: Goal, evidence: Evidence) -> str:
    """Object to a treatment that no word speaks of, and to breaking and throwing without a command for it."""
    unsaid = goal.kind in _UNSAID and not goal.treatment
    if unsaid and not evidence.treatments.speak_of(goal.kind, evidence.text, str(goal.destination or "")):
        return f"no word asks to {goal.kind} {goal.target}"
    commands = evidence.instruction.commands
    served = any(one.to_user and one.kind in (GoalKind.EMPTY, GoalKind.FILL) for one in commands)
    if goal.kind is GoalKind.EMPTY and served:
        return f"no word asks to empty {goal.target}"
    if goal.kind in _HARMS and all(command.kind is not goal.kind for command in evidence.instruction.commands):
        return f"no command asks to {goal.kind} {goal.target}"
    return ""


def _uncounted(goal: Goal, evidence: Evidence) -> str:
    """Object to a number that nobody said: "the pillows" are all of them, not two."""
    words, english = evidence.counts & set(evidence.instruction.words), evidence.english
    return made_up_number(goal, words, english) if evidence.counts and english is not None else ""


def _dropped_quantity(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Object to a number or an "all" that the words say and the goals have not."""
    english = evidence.english
    return dropped_quantity(goals, evidence.instruction, english) if english is not None else ""


def _unwanted(goal: Goal, evidence: Evidence) -> str:
    """Object to handling what is named as not meant."""
    phrases = (phrase for command in evidence.instruction.commands for phrase in command.phrases)
    ruled_out = any(goal.target.object_class in phrase.ruled_out for phrase in phrases)
    return f"{goal.target} is not meant" if ruled_out else ""


def _unlit(goal: Goal, evidence: Evidence) -> str:
    """Object to looking at a thing in the light of what gives none."""
    light = goal.light.object_class if goal.light is not None else ""
    lighting = evidence.english.lighting if evidence.guessed and evidence.english is not None else None
    if light and lighting is not None and not lighting & set(evidence.instruction.words):
        return f"no word asks for the {light}"  # "read me the newspaper"
    return f"{light} gives no light" if light and not evidence.kinds[light].can(Property.LIGHT) else ""


def _immovable(goal: Goal, evidence: Evidence) -> str:
    """Object to carrying a person or what stands fast."""
    if goal.kind is not GoalKind.GO and goal.target.object_class == evidence.kinds.recipient != "":
        return "nobody is carried"
    thing = evidence.kinds[goal.target.object_class]
    unheld = goal.kind is GoalKind.EXAMINE and goal.target.candidates and not thing.pickupable
    if unheld or (goal.kind in _CARRYING and thing.can(Property.FIXED)):
        return f"{goal.target} cannot be carried"
    return ""


def _unaccounted(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Object to handling what no word stands for."""
    strange = (one for one in _handled(goals) if not _is_accounted(one, evidence))
    return next((f"no word stands for {mention.object_class}" for mention in strange), "")


def _left_out(goals: Sequence[Goal], evidence: Evidence) -> str:
    judged = evidence.guessed and evidence.english is not None
    named = (*_demanded(evidence.instruction, judged), *evidence.roles.goals, *evidence.unexplained, *_topics(evidence))
    classes = _stood_for(goals, [set(one.called.all) for one in named if one.called])
    classes |= {evidence.kinds.recipient, *(name for goal in goals for name in _used_for(goal, evidence.kinds))}
    referring = {mention.text for mention in _handled(goals) if mention.referring}  # "[the safe,] close the door"
    missing = (one for one in named if one.called and one.called.all and not classes & set(one.called.all))
    return next((f"{phrase.text!r} is left out" for phrase in missing if phrase.text not in referring), "")


def _stood_for(goals: Sequence[Goal], called: Sequence[set[str]]) -> set[str]:
    """Return the classes that goals account for. called: what each name in the words may mean; where one means a
    mention's likeliest class, the mention is no other thing ("slice an apple and cook an egg": not apple or egg)."""
    classes: set[str] = set()
    for mention in _handled(goals):
        own = [names for names in called if mention.object_class in names]
        classes |= set(mention.candidates).intersection(*([set().union(*own)] if own else []))
    return classes


def _topics(evidence: Evidence) -> Iterator[NounPhrase]:
    """Yield what stands before its command: "the vase, you put ..."; it is no topic where no command is about it."""
    judged = evidence.english is not None and not evidence.instruction.taken_back
    parts = evidence.instruction.parts if judged else ()
    return (phrase for part in parts if isinstance(part, Remark) and part.stands_first for phrase in part.phrases)


def _handled(goals: Sequence[Goal]) -> Iterator[Mention]:
    return (mention for goal in goals for mention in goal.mentions if mention.candidates)


def _used_for(goal: Goal, kinds: ObjectCatalogue) -> Sequence[str]:
    """Return the classes of the appliances and vessels that a treatment takes; to name them asks for nothing more."""
    if goal.kind not in _TREATED:
        return ()
    named = kinds.treatment(goal.treatment)
    treatments = [named] if named is not None else kinds.treatments_of(goal.kind)
    bins = kinds.bins if goal.kind is GoalKind.EMPTY else ()
    return kinds.with_wholes([*bins, *(name for one in treatments for name in (*one.at, *one.vessels))])


def _is_accounted(mention: Mention, evidence: Evidence) -> bool:
    name, licence = mention.object_class, evidence.licence
    return (
        name == evidence.kinds.recipient
        or mention.referring
        or mention.guessed
        or mention.original_place
        or name in licence.named
        or bool(licence.open)
    )


def _demanded(instruction: Instruction, also_in_part: bool) -> Iterator[NounPhrase]:
    """Yield the phrases of what commands handle. also_in_part: of commands with words that are unexplained, too."""
    commands = instruction.commands
    for index, command in enumerate(commands):
        on_the_way = command.kind in (GoalKind.GO, GoalKind.FIND) and index + 1 < len(commands)
        if (command.unread and not also_in_part) or on_the_way:
            continue
        if not command.alternatives:
            kept = " ".join(instruction.kept)  # "the fork, ah no, not the fork, the spoon"
            yield from (one for one in command.targets if not also_in_part or f"not {one.text}" not in kept)
        if command.destination is not None:
            yield command.destination
        if command.contents is not None and command.targets and command.targets[0].refers_back:
            yield command.contents  # "bring it with two cups"


def _reversed(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Return the objection that something is put to where it is to be taken from."""
    destinations = [command.destination for command in evidence.instruction.commands] + list(evidence.roles.goals)
    wanted = {name for phrase in destinations if phrase is not None and phrase.called for name in phrase.called.all}
    for phrase in evidence.roles.origins:
        origin = set(phrase.called.all if phrase.called is not None else ()) - wanted
        for goal in goals:
            place = goal.destination
            if place is not None and not place.beside and place.object_class in origin:
                return f"{place} is where it is taken from"
    return ""


def _kept_from_user(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Object to a guess that takes elsewhere what is only to be brought to the person: "bring the cup on the desk"."""
    brought = [command for command in evidence.instruction.commands if command.to_user and not command.destination]
    if evidence.english is None or not evidence.guessed or not brought or len(evidence.instruction.commands) > 1:
        return ""
    places = [goal.destination for goal in goals if goal.destination is not None]
    taken = next((place for place in places if place.object_class != evidence.kinds.recipient), None)
    return f"it is to be brought, not put to {taken}" if taken is not None else ""


def _beside(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Return the objection that something is put into what it is only to stand beside."""
    beside = {name for phrase in evidence.roles.beside if phrase.called is not None for name in phrase.called.all}
    within = {name for phrase in evidence.roles.within if phrase.called is not None for name in phrase.called.all}
    places = (goal.destination for goal in goals)
    meant = (one for one in places if one is not None and not one.beside and one.object_class in beside - within)
    return next((f"it belongs beside {place}, not there" for place in meant), "")


def _impossible(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Object to a guess that does with a thing what cannot be done with it."""
    return impossibility(goals, evidence.kinds) if evidence.guessed else ""


def _one_of_several(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Object to a guess that decides what nobody said: which of the lamps "the light" is."""
    heard = evidence.guessed and evidence.english is not None
    several = evidence.licence.alternatives if heard else frozenset()
    taken = (one for goal in goals for one in (goal.target, goal.container, goal.destination) if one is not None)
    chosen = next((one for one in taken if one.object_class in several and not one.referring), None)
    return f"{chosen} is one of several that the words may mean" if chosen is not None else ""


def _guessed(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Object to a guess that handles, does or leaves out what the words do not: nothing is carried out by half."""
    if evidence.english is None or not evidence.guessed:
        return ""
    handled = list(_handled(goals))
    return half_guess(
        goals, handled, evidence.instruction, evidence.licence, evidence.english, evidence.kinds.recipient
    )


_OF_EACH = (_unasked, _immovable, _unwanted, _uncounted, _unlit)
# In the order in which they are asked: the first that objects is heard.
_RULES = (
    _question,
    _put_off,
    _strange,
    _half_read,
    _untold,
    _undue,
    _unaccounted,
    _left_out,
    _dropped_quantity,
    _reversed,
    _kept_from_user,
    _guessed,
    _beside,
    lambda goals, _evidence: into_itself(goals),
    _impossible,
    _one_of_several,
)
