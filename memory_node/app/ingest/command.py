"""The command line of ingest: its options, the memory that it builds, the tree, JSON and pictures that it shows."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from rich.console import Console
from rich.tree import Tree

from memory_node.app.ingest.folders import FolderSequence, open_folder
from memory_node.app.ingest.ingestion import Ingestion
from memory_node.app.ingest.recording import Recording, RgbdImage, Skipped, paced
from memory_node.app.ingest.upright import AUTO, VIEWS, find_up, level_world, up_from_text
from memory_node.app.progress import progress_bar
from memory_node.app.writable_folder import require_writable
from memory_node.domain.errors import InputSkippedError, InvalidValueError, RobotMemoryError
from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.observation import Frame
from memory_node.domain.parameter_file import read_parameters
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.step import DemonstratedStep
from memory_node.nodes.node_parameters import MemoryParameters
from memory_node.nodes.run import activate_ros
from memory_node.perception.config import OnnxDetectorConfig
from memory_node.perception.onnx_detector import OnnxDetector
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.picture import draw_scene
from memory_node.search.clip_embedder import ClipEmbedder
from memory_node.view import open_views


def add_detector_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--detector", type=Path, metavar="MODEL", help="an .onnx detector (default: geometry alone)")
    parser.add_argument("--class-names", type=Path, metavar="FILE", help="the detector's classes, one name a line")


def open_detector(args: argparse.Namespace) -> OnnxDetector | None:
    """Return the detector that the options name, None where they name none.

    Raises:
        InvalidValueError: names without a detector.
    """
    if args.detector is None:
        if args.class_names is not None:
            raise InvalidValueError("--class-names without --detector; name the model, too")
        return None
    names = str(args.class_names) if args.class_names is not None else ""
    return OnnxDetector(OnnxDetectorConfig(model=str(args.detector), class_names=names))


_NAMED = 5
_OF_A_BAG = ("*.db3", "*.mcap", "metadata.yaml")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("path", type=Path, help="a folder of frames, a rosbag2 folder, or its .mcap or .db3 file")
    parser.add_argument("--out", type=Path, default=Path("out/ingest"), help="folder of pictures and memory.json")
    parser.add_argument("--json", action="store_true", help="print the memory as JSON alone, without the tree")
    add_detector_arguments(parser)
    parser.add_argument("--clip", type=Path, metavar="DIR", help="folder of a CLIP model: remember how things look")
    parser.add_argument(
        "--up",
        help="direction that is up in the poses' frame: auto (from support planes), or x,y,z (default: auto for "
        "folders, 0,0,1 for bags)",
    )
    parser.add_argument("--stride", type=int, default=1, metavar="N", help="take every so many frames (default 1)")
    parser.add_argument("--rate", type=float, metavar="X", help="as fast as X times the recording's own time")
    parser.add_argument(
        "--database",
        help="the robot's long-term memory to go on with: a file or a PostgreSQL URL; "
        "what a bag demonstrates is learnt there",
    )
    parser.add_argument("--rrd", type=Path, metavar="FILE", help="also write what is seen and remembered for Rerun")
    parser.add_argument("--mcap", type=Path, metavar="FILE", help="also write it for Foxglove")
    parser.add_argument("--color-topic", help="of a bag (default: the only one)")
    parser.add_argument("--depth-topic", help="of a bag (default: the only one)")
    parser.add_argument("--map-frame", help="frame of the graph (default map)")
    parser.add_argument("--params-file", type=Path, help="ROS parameters; those of the node memory are followed")


def run(args: argparse.Namespace) -> int:
    """Build the memory, print it as a tree and as JSON, and draw what was seen."""
    config = _config(args)
    detector = open_detector(args)
    pictures = ClipEmbedder(args.clip) if args.clip is not None else None
    recording = _open(args, config)
    recording.map_T_world = level_world(_up(recording, args))
    skipped = recording.skipped
    require_writable(args.out, "--out")
    start = partial(Ingestion, config, detector, pictures)
    scenes = _take_in(recording, start, args)
    shows = any(isinstance(event, DemonstratedStep) for event in recording.rest())
    if shows and not scenes:  # what it shows is a place's as well
        scenes[""] = _Scene(start())
    if not shows and not any(scene.frames for scene in scenes.values()):
        raise RobotMemoryError(f"nothing in {args.path} could be used: {skipped.told() or 'no images'}")
    graphs = {name: scene.ingestion.finish(recording.rest()) for name, scene in scenes.items()}
    for name, graph in graphs.items():
        draw_scene(graph.snapshot(), args.out / f"{name or 'scene'}_map.png", recording.grid(), title=name)
    warnings = [detector.complaint] if detector is not None and detector.complaint else []
    text = _memory_text(graphs, skipped, warnings)
    (args.out / "memory.json").write_text(text + "\n", encoding="utf-8")
    _warn(skipped, warnings)
    if args.json:
        print(text)
        return 0
    console = Console()
    console.print(tree(args.path.name, {name: graph.snapshot() for name, graph in graphs.items()}, skipped))
    console.print(f"JSON and pictures: {args.out.resolve()}", soft_wrap=True)
    return 0


@dataclass(eq=False)
class _Scene:
    """One place of the recording: its memory, and how many images were used."""

    ingestion: Ingestion
    frames: int = 0


def _take_in(recording: Recording, start: Callable[[], Ingestion], args: argparse.Namespace) -> dict[str, _Scene]:
    """Return the scenes that a recording's images show, by name; `start` gives each its memory."""
    scenes: dict[str, _Scene] = {}
    views = open_views(args.rrd, args.mcap)
    with progress_bar() as progress:
        images = progress.track(paced(recording.images(), args.rate), len(recording), description="ingesting")
        for image in images:
            if image.scene not in scenes:
                _check_one_place(args, scenes)
                scenes[image.scene] = _Scene(start())
            scene = scenes[image.scene]
            try:
                frame = scene.ingestion.take(image)
            except InputSkippedError as error:
                recording.skipped.note(error, image.name)
                continue
            scene.frames += 1
            objects = scene.ingestion.objects() if views else ()
            for view in views:
                view.show(image.color, frame, objects)
            draw_boxes(image, frame, args.out / f"{image.name}_boxes.png")
    for view in views:
        view.close()
    return scenes


