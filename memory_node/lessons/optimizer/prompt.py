"""The optimizer that asks a language model: an untrained one by prompt alone, or one with a trained adapter."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.lessons.config import OptimizerModelConfig
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import Attempt, Deed, Proposal
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.llm.ask import Question, ask, filled
from memory_node.llm.chat import ChatModel, Deadline, GrammarForm, LlmError, Message, Reply
from memory_node.llm.gbnf import Rules

# A prompt shows the first and the last actions of a long attempt, half of each; fewer where they do not fit the model.
_DEEDS_SHOWN = (40, 24, 12, 6)
_SEEN_SHOWN = 6
_LONGEST_ANALYSIS, _LONGEST_VALUE = 400, 600


def optimizer_dialogue(
    attempt: Attempt, shown: Sequence[Lesson], deeds: int = _DEEDS_SHOWN[0]
) -> tuple[Message, Message]:
    """Return the dialogue that asks about one attempt, with so many actions; training uses the same words.

    The attempt is shown with kinds instead of instances, so that no instance can leak into memory.
    """
    half = deeds // 2
    first, last = attempt.deeds[:half], attempt.deeds[half:][-half:]
    task = filled(
        "optimizer_success.j2" if attempt.success else "optimizer_failure.j2",
        query=attempt.query,
        first=[_told(deed) for deed in first],
        last=[_told(deed) for deed in last],
        left_out=len(attempt.deeds) - len(first) - len(last),
        message=attempt.message,
        entries=[(entry.situation, entry.text) for entry in shown],
    )
    return Message("system", filled("optimizer_system.j2")), Message("user", task)


class PromptOptimizer:
    """Takes over what a reply says only where it passes the form and the vetting."""

    is_quick = False
    name = "model"

    def __init__(self, model: ChatModel, vetting: Vetting, config: OptimizerModelConfig) -> None:
        self._model = model
        self._vetting = vetting
        self._config = config

    def propose(self, attempt: Attempt, shown: Sequence[Lesson]) -> Proposal:
        """Ask the model; see Optimizer."""
        replies: list[Reply] = []
        window = self._config.window_tokens
        most = window - self._config.max_reply_tokens
        dialogues = (optimizer_dialogue(attempt, shown, deeds) for deeds in _DEEDS_SHOWN)
        dialogue = next((one for one in dialogues if sum(self._model.count_tokens(m.text) for m in one) <= most), None)
        if dialogue is None:
            return Proposal(None, problem=f"the attempt does not fit into {window} tokens, the model's window")
        question = Question(
            dialogue,
            lambda text: (self._vetting.read(text, attempt, shown), text.partition("<experience>")[0].strip()),
            lambda error: filled("optimizer_repair.j2", error=error),
            GrammarForm(reply_grammar(len(shown))),
        )
        candidate, analysis, problem = None, "", ""
        try:
            deadline = Deadline(self._config.timeout_s)
            candidate, analysis = ask(
                self._model, question, deadline, self._config.max_repairs, on_reply=replies.append
            )
        except LlmError as error:
            problem = str(error)
        tokens_in, tokens_out = sum(one.tokens_in for one in replies), sum(one.tokens_out for one in replies)
        return Proposal(candidate, analysis, problem, tokens_in, tokens_out)


def reply_grammar(shown: int) -> str:
    """Return the grammar of replies where `shown` entries may be replaced: a line of analysis, then the block."""
    rules = Rules()
    rules.add(
        "root", 'analysis "\\n<experience><value>" value "</value><operation>" operation "</operation></experience>"'
    )
    rules.add("analysis", f"[^<>\\x00-\\x1F\\x7F]{{1,{_LONGEST_ANALYSIS}}}")
    # No digits, and none of the letters that ids are written with.
    rules.add("value", f"[a-zA-Z ,.;:()'-]{{3,{_LONGEST_VALUE}}}")
    rules.add_choice("operation", ("ADD", *(f"UPDATE {index}" for index in range(shown))))
    return rules.text()


def _told(deed: Deed) -> str:
    """Return a deed in one line, over kinds."""
    seen = f" [{', '.join(deed.seen[:_SEEN_SHOWN])}]" if deed.seen else ""
    return f"{deed.way}{seen}" if deed.worked else f"{deed.way} failed: {deed.failure.replace('_', ' ')}"
