"""The parameters of a memory. Importing this module does not import the parts that use them."""

from __future__ import annotations

from pydantic import field_validator

from memory_node.catalogue.label_space import HOUSEHOLD, LabelSpace
from memory_node.context.config import CompilerConfig
from memory_node.domain.clock import time_zone
from memory_node.domain.parameters import Parameters, parameter
from memory_node.knowledge.config import KnowledgeConfig
from memory_node.lessons.config import ExperienceConfig, OptimizerConfig
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.search.config import RetrievalConfig
from memory_node.short_term.config import ShortTermConfig
from memory_node.store.config import StoreConfig


class MemoryConfig(Parameters):
    """What a memory is made of."""

    database: str = parameter(
        "", "long-term memory: a file, or a SQLAlchemy URL of PostgreSQL; empty, or :memory: this process only"
    )
    site: str = parameter("", "the site that the database is of; empty: what the file says, else home")
    robot_id: str = parameter("", "name of this robot in a memory that several robots share; empty: the host's name")
    time_zone: str = parameter(
        "", "zone of every day and clock time that is told or said, as Europe/Berlin; empty: the machine's"
    )
    label_space: LabelSpace = HOUSEHOLD
    scene_graph: SceneGraphConfig = SceneGraphConfig()
    short_term: ShortTermConfig = ShortTermConfig()
    search: RetrievalConfig = RetrievalConfig()
    experience: ExperienceConfig = ExperienceConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    compiler: CompilerConfig = CompilerConfig()
    knowledge: KnowledgeConfig = KnowledgeConfig()
    store: StoreConfig = StoreConfig()

    @field_validator("time_zone")
    @classmethod
    def _check_time_zone(cls, name: str) -> str:
        time_zone(name)
        return name
