"""Models that play with the engine's commands: what they are told, and what is counted."""

from collections.abc import Mapping, Sequence

import pytest

from benchmarks.alfworld.command import Setting, chooser_of
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.policy import PolicyPlayer, habits_at_first, told_habits
from benchmarks.ranking.choosing import Choice
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import Deadline, LateError, Message, Reply
from memory_node.planner.planner_config import LlmConfig, ModelAccount
from memory_node.scene_graph.place_habits import PlaceCensus

KINDS = load_catalogue()
TEXT = (
    "-= Welcome to TextWorld, ALFRED! =-\n\nLooking quickly around you, you see a drawer 1, a desk 1, "
    "and a bed 2.\n\nYour task is to: put a pencil in drawer."
)
LEARNT = PlaceCensus({("desk", ""): 4, ("bed", ""): 4, ("drawer", ""): 4}, {("pencil", "desk", ""): 4})


class Corridor:
    """A game that is won by going to the desk and on to the drawer."""

    text = TEXT
    score = None

    def __init__(self) -> None:
        self.sent: list[str] = []

    @property
    def commands(self) -> list[str]:
        return ["go to bed 2", "go to desk 1", "go to drawer 1", "help", "inventory", "look"]

    @property
    def won(self) -> bool:
        return self.sent[-2:] == ["go to desk 1", "go to drawer 1"]

    over = won
    facts = ()
    problem = ""

    def send(self, command: str) -> str:
        self.sent.append(command)
        return f"You arrive at {command[6:]}."

    def close(self) -> None:
        pass


class Scripted:
    """Chooses what it is told to."""

    thinks = False

    def __init__(self, *commands: str) -> None:
        self._commands = list(commands)
        self.seen: list[list[Message]] = []
        self.offered: list[list[str]] = []

    def choose(
        self, messages: Sequence[Message], values: Mapping[str, float], account: ModelAccount, deadline: Deadline
    ) -> Choice:
        self.seen.append(list(messages))
        self.offered.append(list(values))
        if not self._commands:
            raise LateError("too late")
        command = self._commands.pop(0)
        account.charge(Reply(command, 100, 5))
        return Choice(command, command)


def played(chooser: Scripted, max_steps: int = 10, learnt: PlaceCensus | None = None):
    player = PolicyPlayer(chooser, max_steps, 5.0, habits_at_first(KINDS), lambda _: Corridor())
    return player.play(Game("a/b/game.tw-pddl", "a", b""), learnt)


def test_static_memory_is_in_the_prompt_and_names_kinds_only() -> None:
    told = told_habits(LEARNT, KINDS, TEXT)
    assert told.startswith("A pencil is often found at: desk,")
    assert not any(letter.isdigit() for letter in told)
    chooser = Scripted("go to bed 2")
    played(chooser, learnt=LEARNT)
    assert told in chooser.seen[0][1].text


def test_executor_needs_a_model_that_tells_likelihoods() -> None:
    config = LlmConfig(base_url="http://127.0.0.1:9", model="x")
    with pytest.raises(InvalidValueError, match="likelihoods"):
        chooser_of(Setting("executor", 50, config))
    assert chooser_of(Setting("react", 50, config)).thinks
