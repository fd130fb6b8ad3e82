"""`memory-node knowledge`: adds documents and facts to what is known, asks it, and shows it."""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from memory_node.app.progress import progress_bar
from memory_node.domain.clock import system_clock
from memory_node.domain.errors import NotFoundError
from memory_node.domain.resources import create_private
from memory_node.knowledge.answering import KnowledgeAnswer, Mode
from memory_node.knowledge.documents import ReadCounts, read_document
from memory_node.knowledge.graph_view import draw, graph_of, write_graphml
from memory_node.knowledge.knowledge_nodes import Criteria, Deleted
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.text import stamp_of
from memory_node.knowledge.told.telling import in_words
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.search.minilm import MiniLmEmbedder
from memory_node.store.location import default_database, locate, parse_url

# Steps that are made durable at once.
_BATCH = 200
# A machine that is busy with other work ends no import.
_COMMIT_S = 120.0
# Seconds of embedding that a kill may cost.
_KEEP_EVERY_S = 300.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the commands and their options."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--database", default="", help="a file or a postgresql:// address (default: the memory node's own file)"
    )
    shared.add_argument("--robot", default=socket.gethostname(), help="who writes (default: the host's name)")
    shared.add_argument("--json", action="store_true", help="print JSON")
    commands = parser.add_subparsers(dest="knowledge_command", required=True, metavar="COMMAND")

    def add(name: str, help_: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=help_, description=help_, parents=[shared])

    command = add("add", "read documents and talks (.txt, .md, .json); one that was interrupted goes on")
    command.add_argument("files", nargs="+", type=Path, metavar="FILE")
    command.add_argument(
        "--words-only",
        action="store_true",
        help="end when all is durable and found by its words; the next start of a node makes it findable by meaning",
    )
    command.add_argument("--threads", type=int, default=os.cpu_count() or 1, metavar="N", help="default: all cores")
    command = add("tell", "tell a fact")
    command.add_argument("text")
    command.add_argument("--by", default="", metavar="NAME", help="who tells it")
    command = add("ask", "ask what is known; exit status 1 when nothing is")
    command.add_argument("question")
    command.add_argument("--mode", choices=[str(mode) for mode in Mode], help="kind of memory (default: found out)")
    command.add_argument("--k", type=int, default=0, help="statements in the answer (default: the parameter's)")
    command.add_argument("--as-of", type=_day, default=0, metavar="DAY", help="as at the begin of a day (2026-05-08)")
    add("update", "merge statements that say the same")
    command = add(
        "delete", "delete statements that match all that is given, and the text that nothing else was learned from"
    )
    command.add_argument(
        "--before",
        type=_day,
        default=0,
        metavar="DAY",
        help="told, or imported where the text tells no day, before a day (2026-05-08)",
    )
    command.add_argument("--about", default="", metavar="CONCEPT", help="with this concept tag")
    command.add_argument("--by", default="", metavar="NAME", help="said by, or of a document about")
    command.add_argument("--made-by", default="", metavar="NAME", help="read by rules, or by a model")
    command.add_argument("--session", default="", help="only known from this episode, document, talk or file")
    command.add_argument("--replaced", action="store_true", help="what later statements took the place of")
    add("undo", "bring back what the last delete or prune took out, until something is forgotten")
    command = add("prune", "delete all but the most useful statements")
    command.add_argument("--keep", type=int, required=True, metavar="N", help="beside what people told")
    command = add("compress", "keep only the beginning of old talks and documents, and what was learned from them")
    command.add_argument("--before", type=_day, required=True, metavar="DAY", help="older than a day (2026-05-08)")
    command = add("show", "what is known, or its graph as a file")
    command.add_argument("--graphml", type=Path, metavar="FILE", help="write all nodes and edges")
    command.add_argument("--picture", type=Path, metavar="FILE", help="draw the best connected nodes (PNG)")
    command.add_argument("--all", action="store_true", help="also what later statements took the place of")


def run(args: argparse.Namespace) -> int:
    """Run one command; return the exit status."""
    database, adds = args.database or str(default_database()), args.knowledge_command == "add"
    config = MemoryConfig(database=database, robot_id=args.robot)
    # A document is read by a process of its own, which may take every core; a node embeds on one.
    reader = MiniLmEmbedder(config.search.precision, threads=args.threads) if adds else None
    memory = open_memory(config, embedder=reader, embed_in_background=not adds)
    try:
        return _COMMANDS[args.knowledge_command](args, memory)
    finally:
        memory.close()


def _add(args: argparse.Namespace, memory: RobotMemory) -> int:
    for path in args.files:
        counts, new = ReadCounts(), 0
        known = memory.knowledge.steps()
        with progress_bar() as progress:
            task = progress.add_task(path.name, total=path.stat().st_size if path.is_file() else None)
            steps = read_document(
                path,
                counts,
                system_clock(),
                lambda count: progress.advance(task, count),  # noqa: B023
                memory.knowledge.zone,
            )
            for batch in _batches(step for step in steps if step.source not in known):
                new += memory.read(batch)
                memory.commit(_COMMIT_S)
        row = {"file": str(path), "units": counts.units, "new_propositions": new, "broken_bytes": counts.broken}
        print(
            json.dumps(row) if args.json else f"{path}: {counts.units} units, {new} new, {counts.broken} bytes broken"
        )
    if not args.words_only:
        _embed(memory)
    return 0


