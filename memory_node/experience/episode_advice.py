"""What experience advises before an action of a running episode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_node.domain.advice import Advice, AdviceSource, bind
from memory_node.domain.skill import SkillCall
from memory_node.experience.config import ExperienceConfig
from memory_node.experience.long_term import LongTermExperience
from memory_node.experience.running_episode import RunningEpisode


def advice_before(
    action: SkillCall,
    episode: RunningEpisode,
    objects: Sequence[str],
    long_term: LongTermExperience,
    config: ExperienceConfig,
) -> tuple[Advice, ...]:
    """Return what to do, or to know, before an action; what holds already is left out.

    objects: the classes that the task is about. config: the parts and graphs that are used.
    Guidelines among the advice are noted as given in the episode.
    """
    advice: list[Advice] = []
    if "working" in config.parts:
        advice += _warnings(action, episode)
    task_type = episode.summary.task_type
    if "episodic" in config.parts and "actions" in config.graphs:
        advice += long_term.recalled(task_type, long_term.similar(task_type, objects, ""), action)
    if "semantic" in config.parts:
        for guideline in long_term.book.repairs(task_type, action):
            repair = Advice(AdviceSource.SEMANTIC, guideline.text, guideline.remedy)
            if not _all_fulfilled(repair, action, episode):
                episode.given_guidelines.add(guideline.key)
                advice.append(repair)
    return tuple(one for one in advice if not one.before or not _all_fulfilled(one, action, episode))


def _warnings(action: SkillCall, episode: RunningEpisode) -> Iterator[Advice]:
    """Yield what working memory has against an action; two rules that the same steps put right warn once."""
    known: set[tuple[SkillCall, ...]] = set()
    for warning in episode.warnings_before(action):
        if warning.steps not in known:
            yield Advice(AdviceSource.WORKING, str(warning), warning.steps)
        if warning.steps:
            known.add(warning.steps)


def _all_fulfilled(advice: Advice, action: SkillCall, episode: RunningEpisode) -> bool:
    bound = [bind(call, action) for call in advice.before]
    return all(call is None or episode.fulfils(call) for call in bound)
