"""Takes over what other robots of the site learn, while memory runs."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from memory_node.domain.errors import RobotMemoryError
from memory_node.episodes.past_attempt import ATTEMPTS
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.knowledge_log import PROPOSITIONS, STEPS
from memory_node.lessons.experience import Experience
from memory_node.lessons.log import LESSONS
from memory_node.store import Store, StoreChange
from memory_node.store.tombstones import tombstone_of

_log = logging.getLogger(__name__)


def take_over_learning(store: Store, change: StoreChange, experience: Experience, knowledge: KnowledgeGraph) -> int:
    """Take over ended episodes and learnt things of others, and give up what was forgotten; return how many came.

    A lesson that two robots taught stands as it was written last.
    """
    if change.forgotten:

        def is_forgotten(kind: str, record_id: str) -> bool:
            return tombstone_of(kind, record_id) in change.forgotten

        knowledge.drop_forgotten(is_forgotten, experience.drop_forgotten(is_forgotten))
    bodies: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    gone: defaultdict[str, list[str]] = defaultdict(list)
    for document in change.documents:
        if document.removed:
            gone[document.kind].append(document.id)
        else:
            bodies[document.kind].append(document.body)
    told = [e.id for e in change.episodes if e.robot_id != store.robot_id and e.ended_ns and e.success is not None]
    # Steps that another robot has changed by forgetting.
    told += [i for i in dict.fromkeys(step.episode_id for step in change.steps) if experience.knows(i)]
    try:
        episodes = [(episode_id, store.steps(episode_id)) for episode_id in dict.fromkeys(told)]
        experience.take_over(bodies[ATTEMPTS], bodies[LESSONS], episodes, gone[LESSONS])
        knowledge.load(map(dict, bodies[PROPOSITIONS]), map(dict, bodies[STEPS]))
        knowledge.give_up({kind: set(gone[kind]) for kind in (PROPOSITIONS, STEPS)})
        knowledge.embed_statements()
    except RobotMemoryError as error:
        # A document of another program version must not block the others.
        _log.error("what others have learnt cannot be taken over: %s", error)
        return 0
    return len(episodes) + sum(map(len, bodies.values()))