def _memory_text(graphs: Mapping[str, SceneGraph], skipped: Skipped, warnings: Sequence[str]) -> str:
    """Return what is remembered, and what was left out, as JSON."""
    memory = {
        "scenes": {name: graph.to_records() for name, graph in graphs.items()},
        "hashes": {name: graph.hash() for name, graph in graphs.items()},
        "skipped": dict(skipped),
        "skipped_files": skipped.named,
        "warnings": warnings,
    }
    return json.dumps(memory, indent=2, default=_plain)


def _config(args: argparse.Namespace) -> MemoryParameters:
    if args.stride < 1:
        raise InvalidValueError(f"--stride: expected 1 or more, got {args.stride}")
    config = read_parameters(MemoryParameters, args.params_file, "memory") if args.params_file else MemoryParameters()
    config = config.changed(map_frame=args.map_frame) if args.map_frame else config
    # A recording becomes part of a robot's memory only where that is asked for.
    return config.changed(database=args.database or "")


def _check_one_place(args: argparse.Namespace, scenes: Sized) -> None:
    if args.database and len(scenes):
        raise InvalidValueError(
            f"--database: the frames of {args.path} have no poses, so that each is a place of its own; one memory is "
            "of one place"
        )


def _warn(skipped: Skipped, warnings: Sequence[str]) -> None:
    """Name on standard error what was left out."""
    for reason, count in sorted(skipped.items()):
        for line in skipped.named.get(reason, ())[:_NAMED]:
            print(f"skipped ({reason}): {line}", file=sys.stderr)
        if count > _NAMED:
            print(f"skipped ({reason}): {count} in all", file=sys.stderr)
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _open(args: argparse.Namespace, config: MemoryParameters) -> Recording:
    path: Path = args.path
    if not path.exists():
        raise InvalidValueError(f"{path} does not exist")
    if path.is_dir() and not any(list(path.glob(name)) for name in _OF_A_BAG):
        return open_folder(path, args.stride)
    if path.is_file() and path.suffix not in (".db3", ".mcap"):
        raise InvalidValueError(f"{path}: expected a folder of frames, a rosbag2 folder, or its .mcap or .db3 file")
    activate_ros()
    from memory_node.app.ingest.rosbag import Rosbag

    return Rosbag(path, config, args.color_topic, args.depth_topic, args.stride)


