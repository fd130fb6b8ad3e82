"""A graph of knowledge with a log that can be looked at."""

import pytest
from knowledge_doubles import BagOfWords, ListedLog, read_facts

from memory_node.knowledge.knowledge_graph import KnowledgeGraph


@pytest.fixture
def log() -> ListedLog:
    return ListedLog()


@pytest.fixture
def graph(log: ListedLog) -> KnowledgeGraph:
    return KnowledgeGraph(BagOfWords(), log, read_facts=read_facts)
