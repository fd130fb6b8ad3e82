"""ALFWorld's text engine, TextWorld over PDDL, made quick; the extra `alfworld` brings it."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from benchmarks.alfworld.games import Game
from memory_node.domain.errors import ResourceMissingError, RobotMemoryError

# In a template, "| predicate(...)" asks for facts; without it the text depends on names alone.
_ASKED_FACT = re.compile(r"\|\s*(\w+)\(")


def quick_environment() -> Any:
    """Return a TextWorld environment whose things are called as ALFWorld calls them ("desk 1")."""
    import textworld
    from alfworld.agents.utils.misc import Demangler
    from textworld.envs.pddl import PddlEnv

    _keep_what_is_parsed()

    class QuickPddlEnv(PddlEnv):  # type: ignore[misc]
        """A game from its data, translated once, with the texts of commands kept."""

        def load(self, data: Mapping[str, str]) -> None:
            with _translated_once():
                super().load(data)
            names = Demangler(game_infos=self._entity_infos)
            for info in self._entity_infos.values():
                info.name = names.demangle_alfred_name(info.id).strip()
            self._logic.grammar = _KeptTexts(self._logic.grammar)

        def reset(self) -> Any:
            with _translated_once():
                return super().reset()

        def note_change(self) -> None:
            self._logic.grammar.note_change()

        @property
        def entities(self) -> Mapping[str, Any]:
            return dict(self._entity_infos)

        @property
        def facts(self) -> Sequence[Any]:
            return tuple(self._pddl_state.facts)

    return QuickPddlEnv(textworld.EnvInfos(feedback=True, won=True, lost=True, admissible_commands=True))


@functools.cache
def _keep_what_is_parsed() -> None:
    """Let the engine parse each template and each query once in a process, and copy no descriptions of things, which it
    only reads: half of a game's time went there."""
    from textworld.envs.pddl import textgen
    from textworld.logic import Rule

    parse, parse_query = textgen._parse_and_convert, Rule.parse_conjunctive_query

    @functools.cache
    def kept(text: str, rule_name: str) -> Any:
        return parse(text, rule_name=rule_name)

    def parsed(text: str, rule_name: str, **_: object) -> Any:
        return deepcopy(kept(text, rule_name))  # symbols are given a context

    def copied(context: Mapping[str, Any]) -> dict[str, Any]:
        return {**context, "variables": dict(context["variables"]), "mapping": dict(context["mapping"])}

    textgen._parse_and_convert = parsed
    textgen.copy_context = copied
    Rule.parse_conjunctive_query = staticmethod(functools.cache(parse_query))


_translations: dict[tuple[str, str], Any] = {}


class _translated_once:  # noqa: N801 - used like a function
    """Inside the block fast_downward translates a problem once; the engine asks four times, twice for a plan that is
    not used."""

    def __enter__(self) -> None:
        import fast_downward

        self._module = fast_downward
        self._translate: Callable[..., Any] = fast_downward.pddl2sas
        fast_downward.pddl2sas = self._kept

    def __exit__(self, *_: object) -> None:
        self._module.pddl2sas = self._translate

    def _kept(self, domain: str, problem: str, verbose: bool = False, optimize: bool = False) -> Any:
        key = domain, problem
        if key not in _translations:
            _translations.clear()
            _translations[key] = self._translate(domain, problem, verbose=verbose)
        return _translations[key]


