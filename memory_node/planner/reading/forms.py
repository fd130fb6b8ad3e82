"""Reads an instruction clause by clause: one table of the forms of a clause; the first that explains one counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from memory_node.domain.skill_library import GoalKind
from memory_node.planner.reading.asked import EXISTS, read_condition, read_question
from memory_node.planner.reading.command import Command, Fragment, Instruction, Part, Remark
from memory_node.planner.reading.command_reader import CommandReader
from memory_node.planner.reading.english import INTO, NEAR, PUNCTUATION, English, Verb, past, words_of
from memory_node.planner.reading.lexicon import Lexicon
from memory_node.planner.reading.noun_phrase import NounPhrase, again

_K = GoalKind
_LINKS = frozenset({"and", "then", "but", "so", "or"})
_SENTENCE_ENDS = frozenset(".;!?")
_MOST_OPENINGS = 3
_GOING_THERE = frozenset(
    {"go", "come", "stand", "sit", "lie", "live", "hang", "goes", "belongs", "belong", "end", "be"}
)
_ASKING_FOR = frozenset(
    {"should", "must", "need", "needs", "want", "wants", "wish", "ought", "please", "would", "let", "shall"}
)
_IF_SO = re.compile(r"if (?:(?P<no>not|(?:it|they) (?:is|are) not)|so|yes|(?:it|they|there) (?:is|are))(?= [,.;:!?])")
_NEED_NOUN = frozenset({"a", "an", "some", "another"})


@dataclass
class Heard:
    """What has been read so far of one instruction.

    condition: of the rest of the sentence; alternative: what it waits for behind "otherwise". since: the number of
    parts before the sentence.
    """

    parts: list[Part] = field(default_factory=list)
    condition: tuple[Command, bool] | None = None
    alternative: tuple[Command, bool] | None = None
    since: int = 0
    put_off: str = ""
    called_off: bool = False


class InstructionReader:
    """Reads instructions made of English's small words and a lexicon's names."""

    def __init__(self, lexicon: Lexicon, english: English) -> None:
        self._english = english
        self._lexicon = lexicon
        self.commands = CommandReader(lexicon, english)

    def read(self, text: str) -> Instruction:
        """Return what an instruction says."""
        words = words_of(text)
        bare = [word for word in words if word not in PUNCTUATION]
        ends = self._is_ending(bare)
        if ends:
            return Instruction(tuple(words), ends=True)
        heard, at = Heard(), 0
        while at < len(words):
            if words[at] in _SENTENCE_ENDS:
                heard.condition, heard.since = None, len(heard.parts)
            if words[at] in PUNCTUATION or words[at] in _LINKS - {"or"}:
                at += 1
                continue
            before, condition = len(heard.parts), heard.condition
            end = self._clause(words, at, heard)
            at = end if end is not None else self._unread(words, at, heard)
            for index in range(before, len(heard.parts)) if condition is heard.condition is not None else ():
                part = heard.parts[index]
                if isinstance(part, Command):
                    heard.parts[index] = replace(part, condition=condition)
        if len(commands := [part for part in heard.parts if isinstance(part, Command)]) > 1 and heard.called_off:
            heard.parts.remove(commands[0])
        return Instruction(tuple(words), tuple(heard.parts), heard.put_off, fragment=self._fragment(words))

    def is_aside(self, words: Sequence[str]) -> bool:
        """Return whether unread words only state something that no request rests on: "my back hurts". Nothing in them
        may be a condition, a ban, a correction or a second wish ("Ana fancies a sandwich"), and they name nothing of a
        home."""
        english = self._english
        stated = words[0] in english.definite | english.subjects or not self._may_ask(words, 0)
        finite = any(
            word in english.auxiliaries | english.saying
            or (word.endswith(("s", "ed")) and word not in english.definite)
            for word in words[1:]
        )
        if (
            not (stated and finite)
            or (english.weighty | _ASKING_FOR) & set(words)
            or english.corrections.length_at(words, 0)
        ):
            return False
        unsure = english.conditions | english.later | english.negative | english.matter | english.every | _NEED_NOUN
        if unsure & set(words):
            return False
        begins = (at for at in range(1, len(words)) if words[at - 1] in PUNCTUATION | _LINKS)
        lexicon = self._lexicon
        return not any(self._may_ask(words, at) for at in begins) and not any(
            lexicon.name_at(words, at) or lexicon.room_at(words, at) or lexicon.group(words[at])
            for at in range(len(words))
        )

    def _may_ask(self, words: Sequence[str], at: int) -> bool:
        english = self._english
        small = english.function_words | english.motion | english.numbers.keys()
        return english.is_verb(words[at]) or (
            words[at] in small and words[at] not in english.definite | english.subjects
        )

    def named(self, words: Sequence[str]) -> set[str] | None:
        """Return the classes that the words name; None where some thing is described, unknown or referred to."""
        names: set[str] = set()
        at = 0
        while at < len(words):
            phrase = self.commands.phrases.read(words, at) if words[at] not in PUNCTUATION else None
            if phrase is None or phrase.person or (phrase.strange and words[at] not in self._english.determiners):
                at += 1
                continue
            if phrase.strange or phrase.refers_back or phrase.in_hand or phrase.group is not None:
                return None
            names.update(phrase.called.all if phrase.called is not None else ())
            at = max(phrase.end if not phrase.places else phrase.places[0][1].begin, at + 1)
        return names

    def _is_ending(self, words: Sequence[str]) -> bool:
        kept = [word for word in words if word not in self._english.fillers]
        return bool(kept) and self._english.endings.length_at(kept, 0) == len(kept)

    def _clause(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        for form in _FORMS:
            end = form(self, words, at, heard)
            if end is not None:
                return end
        return None

    def _unread(self, words: Sequence[str], at: int, heard: Heard) -> int:
        """Skip a clause that no form explains, to where the next request begins."""
        end = at + 1
        while end < len(words) and words[end] not in _SENTENCE_ENDS:
            joins = words[end] in PUNCTUATION or words[end] in _LINKS
            if joins and self._starts_request(words, end + 1):
                break
            end += 1
        heard.parts.append(Remark(self._things(words, at, end), unread=" ".join(words[at:end])))
        return end

    def things(self, text: str) -> tuple[NounPhrase, ...]:
        """Return the things that a text names; not where something is."""
        words = words_of(text)
        return self._things(words, 0, len(words))

    def _things(self, words: Sequence[str], at: int, end: int) -> tuple[NounPhrase, ...]:
        """Return the things that words name, the one that they are about last; not where something is."""
        phrases: list[NounPhrase] = []
        while at < end:
            placed = self.commands.phrases.place(words, at)
            phrase = placed[1] if placed is not None else self.commands.phrases.read(words, at)
            told = placed is None and phrase is not None and words[at] in self._english.definite
            if phrase is not None and placed is None and (phrase.called is not None or (phrase.strange and told)):
                phrases.insert(0, phrase)
            at = phrase.end if phrase is not None else at + 1
        return tuple(phrases)

    def is_boundary(self, words: Sequence[str], at: int) -> bool:
        """Return whether a clause may end before a word."""
        if at >= len(words) or words[at] in PUNCTUATION or words[at] in _LINKS - {"or"}:
            return True
        english = self._english
        return bool(words[at] in english.conditions or english.reasons.length_at(words, at))

    def _take(self, heard: Heard, found: tuple[Command, int, str] | None, words: Sequence[str]) -> int | None:
        """Add a command that ends at a boundary; return where it ends."""
        if found is None or not self.is_boundary(words, found[1]):
            return None
        heard.parts.append(found[0])
        heard.put_off = heard.put_off or found[2]
        return found[1]

    # --- forms that ask for nothing by themselves

    def _polite(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "if you have a moment"."""
        length = self._english.courtesy.length_at(words, at)
        return at + length if length > 1 and self.is_boundary(words, at + length) else None

    def _courtesy(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        length = self._english.leads.length_at(words, at)
        if length:
            return at + length
        length = self._english.courtesy.length_at(words, at)
        if length > 1 or (length and self.is_boundary(words, at + length)):
            return at + length
        start = at + (words[at] == "good")
        if at == 0 and start < len(words) and words[start] in self._english.day_parts:  # "Morning.", "Good evening!"
            named = words[start + 1 : start + 2] and words[start + 1] in self._english.fillers  # "good morning dear"
            return start + 1 if named or self.is_boundary(words, start + 1) else None
        if words[at] == "be" and words[at + 1 : at + 2] and words[at + 1] in self._english.fillers:
            return at + 2 if self.is_boundary(words, at + 2) else None  # "be quick"
        is_filler = words[at] in self._english.fillers or words[at].endswith("ly")
        return at + 1 if is_filler and not self._english.stopping.length_at(words, at) else None

    def _taken_back(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        length = self._english.calling_off.length_at(words, at)
        if not length or not self.is_boundary(words, at + length):
            return None
        heard.parts[:] = [Command(_K.STOP, "stop", text=" ".join(words[at : at + length]))]
        heard.called_off = True
        return at + length

    def _corrected(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "no, bring the fork" in place of the last command."""
        start = self.commands.correction_at(words, at)
        if start == at or start >= len(words):
            return None
        before = list(heard.parts)
        end = self._asked_for(words, start, heard)
        last = next((at for at in range(len(before) - 1, -1, -1) if isinstance(before[at], Command)), None)
        command = before[last] if last is not None else None
        placed = self.commands.phrases.place(words, start) if end is None else None
        if isinstance(command, Command) and placed is not None and placed[0] in (INTO, NEAR) and last is not None:
            heard.parts[last] = replace(command, destination=placed[1], near=placed[0] == NEAR, to_user=False, way="")
            return placed[1].end  # "[put it in the fridge.] No, wait, on the table."
        if end is None:
            return start if words[at + 1] == "," and not before and words[at] != "no" else None
        if last is not None:
            remark = Remark(before[last].targets)  # type: ignore[union-attr]
            heard.parts[:] = [*before[:last], remark, *before[last + 1 :], *heard.parts[len(before) :]]
        return end

    def _asked_for(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        return next((end for form in _ASKING if (end := form(self, words, at, heard)) is not None), None)

    def _forbidden(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "do not open the window" as what is not to be done."""
        start = at
        if words[at] == "leave":
            return self._let_be(words, at, heard)
        if words[start : start + 2] in (["never", "mind"], ["forget", "about"]):
            phrase = self.commands.phrases.read(words, start + 2)
            return phrase.end if phrase is not None and self.is_boundary(words, phrase.end) else None
        if words[start : start + 2] == ["do", "not"] or words[start : start + 2] == ["and", "not"]:
            start += 2
        elif words[start] in ("never", "not") or words[start : start + 1] == ["without"]:
            start += 1
        else:
            return None
        start += start < len(words) and words[start] in ("touch", "forget", "bother")
        base = self._english.base_form(words[start]) if start < len(words) else ""
        turned = [*words[:start], base or "take", *words[start + bool(base) :]] if base else list(words)
        found = self.commands.read(turned, start)
        args, end = self.commands.arguments(words, start, "take") if found is None else (None, found[1])
        if not self.is_boundary(words, end):
            return None
        named = found[0].phrases if found is not None else args.targets if args is not None else ()
        heard.parts.append(Remark(tuple(named[:1])))
        return end

    def _let_be(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "leave the lamp on", "leave the book where it is" as what is not to be done; "leave it open" of what is
        used in this instruction as a command."""
        phrase = self.commands.phrases.read(words, at + 1)
        if phrase is None:
            return None
        end = phrase.end
        before = [part for part in heard.parts if isinstance(part, Command)]
        used = [one.called for command in before for one in command.phrases]
        is_used = phrase.pronoun or (phrase.called is not None and phrase.called in used)
        is_kept = bool(before and is_used) and before[-1].kind is not _K.CLOSE
        if is_kept and words[end : end + 1] == ["open"] and self.is_boundary(words, end + 1):
            heard.parts.append(Command(_K.OPEN, "open", (phrase,), text=" ".join(words[at : end + 1])))
            return end + 1
        if phrase.pronoun and not phrase.other:
            return None
        if phrase.pronoun:
            pass  # "leave the rest"
        elif words[end : end + 3] in (["where", "it", "is"], ["where", "they", "are"]):
            end += 3
        elif end < len(words) and words[end] in ("alone", "on", "off", "open", "closed", "shut", "out", "as"):
            end += 1
        else:
            return None
        if not self.is_boundary(words, end):
            return None
        heard.parts.append(Remark((phrase,)))
        return end

    def _reason(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Skip why something is asked for; its things have been spoken of."""
        if words[at] == "otherwise" and heard.alternative is not None:
            heard.condition, heard.alternative = heard.alternative, None
            return at + 1
        length = self._english.reasons.length_at(words, at)
        return self._spoken(words, at, at + length, heard) if length else None

    def _spoken(self, words: Sequence[str], begin: int, at: int, heard: Heard) -> int:
        """Skip to the end of a remark, and remember the things that it names."""
        phrases: list[NounPhrase] = []
        while at < len(words) and words[at] not in PUNCTUATION:
            at += self._english.courtesy.length_at(words, at)  # "I do not need it any more"
            if at >= len(words) or words[at] in PUNCTUATION:
                break
            if words[at] in _LINKS and at > begin and self._starts_request(words, at + 1):
                break
            phrase = self.commands.phrases.read(words, at)
            told = phrase is not None and (words[at] in self._english.determiners or phrase.called is not None)
            told |= phrase is not None and self._lexicon.is_person(phrase.text)
            if phrase is not None and told and (phrase.called is not None or phrase.strange):
                phrases.append(phrase)
            at = phrase.end if phrase is not None else at + 1
        heard.parts.append(Remark(tuple(phrases)))
        return at

    def _starts_request(self, words: Sequence[str], at: int) -> bool:
        at = past(words, at, self._english.fillers | _LINKS | PUNCTUATION)
        if at >= len(words):
            return False
        trial = Heard()
        return any(form(self, words, at, trial) is not None for form in _ASKING)

    def _remark(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Skip "I am cold", "the hall's a tip"; not where it may ask for something, or is a question."""
        english = self._english
        phrase = self.commands.phrases.read(words, at, places=True)
        begin = phrase.end if phrase is not None and words[at] not in english.subjects else at + 1
        subject = words[at] in english.subjects
        placed = self.commands.phrases.place(words, at)
        if placed is not None and words[placed[1].end : placed[1].end + 1] == ["there"]:
            return self._spoken(words, at, placed[1].end, heard)  # "in the drawer there is a spatula"
        if not subject and phrase is None:
            return None
        if not subject and not self._is_said(words, begin):
            return None
        trial = Heard()
        end = self._spoken(words, at, at, trial)
        said = words[at:end] if subject else words[begin:end]
        own = words[at] == "there" or _own_wish(said) or (said[:1] == ["wants"] and not subject)
        own |= list(said[1:2]) == ["needs"] and words[at] in ("it", "they")
        if words[end : end + 1] == ["?"] or (_ASKING_FOR & set(said) and "not" not in said and not own):
            return None
        if words[at] == "you" and words[at + 1 : at + 2] and english.is_verb(words[at + 1]):
            return None
        about_others = said[:1] in (["wants"], ["needs"], ["likes"], ["brought"], ["left"]) and not subject
        return self._spoken(words, at, begin if about_others else at, heard)

    def _is_said(self, words: Sequence[str], at: int) -> bool:
        following = words[at] if at < len(words) else ","
        is_finite = following.endswith(("s", "ed")) and following not in self._english.function_words
        base = self._english.base_form(following)
        is_finite |= base not in ("", following)
        said = following in self._english.auxiliaries | self._english.saying or following in (
            "'s",
            "got",
            "left",
            "broke",
        )
        return said or is_finite

    def _topic(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "the cloth on the floor, [put it in the hamper]", "the vase, [you put on the shelf]"."""
        phrase = self.commands.phrases.read(words, at, places=True)
        if phrase is None or phrase.end >= len(words) or words[phrase.end] not in (",", ":"):
            return None
        start = phrase.end + 1
        trial = Heard()
        start = past(words, start, self._english.fillers | _LINKS | {","})
        if start >= len(words) or self._asked_for(words, start, trial) is None:
            return None
        command = next((part for part in trial.parts if isinstance(part, Command)), None)
        if command is None or any(not one.refers_back and not one.person for one in command.targets):
            return None
        heard.parts.append(Remark((phrase,)))
        return start

    # --- times and conditions

    def _timed(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "before you close the window, open the door" in the order in which it is done; other conditions put
        off what they are said of."""
        word = words[at]
        length = self.commands.time_at(words, at)
        if length and self.is_boundary(words, at + length):
            heard.put_off = heard.put_off or " ".join(words[at : at + length])
            return at + length
        if word not in self._english.conditions or at + 1 >= len(words) or words[at + 1] in PUNCTUATION:
            return None
        inner = Heard()
        if word == "while" and any(isinstance(part, Command) for part in heard.parts):
            return None
        end = self._deed(words, at + 1, inner) if word in ("before", "after", "once", "when") else None
        if end is None:
            return self._conditional(words, at, heard)
        last = heard.parts[-1] if heard.parts else None
        if isinstance(last, Command):
            position = len(heard.parts) - 1 if word != "before" else len(heard.parts)
            heard.parts[position:position] = [Remark(last.targets), *inner.parts] if word != "before" else inner.parts
            return end
        following = Heard()
        rest = end + (words[end : end + 1] == [","])
        after = self._asked_for(words, rest, following) if rest < len(words) else None
        if after is None:
            return None
        if word == "before":
            about = [Remark(one.targets) for one in inner.parts if isinstance(one, Command)]
            heard.parts += [*about, *following.parts, *inner.parts]
        else:
            heard.parts += [*inner.parts, *following.parts]
        heard.put_off = heard.put_off or following.put_off
        return after

    def _deed(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "washing the pan", "you wash the pan", "the pan is washed" as a command."""
        phrase = self.commands.phrases.read(words, at)
        if phrase is not None and words[phrase.end : phrase.end + 1] in (["is"], ["are"], ["has"]):
            return self._take(heard, self.commands.passive(words, phrase.end + 1, phrase), words)
        at += words[at : at + 1] == ["you"]
        at += words[at : at + 1] in (["have"], ["are"])
        at += words[at : at + 1] == ["done"]  # "[when you are] done washing the pan"
        verb = words[at] if at < len(words) else ""
        base = verb if self._english.is_verb(verb) and words[at - 1] == "you" else self._english.base_form(verb)
        if not base:
            return None
        turned = [*words[:at], base, *words[at + 1 :]]
        return self._take(heard, self.commands.read(turned, at), turned)

    def _conditional(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        end = next((i for i in range(at, len(words)) if words[i] in PUNCTUATION), len(words))
        told = bool(heard.parts) and isinstance(heard.parts[-1], Command)
        is_reason = words[at] == "while" or (words[at] == "before" and (told or words[at + 1 : at + 2] != ["you"]))
        if is_reason:
            return self._spoken(words, at, at + 1, heard)
        checked = self._checked(words, at, heard)
        if checked is not None:
            return checked
        last = heard.parts[-1] if heard.parts else None
        waits = isinstance(last, Command) and (last.kind in (_K.WAIT, _K.STOP) or bool(last.treatment))
        if not (waits and words[at] in ("until", "till")):
            heard.put_off = heard.put_off or " ".join(words[at:end])
        return end

    def _checked(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take a condition that memory can tell of: "if the cup is dirty, [wash it]", "[wash it] unless it is clean",
        "[is the oven on?] If so, [turn it off]". That there is something to be handled is no condition."""
        sought = words[at + 1 : at + 3] in (["you", "find"], ["you", "see"])
        phrase = self.commands.phrases.read(words, at + 3) if sought and words[at] == "if" else None
        if phrase is not None and phrase.pronoun and self.is_boundary(words, phrase.end):
            return phrase.end
        found = self._back_to_question(words, at, heard) or read_condition(words, at, self.commands)
        if found is None:
            return None
        asked, holds, end = found
        here = [i for i in range(heard.since, len(heard.parts)) if isinstance(heard.parts[i], Command)]
        here = [i for i in here if heard.parts[i].kind is not _K.TELL]  # type: ignore[union-attr]
        if asked.verb == EXISTS:
            if not holds or asked.targets[0].places or (here and not asked.targets[0].pronoun):
                return None
            heard.parts += [] if here else [Remark(asked.targets)]
            return end
        if len(here) > 1:
            return None  # "wash the cup and put it away if it is dirty": both?
        if here:
            heard.parts[here[0]] = replace(heard.parts[here[0]], condition=(asked, holds))  # type: ignore[arg-type]
            return end
        heard.parts += [Remark(asked.targets)] if asked.targets[0].called is not None else []
        heard.condition, heard.alternative = (asked, holds), (asked, not holds)
        return end

    def _back_to_question(self, words: Sequence[str], at: int, heard: Heard) -> tuple[Command, bool, int] | None:
        """Take "if so", "if it is not" of the question before."""
        said = [part for part in heard.parts if isinstance(part, Command) and part.kind is _K.TELL]
        answer = _IF_SO.match(" ".join(words[at:])) if said else None
        if answer is None:
            return None
        return replace(said[-1], text=answer.group()), answer["no"] is None, at + len(answer.group().split())

    # --- forms that ask for something

    def _halted(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        for phrases, kind in ((self._english.stopping, _K.STOP), (self._english.waiting, _K.WAIT)):
            length = phrases.length_at(words, at)
            while length and at + length < len(words) and not self.is_boundary(words, at + length):
                more = self._english.courtesy.length_at(words, at + length) or words[
                    at + length
                ] in self._english.fillers | {"here", "there"}
                if not more:
                    break
                length += int(more)
            if (
                length
                and words[at + length : at + length + 1] == [","]
                and any(isinstance(one, Command) for one in heard.parts)
            ):
                return None  # "wait, I meant ..."
            if length and self.is_boundary(words, at + length):
                heard.parts.append(Command(kind, str(kind), text=" ".join(words[at : at + length])))
                return at + length
        return None

    def _question(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        found = read_question(words, at, self.commands)
        if found is None:
            return None
        end = past(words, found[1], self._english.fillers)
        return self._take(heard, (found[0], end, ""), words)

    def _assured(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "make sure that the window is closed", "see to it that the vase ends up on the shelf"."""
        length = self._english.assurances.length_at(words, at)
        phrase = self.commands.phrases.read(words, at + length) if length else None
        if phrase is None or phrase.end >= len(words):
            return None
        start = phrase.end
        if words[start] in ("is", "are", "gets", "get", "goes", "go"):
            start += 1
        else:
            return None
        found = self.commands.passive(words, start, phrase) or self.commands.stated(words, start, phrase, at)
        return self._take(heard, found, words)

    def _wish(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "I'd like the apple", "I want the lamp on", "can I have two forks", "Ben wants the ball"."""
        length, who = self._english.wishes.length_at(words, at), "me"
        wanting = self._english.wanting.length_at(words, at + 1) if self._lexicon.is_person(words[at]) else 0
        if wanting:
            length, who = 1 + wanting, words[at]
            if {who, "him", "her", "it", "them"} & set(words[at + length :]):
                return self._spoken(words, at, at, heard)  # what follows is how it is granted
        start = at + length
        if not length or start >= len(words) or words[start] in ("to", "you"):
            return None
        args, end = self.commands.arguments(words, start, "have")
        if not args.targets or args.targets[0].person:
            return None
        first = args.targets[0]
        if first.strange and first.head in self._english.day_parts:
            return None  # "I would like to have breakfast" says why
        if words[end : end + 1] == ["to"]:
            end += 1 + (words[end + 1 : end + 2] in (["be"], ["go"], ["come"]))
            found = self.commands.passive(words, end, first) or self.commands.stated(words, end, first, at)
            return self._take(heard, found, words)
        if args.result:
            return self._take(
                heard, self.commands.passive(words, _at_result(words, first.end, end, self._english), first), words
            )
        if args.state or args.particle:
            return self._take(heard, self.commands.stated(words, first.end, first, at), words)
        places = [place for place in args.places if place[0] in (INTO, NEAR)]
        asks = words[at] in ("can", "could", "may", "might") or words[at : at + 2] == ["let", "me"]
        wanted = not asks and len(places) == 1 and not first.excluded
        turned = [*words[:start], *(["put"] if wanted else ["bring", who]), *words[start:]]
        found = self.commands.read(turned, start)
        if found is None:
            return None
        command = replace(found[0], way="", to_user=who == "me") if found[0].way == "back" else found[0]
        return self._take(heard, (command, found[1] - (1 if wanted else 2), found[2]), words)

    def _ordered(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "[could you please] put the ladle in the pot"; behind another command "putting it on the tray", too."""
        base = self._english.base_form(words[at]) if words[at].endswith("ing") and words[at - 1] == "," else ""
        if base and any(isinstance(part, Command) for part in heard.parts):
            words = [*words[:at], base, *words[at + 1 :]]
        both = self._both_verbs(words, at, heard)
        if both is not None:
            return both
        for _ in range(_MOST_OPENINGS):
            parts = len(heard.parts)
            found = self._take(heard, self.commands.read(words, at), words)
            if found is not None and parts and words[found - 1] == "first":
                return found if self._put_before(heard) else None
            if found is not None:
                return found
            length = self._english.openings.length_at(words, at)
            if not length:
                return None
            bent = words[at + length - 1] in ("mind", "you")
            at += length
            while at < len(words) and (
                words[at] in self._english.fillers or words[at] == "," or words[at].endswith("ly")
            ):
                at += 1
            if at >= len(words):
                return None
            both = self._both_verbs(words, at, heard)
            if both is not None:
                return both
            if bent and not self._english.is_verb(words[at]) and self._english.base_form(words[at]):
                words = [*words[:at], self._english.base_form(words[at]), *words[at + 1 :]]
        return None

    def _put_before(self, heard: Heard) -> bool:
        """Put the last command, "[if it is dirty,] rinse it first", before the one to whose thing it is done."""
        command, before = heard.parts.pop(), heard.parts[-1]
        is_one = isinstance(command, Command) and all(one.pronoun for one in command.targets)
        if not is_one or not isinstance(before, Command) or before.kind is _K.TELL or not before.targets:
            return False
        assert isinstance(command, Command)
        if before.condition is not None and heard.condition is not None:
            before = replace(before, condition=None)  # "[fill it if it is clean,] otherwise wash it first": then, too
        heard.parts[-1:] = [Remark(before.targets), replace(command, condition=heard.condition), before]
        heard.condition = None
        return True

    def _both_verbs(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "wash and slice the tomato", "wash, peel and slice it" as commands on one thing."""
        before: list[tuple[str, Verb]] = []
        while (verb := self._treating_verb(words, at)) is not None and words[at + 1 : at + 2] in (["and"], [","]):
            before.append((words[at], verb))
            at += 2 + (words[at + 1 : at + 3] == [",", "and"])
        found = self.commands.read(words, at) if before else None
        if found is None or self._treating_verb(words, at) is None or not found[0].targets:
            return None
        targets, text = found[0].targets, found[0].text
        heard_before = len(heard.parts)
        for number, (word, one) in enumerate(before):
            heard.parts.append(
                Command(one.kind, word, again(targets) if number else targets, text=text, treatment=one.treatment)
            )
        end = self._take(heard, (replace(found[0], targets=again(targets)), *found[1:]), words)
        if end is None:
            del heard.parts[heard_before:]
        return end

    def _treating_verb(self, words: Sequence[str], at: int) -> Verb | None:
        verb = self._english.verbs.get(words[at]) if at < len(words) else None
        return verb if verb is not None and (verb.treatment or verb.kind in (_K.OPEN, _K.CLOSE)) else None

    def _obliged(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "the mug should be washed", "the vase goes on the shelf", "the plates need a rinse"."""
        commands, english = self.commands, self._english
        phrase = commands.phrases.read(words, at, places=True)
        if phrase is None or phrase.person or phrase.pronoun in ("that", "this"):
            return None
        start = past(words, phrase.end, english.fillers | {","})
        if start >= len(words):
            return None
        word = words[start]
        if word in ("goes", "go", "belongs", "belong"):
            return self._take(heard, commands.stated(words, start + 1, phrase, at), words)
        if word in ("needs", "need", "wants", "want", "requires"):
            return self._needed(words, start + 1, phrase, at, heard)
        if word not in english.obliging:
            return None
        start += 1
        to = words[start : start + 1] == ["to"]
        if word in ("is", "are", "has", "have", "ought") and not to:
            return None
        if phrase.pronoun and words[start + to : start + to + 1] == ["be"]:
            placed = commands.phrases.place(words, start + to + 1) or words[start + to + 1 : start + to + 2] == [
                "somewhere"
            ]
            if placed and any(isinstance(part, Command) for part in heard.parts):
                return self._spoken(words, at, start, heard)  # "find my keys, they should be in the kitchen"
        return self._brought_about(words, start + to, phrase, at, heard)

    def _brought_about(self, words: Sequence[str], at: int, phrase: NounPhrase, begin: int, heard: Heard) -> int | None:
        at = past(words, at, self._english.fillers)
        if words[at : at + 1] == ["use"] or words[at : at + 2] == ["do", "with"]:
            return self._needed(words, at + (1 if words[at] == "use" else 2), phrase, begin, heard)
        if at < len(words) and words[at] in _GOING_THERE | {"get"}:
            at += 1
        at = past(words, at, self._english.fillers)
        found = self.commands.passive(words, at, phrase) or self.commands.stated(words, at, phrase, begin)
        return self._take(heard, found, words)

    def _needed(self, words: Sequence[str], at: int, phrase: NounPhrase, begin: int, heard: Heard) -> int | None:
        if words[at : at + 1] == ["to"]:
            return self._brought_about(words, at + 1, phrase, begin, heard)
        start = past(words, at, _NEED_NOUN | {"good", "quick", "thorough"})
        verb = words[start] if start < len(words) else ""
        base = self._english.base_form(verb) or (verb if start > at and self._english.is_verb(verb) else "")
        if not base:
            return None
        turned = [*words[:start], base if base in ("put", "cut") else f"{base}ed", *words[start + 1 :]]
        return self._take(heard, self.commands.passive(turned, start, phrase), turned)

    def _same(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "[bring Lena an apple.] The same for Karl" as a second such command."""
        length = self._english.repeats.length_at(words, at)
        phrase = self.commands.phrases.read(words, at + length) if length else None
        commands = [part for part in heard.parts if isinstance(part, Command)]
        if phrase is None or len(commands) != 1 or not self._lexicon.is_person(phrase.text):
            return None
        given = commands[0].given_to(phrase)
        return self._take(heard, (given, phrase.end, ""), words) if given is not None else None

    def _verbless(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "the pillow on the bed", "TV off", "two forks to the table"."""
        phrase = self.commands.phrases.read(words, at)
        other = phrase is not None and phrase.other and any(isinstance(part, Command) for part in heard.parts)
        if phrase is None or not (phrase.named or other) or phrase.only_room or words[-1] == "?":
            return None
        found = self.commands.stated(words, phrase.end, phrase, at)
        if found is None or found[0].kind not in (_K.PLACE, _K.SWITCH_ON, _K.SWITCH_OFF):
            return None
        return self._take(heard, found, words)

    def _by_doing(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "prepare the hall by moving the vase to the shelf" as what is to be done; "set up the shelf by moving
        the vase" says where to."""
        for start in range(at + 2, len(words)):
            if words[start] in _SENTENCE_ENDS:
                break
            base = self._english.base_form(words[start]) if words[start].endswith("ing") else ""
            by = start - 1 - (words[start - 1] == "first")
            if not base or words[by] != "by":
                continue
            main = self.commands.read(words[:by], at)
            if main is not None and main[0].targets and (main[0].kind is not _K.PLACE or main[0].destination):
                return None  # "wash the mug by putting it in the sink" says how
            end = self._ordered([*words[:start], base, *words[start + 1 :]], start, heard)
            command = heard.parts[-1] if end is not None else None
            if isinstance(command, Command) and command.kind is _K.PLACE and command.destination is None:
                phrases = (self.commands.phrases.read(words, begin) for begin in range(at, by))
                place = next((one for one in phrases if one and self._lexicon.is_furniture(one.called)), None)
                heard.parts[-1] = replace(command, destination=place)
            return end
        return None

    # --- answers and corrections in few words

    def _fragment(self, words: Sequence[str]) -> Fragment | None:
        """Return an instruction as an answer, or as what it says of the last one; None where it is neither."""
        english, commands = self._english, self.commands
        at, corrects, agrees = 0, False, False
        while at < len(words):
            start = commands.correction_at(words, at)
            if start > at:
                corrects, at = True, start
            elif words[at] in english.yes:
                agrees, at = True, at + 1
            elif words[at] in english.fillers | _LINKS | PUNCTUATION or words[at] in ("mean", "meant"):
                at += 1
            elif words[at : at + 1] == ["not"] and commands.phrases.read(words, at + 1) is not None:
                excluded = commands.phrases.read(words, at + 1)
                assert excluded is not None
                corrects, at = True, excluded.end
            else:
                break
        if at >= len(words):
            return Fragment(agrees=True) if agrees else None
        length = english.repeats.length_at(words, at)
        args, end = commands.arguments(words, at + length, "take")
        end = past(words, end, PUNCTUATION | english.fillers)
        if end < len(words) or args.result or args.state or args.later:
            return None
        place = args.places[-1][:2] if args.places else None
        if place is not None and args.targets and place[0] not in (INTO, NEAR):
            place = None
        thing = args.targets[0] if args.targets else None
        if (thing is None and place is None and not args.particle) or (thing and thing.head in english.day_parts):
            return None
        return Fragment(thing, tuple(args.targets[1:]), place, args.particle, agrees, corrects)


def _own_wish(said: Sequence[str]) -> bool:
    """Return whether the speaker says what they will do themselves: "I want to sit down", "I shall read it"."""
    if said[0] not in ("i", "we") or "you" in said:
        return False
    own = said[1] in ("shall", "should", "must") if len(said) > 1 else False
    return own or any(list(said[at : at + 2]) in (["want", "to"], ["need", "to"], ["like", "to"]) for at in (1, 2))


def _at_result(words: Sequence[str], begin: int, end: int, english: English) -> int:
    """Return where the participle stands between two words."""
    return next(i for i in range(begin, end) if english.base_form(words[i]) and words[i] not in english.function_words)


Form = Callable[[InstructionReader, Sequence[str], int, Heard], "int | None"]

# What a clause may be. The first form that explains it counts.
_R = InstructionReader
_ASKING: tuple[Form, ...] = (_R._halted, _R._question, _R._assured, _R._wish, _R._ordered, _R._obliged)
_FORMS: tuple[Form, ...] = (
    _R._taken_back,
    _R._halted,
    _R._corrected,
    _R._polite,
    _R._timed,
    _R._reason,
    _R._forbidden,
    _R._question,
    _R._assured,
    _R._wish,
    _R._by_doing,
    _R._ordered,
    _R._obliged,
    _R._same,
    _R._topic,
    _R._verbless,
    _R._courtesy,
    _R._remark,
)
