"""How texts become sentences, comparable words, names, things and days; rules, no model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache

from memory_node.domain.clock import NS, local_day
from memory_node.domain.names import singular

# What may stand before a name.
DETERMINER = r"(?:all the|all|any|some|every|the|my|our|your|his|her|their|this|that|these|those|an|a) "
_DETERMINER = re.compile(rf"^{DETERMINER}", re.I)
_WORD = re.compile(r"[^\W_]+")
# A contraction's or possessive's end says nothing: "Anna's", "didn't".
_CLITIC = re.compile(r"n['’]t\b|['’](?:s|re|ve|ll|d|m)\b")
STOP_WORDS = frozenset(
    _WORD.findall(
        "a an the some any each every either neither both my your our his her hers their its it this that these those "
        "of for to from with without in on at by into onto about as than over under after before during between while "
        "and or but nor so then if because is are was were be been being am do does did done doing has have had having "
        "i we you he she they me him us them who whom whose which what when where why how there here not no yes too "
        "very can cannot could would will shall should may might must also just only own same such other another more "
        "most many much few up out off down again once please get got"
    )
)
_SUFFIXES = ("ings", "ing", "ed", "er", "ly")
_LEAST_STEM = 4


def folded(text: str) -> str:
    """Return a text in lower case without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter)).lower()


def on_one_line(text: str) -> str:
    """Return a text in one line, with single spaces and plain apostrophes."""
    return " ".join(text.replace("’", "'").split())


def bare(words: str) -> str:
    """Return words without the article or the like before them."""
    return _DETERMINER.sub("", words.strip())


_TO_SPEAKER = tuple(
    (re.compile(said), told)
    for said, told in (
        (r"\bI(?:['’]m| am)\b", "you are"),
        (r"\bI was\b", "you were"),
        (r"\bI(?=['’ ])", "you"),
        (r"\b[Mm]y\b", "your"),
        (r"\b[Mm]ine\b", "yours"),
        (r"\b[Mm]e\b", "you"),
    )
)


def told_back(text: str) -> str:
    """Return what somebody said of themselves, as it is told to them: "My son is ill" as "Your son is ill"; what speaks
    to the robot as it is."""
    if re.search(r"\byou\b", text):
        return text
    for said, told in _TO_SPEAKER:
        text = said.sub(told, text)
    return text[:1].upper() + text[1:]


def plain_words(text: str) -> list[str]:
    """Return the words and numbers of a text, folded; every one."""
    return _WORD.findall(_CLITIC.sub("", folded(text)))


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return a folded word without its inflection: "painted" and "painting" become "paint", "films" "film"."""
    word = singular(word)
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            word = word.removesuffix(suffix)
            if word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > _LEAST_STEM else word


def stems(text: str) -> list[str]:
    """Return the stems of the words that carry meaning, in order, repetitions kept."""
    return [stem(word) for word in plain_words(text) if word not in STOP_WORDS]


# Points that end no sentence: of abbreviations and initials.
_ABBREVIATIONS = {
    *("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "etc", "inc", "ltd", "co", "corp", "no", "vol", "fig"),
    *("eg", "ie", "ca", "approx", "gen", "col", "lt", "capt", "sgt", "rev", "hon", "feat"),
}
_END = re.compile(r"[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\W_a-zà-ÿ])|\n\s*\n|\n(?=\s*[-*•])")
_LAST_WORD = re.compile(r"([^\W_]+)\.[\"'”’)\]]*\s*$")
# A text without full stops is cut, so that no sentence outgrows the embedder.
LONGEST_SENTENCE = 600


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, stripped, none empty."""
    parts: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if _is_abbreviation(text[start : match.end()]):
            continue
        parts.append(text[start : match.end()])
        start = match.end()
    parts.append(text[start:])
    return [piece for part in parts for piece in _cut(" ".join(part.split())) if piece]


def _is_abbreviation(part: str) -> bool:
    found = _LAST_WORD.search(part)
    if found is None:
        return False
    word = found.group(1)
    return word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())


def _cut(sentence: str) -> list[str]:
    """Return a sentence in pieces of at most LONGEST_SENTENCE characters, cut at spaces where there are any."""
    pieces = []
    while len(sentence) > LONGEST_SENTENCE:
        space = sentence.rfind(" ", 0, LONGEST_SENTENCE)
        at = space if space > 0 else LONGEST_SENTENCE
        pieces.append(sentence[:at].strip())
        sentence = sentence[at:].strip()
    return [*pieces, sentence]


