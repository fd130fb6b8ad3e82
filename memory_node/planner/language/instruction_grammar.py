"""Reads a whole instruction: its commands in the order of doing, and the words that no rule explains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from memory_node.planner.language.asked import ENDING, read_question, read_whether
from memory_node.planner.language.command_frames import Command
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.corrections import Corrections
from memory_node.planner.language.english import ENDS, PUNCTUATION, English, phrase_at
from memory_node.planner.language.fragments import Fragment, read_fragment
from memory_node.planner.language.instruction_words import without_kindness, words_of
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.wanted_states import WantedStates

_ADDITIONS = frozenset({"and", "but", "or"})
_MAKING = frozenset(["make", "brew", "prepare", "fix", "run", "do"])
_MEASURE = frozenset(["a", "good", "quick", "thorough", "nice", "bit", "of", "little", "proper"])
_FINISHING = frozenset(["you", "have", "are", "finish", "done", "finished", "had", "that", "i", "am"])


@dataclass(frozen=True)
class Remark:
    """Things that are spoken of without a command: "there is a phone on the bed, ..."."""

    phrases: tuple[NounPhrase, ...]


Parts = tuple[Command | Remark, ...]  # of an instruction, in the order of doing


@dataclass(frozen=True)
class Instruction:
    """An instruction as the grammar reads it.

    words: all of them; kept: without what was taken back. parts: commands and remarks in the order of doing. aside:
    words of what is not to be done, and of why. unread: words that no rule explains. fragment: what stands in place of
    commands. taken_back: something is. asks: it is a question about how things are.
    """

    words: tuple[str, ...]
    kept: tuple[str, ...] = ()
    parts: Parts = ()
    aside: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    fragment: Fragment | None = None
    taken_back: bool = False
    asks: bool = False

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands among the parts."""
        return tuple(part for part in self.parts if isinstance(part, Command))

    @property
    def plain(self) -> bool:
        """Whether every word is accounted for."""
        return bool(self.commands) and not self.unread and not any(command.unread for command in self.commands)

    @property
    def described(self) -> bool:
        """Whether words tell a thing by what no label space knows: "the shallow bowl with the chipped rim"."""
        return any(phrase.peculiar for command in self.commands for phrase in command.phrases)


@dataclass
class _Read:
    parts: list[Command | Remark] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


_Rule = Callable[[Sequence[str], int], "tuple[Command, int] | None"]