class _KeptTexts:
    """A grammar that writes a command's text once for the same things, until a fact that the text asks for changes."""

    def __init__(self, grammar: Any) -> None:
        self._grammar = grammar
        self._texts: dict[tuple[Any, ...], str] = {}
        self._asked: dict[str, frozenset[str]] = {}  # the predicates that a template asks for
        self._facts: dict[frozenset[str], frozenset[Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._grammar, name)

    def note_change(self) -> None:
        """Look at the facts anew from now on: a command was carried out."""
        self._facts.clear()

    def derive(self, start: str, context: Mapping[str, Any]) -> str:
        """Return the text of a template; the texts of feedback, which begin with "#", are always written anew."""
        if start.startswith("#"):
            return str(self._grammar.derive(start, context))
        if start not in self._asked:
            self._asked[start] = frozenset(_ASKED_FACT.findall(start))
        key = start, tuple((name, info.id) for name, info in context["variables"].items()), self._true(start, context)
        if key not in self._texts:
            self._texts[key] = str(self._grammar.derive(start, context))
        return self._texts[key]

    def _true(self, start: str, context: Mapping[str, Any]) -> frozenset[Any]:
        """Return the facts that a template may ask for."""
        predicates = self._asked[start]
        if predicates not in self._facts:
            found = (fact for fact in context["facts"] if fact.name in predicates) if predicates else ()
            self._facts[predicates] = frozenset(map(str, found))
        return self._facts[predicates]


_NEEDED = "memory-node bench alfworld needs ALFWorld's engine: pip install 'robot_memory[alfworld]'"
_FIELDS = ("pddl_domain", "grammar", "pddl_problem")


class BrokenGameError(RobotMemoryError):
    """A game file that the engine cannot play."""


def require_engine() -> None:
    """Raise ResourceMissingError where the engine is not installed; the message says what to install."""
    try:
        import alfworld.agents.utils.misc  # noqa: F401
        import fast_downward  # noqa: F401
        import textworld.envs.pddl  # noqa: F401
    except ImportError as error:
        raise ResourceMissingError(f"{_NEEDED} ({error})") from error


class PddlEngine:
    """A running game: its text, the admissible commands and whether it has ended. Nothing else of it is shown.

    Raises:
        BrokenGameError: the file is no game.
        ResourceMissingError: the engine is not installed.
    """

    score: float | None = None

    def __init__(self, game: Game) -> None:
        require_engine()
        try:
            data = _checked(json.loads(game.content), game.name)
            self._problem = data["pddl_problem"]
            self._env = quick_environment()
            self._env.load(data)
            self._state = self._env.reset()
        except RobotMemoryError:
            raise
        except Exception as error:  # the engine raises whatever its parsers do
            why = " ".join(str(error).split())  # a parser's message draws where in the file it stands
            raise BrokenGameError(f"{game.name}: {type(error).__name__}: {why}") from error

    @property
    def text(self) -> str:
        """What it printed last."""
        return str(self._state.feedback)

    @property
    def commands(self) -> Sequence[str]:
        """The commands that it admits now."""
        return tuple(self._state["admissible_commands"])

    @property
    def over(self) -> bool:
        """Whether the game has ended, which it does when the task is done."""
        return bool(self._state["won"] or self._state["lost"])

    @property
    def won(self) -> bool:
        """Whether the task is done: for the judge."""
        return bool(self._state["won"])

    @property
    def facts(self) -> Sequence[tuple[str, ...]]:
        """What is so, as predicates and printed names: for the judge of guidance, after the fact."""
        names = {key: info.name or key for key, info in self._env.entities.items()}
        return [(fact.name, *(names.get(one.name, one.name) for one in fact.arguments)) for fact in self._env.facts]

    @property
    def problem(self) -> str:
        """The problem in PDDL: for the judge of guidance."""
        return self._problem

    def send(self, command: str) -> str:
        """Carry out a command and return what is printed."""
        self._env.note_change()
        self._state, _, _ = self._env.step(command)
        return self.text

    def close(self) -> None:
        """Let go of the engine."""
        self._env.close()


def _checked(data: Any, name: str) -> dict[str, str]:
    """Return what the engine plays from; the solution that the file holds beside it is left out.

    Raises:
        BrokenGameError: something is missing.
    """
    if not isinstance(data, Mapping):
        raise BrokenGameError(f"{name}: expected an object, got {type(data).__name__}")
    missing = [key for key in _FIELDS if not isinstance(data.get(key), str)]
    if missing:
        raise BrokenGameError(f"{name}: no text under {', '.join(missing)}")
    return {key: data[key] for key in _FIELDS}
