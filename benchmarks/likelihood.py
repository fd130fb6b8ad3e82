"""How likely a model in this process finds given replies: exact, over a tree of candidates."""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import ChatModel, Deadline, Message, TooLongError
from memory_node.llm.llama.engine import FIRST_FREE, FREE_SEQUENCES, PROMPT
from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.llama.native import PASS_TOKENS, NativeModel, Row


@dataclass(frozen=True)
class TreeNode:
    """A token of one or more candidates. parent: index of the node before it, -1 at the prompt's last token.

    depth: its position behind the prompt, from 0.
    """

    token: int
    parent: int
    depth: int
    branches: tuple[int, ...]


@dataclass(frozen=True)
class CandidateTree:
    """Candidates as a tree of tokens. ends: for each candidate its last node."""

    nodes: tuple[TreeNode, ...]
    ends: tuple[int, ...]

    @functools.cached_property
    def children(self) -> Mapping[int, list[int]]:
        """The nodes behind each node that has any, in their order; those at the prompt's end are behind -1."""
        found: dict[int, list[int]] = {}
        for index, node in enumerate(self.nodes):
            found.setdefault(node.parent, []).append(index)
        return found

    def chain(self, node: int) -> list[int]:
        """Return a node that has children, and those behind it as long as there is one only, which has some, too."""
        children, chain = self.children, [node]
        while len(children[chain[-1]]) == 1 and children[chain[-1]][0] in children:
            chain += children[chain[-1]]
        return chain

    def log_likelihoods(self, node_scores: NDArray[np.float64]) -> list[float]:
        """Return for each candidate the sum over its nodes. node_scores: (nodes,) log-probability of each token."""
        totals = np.zeros(len(self.nodes))
        for index, node in enumerate(self.nodes):  # parents come before their children
            totals[index] = node_scores[index] + (totals[node.parent] if node.parent >= 0 else 0.0)
        return [float(totals[end]) for end in self.ends]


def candidate_tree(candidates: Sequence[Sequence[int]]) -> CandidateTree:
    """Return the tree of candidates, each of one token at least, ordered by depth."""
    branches: dict[tuple[int, ...], list[int]] = {}
    for branch, candidate in enumerate(candidates):
        for end in range(1, len(candidate) + 1):
            branches.setdefault(tuple(candidate[:end]), []).append(branch)
    paths = sorted(branches, key=len)
    index = {path: number for number, path in enumerate(paths)}
    nodes = tuple(TreeNode(p[-1], index.get(p[:-1], -1), len(p) - 1, tuple(branches[p])) for p in paths)
    return CandidateTree(nodes, tuple(index[tuple(candidate)] for candidate in candidates))


def portions(candidates: Sequence[Sequence[int]], most_branches: int, most_nodes: int) -> list[list[int]]:
    """Return indices of candidates in portions, each with so many candidates and nodes of their tree at most."""
    portions: list[list[int]] = []
    order = sorted(range(len(candidates)), key=lambda i: tuple(candidates[i]))  # what shares a beginning comes together
    paths: set[tuple[int, ...]] = set()
    for i in order:
        added = {tuple(candidates[i][:end]) for end in range(1, len(candidates[i]) + 1)}
        if not portions or len(portions[-1]) == most_branches or len(paths | added) > most_nodes:
            portions.append([])
            paths = set()
        portions[-1].append(i)
        paths |= added
    return portions


def log_probabilities(logits: NDArray[np.float32], tokens: Sequence[int]) -> NDArray[np.float64]:
    """Return log p(token) of each token. logits: (vocabulary,)."""
    highest = float(logits.max())
    total = highest + float(np.log(np.exp(logits - np.float32(highest)).sum(dtype=np.float64)))
    return np.asarray(logits[list(tokens)], dtype=np.float64) - total


# Reads a node (-1: the prompt's last token) and returns the log-probabilities of its children, in their order.
Expand = Callable[[int], NDArray[np.float64]]


