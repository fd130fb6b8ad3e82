"""What attempts at one game teach for the next: nothing of the game itself goes along."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from small_game import KITCHEN, Embedder, SmallGame, mugs_in_drawers

from benchmarks.alfworld.command import offline_planner
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.learnt import Carried, CarriedExperience, EpisodeRecorder, GameEpisode, Learnt
from benchmarks.alfworld.play import PlayedGame, Player, for_text_games
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.lessons.long_term import ExperienceQuery

KINDS = for_text_games(load_catalogue())
FRESH = Carried(experience=CarriedExperience())


def play(game: SmallGame, carried: Carried = FRESH, max_steps: int = 50) -> PlayedGame:
    embedder = Embedder()
    player = Player(KINDS, embedder, partial(offline_planner, embedder), max_steps, lambda _: game)
    return player.play(Game("split/put-Mug-Drawer-7/trial_9/game.tw-pddl", "put", b""), carried)


def put_a_mug() -> SmallGame:
    return SmallGame(KITCHEN, "put a mug in drawer", lambda game: 1 in mugs_in_drawers(game))


def step(index: int, skill: str, *arguments: str, reason: FailureReason = FailureReason.NONE) -> StepRecord:
    done = reason is FailureReason.NONE
    return StepRecord("e", index, SkillCall(skill, arguments), done, reason, (index + 1) * 10**9, held_object="Mug")


# A mug was warmed and put away.
WARMED = GameEpisode(
    EpisodeSummary("w", "put a hot mug in cabinet.", "place+heat", 10**9, 4 * 10**9, True),
    (step(0, "PickupObject", "Mug"), step(1, "HeatObject", "Mug", "Microwave"), step(2, "PutObject", "Mug", "Cabinet")),
)


# A mug was put into a closed cabinet in vain, and then the cabinet was opened.
OPENED = GameEpisode(
    EpisodeSummary("e", "put a mug in cabinet.", "place", 10**9, 4 * 10**9, True),
    (
        step(0, "PutObject", "Mug", "Cabinet", reason=FailureReason.CLOSED),
        step(1, "OpenObject", "Cabinet"),
        step(2, "PutObject", "Mug", "Cabinet"),
        step(3, "CloseObject", "Cabinet"),
    ),
)


def strings_of(path: Path) -> Iterator[str]:
    """Yield every text and number that a database holds, as text."""
    with closing(sqlite3.connect(path)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in database.execute(f'SELECT * FROM "{table}"'):
                yield from (str(value) for value in row)


def test_what_is_stored_of_a_game_has_no_number_position_or_name_of_it(tmp_path: Path) -> None:
    path = tmp_path / "learnt.db"
    with Learnt(path, learns=True, embedder=Embedder()) as learnt:
        for _ in range(3):
            played = play(put_a_mug(), learnt.carried)
            assert played.won
            learnt.add(played.taught, played.episodes)
        experience = learnt.carried.experience
        assert len(experience.attempts) == len(experience.episodes) == 3
    stored = list(strings_of(path))
    assert any("PutObject" in text for text in stored)
    named = [name for place, things in KITCHEN.items() for name in (place, *things)]
    assert [text for text in stored for name in named if name in text.lower()] == []
    assert [text for text in stored if re.search(r"@-?\d|trial_9|Mug-Drawer", text)] == []
    for _, steps in experience.episodes:
        assert {(one.position, one.room, one.area) for one in steps} == {((0.0, 0.0, 0.0), "", "")}


def test_failure_in_one_game_is_known_to_the_next_and_to_the_next_run(tmp_path: Path) -> None:
    with Learnt(tmp_path / "learnt.db", learns=True, embedder=Embedder()) as learnt:
        learnt.add(learnt.census, (OPENED,))
    with Learnt(tmp_path / "learnt.db", learns=False, embedder=Embedder()) as again:
        experience = again.carried.experience
        known = experience.experience(EpisodeRecorder(), lambda: experience.ended_ns)
        episode_id = known.start("put a cup in cabinet.", "place")
        recalled = known.ask(ExperienceQuery(episode_id=episode_id)).failed_before
        assert [(one.call.skill, list(one.reasons)) for one in recalled] == [("PutObject", [FailureReason.CLOSED])]
        known.close()


def test_recorder_tells_which_lessons_an_episode_was_given(tmp_path: Path) -> None:
    with Learnt(None, learns=True, embedder=Embedder()) as learnt:
        learnt.add(learnt.census, (WARMED,))
        carried = learnt.carried.experience
    recorder = EpisodeRecorder(carried.known_lessons())
    experience = carried.experience(recorder, lambda: carried.ended_ns + 10**9)
    episode_id = experience.start("put a mug in cabinet.", "place")
    for made in WARMED.steps:  # a way counts once it was followed
        experience.record(replace(made, episode_id=episode_id))
    [key] = [one.id for one in carried.known_lessons()]
    experience.note_given([key], episode_id)
    ended = experience.end(episode_id, True)
    ended.result(10.0)
    [told] = recorder.episodes
    assert (told.given, len(told.steps)) == (frozenset({key}), len(WARMED.steps))
    experience.close()


def test_attempt_ends_as_the_game_says_and_not_as_the_planner_believes() -> None:
    lost = play(SmallGame(KITCHEN, "put a mug in drawer", lambda _: False))
    assert not lost.won
    assert lost.episodes
    assert [one.summary.success for one in lost.episodes] == [False] * len(lost.episodes)
    # The game ends before the planner has closed the door behind itself.
    won = play(SmallGame(KITCHEN, "put a cool mug in microwave", lambda game: "microwave 1" in game.opened))
    assert [one.summary.success for one in won.episodes] == [True]
    assert all(one.reason is not FailureReason.CANCELED for episode in won.episodes for one in episode.steps)
