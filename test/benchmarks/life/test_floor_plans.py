"""Days in an ALFRED floor plan, further things on its furniture, and a pick among the calls that are valued."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.life.day_check import check_days
from benchmarks.life.day_file import read_days
from benchmarks.life.day_run import DayReport, StepReport
from benchmarks.life.home import LifeHomes
from benchmarks.life.judge import Verdict
from benchmarks.life.life_rows import Setting, rows_of
from benchmarks.life.player import RobotPlayer
from benchmarks.life.players import CHANCE, OFFLINE, seeds_of
from benchmarks.ranking.ranked_planner import VALUED, open_bench_planner
from memory_node.cli import main
from memory_node.domain.errors import InvalidValueError
from memory_node.planner.planner_config import PlannerConfig

DAY = """
- id: apple-kept-cold
  category: where
  home: FloorPlan1
  events:
    - move: {Apple#1: Fridge#1}
      seen: true
    - restart: true
    - do: bring me the apple
      goals: [{kind: place, object: Apple#1, place: User}]
      want: {at: {Apple#1: user}, most_searches: 0, only: [Apple#1]}
"""
ON_THE_BED = """
- id: bowl-on-the-bed
  category: where
  home: studio
  events:
    - do: put the bowl on the bed
      goals: [{kind: place, object: bowl, place: Bed}]
      want: {at: {bowl: bed}}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "days.yaml"
    path.write_text(text)
    return path


def printed(capsys: pytest.CaptureFixture[str], days: Path, *options: str) -> list[dict[str, object]]:
    assert main(["bench", "life", "--days", str(days), "--json", *options]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_day_is_played_in_a_floor_plan(shared_dir: Path, tmp_path: Path, capsys) -> None:
    scenes = str(shared_dir / "data/alfred_home/scenes.json.gz")
    rows = printed(capsys, written(tmp_path, DAY), "--scenes", scenes, "--each-scenario")
    assert rows[0]["right"]
    assert "OpenObject(Fridge#1)" in rows[0]["steps"][0]["calls"]
    unknown = written(tmp_path, DAY.replace("FloorPlan1", "FloorPlan999"))
    with pytest.raises(InvalidValueError, match=r"line 4.*FloorPlan999"):
        check_days(read_days([unknown])[0], LifeHomes(Path(scenes), 0))


def test_further_things_leave_two_fifths_of_each_top_free(tmp_path: Path) -> None:
    def day_with(count: int):
        head = f"  home: studio\n  extra: {{Pan: {count}}}"
        return read_days([written(tmp_path, ON_THE_BED.replace("  home: studio", head))])[0]

    homes = LifeHomes(None, 0)
    with pytest.raises(InvalidValueError) as refused:
        check_days(day_with(900), homes)
    most = int(re.search(r"room for (\d+) of 900 Pan", str(refused.value))[1])
    (day,) = day_with(most - 3)  # where each lies is drawn anew for each number
    world = homes.world(day.scenario)
    tops = {one.parent_id for one in world.of_class("Pan") if one.id.startswith("Pan#")}
    assert tops
    for top in tops:
        covered = sum(one.box.size[0] * one.box.size[1] for one in world.contents(top))
        assert covered <= 0.6 * world[top].box.size[0] * world[top].box.size[1]


def test_a_pick_among_valued_calls_is_drawn_anew_for_each_seed(days) -> None:
    assert seeds_of(VALUED) == seeds_of(CHANCE) == 5
    assert seeds_of(OFFLINE) == 1
    planner = open_bench_planner(VALUED, "plan", days.embedder, PlannerConfig(), False, seed="0 bowl")
    report = days.play(
        "- do: put the bowl on the bed\n  want: {most_calls: 50}", player=lambda life: RobotPlayer(life, planner)
    )
    (step,) = report.steps
    assert not report.crash
    assert any("bowl" in call for call in step.calls), "a call that is worth nothing is never drawn"
    setting = Setting(VALUED, seeds=2)
    reports = [DayReport("a", "where", [StepReport(0, "x", verdict)]) for verdict in (Verdict(), Verdict({"at": "no"}))]
    assert [row["success_rate"] for row in rows_of(setting, reports)] == [0.5, 0.5]
    assert {row["scenarios"] for row in rows_of(setting, reports)} == {1}