def likeliest(tree: CandidateTree, bonuses: Sequence[float], expand: Expand) -> tuple[int, float]:
    """Return the candidate with the highest log-likelihood plus bonus, and its log-likelihood; exact.

    The beginning of a candidate is at least as likely as the candidate. So a node's log-likelihood plus the best bonus
    behind it bounds every candidate behind it. One node is read at a time: a pass over four takes three times as long,
    and most of what it would read ahead is never needed. expand: a node's parent was read before it.
    """
    children = tree.children
    most = [max(bonuses[branch] for branch in node.branches) for node in tree.nodes]
    ending: dict[int, list[int]] = {}
    for candidate, end in enumerate(tree.ends):
        ending.setdefault(end, []).append(candidate)
    frontier: list[tuple[float, int, float]] = []  # (-what it can be worth, node, log-likelihood up to it)
    best, best_worth, best_score = -1, -math.inf, 0.0

    def grow(node: int, total: float) -> None:
        for child, score in zip(children[node], expand(node)):
            reached = total + float(score)
            heapq.heappush(frontier, (-(reached + most[child]), child, reached))

    grow(-1, 0.0)
    while frontier and -frontier[0][0] > best_worth:
        _, node, total = heapq.heappop(frontier)
        for candidate in ending.get(node, ()):
            if total + bonuses[candidate] > best_worth:
                best, best_worth, best_score = candidate, total + bonuses[candidate], total
        if node in children:
            grow(node, total)
    return best, best_score


class CandidateReading:
    """One tree behind a prompt. A context manager: afterwards the candidates' sequences are gone.

    Args:
        native: the model.
        start: tokens of the prompt, which was read.
        tree: its last nodes are never read, because nothing follows them.
        behind: (vocabulary,) logits behind the prompt's last token.
        deadline: of all reading.
    """

    def __init__(
        self,
        native: NativeModel,
        start: int,
        tree: CandidateTree,
        behind: NDArray[np.float32],
        deadline: Deadline,
    ) -> None:
        self._native = native
        self._start = start
        self._tree = tree
        self._children = tree.children
        self._branches = range(FIRST_FREE, FIRST_FREE + len(tree.ends))
        self._deadline = deadline
        # log-probabilities of a node's children, in their order, for each node that was read
        self._known = {-1: log_probabilities(behind, self._tokens(self._children[-1]))}

    def __enter__(self) -> CandidateReading:
        for branch in self._branches:
            self._native.share(PROMPT, branch, self._start)
        return self

    def __exit__(self, *_: object) -> None:
        for branch in self._branches:
            self._native.cut(branch, 0)

    def scores(self) -> list[float]:
        """Return log p(candidate | prompt) of each.

        Raises:
            LateError: the deadline passed.
        """
        inner = [node for node in self._children if node >= 0]
        for start in range(0, len(inner), PASS_TOKENS):
            self._read(inner[start : start + PASS_TOKENS])
        scores = np.zeros(len(self._tree.nodes))
        for node, children in self._children.items():
            scores[children] = self._known[node]
        return self._tree.log_likelihoods(scores)

    def likeliest(self, bonuses: Sequence[float]) -> tuple[int, float]:
        """Return the candidate with the highest log p plus bonus, and its log p; reads only what may be part of it.

        Raises:
            LateError: the deadline passed.
        """
        return likeliest(self._tree, bonuses, self._expand)

    def _expand(self, node: int) -> NDArray[np.float64]:
        if node not in self._known:
            # What has a single successor is read with it: two tokens in one pass cost less than in two.
            self._read(self._tree.chain(node)[:PASS_TOKENS])
        return self._known[node]

    def _read(self, nodes: Sequence[int]) -> None:
        """Read nodes; what stands before them was read, or is among them and comes first."""
        self._deadline.left_s()
        for node, logits in zip(nodes, self._native.compute([self._row(node) for node in nodes])):
            self._known[node] = log_probabilities(logits, self._tokens(self._children[node]))

    def _row(self, number: int) -> Row:
        node = self._tree.nodes[number]
        sequences = tuple(self._branches[branch] for branch in node.branches)
        return node.token, self._start + node.depth, sequences, True

    def _tokens(self, nodes: Sequence[int]) -> list[int]:
        return [self._tree.nodes[node].token for node in nodes]


