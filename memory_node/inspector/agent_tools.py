"""The tools by which agents ask and tell a memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.answer import FindQuery
from memory_node.domain.clock import Clock
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.geometry import POSITION_LIMIT_M
from memory_node.domain.ids import new_id
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.inspector.agent_answers import (
    Changes,
    Episodes,
    Found,
    Known,
    Located,
    Thing,
    episode_of,
    found_object,
    known,
    place_to_look,
    thing_of,
)
from memory_node.inspector.agent_memory import AgentMemory, MemoryViews
from memory_node.inspector.household import Household
from memory_node.knowledge.mode import Mode
from memory_node.questions.thing_words import ThingWords

_LONGEST_TEXT = 10_000
_MOST_UNDONE = 100
_NOW = 0  # the stamp of what is told: memory's own now

Text = Annotated[
    str, Field(max_length=_LONGEST_TEXT, description='what is meant, in words ("the red fruit") or by its class')
]
Instruction = Annotated[str, Field(max_length=_LONGEST_TEXT, description="what the robot is to do, in plain words")]
Question = Annotated[str, Field(min_length=1, max_length=4000, description="a question or fact in plain words")]
Statement = Annotated[str, Field(min_length=1, max_length=4000, description="a statement, as rests_on tells it")]
Count = Annotated[int, Field(ge=1, le=100, description="how many answers at most")]
Tokens = Annotated[int, Field(ge=50, le=20_000, description="how long the text may be, in tokens")]
Metres = Annotated[float, Field(ge=-POSITION_LIMIT_M, le=POSITION_LIMIT_M, allow_inf_nan=False)]
Position = Annotated[list[Metres], Field(min_length=3, max_length=3, description="(x, y, z) in the frame map, metres")]
States = Annotated[list[ObjectState], Field(max_length=20, description="states of a thing")]
AskedMode = Annotated[
    Literal["", "episodic", "semantic", "procedural"],
    Field(description="what happened, what is so, or how something is done; empty: found out from the question"),
]
Reference = Annotated[
    str, Field(min_length=1, max_length=200, description='id or name of a thing ("Mug 2"), however it is spelt')
]
OptionalReference = Annotated[
    str, Field(max_length=200, description='id or name of a thing ("Side table 2"); empty: none')
]
ClassName = Annotated[str, Field(max_length=200, description="its class; needed where there is no object_id")]


class AgentTools:
    """The tools' deeds.

    memory: a store or a running node. clock: "now" on memory's time line. kinds: the label space. views: what episodes
    are read from, None: there are none.
    """

    def __init__(self, memory: AgentMemory, clock: Clock, kinds: ObjectCatalogue, views: MemoryViews | None) -> None:
        self._memory = memory
        self._clock = clock
        self._kinds = kinds
        self._views = views
        self._household = Household(memory, kinds, clock)
        self._ways_back: list[Callable[[], Any]] = []

    def find_objects(self, text: Text, k: Count = 5, states: States | None = None) -> Found:
        """Find things in the robot's long-term memory by words ("the red fruit") or by their class.

        Memory abstains where it knows nothing that fits; the status says why. states: only things that are so.
        """
        found = self._memory.find(self._query(text, k, states))
        objects = [found_object(answer) for answer in found.answers]
        return Found(status=str(found.status), explanation=found.explanation, objects=objects)

    def recall_objects(self, text: Text, k: Count = 5, states: States | None = None) -> Found:
        """Find things among those that the robot has just seen or used: the short-term memory, with fresh states."""
        found = self._memory.recall(self._query(text, k, states))
        objects = [found_object(answer) for answer in found.answers]
        return Found(status=str(found.status), explanation=found.explanation, objects=objects)

    def locate_object(self, text: Text, max_places: Count = 5) -> Located:
        """Tell where a thing is by either memory; where no memory is sure, also where to look for it first."""
        found = self._memory.locate(self._query(text, 3, None), max_places)
        return Located(
            status=str(found.status),
            explanation=found.explanation,
            objects=[found_object(answer) for answer in found.answers],
            places_to_look=[place_to_look(area) for area in found.areas],
        )

    def get_context(self, instruction: Instruction, token_budget: Tokens = 2000) -> str:
        """Return what memory knows that bears on an instruction: things, places, experience, lessons."""
        return self._memory.context(instruction, token_budget).text

    def scene_text(self, token_budget: Tokens = 2000) -> str:
        """Describe the whole home as the robot remembers it."""
        return self._memory.scene_text(token_budget)

    def ask_memory(self, question: Question, mode: AskedMode = "", k: Count = 5) -> Known:
        """Ask in plain words: where a thing is, what is in or on another, how many there are, which are dirty, what the
        robot did, what people told, how something is done. Of what is now the scene graph decides; it abstains where
        nothing answers.

        mode: searches what happened, what is so, or how a thing is done alone; empty: found out from the question.
        """
        return known(self._household.ask(question, Mode(mode) if mode else None, k))

    def contents(
        self, place: Annotated[str, Field(min_length=1, max_length=200, description="a room or a thing, by name")]
    ) -> Known:
        """Tell what is in a room, or in or on a thing: "fridge", "Side table 2", "bedroom"."""
        return known(self._household.contents(place))

    def changes(
        self,
        since: Annotated[
            str, Field(max_length=100, description='"today", "this morning", "90 min", "2 h", or an ISO time')
        ] = "today",
    ) -> Changes:
        """Tell what came, went, moved and became of things since a moment."""
        return Changes(changes=self._household.changes(since))

    def episodes(self, newest: Count = 10) -> Episodes:
        """List what the robot was told to do and how that ended, the newest first."""
        found = self._views.episodes(newest) if self._views is not None else None
        return Episodes(episodes=[episode_of(one) for one in found or ()])

    def object(self, object_id: Reference) -> Thing:
        """Tell all that is known of one thing: where it is, since when, in which states, what is on it."""
        scene = self._memory.scene(removed=True)
        found = self._memory.scene_of_one(object_id).objects
        if not found:
            alike = self._memory.find(FindQuery(text=object_id, k=5)).answers
            known_as = ", ".join(f"{one.object_class} ({one.object_id})" for one in alike) or "find_objects tells ids"
            raise NotFoundError(f"object_id: no object {object_id!r} is in the scene graph; known: {known_as}")
        now_ns = self._clock()
        return thing_of(found[0], scene, ThingWords(scene, self._kinds.recipient, now_ns), now_ns)

    def tell_fact(
        self, text: Question, teller: Annotated[str, Field(max_length=200, description="who said it")] = ""
    ) -> list[str]:
        """Tell memory a fact that a person said ("Anna likes black tea"); return the statements that it understood.

        "Forget that ..." takes a statement back. What does not count any more begins with "no longer: ".
        teller: who said it, for "I" and "my".
        """
        told = self._memory.tell_fact(text, teller)

        def way_back() -> None:
            for one in told:
                if one.active:
                    self._memory.retract_fact(one.text)

        self._note(way_back)
        return [one.text if one.active else f"no longer: {one.text}" for one in told]

    def retract_fact(self, text: Statement) -> str:
        """Let a statement count no longer, a told fact for example: memory answers nothing from it any more."""
        self._memory.retract_fact(text)
        self._note(lambda: self._memory.retract_fact(text, back=True))
        return "it counts no longer"

    def remember(
        self,
        object_class: ClassName = "",
        object_id: OptionalReference = "",
        is_now: States | None = None,
        is_no_longer: States | None = None,
        put_on: OptionalReference = "",
        inside: Annotated[bool, Field(description="it is in put_on, not on it")] = False,
        picked_up: Annotated[bool, Field(description="the robot's hand holds it")] = False,
        position_m: Position | None = None,
    ) -> list[str]:
        """Tell memory what is so now, for example that a mug is clean or lies in a drawer; return its ids of the thing.

        object_id: its id or name ("Mug 2"); without it, the only thing of object_class is meant, or a new one whose
        place is told. put_on: id or name of the object that it stands on, or `inside` of which it is. picked_up: the
        robot's hand holds it. position_m: (x, y, z) in map. What memory does not know is refused with what may be
        meant.
        """
        if put_on and picked_up:
            raise InvalidValueError("put_on, picked_up: expected one of them, got both")
        position = (position_m[0], position_m[1], position_m[2]) if position_m is not None else None
        change = StateChange(
            object_id,
            object_class,
            _NOW,
            added=tuple(is_now or ()),
            removed=tuple(is_no_longer or ()),
            held=picked_up or (False if put_on else None),
            support_id=put_on,
            inside=inside,
            position=position,
            source="user",
        )
        edit_id = new_id()
        told = self._memory.remember([change], edit_id)
        self._note(lambda: self._memory.edit("undo", edit_id))
        return list(told)

    def edit_object(
        self,
        operation: Annotated[
            Literal["relabel", "call", "merge", "split", "delete", "restore", "name_room"],
            Field(description="merge: other_id is the same thing; split: the second one is at position_m"),
        ],
        object_id: Annotated[str, Field(min_length=1, max_length=200, description="id or name; of a room its id")],
        other_id: OptionalReference = "",
        new_name: Annotated[str, Field(max_length=200, description="the class, the name, or the room's name")] = "",
        position_m: Position | None = None,
    ) -> str:
        """Correct memory by hand; return the id of the object that carries on, or of the new one."""
        x, y, z = position_m or (0.0, 0.0, 0.0)
        if operation == "split" and position_m is None:
            raise InvalidValueError("position_m: expected where the second thing is, got none")
        edit_id = new_id()
        found = self._memory.edit(operation, object_id, other_id, new_name, (x, y, z), edit_id)
        self._note(lambda: self._memory.edit("undo", edit_id))
        return found

    def undo(self) -> str:
        """Take back the last of your own calls of remember, edit_object, tell_fact or retract_fact that was not taken
        back yet."""
        if not self._ways_back:
            raise NotFoundError("you have changed nothing that could be taken back")
        self._ways_back[-1]()
        self._ways_back.pop()
        return "memory is as it was before that call"

    def confirm_relocalization(self) -> str:
        """Confirm that the robot is localised in the map of its memory, once a person or the localiser says so.

        Answers with the status frame_not_verified wait for it: the map may have had another origin when they were seen.
        """
        self._memory.confirm_relocalization()
        return "memory trusts the map frame again"

    def forget(self, object_id: Reference) -> int:
        """Erase a thing from memory for ever, its history and pictures included; return how many things went."""
        return self._memory.forget(object_id)

    def _note(self, way_back: Callable[[], Any]) -> None:
        self._ways_back = [*self._ways_back[-_MOST_UNDONE:], way_back]

    def _query(self, text: str, k: int, states: States | None) -> FindQuery:
        return FindQuery(text=text, k=k, states=tuple(states or ()))
