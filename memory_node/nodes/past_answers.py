"""Answers of the memory node about the past: episodes, their lessons, earlier places of objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_node.domain.clock import zone_name
from memory_node.domain.scene import Place
from memory_node.memory import RobotMemory
from memory_node.nodes import conversions
from memory_node.nodes.conversions.ranges import checked_count, checked_id, checked_label

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
