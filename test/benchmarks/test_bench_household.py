"""The household and instruction benchmarks run from the command line on the real floor plans."""

import gzip
import json

from memory_node.cli import main


def test_household_reports_a_row_for_each_category(shared_dir, tmp_path, capsys) -> None:
    rows = json.loads((shared_dir / "data/alfred_l/tasks.json").read_text())
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps([row for row in rows if row["floor_plan"] == "FloorPlan19"]))
    scenes = shared_dir / "data/alfred_home/scenes.json.gz"
    arguments = ["--scenes", str(scenes), "--tasks", str(tasks), "--suite", "alfred-l"]
    assert main(["bench", "household", *arguments, "--json"]) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["category"] for row in printed] == ["simple", "all"]
    assert printed[-1]["success_rate"] == 1.0
    assert printed[-1]["reduced_exploration"] == 1.0


def test_eb_alfred_rows_are_carried_out_and_reported_by_subset(shared_dir, tmp_path, capsys) -> None:
    tasks = shared_dir / "data/alfred_home/tasks_train.jsonl.gz"
    with gzip.open(tasks, "rt") as file:
        task = next(row for row in map(json.loads, file) if row["task_type"] == "pick_and_place_simple")
    words = {"base": task["instructions"][0]["task"], "common_sense": task["instructions"][1]["task"]}
    rows = [{"subset": subset, "instruction": said, "repeat_idx": 0, "task": task} for subset, said in words.items()]
    path = tmp_path / "eb.json"
    path.write_text(json.dumps(rows))
    scenes = str(shared_dir / "data/alfred_home/scenes.json.gz")
    assert main(["bench", "household", "--scenes", scenes, "--tasks", str(path), "--suite", "eb-alfred", "--json"]) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["category"], row["tasks"]) for row in printed] == [("base", 1), ("common_sense", 1), ("all", 2)]
    assert printed[-1]["success_rate"] == 1.0


def test_instructions_of_both_formats_are_read(shared_dir, tmp_path, capsys) -> None:
    params = {
        "object_target": "Book",
        "object_sliced": False,
        "parent_target": "Bed",
        "mrecep_target": "",
        "toggle_target": "",
    }
    task = {
        "task_type": "pick_and_place_simple",
        "pddl_params": params,
        "floor_plan": "FloorPlan301",
        "objects": [{"type": name} for name in ("Book", "Pen", "Laptop", "Pillow", "CD", "AlarmClock", "CellPhone")],
    }
    plain = {
        **task,
        "instructions": [{"task": "put the book on the bed"}, {"task": "Place a book onto the bed."}],
    }
    wrapped = {"subset": "base", "instruction": "move the book to the bed", "repeat_idx": 0, "task": task}
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (plain, wrapped)))
    assert main(["bench", "instructions", "--tasks", str(path), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["instructions"], row["task_type_accuracy"], row["goal_exact"]) == (3, 1.0, 1.0)
    assert row["ms_p50"] > 0