# Capitalised words, joined by the small words that names hold: "Haymo of Faversham".
_NAME = re.compile(
    r"[^\W\d_a-zà-öø-ÿ][\w'’&-]*"
    r"(?:(?:\s+(?:of|the|de|la|von|van|der|for|in|on|and|&))*\s+[A-Z0-9À-Þ][\w'’&-]*)*"
)
_QUOTED = re.compile(r"[\"“]([^\"“”]{2,80})[\"”]|(?<![\w])['‘]([^'‘’]{2,80})['’](?![\w])")
_ASIDE = re.compile(r"\s*\([^)]*\)\s*$")
_SPLIT = re.compile(r"\s+(?:and|&)\s+")
_NUMBER = re.compile(r"\d")
_LONGEST_NAME = 8
# Concepts of one proposition at most, names first.
MOST_CONCEPTS = 12
# What a concept may never be: it would link everything that anybody said.
_NEVER = frozenset({"user", "i", "thing", "something", "someone", "today", "yesterday", "tomorrow", "photo"})


@lru_cache(maxsize=65_536)
def name_key(text: str) -> str:
    """Return the form in which names are compared; a title's aside, "(film)", is left out."""
    bare = _ASIDE.sub("", text)
    return " ".join(plain_words(bare if bare.strip() else text))


@lru_cache(maxsize=1024)
def names_in(text: str) -> tuple[str, ...]:
    """Return the keys of the names and quoted titles of a text, longest form first found, each once."""
    found: dict[str, None] = {}
    for match in _QUOTED.finditer(text):
        _note(found, match.group(1) or match.group(2))
    for match in _NAME.finditer(text):
        whole = match.group()
        _note(found, whole)
        parts = _SPLIT.split(whole)
        for part in parts if len(parts) > 1 else ():
            _note(found, part)
    return tuple(found)


def _note(found: dict[str, None], name: str) -> None:
    words = name_key(name).split()
    # A sentence begins with a capital, too: "In Laie".
    while words and words[0] in STOP_WORDS:
        words = words[1:]
    while words and words[-1] in STOP_WORDS:
        words = words[:-1]
    if words and len(words) <= _LONGEST_NAME and (len(words) > 1 or len(words[0]) > 1):
        found.setdefault(" ".join(words))


def spans_of(words: list[str], longest: int = _LONGEST_NAME) -> Iterator[str]:
    """Yield every run of up to `longest` words, as a name's key would be; a stop word alone is left out."""
    for begin in range(len(words)):
        yield from spans_at(words, begin, longest)


def spans_at(words: list[str], begin: int, longest: int = _LONGEST_NAME) -> Iterator[str]:
    """Yield the runs that begin at a word, the shortest first."""
    for end in range(begin + 1, min(begin + longest, len(words)) + 1):
        if end - begin > 1 or words[begin] not in STOP_WORDS:
            yield " ".join(words[begin:end])


def things_in(text: str) -> list[str]:
    """Return the noun-like phrases of a text: its words between function words, one and two at a time, plurals cut."""
    found: dict[str, None] = {}
    before = ""
    for word in plain_words(text):
        if word in STOP_WORDS or len(word) < 3 or _NUMBER.search(word):
            before = ""
            continue
        one = singular(word)
        if before:
            found.setdefault(f"{before} {one}")
        found.setdefault(one)
        before = word
    return list(found)


def concepts_said_in(text: str) -> frozenset[str]:
    """Return all that a proposition may have as a concept of a text: runs of words, and things in the singular."""
    return frozenset(spans_of(plain_words(text))) | frozenset(things_in(text))


def concepts_of(subject: str, text: str, most: int = MOST_CONCEPTS) -> frozenset[str]:
    """Return the concept tags of a proposition: its subject, its names, then its things; at most `most`."""
    chosen: dict[str, None] = {}
    for concept in (*([name_key(subject)] if subject else ()), *names_in(text), *things_in(text)):
        if concept and concept not in _NEVER:
            chosen.setdefault(concept)
        if len(chosen) == most:
            break
    return frozenset(chosen)


