"""Memory as a planner node sees it: `MemoryPort` over the memory node's services."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from rclpy.node import Node
from robot_memory import srv

from memory_node.context.recalled import Recalled
from memory_node.context.told_contexts import PastEpisode
from memory_node.domain.answer import FindQuery, Location, RankedArea, Recollection
from memory_node.domain.clock import time_zone
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.scene import HeldObject, Place, SceneSnapshot
from memory_node.domain.skill import StateChange, TriedPose
from memory_node.domain.step import EpisodeAccount, EpisodeSummary
from memory_node.knowledge.answering import KnowledgeAnswer, Mode
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.told.fact import ToldFact
from memory_node.lessons.lesson import Lesson
from memory_node.nodes import conversions
from memory_node.nodes.service_clients import PeerTimeoutError, ServiceClients
from memory_node.scene_graph.state import ROBOT_ID

_WAIT_STEP_S = 0.1
_SERVICES = (
    srv.RecallObjects,
    srv.FindObjects,
    srv.LocateObject,
    srv.RankSearchAreas,
    srv.Remember,
    srv.TellFact,
    srv.RecallPast,
    srv.AskMemory,
    srv.GetContext,
    srv.GetSceneGraph,
    srv.EditObject,
    srv.ConfirmRelocalization,
    srv.Forget,
    srv.GetEpisodes,
    srv.GetPastPlaces,
)


class MemoryClient:
    """`MemoryPort` over ROS services; every call has a deadline.

    is_ending: whether the node that asks is to end; from then on only a memory node that is there is waited for.

    Raises (every method):
        PeerTimeoutError: the memory node does not answer.
        RobotMemoryError: it refused, could not commit a change, or sent what cannot be read.
    """

    def __init__(
        self,
        node: Node,
        memory_name: str = "memory",
        timeout_s: float = 10.0,
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self._timeout_s = timeout_s
        self._clients = ServiceClients(node, memory_name, _SERVICES, is_ending)
        self._any = self._clients.of(srv.GetSceneGraph.Request)

    @property
    def is_there(self) -> bool:
        """Whether a memory node offers its services now."""
        return bool(self._any.service_is_ready())

    def wait(self, timeout_s: float, is_canceled: Callable[[], bool] = lambda: False) -> None:
        """Wait until the memory node offers its services.

        Raises:
            PeerTimeoutError: it does not within `timeout_s`, or `is_canceled` became true.
        """
        deadline_s = time.monotonic() + timeout_s
        while not self._any.wait_for_service(timeout_sec=_WAIT_STEP_S):
            if is_canceled():
                raise PeerTimeoutError("canceled")
            if time.monotonic() > deadline_s:
                raise PeerTimeoutError(f"no memory node offers {self._any.srv_name}")

    def _call(self, request: Any) -> Any:
        try:
            return self._clients.call(request, self._timeout_s)
        except PeerTimeoutError:
            if not self._clients.of(type(request)).service_is_ready():
                raise
            # A restarted memory node has not seen the request; a repeated question changes nothing.
            return self._clients.call(request, self._timeout_s)

    def recall(self, query: FindQuery) -> Recollection:
        """Ask the short-term memory."""
        return conversions.RECOLLECTION.from_msg(self._call(conversions.query_to_request(srv.RecallObjects, query)))

    def find(self, query: FindQuery) -> Recollection:
        """Ask the long-term scene graph."""
        return conversions.RECOLLECTION.from_msg(self._call(conversions.query_to_request(srv.FindObjects, query)))

    def locate(self, query: FindQuery, max_areas: int = 0) -> Location:
        """Ask where a thing is, or where to look for it."""
        request = conversions.query_to_request(srv.LocateObject, query, max_areas=max_areas)
        return conversions.LOCATION.from_msg(self._call(request))

    def rank_search_areas(self, object_class: str, k: int = 0) -> tuple[RankedArea, ...]:
        """Ask where an object of the class is likely."""
        response = self._call(srv.RankSearchAreas.Request(object_class=object_class, k=k))
        return tuple(conversions.ranked_area_from_msg(area) for area in response.areas)

    def remember(self, changes: Sequence[StateChange], edit_id: str = "") -> tuple[str, ...]:
        """Tell memory what changed; returns once it is committed, with memory's id of each change's object.

        edit_id: under which it can be undone.
        """
        told = [conversions.change_to_msg(change) for change in changes]
        request = srv.Remember.Request(changes=told, edit_id=edit_id)
        return tuple(self._granted(request, "take the change").object_ids)

    def held_object(self) -> HeldObject | None:
        """Ask what the hand holds."""
        response = self._call(srv.GetSceneGraph.Request(support_id=ROBOT_ID))
        held = [conversions.object_from_msg(found) for found in response.graph.objects]
        return HeldObject(held[0].id, held[0].class_name) if held else None

    def context(
        self,
        instruction: str,
        token_budget: int = 2000,
        episode_id: str = "",
        sources: Collection[ContextSource] = ALL_SOURCES,
    ) -> Context:
        """Ask for what a language model should know for this instruction; without sources there is nothing to ask."""
        if not sources:  # in a request no sources mean all
            return Context()
        request = srv.GetContext.Request(
            instruction=instruction,
            token_budget=token_budget,
            episode_id=episode_id,
            sources=[str(source) for source in sources],
        )
        return conversions.context_from_response(self._call(request))

    def scene_text(self, token_budget: int) -> str:
        """Ask for the scene graph in words."""
        return str(self._call(srv.GetSceneGraph.Request(token_budget=token_budget)).text)

    def forget(self, object_id: str) -> int:
        """Have an object erased; return how many went."""
        return int(self._granted(srv.Forget.Request(object_id=object_id), "forget").forgotten)

    def edit(
        self,
        operation: str,
        object_id: str,
        other_id: str = "",
        new_class: str = "",
        position: tuple[float, float, float] = (0.0, 0.0, 0.0),
        edit_id: str = "",
    ) -> str:
        """Have memory corrected by hand; return the id of the object that carries on, or of the new one."""
        request = srv.EditObject.Request(
            operation=operation,
            object_id=object_id,
            other_id=other_id,
            new_class=new_class,
            position=conversions.point_to_msg(position),
            edit_id=edit_id,
        )
        return str(self._granted(request, "edit").object_id)

    def confirm_relocalization(self) -> None:
        """Say that the robot is localised in the map that the graph was built in."""
        self._granted(srv.ConfirmRelocalization.Request(), "confirm the map frame")

    def ask(self, question: str, mode: Mode | None = None, k: int = 0, as_of_ns: int = 0) -> KnowledgeAnswer:
        """Ask what is known."""
        as_of = conversions.stamp_to_msg(as_of_ns)
        request = srv.AskMemory.Request(question=question, mode=str(mode) if mode else "", k=k, as_of=as_of)
        return conversions.KNOWLEDGE.from_msg(self._granted(request, "answer"), question=question)

    def tell_fact(self, text: str, teller: str = "", stamp_ns: int = 0) -> tuple[Proposition, ...]:
        """Tell a fact; return the statements that it was understood as."""
        response = self._tell(text, teller, stamp_ns)
        return tuple(conversions.proposition_from_msg(proposition) for proposition in response.propositions)

    def retract_fact(self, text: str, back: bool = False) -> None:
        """Let a statement, by its text, count no longer; back: let it count again."""
        self._granted(srv.TellFact.Request(text=text, retract=True, back=back), "retract the fact")

    def delete_document(self, document: str, back: bool = False) -> None:
        """Delete what is known from a document, talk or episode alone; back: bring it back."""
        request = srv.TellFact.Request(text=document, retract=True, document=True, back=back)
        self._granted(request, "delete the document")

    def told_facts(self, instruction: str) -> tuple[str, ...]:
        """Ask for what people told that bears on an instruction."""
        return tuple(one.text for one in self.told_statements(instruction))

    def told_statements(self, instruction: str, k: int = 0) -> tuple[Proposition, ...]:
        """Ask for the k statements that people told last of those that bear on an instruction; of none: of all."""
        response = self._call(srv.AskMemory.Request(question=instruction, told_only=True, k=k))
        return tuple(map(conversions.proposition_from_msg, response.propositions))

    def recall_past(self) -> Recalled:
        """Ask for told facts, deeds and unfinished instructions."""
        response = self._granted(srv.RecallPast.Request(), "recall the past")
        return Recalled(
            tuple(map(ToldFact.from_json, response.facts)),
            tuple(map(conversions.deed_from_msg, response.tried)),
            tuple(map(conversions.episode_from_msg, response.unfinished)),
            tuple(response.said),
            time_zone(response.time_zone),
            dict(zip(response.asked_in, response.asked)),
            waiting=response.waiting,
        )

    def tried_poses(self, object_class: str) -> tuple[TriedPose, ...]:
        """Ask at which poses things of a class were used, and what came of it; the newest last."""
        response = self._granted(srv.RecallPast.Request(posed_with=object_class), "recall the past")
        found = (one for deed in map(conversions.deed_from_msg, response.tried) for one in deed.tried)
        return tuple(one for one in found if one.object_class == object_class)

    def tell_in_words(self, text: str) -> str:
        """Tell a fact; return what became of it, in words."""
        return str(self._tell(text).message)

    def _tell(self, text: str, teller: str = "", stamp_ns: int = 0) -> Any:
        request = srv.TellFact.Request(text=text, teller=teller, stamp=conversions.stamp_to_msg(stamp_ns))
        return self._granted(request, "take the fact")

    def scene(self, as_of_ns: int = 0, removed: bool = False) -> SceneSnapshot:
        """Ask for the whole scene graph, now or as of a stamp; removed: with what is kept for its history."""
        request = srv.GetSceneGraph.Request(include_removed=removed, as_of=conversions.stamp_to_msg(as_of_ns))
        return conversions.snapshot_from_msg(self._granted(request, "tell the scene").graph)

    def scene_of_one(self, object_id: str, as_of_ns: int = 0) -> SceneSnapshot:
        """Ask for one object alone, now (removed or not) or as of a stamp; none where nothing has, or had, this id."""
        request = srv.GetSceneGraph.Request(object_id=object_id, as_of=conversions.stamp_to_msg(as_of_ns))
        return conversions.snapshot_from_msg(self._granted(request, "tell the object").graph)

    def episodes(self, newest: int) -> tuple[EpisodeSummary, ...]:
        """Ask for the newest episodes, the newest first."""
        response = self._granted(srv.GetEpisodes.Request(newest=newest), "tell episodes")
        return tuple(map(conversions.episode_from_msg, response.episodes))

    def episode(self, episode_id: str) -> PastEpisode:
        """Ask for what is kept of an episode."""
        response = self._granted(srv.GetEpisodes.Request(episode_id=episode_id), "tell the episode")
        return PastEpisode(
            tuple(map(conversions.step_from_msg, response.steps)),
            tuple(map(conversions.compiled_from_response, response.compiled)),
            tuple(map(conversions.told_context_from_msg, response.contexts)),
            EpisodeAccount(conversions.model_cost_from_msg(response.metrics), tuple(response.notes)),
        )

    def lessons(self) -> tuple[Lesson, ...]:
        """Ask for the lessons that memory holds."""
        response = self._granted(srv.GetEpisodes.Request(newest=1), "tell lessons")
        return tuple(map(conversions.lesson_from_msg, response.guidelines))

    def places(self, object_id: str) -> tuple[Place, ...]:
        """Ask where an object was before; "": the newest earlier places of all objects."""
        response = self._granted(srv.GetPastPlaces.Request(object_id=object_id), "tell its places")
        return tuple(map(conversions.place_from_msg, response.places))

    def _granted(self, request: Any, deed: str) -> Any:
        response = self._call(request)
        if not response.success:
            raise RobotMemoryError(f"memory did not {deed}: {response.message}")
        return response