def _up(recording: Recording, args: argparse.Namespace) -> FloatArray:
    """Return the direction (3,) that is up in a recording's world; a bag's map is level, a folder's may not be."""
    told = args.up or (AUTO if isinstance(recording, FolderSequence) else "0,0,1")
    up = up_from_text(told)
    if up is None and not isinstance(recording, FolderSequence):
        raise InvalidValueError(f"--up auto: {args.path} is no folder of frames with poses; a map of TF has its z up")
    if up is None:
        up = find_up(open_folder(args.path, args.stride * max(1, len(recording) // VIEWS)))
        print("up: {:.4f}, {:.4f}, {:.4f}".format(*up), file=sys.stderr)
    return up


def draw_boxes(image: RgbdImage, frame: Frame, path: Path) -> None:
    """Draw the observations' 3D boxes over the colour image."""
    picture = np.ascontiguousarray(image.color[:, :, ::-1])
    camera_T_map = frame.map_T_camera.inverse()
    for number, observation in enumerate(frame.observations):
        hue = np.array([[[int(number * 180 / max(len(frame.observations), 1)), 200, 255]]], dtype=np.uint8)
        color = tuple(int(value) for value in cv2.cvtColor(hue, cv2.COLOR_HSV2BGR)[0, 0])
        corners = _pixels(camera_T_map, observation.box.corners(), image)
        if corners is None:
            continue
        for i in range(4):
            for start, end in ((i, (i + 1) % 4), (i + 4, (i + 1) % 4 + 4), (i, i + 4)):
                cv2.line(picture, corners[start], corners[end], color, 2, cv2.LINE_AA)
        size = observation.box.size * 100.0
        label = f"{observation.best_class} {size[0]:.0f}x{size[1]:.0f}x{size[2]:.0f} cm"
        cv2.putText(picture, label, min(corners, key=lambda p: p[1]), cv2.FONT_HERSHEY_SIMPLEX, 0.42, color, 1)
    cv2.imwrite(str(path), picture)


def _pixels(camera_T_map: Pose, points: np.ndarray, image: RgbdImage) -> list[tuple[int, int]] | None:
    """Return points (n, 3) of the map as pixels, None where one lies behind the camera."""
    local = camera_T_map.apply(points)
    if (local[:, 2] < 0.05).any():
        return None
    i = image.intrinsics
    columns = local[:, 0] / local[:, 2] * i.fx + i.cx
    rows = local[:, 1] / local[:, 2] * i.fy + i.cy
    return [(round(float(c)), round(float(r))) for c, r in zip(columns, rows, strict=True)]


def tree(name: str, scenes: dict[str, SceneSnapshot], skipped: dict[str, int]) -> Tree:
    """Return the memory as a tree: scenes, areas or supports, objects."""
    root = Tree(f"[bold]{name}[/bold]: {sum(len(s.objects) for s in scenes.values())} objects")
    for scene_name, scene in scenes.items():
        branch = root.add(f"{scene_name}: {len(scene.objects)} objects") if scene_name else root
        areas = {area.id: area.name for area in scene.areas}
        branches: dict[str, Tree] = {}
        for found in _natural(scene.objects):
            area = areas.get(found.area_id, "")
            if area and area not in branches:
                branches[area] = branch.add(area)
            (branches[area] if area else branch).add(_line(found))
    if skipped:
        root.add("skipped: " + ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items())))
    return root


def _line(found: SceneObject) -> str:
    x, y, z = found.box.center
    size = found.box.size * 100.0
    return (
        f"{found.class_name} at ({x:.2f}, {y:.2f}, {z:.2f}) m, {size[0]:.0f} x {size[1]:.0f} x {size[2]:.0f} cm, "
        f"yaw {np.degrees(found.box.yaw_rad):.0f}°, existence {found.existence:.2f}, seen {found.times_seen}x"
    )


def _natural(objects: tuple[SceneObject, ...]) -> list[SceneObject]:
    return sorted(objects, key=lambda found: (re.sub(r"\d+", "", found.class_name), *found.box.center.tolist()))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return value.item() if isinstance(value, np.generic) else str(value)
