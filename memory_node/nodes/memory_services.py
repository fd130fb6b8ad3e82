"""The memory node's services: each converts, asks the core, and answers; an error becomes a clear message."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_memory import srv

from memory_node.domain.answer import AnswerStatus, FindQuery, Recollection
from memory_node.domain.clock import zone_name
from memory_node.domain.context import ALL_SOURCES, ContextSource, estimate_tokens
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.scene import Place
from memory_node.domain.step import EpisodeAccount
from memory_node.knowledge.answering import Mode
from memory_node.knowledge.told.telling import in_words
from memory_node.memory import RobotMemory
from memory_node.nodes import conversions
from memory_node.nodes.conversions.ranges import (
    checked_count,
    checked_id,
    checked_items,
    checked_label,
    checked_member,
    checked_text,
)
from memory_node.nodes.memory_topics import MemoryTopics
from memory_node.nodes.service_clients import service_name


class OpenRequests(ReentrantCallbackGroup):
    """The callback group of services that run side by side; counts their requests; thread-safe.

    A request is open until the executor has sent its answer, which is after the service's callback has returned.
    node_name: for the refusal of later ones.
    """

    def __init__(self, node_name: str) -> None:
        super().__init__()
        self._node_name = node_name
        self._count = 0
        self._is_closed = False
        self._changed = threading.Condition()

    def beginning_execution(self, entity: Any) -> bool:
        """Count a request; the executor calls this."""
        with self._changed:
            self._count += 1
        return super().beginning_execution(entity)

    def ending_execution(self, entity: Any) -> None:
        """Count a request as answered; the executor calls this."""
        super().ending_execution(entity)
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def require_open(self) -> None:
        """Return if requests are taken.

        Raises:
            RobotMemoryError: `close` was called.
        """
        with self._changed:
            if self._is_closed:
                raise RobotMemoryError(f"the node {self._node_name} is not active")

    def close(self, timeout_s: float) -> None:
        """Refuse new requests, and wait until the present ones are answered."""
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: self._count == 0, timeout_s)


_NEWEST = 50
_MOST_PLACES = 10_000
_MOST_DEEDS = 5_000
_MOST_POSED = 100


def answer_episodes(memory: RobotMemory, request: Any, response: Any) -> None:
    """Answer srv/GetEpisodes; an episode of which nothing is kept has no steps, and the message says so."""
    lessons = memory.lessons()
    if request.episode_id:
        episode_id = checked_id("episode_id", request.episode_id)
        episode = memory.past.episode(episode_id)
        if not episode.steps:
            response.message = f"no steps of an episode {episode_id!r} are kept"
        response.steps = [conversions.step_to_msg(step) for step in episode.steps]
        response.compiled = [conversions.compiled_to_msg(step) for step in episode.compiled]
        response.contexts = [conversions.told_context_to_msg(told) for told in episode.contexts]
        response.metrics = conversions.model_cost_to_msg(episode.account.cost)
        response.notes = list(episode.account.notes)
        lessons = tuple(one for one in lessons if episode_id in one.episodes)
    else:
        episodes = memory.past.episodes(checked_count("newest", request.newest) or _NEWEST)
        response.episodes = [conversions.episode_to_msg(episode) for episode in episodes]
    response.guidelines = [conversions.lesson_to_msg(one) for one in lessons]


def answer_past(memory: RobotMemory, request: Any, response: Any) -> None:
    """Answer srv/RecallPast; of very many deeds the newest."""
    if request.posed_with:
        posed = memory.deeds.posed_with(checked_label("posed_with", request.posed_with))
        response.tried = [conversions.deed_to_msg(deed) for deed in posed[-_MOST_POSED:]]
        return
    recalled = memory.recall_past()
    response.facts = [fact.to_json() for fact in recalled.facts]
    response.tried = [conversions.deed_to_msg(deed) for deed in recalled.tried[-_MOST_DEEDS:]]
    response.unfinished = [conversions.episode_to_msg(episode) for episode in recalled.unfinished]
    response.said, response.waiting = list(recalled.said), recalled.waiting
    response.time_zone = zone_name(recalled.zone)
    response.asked_in, response.asked = list(recalled.asked.keys()), list(recalled.asked.values())


def answer_past_places(memory: RobotMemory, request: Any, response: Any) -> None:
    """Answer srv/GetPastPlaces.

    Raises:
        NotFoundError: no object has this id.
    """
    places: Sequence[Place]
    if request.object_id:
        places = memory.one_object(checked_id("object_id", request.object_id)).history
    else:
        objects = memory.scene(removed=True).objects
        places = sorted((place for one in objects for place in one.history), key=lambda place: place.until_ns)
    response.places = [conversions.place_to_msg(place) for place in places[-_MOST_PLACES:]]


# Of a context and a compiler, where a request names none.
_TOKENS, _COMPILER = 2000, "rules"


class MemoryServices:
    """Serves `memory` under the node's name: ~/find_objects and so on."""

    def __init__(self, node: Node, memory: RobotMemory, topics: MemoryTopics) -> None:
        self._node = node
        self._memory = memory
        self._topics = topics
        self._requests = OpenRequests(node.get_name())
        self._serve(srv.GetSceneGraph, self._get_scene_graph)
        self._serve(srv.FindObjects, partial(_answer, memory.find))
        self._serve(srv.RecallObjects, partial(_answer, memory.recall))
        self._serve(srv.LocateObject, self._locate_object)
        self._serve(srv.RankSearchAreas, self._rank_search_areas)
        self._serve(srv.Remember, self._remember)
        self._serve(srv.TellFact, self._tell_fact)
        self._serve(srv.RecallPast, partial(answer_past, memory))
        self._serve(srv.AskMemory, self._ask_memory)
        self._serve(srv.GetContext, self._get_context)
        self._serve(srv.Forget, self._forget)
        self._serve(srv.SaveMemory, self._save_memory)
        self._serve(srv.EditObject, self._edit_object)
        self._serve(srv.ConfirmRelocalization, self._confirm_relocalization)
        self._serve(srv.StartEpisode, self._start_episode)
        self._serve(srv.CompileContext, self._compile_context)
        self._serve(srv.RecordStep, self._record_step)
        self._serve(srv.EndEpisode, self._end_episode)
        self._serve(srv.GetEpisodes, partial(answer_episodes, memory))
        self._serve(srv.GetPastPlaces, partial(answer_past_places, memory))

    def close(self, timeout_s: float = 3.0) -> None:
        """Answer the present requests, and refuse later ones."""
        self._requests.close(timeout_s)

    def _serve(self, kind: Any, answer: Callable[[Any, Any], None]) -> None:
        name = service_name(kind)

        def guarded(request: Any, response: Any) -> Any:
            try:
                _check_ids(request)
                self._requests.require_open()
                answer(request, response)
                if hasattr(response, "success"):
                    response.success = True
            except InvalidValueError as error:
                _fail(response, str(error), AnswerStatus.INVALID)
            except (RobotMemoryError, ValueError) as error:
                _fail(response, str(error))
            except Exception as error:
                self._node.get_logger().error(f"{name}: {type(error).__name__}: {error}")
                _fail(response, f"internal error in {name}: {type(error).__name__}")
            return response

        self._node.create_service(kind, f"~/{name}", guarded, callback_group=self._requests)

    def _get_scene_graph(self, request: Any, response: Any) -> None:
        if request.object_id:
            found = self._memory.scene_of_one(request.object_id, _as_of(request))
            response.graph = conversions.snapshot_to_msg(found)
            return
        scene = self._memory.scene(_as_of(request), request.include_removed)
        if request.area_id and request.area_id not in {area.id for area in scene.areas}:
            raise InvalidValueError(f"area_id: expected the id of an area, got {request.area_id!r}")
        if request.token_budget and _as_of(request):
            raise InvalidValueError("token_budget: the text is of now alone; expected 0 with as_of")
        if not 0.0 <= request.min_existence <= 1.0:
            raise InvalidValueError(f"min_existence: expected 0 to 1, got {request.min_existence}")
        chosen = tuple(
            found
            for found in scene.objects
            if found.existence >= request.min_existence
            and request.area_id in ("", found.area_id)
            and request.support_id in ("", found.support_id)
        )
        if request.support_id:
            scene = replace(scene, floors=(), rooms=(), areas=(), relations=())
        response.graph = conversions.snapshot_to_msg(replace(scene, objects=chosen))
        if request.token_budget:
            response.text = self._memory.scene_text(request.token_budget)
            response.text_tokens = estimate_tokens(response.text)

    def _locate_object(self, request: Any, response: Any) -> None:
        location = self._memory.locate(conversions.query_from_request(request), request.max_areas)
        conversions.LOCATION.fill(response, location)

    def _rank_search_areas(self, request: Any, response: Any) -> None:
        areas = self._memory.rank_search_areas(checked_label("object_class", request.object_class), request.k)
        response.areas = [conversions.ranked_area_to_msg(area) for area in areas]
        status = AnswerStatus.OK if areas else AnswerStatus.UNKNOWN
        response.status = conversions.status_to_msg(status, "" if areas else "no map has come yet")

    def _remember(self, request: Any, response: Any) -> None:
        changes = conversions.changes_from_msg(request.changes)
        response.object_ids = list(self._memory.remember(changes, request.edit_id))

    def _tell_fact(self, request: Any, response: Any) -> None:
        text, teller = checked_text("text", request.text), checked_label("teller", request.teller)
        if request.retract:
            change = self._memory.delete_document if request.document else self._memory.retract_fact
            change(text, request.back)
            return
        told = self._memory.tell_fact(text, teller, conversions.stamp_from_msg(request.stamp, "stamp"))
        response.propositions = [conversions.proposition_to_msg(proposition) for proposition in told]
        response.message = in_words(told, self._memory.knowledge.facts())

    def _ask_memory(self, request: Any, response: Any) -> None:
        if request.told_only:
            question, k = checked_text("question", request.question), checked_count("k", request.k)
            told = self._memory.told_statements(question, k)
            response.propositions = [conversions.proposition_to_msg(found) for found in told]
            return
        mode = checked_member(Mode, "mode", request.mode) if request.mode else None
        k, as_of_ns = checked_count("k", request.k), conversions.stamp_from_msg(request.as_of, "as_of")
        answer = self._memory.ask(checked_text("question", request.question), mode, k, as_of_ns)
        conversions.KNOWLEDGE.fill(response, answer)

    def _get_context(self, request: Any, response: Any) -> None:
        instruction, budget = checked_text("instruction", request.instruction), request.token_budget or _TOKENS
        sources = frozenset(checked_member(ContextSource, "sources", name) for name in request.sources)
        context = self._memory.context(instruction, budget, request.episode_id, sources or ALL_SOURCES)
        conversions.context_to_response(context, response)

    def _forget(self, request: Any, response: Any) -> None:
        response.forgotten = self._memory.forget(
            object_id=request.object_id,
            area_id=request.area_id,
            object_class=request.object_class,
            begin_ns=conversions.stamp_from_msg(request.begin, "begin"),
            end_ns=conversions.stamp_from_msg(request.end, "end"),
        )
        response.message = f"{response.forgotten} objects forgotten"

    def _save_memory(self, request: Any, response: Any) -> None:
        response.objects = self._memory.save(request.backup_path)

    def _edit_object(self, request: Any, response: Any) -> None:
        response.object_id = self._memory.edit(
            request.operation,
            request.object_id,
            request.other_id,
            checked_label("new_class", request.new_class),
            conversions.point_from_msg(request.position),
            request.edit_id,
        )
        self._memory.commit()

    def _confirm_relocalization(self, request: Any, response: Any) -> None:
        new_T_old = request.new_map_from_old_map
        moved = conversions.pose_from_msg(new_T_old, "new_map_from_old_map") if request.shifted else None
        self._memory.confirm_relocalization(moved)

    def _start_episode(self, request: Any, response: Any) -> None:
        response.episode_id = self._memory.episodes.start(
            checked_text("instruction", request.instruction),
            checked_label("task_type", request.task_type),
            checked_id("episode_id", request.episode_id),
            checked_count("attempt", request.attempt) or 1,
        )
        response.max_attempts = self._memory.episodes.max_attempts
        self._memory.commit()

    def _compile_context(self, request: Any, response: Any) -> None:
        observation = conversions.observation_from_request(request)
        episode_id, compiler = checked_id("episode_id", request.episode_id), request.compiler or _COMPILER
        step = self._memory.guidance.compile(episode_id, observation, compiler)
        conversions.compiled_to_response(step, response)

    def _record_step(self, request: Any, response: Any) -> None:
        warnings = self._memory.episodes.record(conversions.step_from_msg(request.step), request.context_id)
        self._topics.publish_working_memory(request.step.episode_id)
        response.warnings = [str(warning) for warning in warnings]
        self._memory.commit()

    def _end_episode(self, request: Any, response: Any) -> None:
        succeeded = None if request.abandoned else bool(request.succeeded)
        notes = tuple(checked_text("notes", one) for one in checked_items("notes", request.notes))
        account = EpisodeAccount(conversions.model_cost_from_msg(request.metrics), notes)
        self._memory.episodes.end(request.episode_id, succeeded, checked_text("message", request.message), account)
        self._memory.commit()


def _check_ids(request: Any) -> None:
    """Check every id of a request, also those that are only compared.

    Raises:
        InvalidValueError: one is longer than a name may be, or holds what no name does.
    """
    for name, kind in request.get_fields_and_field_types().items():
        if kind == "string" and name.endswith("_id"):
            checked_label(name, getattr(request, name))


def _as_of(request: Any) -> int:
    return conversions.stamp_from_msg(request.as_of, "as_of")


def _answer(ask: Callable[[FindQuery], Recollection], request: Any, response: Any) -> None:
    conversions.RECOLLECTION.fill(response, ask(conversions.query_from_request(request)))


def _fail(response: Any, message: str, status: AnswerStatus = AnswerStatus.UNKNOWN) -> None:
    if hasattr(response, "status"):
        response.status = conversions.status_to_msg(status, message)
    else:
        response.success = False
        response.message = message
