"""Knowledge for other programs and for people: as a graph (GraphML) and as a picture."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import networkx as nx

from memory_node.domain.resources import create_private
from memory_node.knowledge.facts import Proposition

# A picture of more says nothing.
_DRAWN = 60
_COLOURS = {
    "proposition": "#4477aa",
    "concept": "#ccbb44",
    "step": "#bbbbbb",
}


def graph_of(propositions: Iterable[Proposition]) -> nx.MultiDiGraph:
    """Return knowledge as a graph: mentions (proposition to concept), provenance (to step or episode), siblings,
    replaced_by."""
    graph = nx.MultiDiGraph()
    by_step: dict[str, list[str]] = {}
    for one in propositions:
        node = f"proposition:{one.key}"
        graph.add_node(
            node, kind="proposition", text=one.text, support=one.support, active=one.active, made_by=one.made_by
        )
        for concept in sorted(one.concepts):
            graph.add_node(f"concept:{concept}", kind="concept", text=concept)
            graph.add_edge(node, f"concept:{concept}", kind="mentions")
        for source in one.sources:
            graph.add_node(f"step:{source}", kind="step", text=source)
            graph.add_edge(node, f"step:{source}", kind="provenance")
            by_step.setdefault(source, []).append(node)
        if one.replaced_by:
            graph.add_edge(node, f"proposition:{one.replaced_by}", kind="replaced_by")
    for siblings in by_step.values():
        for first, second in itertools.pairwise(siblings):
            graph.add_edge(first, second, kind="siblings")
    return graph


def write_graphml(graph: nx.MultiDiGraph, path: Path) -> None:
    """Write a graph for Gephi, networkx or yEd; only its owner may read it."""
    create_private(path)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in nx.generate_graphml(graph))


def draw(graph: nx.MultiDiGraph, path: Path) -> int:
    """Draw the best connected nodes as a PNG; return how many."""
    from matplotlib.figure import Figure

    degrees = Counter(dict(graph.degree()))
    chosen = graph.subgraph([node for node, _ in degrees.most_common(_DRAWN)])
    places = nx.spring_layout(nx.Graph(chosen), seed=0) if len(chosen) else {}
    figure = Figure(figsize=(14, 10))
    axes = figure.add_subplot()
    axes.axis("off")
    kinds = [chosen.nodes[node].get("kind", "step") for node in chosen]
    nx.draw_networkx_edges(chosen, places, ax=axes, alpha=0.4, arrowsize=6)
    nx.draw_networkx_nodes(chosen, places, ax=axes, node_size=80, node_color=[_COLOURS[kind] for kind in kinds])
    labels = {node: chosen.nodes[node].get("text", "")[:40] for node in chosen}
    nx.draw_networkx_labels(chosen, places, labels, ax=axes, font_size=6)
    create_private(path)
    figure.savefig(path, format="png", dpi=120)
    return len(chosen)
