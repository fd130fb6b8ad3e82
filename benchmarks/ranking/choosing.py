"""Two ways in which a language model chooses the next call among those that can be made now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.likelihood import LlamaScores
from memory_node.llm.ask import Question, ask
from memory_node.llm.chat import ChatModel, Deadline, GrammarForm, Message, RejectedReplyError, Reply
from memory_node.llm.gbnf import Rules, one_of_texts
from memory_node.planner.planner_config import ModelAccount

# The end of a task, as it is written.
DONE = "Done()"
# What a call is worth at most that memory holds to be wrong now.
RULED_OUT = 1e-6

# The best call is worth at most so many times what a model in this process may write. Below are what takes a settled
# thing away, and the fourth repetition of a call.
_TIMES_THE_WORTH = 40
_LONGEST_THOUGHT = 240
_SHOWN_CALLS = 60


@dataclass(frozen=True)
class Choice:
    """The call that was chosen, as it was written; reply: all that the model said. reasoning: "" for none."""

    call: str
    reply: str
    reasoning: str = ""


class StepChooser(Protocol):
    """Chooses one of some calls. thinks: a thought comes before the call. is_valued: by what the world model
    makes of them, and among those that may serve the goals; else among all that can be made, until these are met."""

    thinks: bool
    is_valued: bool

    def choose(
        self, messages: Sequence[Message], values: Mapping[str, float], account: ModelAccount, deadline: Deadline
    ) -> Choice:
        """Return the choice. values: the calls, each with what memory makes of it, in (0, 1].

        Raises:
            LlmError: the model made none.
        """


class RankedChoice:
    """Takes the call with the highest likelihood times memory's value (SayCan: Ahn et al. 2022)."""

    thinks = False
    is_valued = True

    def __init__(self, model: LlamaScores) -> None:
        self._model = model

    def choose(
        self, messages: Sequence[Message], values: Mapping[str, float], account: ModelAccount, deadline: Deadline
    ) -> Choice:
        """Find the best call; see StepChooser."""
        tokens_in = self._model.read(messages, deadline)
        best = self._model.likeliest(messages, values, deadline)
        account.charge(Reply(best.text, tokens_in, best.tokens))
        account.valid += 1
        return Choice(best.text, best.text)


class WrittenChoice:
    """Lets the model write a thought and the call. What memory rules out is no choice, and of the other calls a model
    in this process can write only the end and those that memory does not hold to be in vain.

    repair: puts what is wrong with a reply into the message that sends it back.
    """

    thinks = True
    is_valued = True

    def __init__(self, model: ChatModel, max_repairs: int, repair: Callable[[str], str]) -> None:
        self._model = model
        self._max_repairs = max_repairs
        self._repair = repair

    def choose(
        self, messages: Sequence[Message], values: Mapping[str, float], account: ModelAccount, deadline: Deadline
    ) -> Choice:
        """Ask for one of the calls; see StepChooser."""
        calls = [call for call, value in values.items() if value > RULED_OUT] or list(values)
        best = max(values.values())
        writable = (call for call in calls if call == DONE or _TIMES_THE_WORTH * values[call] >= best)
        form = GrammarForm(choice_grammar(writable))
        question = Question(tuple(messages), lambda text: read_choice(text, calls), self._repair, form)
        choice = ask(self._model, question, deadline, self._max_repairs, on_reply=account.charge)
        account.valid += 1
        return choice


def choice_grammar(calls: Iterable[str]) -> str:
    """Return the grammar of one of the calls, and of a thought on a line before it."""
    rules = Rules()
    rules.add("root", f'"Thought: " [^\\x00-\\x1F\\x7F]{{1,{_LONGEST_THOUGHT}}} "\\n" call')
    rules.add("call", one_of_texts(dict.fromkeys(calls, "")))
    return rules.text()


def read_choice(text: str, calls: Sequence[str]) -> Choice:
    """Return what a reply chooses: its last line is one of the calls, with or without quotes around names.

    Raises:
        RejectedReplyError: it is none of them.
    """
    lines = [line.strip() for line in text.strip().strip("`").splitlines() if line.strip("` \t")]
    last = lines[-1] if lines else ""
    plain = " ".join(last.replace('"', "").replace("'", "").split())
    if plain not in calls:
        shown = ", ".join(calls[:_SHOWN_CALLS])
        raise RejectedReplyError("no_such_call", f"the last line, {last[:80]!r}, is none of the calls: {shown}")
    reasoning = " ".join(lines[:-1]).removeprefix("Thought:").strip()
    return Choice(plain, text.strip(), reasoning[:_LONGEST_THOUGHT])