def _embed(memory: RobotMemory) -> None:
    """Make all statements findable by meaning. What is done is kept every few minutes and where it is interrupted."""
    waiting, kept_s = memory.knowledge.without_meaning, time.monotonic()
    with progress_bar() as progress:
        task = progress.add_task("meaning of statements (Ctrl-C: later)", total=waiting)

        def on_progress(count: int) -> None:
            nonlocal kept_s
            progress.advance(task, count)
            if time.monotonic() - kept_s > _KEEP_EVERY_S:
                memory.keep_knowledge()
                kept_s = time.monotonic()

        memory.knowledge.embed_statements(on_progress)


def _batches(steps: Iterator[StandardStep]) -> Iterator[list[StandardStep]]:
    while batch := list(islice(steps, _BATCH)):
        yield batch


def _tell(args: argparse.Namespace, memory: RobotMemory) -> int:
    told = memory.tell_fact(args.text, args.by)
    for proposition in told:
        if args.json:
            print(json.dumps({"text": proposition.text, "active": proposition.active}))
    if not args.json:
        print(in_words(told, memory.knowledge.facts()))
    return 0


def _ask(args: argparse.Namespace, memory: RobotMemory) -> int:
    answer = memory.ask(args.question, Mode(args.mode) if args.mode else None, args.k, args.as_of)
    waiting = memory.knowledge.without_meaning
    print(json.dumps(as_row(answer) | {"by_words_alone": waiting}) if args.json else answer.text)
    if waiting:
        print(f"{waiting} statements are found by their words alone so far", file=sys.stderr)
    return 1 if answer.abstains else 0


def as_row(answer: KnowledgeAnswer) -> dict[str, object]:
    """Return an answer as one JSON object."""
    return {
        "question": answer.question,
        "answer": answer.text,
        "mode": str(answer.mode),
        "confidence": round(answer.confidence, 4),
        "abstains": answer.abstains,
        "propositions": [
            {"text": one.text, "sources": list(one.sources), "stamp_ns": one.stamp_ns, "made_by": one.made_by}
            for one in answer.propositions
        ],
        "ways": list(answer.ways),
        "steps": [step.source for step in answer.steps],
    }


def _change(args: argparse.Namespace, memory: RobotMemory) -> int:
    knowledge = memory.knowledge
    if args.knowledge_command == "update":
        count = knowledge.update()
    elif args.knowledge_command == "compress":
        count = knowledge.compress(args.before)
    elif args.knowledge_command == "undo":
        count = _undo(args, memory)
    else:
        count = _delete(args, memory)
    memory.commit()
    print(json.dumps({args.knowledge_command: count}) if args.json else f"{args.knowledge_command}: {count}")
    return 0


def _delete(args: argparse.Namespace, memory: RobotMemory) -> int:
    """Delete, and keep what went for the next undo."""
    if args.knowledge_command == "prune":
        deleted = memory.knowledge.prune(args.keep)
    else:
        criteria = Criteria(args.before, args.about, args.by, args.made_by, args.session, args.replaced)
        deleted = memory.knowledge.delete(criteria)
    if deleted:
        path = _deleted_file(args)
        create_private(path)
        path.write_text(json.dumps(asdict(deleted)), encoding="utf-8")
    return len(deleted)


def _undo(args: argparse.Namespace, memory: RobotMemory) -> int:
    path = _deleted_file(args)
    if not path.is_file():
        raise NotFoundError("there is no deletion that could be undone")
    count = memory.knowledge.bring_back(Deleted(**json.loads(path.read_text(encoding="utf-8"))))
    memory.commit()
    path.unlink()
    return count


def _deleted_file(args: argparse.Namespace) -> Path:
    """Return the file of what was deleted last; it lies where forgetting removes it."""
    config = MemoryConfig(database=args.database or str(default_database()), robot_id=args.robot)
    folders = locate(parse_url(config.database), config.site or "home", config.robot_id, config.store)
    return folders.derived / "knowledge.deleted"


def _day(text: str) -> int:
    stamp_ns = stamp_of(text)
    if stamp_ns is None:
        raise argparse.ArgumentTypeError(f"expected a day such as 2026-05-08, got {text!r}")
    return stamp_ns


def _show(args: argparse.Namespace, memory: RobotMemory) -> int:
    propositions = memory.knowledge.propositions(active=not args.all)
    graph = graph_of(propositions)
    if args.graphml:
        write_graphml(graph, args.graphml)
    if args.picture:
        draw(graph, args.picture)
    if args.json or args.graphml or args.picture:
        print(json.dumps({"nodes": graph.number_of_nodes(), "edges": graph.number_of_edges()}))
        return 0
    for one in sorted(propositions, key=lambda one: (one.stamp_ns, one.text)):
        mark = "" if one.active else f"  (replaced by: {one.replaced_by})"
        print(f"{one.text}  [{', '.join(one.sources[-3:])}]{mark}")
    return 0


_COMMANDS = {
    "add": _add,
    "tell": _tell,
    "ask": _ask,
    "show": _show,
    **dict.fromkeys(("update", "delete", "prune", "compress", "undo"), _change),
}
