"""Brings what people say into plain clauses: one wording for what can be said in several ways."""

from __future__ import annotations

import re

# Words that begin a sentence with a capital and name nobody.
_NO_NAME = (
    r"(?!(?:There|It|This|That|These|Those|He|She|They|What|Which|Who\w*|Where|When|Why|How|Although|If|Some\w+|"
    r"Any\w+|Every\w+|Hi|Hello|Honestly)\b)"
)
# Who is somebody's; "Ben's bike" is a thing.
KIN = (
    r"(?:(?:grand|step)?(?:mother|father|ma|pa|son|daughter|child)|mum|mom|dad|aunt|uncle|sister|brother|cousin|niece|nephew|"
    r"wife|husband|partner|girlfriend|boyfriend|friend|neighbou?r|colleague|boss|guest|carer|nurse|doctor|flatmate)"
)
# Who is spoken of without a name: one, or a group of whom anybody may be.
BEING = (
    r"(?:dog|cat|pup(?:py)?|kitten|pet|baby|toddler|kid|boy|girl|twin|guest|visitor|tenant)s?|babies|puppies|children"
)
NAME = (
    rf"(?:(?:my [a-z-]+|(?:the|our) (?:{BEING})\b|[A-Z][\w-]*'s {KIN}\b)(?: [A-Z][\w-]*)?|"
    rf"{_NO_NAME}[A-Z][\w-]*\.?(?: (?!I\b)[A-Z][\w-]*)*|I|we)"
)
NAMES = rf"{NAME}(?:, {NAME})*(?:,? (?:and|or) {NAME})?"