class InstructionReader:
    """Reads instructions with the names of a lexicon."""

    def __init__(self, lexicon: Lexicon, english: English) -> None:
        self._english = english
        self.lexicon = lexicon
        self.commands = CommandReader(lexicon, english)
        self._corrections = Corrections(self.commands)
        wanted = self._wanted = WantedStates(self.commands)
        self._questions: tuple[_Rule, ...] = (lambda words, at: read_question(words, at, self.commands),)
        self._first_rules: tuple[_Rule, ...] = (wanted.wish, wanted.assured)
        rules = (self._idiom, self._made, wanted.stated, self.commands.read, wanted.passive, wanted.verbless)
        self._rules: tuple[_Rule, ...] = rules

    def read(self, text: str) -> Instruction:
        """Return what the instruction says."""
        said = words_of(text, self._english)
        words, taken_back = self._corrections.applied(without_kindness(said, self._english))
        fragment = read_fragment(words, self.commands)
        if fragment is not None:
            return Instruction(tuple(said), tuple(words), fragment=fragment)
        read, at = _Read(), 0
        while at < len(words):
            at = self._part(words, at, read)
        parts, aside, unread = tuple(read.parts), tuple(read.aside), tuple(read.unread)
        return Instruction(
            tuple(said), tuple(words), parts, aside, unread, taken_back=taken_back, asks=self._asks(said)
        )

    def ends_session(self, words: Sequence[str]) -> bool:
        """Return whether words only end a session: "thanks, that will be all"."""
        said = [word for word in words if word not in PUNCTUATION | self._english.fillers]
        return bool(said) and phrase_at(self._english.endings, said, 0) == len(said)

    def names_in(self, words: Sequence[str]) -> tuple[NounPhrase, ...]:
        """Return the things that words name, other than as places."""
        return tuple(self._named_between(words, 0, len(words)))

    def _asks(self, words: Sequence[str]) -> bool:
        """Return whether it is a question about how things are: "does the cup need a wash?"."""
        begin = next((at for at, word in enumerate(words) if word not in self._english.fillers | PUNCTUATION), 0)
        if not words or words[-1] != "?" or phrase_at(self._english.openings, words, begin):
            return False
        return words[begin] in self._english.asking

    def _part(self, words: Sequence[str], at: int, read: _Read) -> int:
        """Read one part of the instruction; return where the next one begins."""
        asked = self._by_rule(self._questions, words, at, read)
        if asked is not None:
            return asked
        skipped = PUNCTUATION | _ADDITIONS | self._english.fillers
        if words[at] in skipped and not self._begins_aside(words, at):
            return at + 1
        end = self._in_another_order(words, at, read) or self._aside(words, at, read) or self._by_when(words, at, read)
        end = end or self._by_state(words, at, read)
        end = end or self._by_rule(self._first_rules, words, at, read) or self._opening(words, at)
        end = end or self._by_rule(self._rules, words, at, read) or self._remark(words, at, read)
        if end is None:
            end = _sentence_end(words, at)
            (read.aside if self._says_nothing(words[at:end]) else read.unread).extend(words[at:end])
        return end

    def _says_nothing(self, words: Sequence[str]) -> bool:
        """Return whether words neither name a thing, nor order something, nor set a condition: "nurse's orders"."""
        english = self._english
        if english.conditions & set(words):
            return False
        return not any(self.lexicon.name_at(words, at) or english.base_form(word) for at, word in enumerate(words))

    def _by_rule(self, rules: Sequence[_Rule], words: Sequence[str], at: int, read: _Read) -> int | None:
        for rule in rules:
            found = rule(words, at)
            if found is not None:
                read.parts.append(found[0])
                return found[1]
        return None

    # --- what is no command

    def _aside(self, words: Sequence[str], at: int, read: _Read) -> int | None:
        """Skip what is not to be done, and why something is."""
        alone = words[at] == "leave" and {"alone", "where"} & set(words[at : _sentence_end(words, at)])
        if not alone and not self._begins_aside(words, at):
            return None
        end = self._aside_end(words, at + 1)
        read.aside += words[at:end]
        read.parts.append(Remark(tuple(self._named_between(words, at + 1, end))))  # "do not heat the apple, wash it"
        return end

    def _begins_aside(self, words: Sequence[str], at: int) -> bool:
        asked = words[at] == "so" and phrase_at(self._english.openings + self._english.wishes, words, at + 1)
        return bool(phrase_at(self._english.asides, words, at)) and not asked  # "so I would like ..." asks

    def _by_when(self, words: Sequence[str], at: int, read: _Read) -> int | None:
        """Skip the reason for haste behind a command: "before somebody trips over it"."""
        if words[at] != "before" or not read.parts:
            return None
        end = self._past_haste(words, at + 1)
        somebody = "".join(words[at + 1 : at + 2]) in self._english.subjects - {"you", "it"}
        somebody |= phrase_at(self._english.persons, words, at + 1) > 0
        if not somebody and any(self._says_something(words, index) for index in range(at + 1, end)):
            return None
        read.aside += words[at:end]
        return end

    def _by_state(self, words: Sequence[str], at: int, read: _Read) -> int | None:
        """Take "if the laptop is open, close it" as the command: where the thing is not so, there is nothing to do."""
        asked = read_whether(words, at, self.commands)
        if asked is None:
            return None
        begin = asked[1]
        while begin < len(words) and words[begin] in PUNCTUATION | self._english.fillers:
            begin += 1
        found = self.commands.read(words, begin) if begin < len(words) else None
        if found is None or found[0].kind not in ENDING.get(asked[0].verb, ()) or found[0].unread:
            return None
        (thing,) = asked[0].targets
        command = found[0]
        if command.targets and not command.targets[0].refers_back:
            return None
        read.parts.append(replace(command, targets=(thing,)))
        return found[1]

    def _says_something(self, words: Sequence[str], at: int) -> bool:
        """Return whether a thing, or a deed that is asked for, stands at a word."""
        return self.lexicon.name_at(words, at) is not None or bool(self._english.base_form(words[at], participle=True))

    def _past_haste(self, words: Sequence[str], at: int) -> int:
        """Return where the reason for haste ends: "before one of us trips over it and breaks a leg"."""
        end = self._aside_end(words, at)
        person = phrase_at(self._english.persons, words, at)
        while person and words[end : end + 1] == ["and"] and self._is_deed_of_a_person(words, end + 1):
            end = self._aside_end(words, end + 1)
        return end

    def _is_deed_of_a_person(self, words: Sequence[str], at: int) -> bool:
        """Return whether a word says what somebody does: "breaks", not "break"."""
        word = "".join(words[at : at + 1])
        return word.endswith("s") and bool(self._english.base_form(word.removesuffix("s")))

    def _aside_end(self, words: Sequence[str], at: int) -> int:
        while at < len(words) and words[at] not in ENDS | {",", "-", ":"} | self._english.enough:
            if words[at] == "and" and at + 1 < len(words) and self.commands.begins(words, at + 1):
                break
            at += 1
        return at

    def _opening(self, words: Sequence[str], at: int) -> int | None:
        """Return where the command begins that is only introduced here; a question behind a command is no more."""
        for opening in self._english.openings:
            if tuple(words[at : at + len(opening)]) != opening:
                continue
            after = at + len(opening)
            while after < len(words) and words[after] in self._english.fillers:
                after += 1
            if after >= len(words) or words[after] in PUNCTUATION:
                return after if at and opening[-1] == "you" else None  # "hand me the cup, will you?"
            starts = bool(self._english.base_form(words[after])) or words[after] in ("i", "make", "have")
            starts |= phrase_at(self._english.assurances, words, after) > 0
            if starts and (opening != ("go",) or self.commands.begins(words, after)):
                return after
        return None

    def _remark(self, words: Sequence[str], at: int, read: _Read) -> int | None:
        """Take a sentence that only says how things are; what it speaks of may be "it" afterwards."""
        english = self._english
        there = words[at] == "there" and "".join(words[at + 1 : at + 2]) in english.auxiliaries
        start = at + 2 + ("be" in words[at + 2 : at + 3]) if there else at
        phrase = None if words[at] in english.subjects else self.commands.phrase(words, start)
        verb = at + 1
        if phrase is not None and not there:
            verb = self._past_places(words, phrase.end)
        if phrase is not None and phrase.named and verb < len(words) and words[verb] in (",", ":", "-"):
            read.parts.append(Remark((phrase,)))  # "the pot, put it on the stove"
            return verb
        if words[at] in self._english.condition_marks:
            return None  # what holds only then must not be done now
        wondering = words[at] in ("who", "why", "how", "when", "whose")
        if words[at] in english.subjects - {"you"} or wondering:
            end = self._aside_end(words, verb)
            read.parts.append(Remark(tuple(self._named_between(words, verb, end))))
            read.aside += words[at:end]
            return end
        said = there or (verb < len(words) and words[verb] in english.auxiliaries | english.saying)
        if not said:
            return None
        end = self._aside_end(words, verb)
        phrases = [phrase] if phrase is not None and not phrase.refers_back else []
        phrases += self._named_between(words, verb, end) if phrase is None or not phrase.named else []
        read.parts.append(Remark(tuple(phrases)))
        read.aside += words[at:end]
        return end

    def _past_places(self, words: Sequence[str], at: int) -> int:
        while (found := self._english.preposition_at(words, at)) is not None:
            place = self.commands.phrase(words, at + found[1])
            if place is None:
                break
            at = place.end
        return at

    def _named_between(self, words: Sequence[str], at: int, end: int) -> list[NounPhrase]:
        found: list[NounPhrase] = []
        while at < end:
            phrase = self.commands.phrase(words, at)
            if phrase is not None and phrase.named and not self._english.preposition_at(words, at - 1):
                found.append(phrase)
                at = phrase.end
            else:
                at += 1
        return found

    # --- rules of this file

    def _idiom(self, words: Sequence[str], at: int) -> tuple[Command, int] | None:
        """Read "give the pan a good scrub"."""
        if words[at] not in ("give", "have", "take", "do", "use"):
            return None
        phrase = self.commands.phrase(words, at + 1)
        if phrase is None:
            return None
        if words[at] == "use":
            return self._used(words, phrase)
        end = phrase.end
        while end < len(words) and words[end] in _MEASURE:
            end += 1
        verb = self._english.base_form(words[end]) if phrase.end < end < len(words) else ""
        found = self.commands.read([verb, *words[phrase.begin : phrase.end], *words[end + 1 :]], 0) if verb else None
        return None if found is None else (found[0], end + found[1] - (phrase.end - phrase.begin))

    def _used(self, words: Sequence[str], tool: NounPhrase) -> tuple[Command, int] | None:
        """Read "use the knife to cut the bread"."""
        if words[tool.end : tool.end + 1] not in (["to"], ["for"]):
            return None
        found = self.commands.read(words, tool.end + 1, participle=True)
        return None if found is None else (replace(found[0], instrument=tool), found[1])

    def _made(self, words: Sequence[str], at: int) -> tuple[Command, int] | None:
        """Read "make some toast", "make me a coffee"."""
        if words[at] not in _MAKING:
            return None
        person = "".join(words[at + 1 : at + 2]) in self._english.people
        phrase = self.commands.phrase(words, at + 1 + person)
        names = (phrase.head, *phrase.attributes) if phrase is not None else ()
        made = next((self._english.made[name] for name in names if name in self._english.made), None)
        found = self.commands.read(made.split(), 0) if made is not None else None
        if phrase is None or found is None:
            return None
        return replace(found[0], to_user=person, text=" ".join(words[at : phrase.end])), phrase.end

    def _in_another_order(self, words: Sequence[str], at: int, read: _Read) -> int | None:
        """Put two commands into the order that "before ..." and "after ..." tell."""
        if words[at] not in ("before", "after", "once", "when"):
            return None
        start = at + 1
        said = read.parts[-1] if read.parts else None
        if "".join(words[start : start + 1]) in self._english.subjects - {"you"}:
            later = self._wanted.passive(words, start) if words[at] == "before" else None
            if later is None or not isinstance(said, Command):
                return None
            read.parts.append(later[0])  # "the bowl should be washed before it goes on the table"
            return later[1]
        following = "".join(words[start + 1 : start + 2])
        if words[start : start + 1] in (["that"], ["this"]) and (
            self._english.is_verb(following) or not self._english.base_form(following, participle=True)
        ):
            return start + 1
        while start < len(words) and words[start] in _FINISHING:
            start += 1
        found = self.commands.read(words, start, participle=True) if start < len(words) else None
        if found is None or (start == at + 1 and not words[start].endswith("ing")):
            return None
        inner, end = found
        if isinstance(said, Command):
            read.parts.pop()
            read.parts += [said, inner] if words[at] == "before" else _in_order(inner, said)
            return end
        if words[at] != "before":
            read.parts.append(inner)
            return end
        while end < len(words) and words[end] in PUNCTUATION | self._english.fillers:
            end += 1
        main = self.commands.read(words, end)
        if main is None:
            return None
        read.parts += _in_order(main[0], inner)
        return main[1]


def _in_order(first: Command, second: Command) -> list[Command]:
    """Return two commands of which the second was said first: "it" in the first one means the second one's thing."""
    if first.targets and first.targets[0].refers_back and second.targets and not second.targets[0].refers_back:
        thing = second.targets[0]
        second = replace(second, targets=(first.targets[0], *second.targets[1:]))
        first = replace(first, targets=(thing, *first.targets[1:]))
    return [first, second]


def _sentence_end(words: Sequence[str], at: int) -> int:
    end = at + 1
    while end < len(words) and words[end] not in ENDS | {","}:
        end += 1
    return end
