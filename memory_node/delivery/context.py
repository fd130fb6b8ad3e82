"""What a language model sees of memory for one instruction: sections in a fixed order, each under a token budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_node.domain.answer import Recollection
from memory_node.domain.token_count import estimate_tokens
from memory_node.experience.experience import ExperienceAnswer


@dataclass(frozen=True)
class Section:
    """A titled part of the context; lines come most important first, so that a budget cuts the least important."""

    title: str
    lines: tuple[str, ...]
    share: float

    def within(self, token_budget: int) -> str:
        """Return the title and as many lines as the budget holds; empty where not even one fits."""
        text = ""
        for line in self.lines:
            longer = f"{text}\n{line}" if text else f"## {self.title}\n{line}"
            if estimate_tokens(longer) > token_budget:
                break
            text = longer
        return text


@dataclass(frozen=True)
class Context:
    """The text for the prompt and the tokens of each of its sections, in order."""

    text: str
    section_tokens: dict[str, int]

    @property
    def tokens(self) -> int:
        """Tokens of all sections."""
        return sum(self.section_tokens.values())


def assemble(sections: Sequence[Section], token_budget: int) -> Context:
    """Return the sections under one budget: each may use its share and what those before it have left over."""
    texts, tokens = [], {}
    left, shares = token_budget, sum(section.share for section in sections)
    for section in sections:
        allowed = int(left * section.share / shares) if shares > 0.0 else 0
        text = section.within(allowed)
        if text:
            texts.append(text)
            tokens[section.title] = estimate_tokens(text)
            left -= tokens[section.title]
        shares -= section.share
    return Context("\n\n".join(texts), tokens)


def experience_sections(answer: ExperienceAnswer) -> list[Section]:
    """Return what experience knows, in BrainMem's order; working memory has a section of its own."""
    experiences = []
    for record in answer.experiences:
        outcome = "succeeded" if record.success else "failed"
        experiences.append(f"- {record.task!r} {outcome}: {' -> '.join(record.successful_actions) or 'no step worked'}")
        experiences += [f"  - failed: {cause}" for cause in record.failure_causes]
    failed = (f"- {t.action} failed {t.failures}x ({', '.join(map(str, t.reasons))})" for t in answer.failed_before)
    hints = (f"- {name}: {skill} worked {done} of {tried} times" for name, skill, done, tried in answer.action_hints)
    rooms = (f"- {action} worked {done} of {tried} times here" for action, done, tried in answer.room_patterns)
    places = (f"- {relation}, seen in {times} steps" for relation, times in answer.learnt_relations)
    return [
        Section("Guidelines", tuple(f"- {guideline.text}" for guideline in answer.guidelines), 0.2),
        Section("What works in this room", tuple(rooms), 0.05),
        Section("Experiences with similar tasks", tuple(experiences), 0.15),
        Section("What failed before", tuple(failed), 0.05),
        Section("Hints for these objects", tuple(hints), 0.05),
        Section("Where things were in this room", tuple(places), 0.05),
    ]


def working_memory_section(answer: ExperienceAnswer) -> list[Section]:
    """Return the running episode's last steps with their warnings."""
    view = answer.working_memory
    return [Section("Working memory", tuple(view.text().splitlines()), 0.2)] if view is not None else []


def recollection_section(recollection: Recollection, now_ns: int) -> Section:
    """Return what the short-term memory recalls for the instruction."""
    lines: Iterable[str] = (
        f"- {a.object_class} (id {a.object_id}) at ({a.position[0]:.2f}, {a.position[1]:.2f}, {a.position[2]:.2f}),"
        f" {', '.join(str(s.state) for s in a.states) or 'no known state'},"
        f" seen {(now_ns - a.last_seen_ns) * 1e-9:.0f} s ago, sure to {a.existence:.0%}"
        for a in recollection.answers
    )
    return Section("Just seen or used", tuple(lines), 0.15)