_GROUPS = {
    "NAMES": f"(?P<who>{NAMES})",
    "NAME": f"(?P<who>{NAME})",
    "OTHERS": f"(?P<other>{NAMES})",
    "ANYBODY": r"(?:any(?:body|one)|people|you|others)",
    "HAND": r"(?:give|serve|hand|feed|offer|bring|pass)",
    "MUST": r"(?:(?:must|should|has to|have to|is to|are to|needs to|need to) )",
    "ILL": r"(?:(?:an? )?(?:\w+ )?(?:rash|hives|spots|cramps|heartburn|(?:migraine|headache|stomach ?ache)s?))",
    "GAVE": r"(?:(?:has |have |had )?(?:given|gave|gives?|passed on|handed down|donated|bought|got))",
}
# What says the same as a plainer clause, and that clause.
_PLAINER = tuple(
    (re.compile(re.sub("|".join(_GROUPS), lambda found: _GROUPS[found[0]], pattern)), plain)
    for pattern, plain in (
        # Verbs of two words.
        (
            r"\b(?:mess|fiddl|tinker|tamper|meddl|play|fool)(?:e|s|es|ed|ing)? (?:around |about )?with |"
            r"\b(?:go|come|going|coming) (?:anywhere )?near |\b(?:lay|laying) (?:hands|a finger) on ",
            "touch ",
        ),
        (r" (?:ends?|winds?) up (?=in |on |at )", " belong "),
        (
            r"^(?:I|we) (?:am having|are having|have|had) (?:trouble|problems?|issues|difficulties) with (.+)$",
            r"\1 fails",
        ),
        # What people wish.
        (r"^(?:I|we) (?:do|would) not (?:want|like|wish) ANYBODY (?:to )?(?:be )?(?:\w+ to )?", "never "),
        (r"^(?:I|we) (?:would (?:like|love|prefer)|want|need|like|prefer) (?!to )([\w' -]+?) to (?=\w)", r"\1 should "),
        (r"^(?:I|we) (?:would like|want) ([\w' -]+?) (?:back )?(?=(?:in|on|at|inside|near) )", r"\1 should be "),
        # What is to be left alone.
        (r"^(?:keep |get |take )?(?:your )?hands off ", "never touch "),
        (r"\bleave (.+?) where (?:it is|they are)$", r"never move \1"),
        (r"\bleave (?!me |us )(.+?) alone$", r"never touch \1"),
        (r"^(?:stay|keep|steer) (?:off|away from|clear of) ", "never touch "),
        (r" MUSTbe left alone$", " must not be touched"),
        (r" (?:MUST)?stays? (?:exactly )?(?:where (?:it is|they are)|put)$", " must not be moved"),
        (
            r"^(?:keep|hold) (.+?) (?:well |far )?(?:away from|out of (?:the )?reach of) NAMES$",
            r"\g<who> must not have \1",
        ),
        (
            r"^NAMES (?:MUST)?(?:(?:stays?|keeps?|steers?) (?:off|away from|clear of)|avoids?) ",
            r"\g<who> does not eat ",
        ),
        (r"^no ([^,]+?) for NAMES$", r"\g<who> must not have \1"),
        (rf"^no ({BEING}) (in|on|near|inside) (the|my|our) ", r"the \1 must not be \2 \3 "),
        (r"^no ([^,]+?) (in|on|near|inside) (the|my|our) ", r"\1 must not be \2 \3 "),
        (
            r"^NAMES (?:(?:(?:must|may|should|shall) (?:not|never)|(?:am|is|are) not to|never) )"
            r"(?:hold|carry|(?:get|have|take) hold of|play with|get (?:his|her|their) hands on) ",
            r"\g<who> must not have ",
        ),
        (r"^NAMES (?:am|is|are) not to handle ", r"\g<who> must not have "),
        (r"^(?:I|we) (?:would rather|would prefer|wish) (?:that )?", ""),
        (r"^(?:I|we) do not want (?:to (?:see|have|find) )?(.+?) (to|in|on|at|near|inside) ", r"\1 must not be \2 "),
        (r"^it is (?:best|better) not to ", "do not "),
        (r"^never (may|must|should|can) (.+?) be ", r"\2 \1 not be "),
        (r"^(?:do not|never) (?:let|allow) ANYBODY (?:to )?", "never "),
        (r"^(?:do not|never) (?:let|allow) NAMES (?:to )?(?=have|eat|drink|get)", r"\g<who> must not "),
        (r"^(?:do not|never) HAND NAMES (?:any )?", r"\g<who> must not have "),
        (r"^(?:do not|never) HAND (?:me|us) (?:any )?", "I must not have "),
        (r"^(?:do not|never) HAND (?:any )?(.+?) to NAMES$", r"\g<who> must not have \1"),
        (r"^(?:do not|never) HAND (?:any )?(.+?) to (?:me|us)$", r"I must not have \1"),
        (
            r"^NAMES (?:am|is|are) not (?:allowed|permitted) (?!to |in |on |into |onto |near |at |off )(?:any )?",
            r"\g<who> must not have ",
        ),
        (r"^NAMES (?:has|have)(?: got)? (?:an? )?(?:\w+ )?(\w+) (?:allergy|intolerance)$", r"\g<who> does not eat \2"),
        (r"^(.+?) (?:do|does|will|would) not agree with NAMES$", r"\g<who> does not eat \1"),
        (
            r"^NAMES (?:(?:come|break)s? out in ILL from|gets? (?:ILL|sick|ill|unwell) from|reacts? badly to) ",
            r"\g<who> does not eat ",
        ),
        # Of people alone: "do not handle the vase" forbids.
        (r"^NAMES ((?:\w+ )*not )(?:deal with|cope with|handle|digest|bear|keep down|abide) ", r"\g<who> \2eat "),
        (r"^(.+?) (?:make|give)s? NAMES (?:sick|ill|unwell|ILL)$", r"\g<who> does not eat \1"),
        (r"^(.+?) (?:is|are) (?:not|nothing|off[ -]limits) for NAMES$", r"\g<who> must not have \1"),
        (r"^(.+?) (?:must|may|should|can) (?:not|never) be given to NAMES$", r"\g<who> must not have \1"),
        (r" be given (?!to )", " have "),
        (
            r"^NAMES (?:am|is|are) (?:off (?!(?:work|school|sick|duty|home|to|the|for)\b)|too (?:young|old|ill) for )",
            r"\g<who> does not eat ",
        ),
        (r" (?:am|is|are) not (?:allergic|intolerant|sensitive) to ", " may eat "),
        (r" (?:am|is|are) (?:allergic|intolerant|sensitive) to ", " does not eat "),
        (
            r" (?:(?:has|have) (?:given up|sworn off)|(?:has |have )?stopped (?:eating|drinking)|no longer eats?) ",
            " does not eat ",
        ),
        (r" (?:am|is|are) (?:crazy about|mad about|fond of) ", " likes "),
        (r" (?:am|is|are) ((?:work|eat|stay|rest|read|wait|sleep)|sit(?=t))t?ing (?=in |on |at )", r" \1s "),
        (r"^NAMES (?:became|turned|(?:has|have) (?:become|turned)) (?=\w+$)", r"\g<who> is "),
        (
            r" (?:(?:has|have|was|were|is|are|went) )?(?:stopped working|broken? down|broke|"
            r"g[ai]ven? up(?: the ghost)?|died|packed (?:it )?(?:up|in)|conked out|had it|bust(?:ed)?|kaput|"
            r"on the blink|not responding)$",
            " fails",
        ),
        (r" (?:do|does|will|would|can) not (?:switch on|turn on|come on|start(?: up)?|respond|run)$", " fails"),
        (
            r" needs? (?:to be (?:repaired|fixed|mended)|(?:an? |some )?(?:repairs?|repairing|fixing|mending))$",
            " fails",
        ),
        (r" (?:(?:has|have) )?(?:gone|went|turned) (?=off$|bad$|sour$|rancid$|stale$|mou?ldy$)", " is "),
        (r" (?:(?:has|have) )?(?=expired$)", " is "),
        (r" (?:was|were) (?:fixed|repaired|mended)$", " works"),
        (r"^(?:NAME|(?:the|an?|my|our) [\w-]+) (?:has )?(?:fixed|repaired|mended) (the|my|our) (.+)$", r"\2 \3 works"),
        (r"^there is (?:something wrong|a problem) with (.+)$", r"\1 fails"),
        (r"^there (?:is|are) (?:no|not(?: an?| any)?) (.+?) in (the|my|our) (.+)$", r"\2 \3 does not contain \1"),
        (r"^there (?:is|are) (?!(?:some|any|every|no)thing )(.+?) in (the|my|our) (.+)$", r"\2 \3 contains \1"),
        (r"^you (?:(?:will|can|would) )?find NAMES (?=in |on |at )", r"\g<who> is "),
        (r"^you (?:(?:will|can|would) )?find (.+?) (in|on|at) ", r"\1 belongs \2 "),
        (r" (?:can|may) be found ", " is "),
        (r"^(.+) is where NAMES (sleeps?|works?|sits?|eats?)$", r"\g<who> \3 on \1"),
        (r" (?:has|have) (?:its|their) (?:place|home|spot) ", " belongs "),
        (r"^the (?:\w+ )?(?:place|home|spot) (?:of|for) (.+?) is (?:in |on |at )?", r"\1 belongs on "),
        (r" (?:has|have) been moved (?:in)?to ", " is in "),
        (r" (?:is|are) not allowed (?!to )", " must not be "),
        (r" (?:is|are) allowed (?=(?:in|on|into|onto|near|at) )", " may be "),
        (r"^keep NAMES (?:off|out of|away from) (?=(?:the|my|our) )", r"\g<who> must not be on "),
        (r"^NAME's? (?:seat|place|spot|chair) is (?:in |on |at )?", r"\g<who> sits on "),
        (r"^(.+?)'s? (?:\w+ )?(?:place|home|spot) is (?:in |on |at )?", r"\1 belongs on "),
        (r"^NAME's (?:favou?rite \w+|(?:usual |\w+ )?snack) is ", r"\g<who> likes "),
        (rf"^NAME is (my [a-z-]+|[A-Z][\w-]*'s {KIN})$", r"\2 is called \g<who>"),
        (r"^(my [a-z-]+)(?: is|'s called|'s name is) (?=[A-Z][\w-]*$)", r"\1 is called "),
        (
            r" (?:is|are) (?:a (?:present|gift) (?:for|to) )?NAME(?:'s|')(?: (?:\w+ )?(?:one|thing|toy)s?)?$",
            r" belongs to \g<who>",
        ),
        (r" (?:is|are|was|were) (?:an? )?(?:\w+ )?(?:present|gift) (?:from .+? )?(?:for|to) ", " belongs to "),
        (
            r" (?:has been|have been|was|were) (?:given|passed on|handed down|left) to OTHERS(?: (?:by|as|for) .+)?$",
            r" belongs to \g<other>",
        ),
        (r"^NAME GAVE (.+?) to OTHERS(?: (?:as|for) .+)?$", r"\2 belongs to \g<other>"),
        (r"^NAME GAVE OTHERS ((?:the|a|an|my|our|this|that|some) .+?)(?: (?:as|for) .+)?$", r"\3 belongs to \g<other>"),
        (
            r"^NAME (?:got|received|inherited|was given) (?:the|an?) (.+?) "
            r"(?:(?:from|by) (?:my|his|her|their|our|OTHERS)\b|as an? ).*$",
            r"the \2 belongs to \g<who>",
        ),
        (r"^NAMES shares? (.+?) with OTHERS$", r"\2 belongs to \g<who> and \g<other>"),
        (r"^NAMES (?:shares?|(?:jointly )?owns?) (.+)$", r"\2 belongs to \g<who>"),
        (r" (?:is|are) mine$", " belongs to I"),
        (r"^(the .+) (?:is|are) for (?:the |our |all )?(.+)$", r"\2 belongs in \1"),
        (
            r"^(?:NAME|people|every(?:body|one)|we all)(?:(?: (?!not |never )[a-z']+)+?)? (?:calls?|"
            r"(?:refers?|points?) to) (.+?) (?:as )?(?:the |our )?([\w-]+)$",
            r"\2 is called \3",
        ),
        (r"^(?:the )?(.+) is (?:our|NAME's?) (?:nick)?(?:name|word) for (.+)$", r"\3 is called \1"),
        (r"^(?:the )?(.+) is what NAME calls? (.+)$", r"\3 is called \1"),
        (r"^what NAME calls? (.+) is (.+)$", r"\3 is called \2"),
        (r"^(?:by|with) (.+?),? (?:NAME|he|she) means? (.+)$", r"\3 is called \1"),
        (r"^(?!(?:I|we|you|he|she|it|they|this|that)\b)([\w' -]+?) (?:means|stands for) (.+)$", r"\2 is called \1"),
        (r"\bgets? (?=\w+ed\b|wet\b)", "be "),
    )
)
_CONTRACTED = (
    (re.compile(r"\bcan(?:no|'|’)t\b"), "can not"),
    (
        re.compile(rf"^[Ww]hen {NAME} (?:says?|asks? for|wants?) (.+?),? (?:I|we|he|she) (?:means?|wants?) (.+)$"),
        r"\2 is called \1",
    ),
    # "If Ida asks for a snack, give her an apple."
    (
        re.compile(
            rf"^(?:[Ii]f|[Ww]hen(?:ever)?) ({NAME}) (?:wants|asks for|fancies|would like|needs|is in the mood for) "
            r"(?:a snack|something to (?:eat|drink)),? (?:give|bring|make|get|offer|hand) (?:him|her|them|\1) "
        ),
        r"\1 likes ",
    ),
    # Somebody corrects himself.
    (
        re.compile(
            r"(?:in|on|at|under|to|behind|near) (?:[\w'-]+ ){0,3}?[\w'-]+(?:, | )"
            r"(?:(?:no|sorry|wait|I mean|or rather),? )+(?=(?:in|on|at|to|near) )"
        ),
        "",
    ),
    (re.compile(r"\bno longer\b"), "not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d (?=rather|like|prefer)"), " would "),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r",? because .+$|, (?:whatever|no matter|as far as|so you know)\b.*$"), ""),
    (re.compile(r",? and that(?:'s| is) (?:that|final|where|how|the way|what)\b.*$"), ""),
    # What a thing is done with first does not tell when it belongs there.
    (
        re.compile(
            r"^(?:[Oo]nce|[Ww]hen|[Aa]fter|[Aa]s soon as) [^,]*\b"
            r"(?:clean|washed|dry|dried|done|finished|us(?:e|ed|ing)), "
        ),
        "",
    ),
    (re.compile(r"\b[Uu]nder no circumstances\b"), "never"),
    (re.compile(r"\b([Hh]e|[Ss]he|[Ii]t|[Tt]hat|[Tt]here)'s\b"), r"\1 is"),
    (re.compile(r"'s (?=(?:allergic|intolerant|sensitive) to |not allowed )"), " is "),
)
_LEAD = re.compile(
    r"^(?:(?:no|well|oh|sorry|careful|watch out|look|listen), |(?:actually|please|by the way|remember that|remember|"
    r"note that|note|from now on|now|make sure that|make sure|could you|can you|would you|you know,?|as you know|"
    r"i think|just so you know|it turns out(?: that)?|apparently|unfortunately|sadly|these days|nowadays|lately|"
    r"as a rule|in (?:this|our) (?:house|home|family)|until further notice|"
    r"(?:ever )?since (?:(?:the|his|her|their|my|our|last|this|that) )?[a-z-]+),? )",
    re.I,
)
_FILLER = re.compile(
    r"\b(?:[Bb]oth|now|currently|still|really|also|always|usually|normally|generally|typically|mostly|strictly|"
    r"absolutely|definitely|simply|just|officially|lately|nowadays|these days|please|at the moment|right now|"
    r"any ?(?:more|longer)|"
    r"again|for now|for the time being|until further notice|as a rule|(?:over |right )?(?:there|here)(?= is|$)|"
    r"only(?= \w+ (?:his|her|their|my|an?|the)\b)|most of the (?:day|time)|all day|so far|"
    r"[Ff]rom (?:now|today) on,?|under any circumstances|at all|ever|yesterday|today|recently|back(?= in| on| to)|"
    r"more than anything|most days|by any(?:one|body)|for (?:years|ages|good)|"
    r"(?:last|this) (?:week|month|year|night|morning|evening)) ?\b"
)
_OPENS = re.compile(
    "the|my|our|your|an?|all|in|at|nobody|no|never|do|you|keep|what|when|there|leave|hands|by|with|that|this|these|"
    "those|from|under|nothing|could|it|we|stay|steer|every(?:body|one)|people",
    re.I,
)


def plain(sentence: str) -> str:
    """Return a sentence without its opening, fillers and contractions."""
    text = " ".join(sentence.replace("’", "'").split()).strip(" .!?")
    for pattern, whole in _CONTRACTED:
        text = pattern.sub(whole, text)
    text = " ".join(_FILLER.sub("", without_opening(text)).split()).strip(" ,")
    # A capital at the beginning of a sentence is no name's.
    first = text.partition(" ")[0]
    return first.lower() + text[len(first) :] if _OPENS.fullmatch(first) else text


def without_opening(text: str) -> str:
    """Return a text without "Actually, " and the like, which tell nothing themselves."""
    while (shorter := _LEAD.sub("", text)) != text:
        text = shorter
    return text


def plainer(clause: str) -> str:
    """Return a clause in the plainest words that say the same."""
    for pattern, plain in _PLAINER:
        clause = pattern.sub(plain, clause)
    return clause