_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    word: n
    for n, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
}
_NUMBERS |= {"a": 1, "an": 1, "couple": 2, "few": 3}
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in _MONTHS)
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\.?,?\s+(\d{{4}})\b", re.I)
_MONTH_DAY = re.compile(rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.I)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2})\s*(am|pm)?", re.I)
_COUNT = "|".join([r"\d{1,3}", *_NUMBERS])
_RELATIVE = re.compile(
    rf"\b(?:(?P<day>yesterday|today|tonight|tomorrow|last night)"
    rf"|(?P<count>{_COUNT})(?: of)? (?P<unit>day|week|month|year)s? ago"
    rf"|(?P<which>last|this|next) (?P<what>week|weekend|month|year|summer|winter|{'|'.join(DAYS)}|{_MONTH}))\b",
    re.I,
)
_OFFSETS = {"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1}


def day_of(text: str) -> date | None:
    """Return the day that a text names in full, None when it names none: "1:56 pm on 8 May, 2023", "2023-05-08"."""
    try:
        if found := _DAY_MONTH.search(text):
            return date(int(found[3]), _month(found[2]), int(found[1]))
        if found := _MONTH_DAY.search(text):
            return date(int(found[3]), _month(found[1]), int(found[2]))
        if found := _ISO.search(text):
            return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:  # the 31st of June
        return None
    return None


def stamp_of(text: str, zone: tzinfo | None = None) -> int | None:
    """Return the nanoseconds since 1970 (UTC) of the day, and of the clock time if any, that a text names."""
    day = day_of(text)
    if day is None:
        return None
    hour = minute = 0
    if found := _CLOCK.search(text):
        hour, minute = int(found[1]), int(found[2])
        half = (found[3] or "").lower()
        hour = hour % 12 + 12 if half == "pm" else hour % 12 if half == "am" else hour
    if hour > 23 or minute > 59:
        hour = minute = 0
    moment = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
    return int(moment.timestamp()) * NS


def number_of(word: str) -> int | None:
    """Return the number that a word or digits say, None for another word: 2 of "two", 1 of "a"."""
    return int(word) if word.isdecimal() and len(word) < 4 else _NUMBERS.get(word)


def spoken_day(stamp_ns: int, zone: tzinfo | None = None) -> str:
    """Return a stamp's day in words: "8 May 2023"."""
    return _said(local_day(stamp_ns, zone))


def with_days(text: str, stamp_ns: int, zone: tzinfo | None = None) -> str:
    """Return a text with the day behind each word that counts from when it was said: "yesterday (7 May 2023)"."""
    said_on = local_day(stamp_ns, zone)
    return _RELATIVE.sub(lambda match: f"{match.group()} ({_meant(match, said_on)})", text)


def _month(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month.startswith(name.lower()[:3]))


def _said(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1].capitalize()} {day.year}"


def _meant(match: re.Match[str], said_on: date) -> str:
    if match["day"]:
        return _said(said_on + timedelta(days=_OFFSETS[match["day"].lower()]))
    if match["count"]:
        return _ago(number_of(match["count"].lower()) or 0, match["unit"].lower(), said_on)
    way = {"last": -1, "this": 0, "next": 1}[match["which"].lower()]
    return _period(way, match["what"].lower(), said_on)


def _ago(count: int, unit: str, said_on: date) -> str:
    if unit in ("day", "week"):
        return _said(said_on - timedelta(days=count * (7 if unit == "week" else 1)))
    return _shifted(said_on, -count) if unit == "month" else str(max(1, said_on.year - count))


def _period(way: int, what: str, said_on: date) -> str:
    if what in DAYS:
        to_it = (DAYS.index(what) - said_on.weekday()) % 7
        if way < 0:
            return _said(said_on - timedelta(days=(7 - to_it) % 7 or 7))
        return _said(said_on + timedelta(days=to_it or 7 * way))
    if what in ("week", "weekend"):
        return f"week of {_said(said_on - timedelta(days=said_on.weekday() - 7 * way))}"
    if what == "month":
        return _shifted(said_on, way)
    if what in ("year", "summer", "winter"):
        return str(said_on.year + way)
    month = _month(what)
    year = said_on.year + (0 if way == 0 else -(month >= said_on.month) if way < 0 else int(month <= said_on.month))
    return f"{_MONTHS[month - 1].capitalize()} {year}"


def _shifted(day: date, months: int) -> str:
    number = day.year * 12 + day.month - 1 + months
    return f"{_MONTHS[number % 12].capitalize()} {number // 12}"
