"""What the demo shows at its end: a table for people, JSON for programs, a picture of the graph."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from memory_node.domain.scene import SceneSnapshot


@dataclass(frozen=True)
class InstructionRow:
    """How one instruction went with one kind of memory."""

    instruction: str
    memory: str
    success: bool
    message: str
    skills: list[str]
    failed_skills: int
    explorations: int
    explored_areas: int
    distance_m: float
    duration_s: float
    lookups: int
    short_term_hits: int
    long_term_hits: int

    @classmethod
    def of(cls, instruction: str, memory: str, result: Any) -> InstructionRow:
        """Return the row of an ExecuteInstruction result."""
        metrics = result.metrics
        return cls(
            instruction=instruction,
            memory=memory,
            success=bool(result.success),
            message=result.message,
            skills=[call.skill for call in result.executed],
            failed_skills=metrics.failed_skills,
            explorations=metrics.explorations,
            explored_areas=metrics.explored_areas,
            distance_m=round(metrics.distance, 2),
            duration_s=round(metrics.duration, 1),
            lookups=metrics.lookups,
            short_term_hits=metrics.short_term_hits,
            long_term_hits=metrics.long_term_hits,
        )


@dataclass
class DemoReport:
    """Everything that the demo measured."""

    rows: list[InstructionRow] = field(default_factory=list)
    remembered: dict[str, Any] = field(default_factory=dict)
    picture: str = ""

    def remember(self, scene: SceneSnapshot) -> None:
        """Take down what the long-term memory holds at the end."""
        classes = Counter(found.class_name for found in scene.objects)
        self.remembered = {
            "objects": len(scene.objects),
            "areas": len(scene.areas),
            "rooms": [room.name for room in scene.rooms],
            "relations": dict(Counter(str(relation.kind) for relation in scene.relations)),
            "classes": dict(sorted(classes.items())),
        }

    @property
    def success(self) -> bool:
        """Whether every instruction was carried out."""
        return bool(self.rows) and all(row.success for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"rows": [asdict(row) for row in self.rows], "remembered": self.remembered, "picture": self.picture}

    def show(self, console: Console) -> None:
        """Print the tables."""
        console.print(self._comparison())
        if self.remembered:
            kept = self.remembered
            relations = ", ".join(f"{count} {kind}" for kind, count in kept["relations"].items())
            console.print(
                f"Remembered: {kept['objects']} objects, {kept['areas']} areas, "
                f"{len(kept['rooms'])} rooms ({', '.join(kept['rooms'])}); relations: {relations}"
            )
        if self.picture:
            console.print(f"Picture of the graph: {self.picture}", soft_wrap=True)

    def _comparison(self) -> Table:
        table = Table(title="What memory is worth", show_lines=True)
        table.add_column("instruction", overflow="fold", min_width=16)
        for title in ("memory", "done"):
            table.add_column(title)
        for title in ("skills", "searches", "places", "metres", "seconds", "answered"):
            table.add_column(title, justify="right")
        for row in self.rows:
            table.add_row(
                row.instruction,
                row.memory,
                "yes" if row.success else "no",
                str(len(row.skills)),
                str(row.explorations),
                str(row.explored_areas),
                f"{row.distance_m:.1f}",
                f"{row.duration_s:.0f}",
                f"{row.short_term_hits}+{row.long_term_hits} of {row.lookups}",
            )
        table.caption = (
            "searches: Explore skills; places: visited by them; answered: lookups, by short- + long-term memory"
        )
        return table
