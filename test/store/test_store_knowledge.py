"""Knowledge comes back whole on both databases, also to another robot of the site."""

from contextlib import closing
from pathlib import Path

from knowledge_doubles import BagOfWords

from memory_node.knowledge.knowledge_nodes import Criteria
from memory_node.knowledge.standard_step import Turn, document_steps, talk_steps
from memory_node.memory import RobotMemory
from memory_node.opening import MemoryConfig, open_memory
from memory_node.store.config import StoreConfig

LONG = "The shelf holds " + ", ".join(f"the box number {n}" for n in range(80)) + "."


def opened(url: str, robot: str, folder: Path) -> RobotMemory:
    store = StoreConfig(journal_path=str(folder / f"{robot}.pending"), data_dir=str(folder / f"{robot}.data"))
    return open_memory(MemoryConfig(database=url, robot_id=robot, store=store), embedder=BagOfWords())


def test_knowledge_comes_back_whole_to_another_robot(store_url: str, tmp_path: Path) -> None:
    with closing(opened(store_url, "r1", tmp_path)) as first:
        first.tell_fact("The blue mug is Anna's.", "Ben", stamp_ns=5)
        first.tell_fact("The blue mug is Carl's.", "Ben", stamp_ns=9)
        first.read(document_steps("book", "Shelves", [LONG, "Nothing else is there."], 3))
        first.read(talk_steps("talk", [Turn("Ann", "I went to the lake and swam and walked. " * 5)], 4))
        assert first.knowledge.delete(Criteria(before_ns=4))
        assert first.knowledge.compress(5) == 1, "of what was deleted no step is left"
        kept = first.knowledge.hash()
        first.commit()
    with closing(opened(store_url, "r2", tmp_path)) as second:
        assert second.knowledge.hash() == kept
        answer = second.ask("Whose is the blue mug?")
        assert "Carl's" in answer.text
        assert "Anna's" not in answer.text
        assert second.knowledge.forget("talk") > 0
        left = second.knowledge.hash()
        second.commit()
    with closing(opened(store_url, "r1", tmp_path)) as again:
        assert again.knowledge.hash() == left != kept
