"""Games that are played with memory, watched: each prompt of the executor, and what memory says in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.alfworld.aid import Aid, OpenAid, StepAid
from benchmarks.alfworld.dialogue import told_text
from benchmarks.alfworld.play import CompilingAccount, GameEngine
from memory_node.llm.chat import Message
from memory_node.llm.deadline import Deadline
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.step_chooser import Choice, StepChooser
from memory_node.scene_graph.place_habits import PlaceCensus


@dataclass(frozen=True)
class WatchedPrompt:
    """What the executor was asked at one step, from 1 on. memory: the part of the text that memory said."""

    step: int
    messages: tuple[Message, ...]
    memory: str


@dataclass
class Watch:
    """A StepChooser and an OpenAid that keep what passes through them."""

    chooser: StepChooser
    aid_of: OpenAid
    prompts: list[WatchedPrompt] = field(default_factory=list)
    thinks: bool = False
    _step: int = 0
    _memory: str = ""

    def open(self, engine: GameEngine, learnt: PlaceCensus | None, name: str) -> Aid:
        """Open the aid of a game."""
        self._step = 0
        return _WatchedAid(self.aid_of(engine, learnt, name), self)

    def told(self, aid: Aid, said: StepAid) -> None:
        """Take note of what memory says at a step."""
        self._step += 1
        self._memory = aid.experience or told_text(said.state, said.advice)

    def choose(
        self, messages: Sequence[Message], values: Mapping[str, float], account: ModelAccount, deadline: Deadline
    ) -> Choice:
        """Let the chooser choose; see StepChooser."""
        if self._memory:
            self.prompts.append(WatchedPrompt(self._step, tuple(messages), self._memory))
        return self.chooser.choose(messages, values, account, deadline)


@dataclass
class _WatchedAid:
    aid: Aid
    watch: Watch

    @property
    def experience(self) -> str:
        return self.aid.experience

    @property
    def account(self) -> CompilingAccount | None:
        return self.aid.account

    def tell(self) -> StepAid:
        said = self.aid.tell()
        self.watch.told(self.aid, said)
        return said

    def send(self, command: str) -> str:
        return self.aid.send(command)

    def close(self) -> None:
        self.aid.close()
