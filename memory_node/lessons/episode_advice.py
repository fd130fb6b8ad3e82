"""What experience advises before an action of a running episode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memory_node.domain.advice import Advice, AdviceSource, bind
from memory_node.domain.skill import SkillCall
from memory_node.episodes.running_episode import RunningEpisode
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.long_term import LongTermExperience


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
        warnings = episode.warnings_before(action)
        advice += (Advice(AdviceSource.WORKING, str(warning), warning.steps) for warning in warnings)
        if 0 < episode.failed_by_chance(action) <= config.most_tries:
            advice.append(Advice(AdviceSource.WORKING, f"{action.skill} failed by itself; once more", again=True))
    task_type = episode.summary.task_type
    if "episodic" in config.parts and "actions" in config.graphs:
        advice += long_term.recalled(task_type, long_term.similar(task_type, objects, ""), action)
    if "semantic" in config.parts:
        for guideline in long_term.book.repairs(task_type, action):
            repair = Advice(AdviceSource.SEMANTIC, guideline.text, guideline.remedy)
            if not _all_fulfilled(repair, action, episode):
                episode.given_guidelines.add(guideline.key)
                advice.append(repair)
    return tuple(_without_echoes(one for one in advice if not one.before or not _all_fulfilled(one, action, episode)))


def _without_echoes(advice: Iterable[Advice]) -> Iterator[Advice]:
    """Yield advice without what working memory has warned of already: it knows the present."""
    warned: set[tuple[SkillCall, ...]] = set()
    for one in advice:
        if one.before not in warned:
            yield one
        if one.before and one.source is AdviceSource.WORKING:
            warned.add(one.before)


def _all_fulfilled(advice: Advice, action: SkillCall, episode: RunningEpisode) -> bool:
    bound = [bind(call, action) for call in advice.before]
    return all(call is None or episode.fulfils(call) for call in bound)
