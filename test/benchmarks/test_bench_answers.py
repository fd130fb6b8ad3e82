"""Both object memories, filled by the simulated robot, answer a third of the shipped questions alike and well."""

import yaml

from benchmarks import answers
from memory_node.sim.home_file import load_home


def test_both_services_agree_and_are_right_where_they_say_ok() -> None:
    document = yaml.safe_load(answers._SHIPPED.read_text(encoding="utf-8"))
    queries = document["queries"][::3]
    world = load_home(document["home"])
    memory = answers.memory_of(world)
    asked = answers.ask(memory, queries)
    memory.close()
    for row in answers.rows(queries, asked, world):
        assert row["agreement"] >= 0.99
        assert row["precision_ok"] >= 0.95
        assert row["recall"] >= 0.9