# Tokens that candidates scored side by side may have besides shared beginnings.
_MOST_NODES = 512


@dataclass(frozen=True)
class Score:
    """How likely a model finds a text as the reply. log_likelihood: natural logarithm, over all its tokens."""

    text: str
    log_likelihood: float
    tokens: int

    @property
    def mean(self) -> float:
        """The log-likelihood of a token, for comparing texts of different lengths."""
        return self.log_likelihood / max(self.tokens, 1)


def scoring_model(model: ChatModel, wanted_by: str) -> LlamaScores:
    """Return what scores by a model. wanted_by: the option that needs it.

    Raises:
        InvalidValueError: it is an endpoint.
    """
    if not isinstance(model, LlamaModel):
        raise InvalidValueError(f"{wanted_by} needs a model in this process: an endpoint tells no likelihoods")
    return LlamaScores(model)


class LlamaScores:
    """Says how likely a model finds given replies. model: its adapter, deadline and template count."""

    def __init__(self, model: LlamaModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    def count_tokens(self, text: str) -> int:
        """Return the model's tokens."""
        return self._model.count_tokens(text)

    def read(self, messages: Sequence[Message], deadline: Deadline | None = None) -> int:
        """Read a prompt ahead of time; return its tokens.

        Raises:
            LlmError: it could not be read.
        """
        prompt = self._model.prompt(messages)
        with self._model.engine.behind(prompt, 0, self._model.within(deadline)):
            return len(prompt.tokens)

    def scores(
        self,
        messages: Sequence[Message],
        candidates: Sequence[str],
        deadline: Deadline | None = None,
    ) -> tuple[Score, ...]:
        """Return the scores of the candidates as whole replies, in their order; all that fit go into one pass.

        Raises:
            LlmError: they could not be computed.
        """
        tokens, found = self._as_replies(candidates), [0.0] * len(candidates)
        for portion, reading in self._readings(messages, tokens, deadline):
            for i, score in zip(portion, reading.scores()):
                found[i] = score
        return tuple(Score(text, score, len(read)) for text, score, read in zip(candidates, found, tokens))

    def likeliest(
        self, messages: Sequence[Message], values: Mapping[str, float], deadline: Deadline | None = None
    ) -> Score:
        """Return the score of the whole reply with the highest likelihood times value, reading only what may be in it.

        values: in (0, 1], by reply; one at least.

        Raises:
            LlmError: it could not be found.
        """
        texts, bonuses = tuple(values), [math.log(value) for value in values.values()]
        tokens = self._as_replies(texts)
        best, score = -1, 0.0
        for portion, reading in self._readings(messages, tokens, deadline):
            at, found = reading.likeliest([bonuses[i] for i in portion])
            if best < 0 or found + bonuses[portion[at]] > score + bonuses[best]:
                best, score = portion[at], found
        return Score(texts[best], score, len(tokens[best]))

    def _readings(
        self, messages: Sequence[Message], candidates: Sequence[Sequence[int]], deadline: Deadline | None
    ) -> Iterator[tuple[list[int], CandidateReading]]:
        """Yield portions of the candidates, as their places, each with its tree behind the dialogue."""
        prompt, engine, within = self._model.prompt(messages), self._model.engine, self._model.within(deadline)
        with engine.behind(prompt, _MOST_NODES, within) as behind:
            for portion in portions(candidates, FREE_SEQUENCES, _MOST_NODES):
                tree = candidate_tree([candidates[i] for i in portion])
                with CandidateReading(engine.native, len(prompt.tokens), tree, behind, within) as reading:
                    yield portion, reading

    def _as_replies(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts as replies; the end of the turn counts as the last one, or "open" could never be
        less likely than "open the door"."""
        end = self._model.engine.template.end
        tokens = [[*self._model.file.vocabulary.tokens(text), end] for text in texts]
        if any(len(read) > _MOST_NODES for read in tokens):
            raise TooLongError(f"at most {_MOST_NODES} tokens of a candidate are scored")
        return tokens
