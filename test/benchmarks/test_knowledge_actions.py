"""What memories of games are worth for the next command."""

import json
from pathlib import Path

import numpy as np
import pytest
from knowledge_doubles import BagOfWords
from numpy.typing import NDArray

from benchmarks.knowledge_actions import action_cases, action_recalls, load_runs, split_runs
from benchmarks.knowledge_readers import RuleReader
from benchmarks.knowledge_utility import rows_over
from memory_node.domain.errors import InvalidValueError


def run(thing: str, place: str, won: bool = True) -> str:
    turns = [
        ["go to desk 1", f"On the desk 1, you see a {thing} 1."],
        [f"take {thing} 1 from desk 1", f"You pick up the {thing} 1."],
        [f"go to {place} 1", f"You arrive at {place} 1."],
        [f"put {thing} 1 in/on {place} 1", f"You put the {thing} 1 in/on the {place} 1."],
    ]
    return json.dumps({"task": f"put some {thing} on {place}.", "turns": turns, "won": won})


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join([run("pen", "shelf"), run("mug", "bed"), run("pen", "shelf"), run("cup", "bed", False)]))
    return path


def test_commands_of_won_runs_are_asked_with_others_of_the_same_run(runs: Path) -> None:
    known, asked = split_runs(load_runs(runs))
    assert (len(known), len(asked)) == (2, 1)
    cases = list(action_cases(asked, 0, seed=1))
    commands = {command for command, _ in asked[0].turns}
    assert len(cases) == 3
    for case in cases:
        assert case.candidates[0] == case.question.answers[0]
        assert set(case.candidates) == commands
        assert case.candidates[0] not in case.question.text.partition("\n")[0]
    assert len(list(action_cases(asked, 2, seed=1))) == 2


def test_row_of_an_action_counts_the_right_command_alone(runs: Path) -> None:
    known, asked = split_runs(load_runs(runs))
    cases = list(action_cases(asked, 0, seed=1))
    recalls = action_recalls(known, asked, BagOfWords(), seed=1)
    rows = {(row.memory, row.p): row for row in rows_over("runs", [(cases, recalls)], LikesTake(), [200])}
    assert set(recalls) == {memory for memory, _ in rows}
    # Four commands, of which the reader takes one that begins with "take".
    right = np.mean([case.candidates[0].startswith("take") for case in cases])
    assert rows["knowledge", "score"].p_memory == pytest.approx(right)
    assert rows["knowledge", "score"].tokens
    assert rows["no-memory", "score"].empty == len(cases)


class LikesTake(RuleReader):
    """Finds commands probable that begin with "take", and all others as improbable."""

    def probabilities(self, question: str, memory: list[str], candidates: tuple[str, ...]) -> NDArray[np.float64]:  # type: ignore[override]
        values = np.array([0.9 if text.startswith("take") else 0.1 for text in candidates])
        return np.asarray(values / values.sum())


def test_file_without_won_runs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(run("pen", "shelf", won=False))
    with pytest.raises(InvalidValueError, match="two runs that were won"):
        load_runs(path)
