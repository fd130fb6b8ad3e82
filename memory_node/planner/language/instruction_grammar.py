"""Reads a whole instruction: its commands in the order of doing, and the words that no rule explains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.asides import Asides, sentence_end
from memory_node.planner.language.asked import ENDING, read_question, read_whether
from memory_node.planner.language.asked_states import DONE
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.complaints import Complaints
from memory_node.planner.language.corrections import Corrections
from memory_node.planner.language.doing_order import DoingOrder
from memory_node.planner.language.english import INTO, PUNCTUATION, English, phrase_at
from memory_node.planner.language.fragments import read_fragment
from memory_node.planner.language.idioms import Idioms
from memory_node.planner.language.instruction_words import without_kindness, words_of
from memory_node.planner.language.introductions import Introductions
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.neighbours import beside_neighbour
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.shares import Shares
from memory_node.planner.language.spoken_command import Command, placed
from memory_node.planner.language.spoken_instruction import Heard, Instruction, Remark
from memory_node.planner.language.timing import Timing, without
from memory_node.planner.language.verbless import Verbless
from memory_node.planner.language.wanted_states import WantedStates

_IF_NOT = (("if", "not"), ("if", "it", "is", "not"), ("if", "they", "are", "not"))
_IF_SO = (("if", "so"), ("if", "it", "is"), ("if", "they", "are"), ("if", "yes"))
_ONWARD = frozenset({"and", "then", ","})
_ADDITIONS = frozenset({"and", "but", "or"})

_SWITCHING = {GoalKind.SWITCH_ON: GoalKind.SWITCH_OFF, GoalKind.SWITCH_OFF: GoalKind.SWITCH_ON}

# Words, the index of one of them -> the command that begins there, and where it ends; None where a rule says nothing.
_CommandRule = Callable[[Sequence[str], int], "tuple[Command, int] | None"]
# The same, taken into what was heard: where the part ends.
_Rule = Callable[[Sequence[str], int, Heard], "int | None"]


class InstructionReader:
    """Reads instructions with the names of a lexicon.

    literal: "the mug on the desk" is a mug that is there, also behind "put the pen in"; else the mug goes there, too.
    """

    def __init__(self, lexicon: Lexicon, english: English, literal: bool = False) -> None:
        self._literal = literal
        self._english = english
        self.lexicon = lexicon
        self.commands = CommandReader(lexicon, english)
        self._corrections = Corrections(self.commands, lexicon)
        self._asides = Asides(self.commands, lexicon)
        self._timing = Timing(lexicon, english)
        self._introductions = Introductions(self.commands)
        wanted, idioms = WantedStates(self.commands, lexicon), Idioms(self.commands)
        complaints = Complaints(self.commands, wanted)
        self._question = _part(lambda words, at: read_question(words, at, self.commands))
        # In the order in which they are tried: the first that knows what begins at a word takes it.
        order = DoingOrder(self.commands, wanted)
        self._rules: tuple[_Rule, ...] = (
            order.read,
            self._by_answer,
            self._asides.aside,
            self._asides.haste,
            self._by_state,
            _part(wanted.gratefully),
            _part(wanted.wish),
            _part(wanted.assured),
            _part(wanted.requested),
            self._switched_again,
            self._going_on,
            Shares(self.commands).read,
            _part(complaints.left),
            self._opening,
            _part(idioms.given),
            _part(idioms.made),
            _part(idioms.inverted),
            _part(wanted.stated),
            order.put_first,
            order.share,
            _part(self.commands.read),
            _part(complaints.undue),
            _part(complaints.lacking),
            self._asides.whereabouts,
            _part(wanted.passive),
            _part(Verbless(self.commands, wanted).read),
            self._asides.remark,
        )

    def read(self, text: str) -> Instruction:
        """Return what the instruction says."""
        said = words_of(text, self._english)
        timed, taken_back = self._corrections.applied(without_kindness(said, self._english))
        spans = self._timing.spans(timed)
        words = without(timed, spans)
        fragment = read_fragment(words, self.commands) if words else None
        if fragment is not None and not fragment.orders:
            return Instruction(tuple(said), tuple(words), self._ordered(words, fragment.thing), fragment=fragment)
        heard = self._heard(words)
        return Instruction(
            tuple(said),
            tuple(words),
            tuple(self._told_by_place(words, part) for part in heard.parts),
            tuple(heard.aside),
            tuple(heard.unread),
            fragment=fragment,
            taken_back=taken_back,
            asks=self._asks(said),
            put_off=self._timing.put_off(timed, spans, heard),
        )

    def _ordered(self, words: Sequence[str], thing: NounPhrase | None) -> tuple[Command, ...]:
        """Return "open fridge" as a command: with nothing said before it is no fridge that is open."""
        if thing is None or not thing.states or words[thing.begin] not in self._english.doubtful:
            return ()
        found = self.commands.read(words, thing.begin)
        return (found[0],) if found is not None and found[0].targets and not found[0].unread else ()

    def _told_by_place(self, words: Sequence[str], part: Command | Remark) -> Command | Remark:
        """Return "put the pen in the mug on the desk" with the desk as where the mug is."""
        if self._literal and isinstance(part, Command):
            part = beside_neighbour(part, words, self._english)
        inner, outer = (part.within, part.destination) if isinstance(part, Command) else (None, None)
        if not self._literal or not isinstance(part, Command) or inner is None or outer is None or part.near:
            return part
        carried = inner.definite and inner.called is not None and self.lexicon.is_carried(inner.called)
        return replace(part, destination=placed(inner, INTO, outer), within=None) if carried else part

    def _heard(self, words: Sequence[str]) -> Heard:
        heard, at = Heard(), 0
        while at < len(words):
            begin, asked, told = at, len(heard.commands) + len(heard.unread), len(heard.aside)
            at = self._part(words, at, heard)
            asks = len(heard.commands) + len(heard.unread) > asked
            if asks or len(heard.aside) > told:
                heard.spans.append((begin, at, asks))
        return heard

    def ends_session(self, words: Sequence[str]) -> bool:
        """Return whether words only end a session: "thanks, that will be all"."""
        said = [word for word in words if word not in PUNCTUATION | self._english.fillers]
        return bool(said) and phrase_at(self._english.endings, said, 0) == len(said)

    def names_in(self, words: Sequence[str], places: bool = False) -> tuple[NounPhrase, ...]:
        """Return the things that words name; those named as places only with `places`."""
        if places:
            return tuple(self._asides.named_between(words, 0, len(words)))
        found: list[NounPhrase] = []
        at = 0
        while at < len(words):
            phrase = self.commands.phrase(words, at)
            named = phrase is not None and phrase.named
            if phrase is not None and named and not (at and self._english.preposition_at(words, at - 1)):
                found.append(phrase)
            at = phrase.end if phrase is not None and named else at + 1
        return tuple(found)

    def _asks(self, words: Sequence[str]) -> bool:
        """Return whether it is a question about how things are: "does the cup need a wash?"."""
        begin = next((at for at, word in enumerate(words) if word not in self._english.fillers | PUNCTUATION), 0)
        if not words or words[-1] != "?" or phrase_at(self._english.openings, words, begin):
            return False
        if words[begin : begin + 2] == ["have", "a"]:
            return False  # "have a look at the watch, would you?"
        last = list(words[-4:-1])  # "the ball must be in the box. Is it?"
        asks_back = last[:1] == ["."] and last[1] in self._english.asking and last[2] in ("it", "they", "there")
        return words[begin] in self._english.asking or asks_back

    def _part(self, words: Sequence[str], at: int, heard: Heard) -> int:
        """Read one part of the instruction; return where the next one begins."""
        asked = self._question(words, at, heard) or self._other_deed(words, at, heard)
        if asked is not None:
            return asked
        skipped = PUNCTUATION | _ADDITIONS | self._english.fillers
        tells = words[at] == "you" and "".join(words[at + 1 : at + 2]) in self._english.auxiliaries | {"left"}
        leads = words[at] == "there" and self.commands.begins(words, at + 1)
        if leads or (words[at] in skipped and not tells and not self._asides.begins(words, at)):
            return at + 1
        ends = (rule(words, at, heard) for rule in self._rules)
        end = next((end for end in ends if end is not None), None)
        if end is not None:
            return end
        end = sentence_end(words, at)
        nothing = self._says_nothing(words[at:end], joined=bool(at) and words[at - 1] in ("and", "or"))
        (heard.aside if nothing else heard.unread).extend(words[at:end])
        return end

    def _other_deed(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Leave "... or leave it open" unread: nobody says which of the two is to be done."""
        if words[at] != "or" or not heard.commands:
            return None
        end = sentence_end(words, at)
        if heard.commands[-1].kind is GoalKind.TELL and words[at + 1 : at + 2] in (["do"], ["should"], ["shall"]):
            heard.aside.extend(words[at:end])  # "is it full, or do I have to fill it?"
            return end
        heard.unread.extend(words[at:end])
        return end

    def _says_nothing(self, words: Sequence[str], joined: bool) -> bool:
        """Return whether words neither name a thing, nor order something, nor set a condition: "nurse's orders"."""
        english = self._english
        if (english.conditions | english.putting_off) & set(words):
            return False
        if self._adds_a_thing(words, joined) or self._orders_unknown(words) or self._numbers_a_room(words):
            return False
        return not any(self.lexicon.name_at(words, at) or english.base_form(word) for at, word in enumerate(words))

    def _numbers_a_room(self, words: Sequence[str]) -> bool:
        """Return whether a room is told by its number, which nobody knows: "in room three"."""
        pairs = pairwise(words)
        return any(word == "room" and (number in self._english.numbers or number.isdigit()) for word, number in pairs)

    def _orders_unknown(self, words: Sequence[str]) -> bool:
        """Return whether words ask for a deed that nobody knows: "[wash the cup, then] varnish it"."""
        again = words[1:2] in (["it"], ["them"]) and words[0].isalpha()
        return again and words[0] not in self._english.subjects | self._english.auxiliaries

    def _adds_a_thing(self, words: Sequence[str], joined: bool) -> bool:
        """Return whether the words are one unknown thing: "[I want the cup and] my flute", "radio off", or what
        stands with one: "with the radio on"."""
        if words[0] == "with" and len(words) > 1:
            company = self.commands.phrase(words, 1)
            return company is not None and company.strange
        phrase = self.commands.phrase(words, 0)
        counted = joined or words[0] in self._english.indefinite or words[0] in self._english.numbers
        if phrase is None or not phrase.strange:
            return False
        return (counted and phrase.end == len(words)) or list(words[phrase.end :]) in (["on"], ["off"])

    def _by_state(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
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
        heard.parts.append(replace(command, targets=(thing,)))
        return found[1]

    def _by_answer(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "[check if the window is closed and] if not, close it" as the command, like _by_state; what else is to
        be done by the answer is not read."""
        said = heard.parts[-1] if heard.parts else None
        opposite = phrase_at(_IF_NOT, words, at)
        length = opposite or phrase_at(_IF_SO, words, at)
        if not isinstance(said, Command) or said.kind is not GoalKind.TELL or not length:
            return None
        begin = at + length
        while begin < len(words) and words[begin] in PUNCTUATION | self._english.fillers:
            begin += 1
        found = self.commands.read(words, begin) if begin < len(words) else None
        if found is None:
            return None
        command, end = found
        again = not command.targets or command.targets[0].refers_back
        to_end = DONE.get(command.kind) == said.verb if opposite else command.kind in ENDING.get(said.verb, ())
        if command.unread or not (again and to_end):
            heard.unread += words[at:end]
            return end
        heard.parts[-1] = replace(command, targets=said.targets)
        return end

    def _switched_again(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take the end of "turn the lamp off and on again"."""
        said = heard.parts[-1] if heard.parts else None
        if not self.commands.stands_alone(words, at) or not isinstance(said, Command) or said.kind not in _SWITCHING:
            return None
        heard.parts.append(replace(said, kind=_SWITCHING[said.kind], text=words[at]))
        return at + 1

    def _going_on(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take the next stop of "go to the bathroom and then to the kitchen"."""
        said = heard.parts[-1] if heard.parts else None
        if not isinstance(said, Command) or said.kind is not GoalKind.GO or words[at - 1] not in _ONWARD:
            return None
        begin = at + (words[at : at + 2] == ["from", "there"]) * 2
        if self._english.preposition_at(words, begin) is None:
            return None
        found = self.commands.read(["go", *words[begin:]], 0)
        if found is None or found[0].unread:
            return None
        heard.parts.append(found[0])
        return begin + found[1] - 1

    def _opening(self, words: Sequence[str], at: int, _heard: Heard) -> int | None:
        return self._introductions.end(words, at)


def _part(read: _CommandRule) -> _Rule:
    """Return the rule that takes the command that another rule reads as a part of the instruction."""

    def rule(words: Sequence[str], at: int, heard: Heard) -> int | None:
        found = read(words, at)
        if found is None:
            return None
        heard.parts.append(found[0])
        return found[1]

    return rule
