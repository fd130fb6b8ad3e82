"""The command line of ingest: its options, the memory that it builds, the tree, JSON and pictures that it shows."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from rich.console import Console
from rich.tree import Tree

from memory_node.app.ingest.ingestion import Ingestion
from memory_node.app.ingest.recording import Recording, RgbdImage
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import InputSkippedError, InvalidValueError, RobotMemoryError
from memory_node.domain.geometry import Pose
from memory_node.domain.observation import Frame
from memory_node.domain.parameter_file import read_parameters
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.nodes.node_parameters import MemoryParameters
from memory_node.nodes.run import activate_ros
from memory_node.scene_graph.picture import draw_scene

HELP = "build a memory from recorded frames or a rosbag2"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("path", type=Path, help="folder of NAME_color.png, NAME_depth.png, intrinsics.json; or a bag")
    parser.add_argument("--out", type=Path, default=Path("out/ingest"), help="folder of pictures and memory.json")
    parser.add_argument("--json", action="store_true", help="print the memory as JSON alone, without the tree")
    parser.add_argument("--color-topic", help="of a bag (default: the only one)")
    parser.add_argument("--depth-topic", help="of a bag (default: the only one)")
    parser.add_argument("--map-frame", help="frame of the graph (default map)")
    parser.add_argument("--params-file", type=Path, help="ROS parameters; those of the node memory are followed")


def run(args: argparse.Namespace) -> int:
    """Build the memory, print it as a tree and as JSON, and draw what was seen."""
    config = read_parameters(MemoryParameters, args.params_file, "memory") if args.params_file else MemoryParameters()
    config = config.changed(map_frame=args.map_frame) if args.map_frame else config
    recording = _open(args, config)
    args.out.mkdir(parents=True, exist_ok=True)
    skipped = dict(recording.skipped)
    scenes: dict[str, Ingestion] = {}
    with progress_bar() as progress:
        images = progress.track(recording.images(), total=len(recording), description="ingesting")
        for image in images:
            if image.scene not in scenes:
                scenes[image.scene] = Ingestion(config)
            try:
                frame = scenes[image.scene].take(image)
            except InputSkippedError as error:
                skipped[error.reason] = skipped.get(error.reason, 0) + 1
                continue
            draw_boxes(image, frame, args.out / f"{image.name}_boxes.png")
    for reason, count in recording.skipped.items():
        skipped[reason] = skipped.get(reason, 0) + count
    if not scenes:
        raise RobotMemoryError(f"nothing in {args.path} could be used: {skipped or 'no images'}")
    graphs = {name: ingestion.finish(recording.rest()) for name, ingestion in scenes.items()}
    for name, graph in graphs.items():
        draw_scene(graph.snapshot(), args.out / f"{name or 'scene'}_map.png", recording.grid(), title=name)
    memory = {
        "scenes": {name: graph.to_records() for name, graph in graphs.items()},
        "hashes": {name: graph.hash() for name, graph in graphs.items()},
        "skipped": skipped,
    }
    text = json.dumps(memory, indent=2, default=_plain)
    (args.out / "memory.json").write_text(text + "\n", encoding="utf-8")
    if args.json:
        print(text)
        return 0
    console = Console()
    console.print(tree(args.path.name, {name: graph.snapshot() for name, graph in graphs.items()}, skipped))
    console.print(f"JSON and pictures: {args.out.resolve()}", soft_wrap=True)
    return 0


def _open(args: argparse.Namespace, config: MemoryParameters) -> Recording:
    if not args.path.exists():
        raise InvalidValueError(f"{args.path} does not exist")
    if args.path.is_dir() and not list(args.path.glob("*.db3")) and not list(args.path.glob("*.mcap")):
        from memory_node.app.ingest.frame_folder import FrameFolder

        return FrameFolder(args.path)
    activate_ros()
    from memory_node.app.ingest.rosbag import Rosbag

    return Rosbag(args.path, config, args.color_topic, args.depth_topic)


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
