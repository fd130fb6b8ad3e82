"""Brings what people say into plain clauses: one wording for what can be said in several ways."""

from __future__ import annotations

import re

NAME = r"(?:my [a-z-]+|[A-Z][\w-]*\.?(?: [A-Z][\w-]*)*|I|we)"
NAMES = rf"{NAME}(?:, {NAME})*(?:,? (?:and|or) {NAME})?"

# What says the same as a plainer clause, and that clause.
_PLAINER = tuple(
    (re.compile(pattern.replace("NAMES", f"(?P<who>{NAMES})").replace("NAME", f"(?P<who>{NAME})")), plain)
    for pattern, plain in (
        (r"\bhands off ", "never touch "),
        (r"\bleave (.+?) (?:where (?:it is|they are)|alone)$", r"never move \1"),
        (r"^(?:no|nothing with) ([^,]+?) for NAMES$", r"\g<who> must not have \1"),
        (r"^(?:I|we) (?:would rather|would prefer|wish) (?:that )?", ""),
        (r"^(?:I|we) do not want (?:to (?:see|have|find) )?(.+?) (to|in|on|at|near|inside) ", r"\1 must not be \2 "),
        (r"^(?:it is (?:best|better) not to|try not to) ", "do not "),
        (r"^never (may|must|should|can) (.+?) be ", r"\2 \1 not be "),
        (r" would rather not ", " does not "),
        (r"must not be to ", "must not "),
        (r"^(?:do not|never) (?:let|allow) (.+?) (?:to )?(?=have|eat|drink|get|touch|use)", r"\1 must not "),
        (r"^(?:do not|never) give NAMES ", r"\g<who> must not have "),
        (r"^NAMES (?:has|have) (?:an? )?(?:\w+ )?(\w+) (?:allergy|intolerance)$", r"\g<who> does not eat \2"),
        (r"^NAMES gets? (?:\w+ )+from ", r"\g<who> does not eat "),
        (r"^(.+?) (?:make|give)s? NAMES (?:sick|ill|unwell|heartburn|an? rash)$", r"\g<who> does not eat \1"),
        (r"^(.+?) (?:is|are) (?:too \w+|not|nothing|off[ -]limits) for NAMES$", r"\g<who> must not have \1"),
        (r"^(.+?) (?:must|may|should|can) (?:not|never) be given to NAMES$", r"\g<who> must not have \1"),
        (r" be given (?!to )", " have "),
        (r"^NAMES (?:am|is|are) (?:off|too \w+ for) ", r"\g<who> does not eat "),
        (r" (?:am|is|are) not (?:allergic|intolerant|sensitive) to ", " may eat "),
        (r" (?:am|is|are) (?:allergic|intolerant|sensitive) to ", " does not eat "),
        (
            r" (?:(?:has|have) (?:given up|sworn off)|(?:has |have )?stopped (?:eating|drinking)|no longer eats?) ",
            " does not eat ",
        ),
        (r" (?:am|is|are) (?:crazy about|mad about|fond of) ", " likes "),
        (r" (?:am|is|are) ((?:work|eat|stay|rest|read|wait|sleep)|sit(?=t))t?ing ", r" \1s "),
        (r"^NAMES (?:went|became|turned|(?:has|have) (?:gone|become|turned)) (?=\w+$)", r"\g<who> is "),
        (r" (?:has |have )?(?:stopped working|broken? down|broke|given up|died|packed up)$", " is broken"),
        (r" (?:was|were|has been|have been) (?:fixed|repaired|mended)$", " works"),
        (r"^.+ (?:fixed|repaired|mended) (the|my|our) (.+)$", r"\1 \2 works"),
        (r"^there is (?:something|a problem) (?:wrong )?with (.+)$", r"\1 is broken"),
        (r"^you (?:will|can) find (.+?) (in|on|at) ", r"\1 belongs \2 "),
        (r" (?:can|may) be found ", " is "),
        (r"^(.+) is where NAMES (sleeps?|works?|sits?|eats?)$", r"\g<who> \3 on \1"),
        (r" (?:has|have) (?:its|their) (?:place|home|spot) ", " belongs "),
        (r"^the (?:\w+ )?(?:place|home|spot) (?:of|for) (.+?) is ", r"\1 belongs on "),
        (r" (?:has|have) (?:been )?moved (?:in)?to ", " is in "),
        (r" (?:has|have) no place | (?:is|are) not allowed (?!to )", " must not be "),
        (r" not leave .+$", " not be moved"),
        (r"^NAME's? (?:seat|place|spot|chair) is ", r"\g<who> sits on "),
        (r"^NAME's favou?rite \w+ is ", r"\g<who> likes "),
        (r"^NAME's name is ", r"\g<who> is called "),
        (r"^NAME is my ([a-z-]+)$", r"my \2 is called \g<who>"),
        (r"^(my [a-z-]+) is (?=[A-Z][\w-]*$)", r"\1 is called "),
        (r"^NAME's? [\w -]+ (?:is|are) the (.+)$", r"the \2 belongs to \g<who>"),
        (
            r" (?:is|are) (?:a (?:present|gift) (?:for|to) )?NAME(?:'s|')(?: (?:\w+ )?(?:one|thing|toy)s?)?$",
            r" belongs to \g<who>",
        ),
        (r" (?:is|are) a (?:present|gift) (?:for|to) ", " belongs to "),
        (r" (?:is|are) mine$", " belongs to I"),
        (r"^NAME owns (.+)$", r"\2 belongs to \g<who>"),
        (r"^(the .+) (?:is|are) for (?:the |our |all )?", r"@\1@"),
        (r"^@(.+)@(.+)$", r"\2 belongs in \1"),
        (r"^(?:NAME|people) calls? (.+?) (?:the )?([\w-]+)$", r"\2 is called \3"),
        (r"^what NAME calls? (.+) is (.+)$", r"\3 is called \2"),
        (r"^(?:by|with) (.+?),? (?:NAME|he|she) means? (.+)$", r"\3 is called \1"),
        (r"^(.+?) (?:means?|stands for) (.+)$", r"\2 is called \1"),
        (r"\bgets? (?=\w+ed\b|wet\b)", "be "),
    )
)
_CONTRACTED = (
    (re.compile(r"\bcan(?:no|'|’)t\b"), "can not"),
    (
        re.compile(rf"^[Ww]hen {NAME} (?:says?|asks? for|wants?) (.+?),? (?:I|we|he|she) (?:means?|wants?) (.+)$"),
        r"\2 is called \1",
    ),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d (?=rather|like|prefer)"), " would "),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r",? because .+$"), ""),
    (re.compile(r"\b[Uu]nder no circumstances\b"), "never"),
    (re.compile(r"\b([Hh]e|[Ss]he|[Ii]t|[Tt]hat|[Tt]here)'s\b"), r"\1 is"),
    (re.compile(r"'s (?=(?:called|named|allergic|not)\b)"), " is "),
)
_LEAD = re.compile(
    r"^(?:(?:no|well|oh|sorry|careful|watch out), |(?:actually|please|by the way|remember that|remember|note that|note|"
    r"from now on|now|make sure that|make sure|could you|can you|would you),? )",
    re.I,
)
_FILLER = re.compile(
    r"\b(?:[Bb]oth|now|currently|still|really|also|always|usually|please|at the moment|right now|any ?more|again|"
    r"[Ff]rom (?:now|today) on,?|under any circumstances|at all|ever|yesterday|today|recently|back(?= in| on| to)|"
    r"more than anything|most days|by any(?:one|body)|for (?:years|ages|good)|"
    r"(?:last|this) (?:week|month|year|night|morning|evening)) ?\b"
)
_OPENS = re.compile(
    "the|my|our|your|an?|all|in|at|nobody|no|never|do|you|keep|what|when|there|leave|hands|by|with|that|this|these|those|from|under|nothing|could|it",
    re.I,
)


def plain(sentence: str) -> str:
    """Return a sentence without its opening, fillers and contractions."""
    text = " ".join(sentence.replace("’", "'").split()).strip(" .!?")
    for pattern, whole in _CONTRACTED:
        text = pattern.sub(whole, text)
    while (shorter := _LEAD.sub("", text)) != text:
        text = shorter
    text = " ".join(_FILLER.sub("", text).split()).strip(" ,")
    # A capital at the beginning of a sentence is no name's.
    first = text.partition(" ")[0]
    return first.lower() + text[len(first) :] if _OPENS.fullmatch(first) else text


def plainer(clause: str) -> str:
    """Return a clause in the plainest words that say the same."""
    for pattern, plain in _PLAINER:
        clause = pattern.sub(plain, clause)
    return clause
