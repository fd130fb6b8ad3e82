"""Models of every known layout, made here: told by names, shapes and metadata, decoded into the image's pixels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from onnx_graphs import save_model

from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.perception.config import OnnxDetectorConfig
from memory_node.perception.detectors.candidates import cells
from memory_node.perception.detectors.preprocessing import Preprocessing, fitted
from memory_node.perception.onnx_detector import OnnxDetector

# 320 x 240: an input of 64 x 64 shows it at a fifth, 48 px high; stretched to its height at 64 / 240.
COLOR = np.random.default_rng(0).integers(0, 255, (240, 320, 3)).astype(np.uint8)
MIDDLE, LETTERBOXED = (110.0, 95.0, 210.0, 145.0), (32.0, 32.0, 20.0, 10.0)
TOP_LEFT = (32.0, 24.0, 20.0, 10.0)  # the same in an input whose margin is below
STRETCHED = (0.5, 0.5, 100 / 320, 50 / 240)
CORNERS = (22.0, 64 * 95 / 240, 42.0, 64 * 145 / 240)
CLASSES = ["mug", "bowl", "plate"]


def opened(model: Path, names: list[str] | None = None, **config: object) -> OnnxDetector:
    path = ""
    if names is not None:
        (model.parent / "names.txt").write_text("\n".join(names), encoding="utf-8")
        path = str(model.parent / "names.txt")
    return OnnxDetector(OnnxDetectorConfig(model=str(model), class_names=path, **config))  # type: ignore[arg-type]


def only(detector: OnnxDetector, name: str = "bowl"):  # type: ignore[no-untyped-def]
    (found,) = detector.detect(COLOR, None, None)
    assert max(found.class_scores, key=lambda key: found.class_scores[key]) == name
    assert found.box_px == pytest.approx(MIDDLE, abs=0.6)
    return found


def one_row(count: int, row: list[float]) -> np.ndarray:
    rows = np.zeros((count, len(row)), np.float32)
    rows[:, :4] = (9.0, 9.0, 2.0, 2.0)
    rows[count // 2] = row
    return rows


def undecoded(box: tuple[float, ...], scores: list[float]) -> np.ndarray:
    """YOLOX's rows: the box in the cell of the grid of 8 pixels that its middle is in."""
    rows = np.zeros((cells((64, 64)), 5 + len(scores)), np.float32)
    column, line = int(box[0] // 8), int(box[1] // 8)
    offsets = [box[0] / 8 - column, box[1] / 8 - line, np.log(box[2] / 8), np.log(box[3] / 8)]
    rows[line * 8 + column] = [*offsets, 0.9, *scores]
    return rows


def decoded(box: tuple[float, ...], scores: list[float]) -> np.ndarray:
    rows = np.zeros((cells((64, 64)), 5 + len(scores)), np.float32)
    at = 0
    for stride in (8, 16, 32):
        side = 64 // stride
        down, across = np.indices((side, side))
        rows[at : at + side * side, 0] = (across.ravel() + 0.5) * stride
        rows[at : at + side * side, 1] = (down.ravel() + 0.5) * stride
        rows[at : at + side * side, 2:4] = stride
        at += side * side
    rows[27] = [*box, 0.9, *scores]
    return rows


SCORES = [0.1, 0.9, 0.0]
LOGITS = [-3.0, 3.0, -3.0]
LAYOUTS = {
    "yolo_v8": {"output0": one_row(200, [*LETTERBOXED, *SCORES]).T[None]},
    "yolo_v5": {"output": one_row(200, [*LETTERBOXED, 0.9, *SCORES])[None]},
    "yolox": {"output": undecoded(TOP_LEFT, SCORES)[None]},
    "end_to_end": {"output0": one_row(300, [22, 27, 42, 37, 0.9, 1])[None]},
    "rtdetr": {"output0": one_row(300, [*STRETCHED, *SCORES])[None]},
    "boxes_scores": {
        "boxes": one_row(1344, [22, 27, 42, 37])[None],
        "scores": one_row(1344, [*SCORES, 0.0])[None, :, :3] * (np.arange(1344) == 672)[None, :, None],
    },
    "detr": {
        "pred_logits": np.where((np.arange(300) == 150)[:, None], LOGITS, -9.0)[None],
        "pred_boxes": one_row(300, list(STRETCHED))[None],
    },
    "detr_softmax": {
        "logits": np.where((np.arange(100) == 50)[:, None], [0.0, 9.0, 0.0, 0.0], [0.0, 0.0, 0.0, 9.0])[None],
        "pred_boxes": one_row(100, list(STRETCHED))[None],
    },
    "rf_detr": {
        "dets": one_row(300, list(STRETCHED))[None],
        "labels": np.where((np.arange(300) == 150)[:, None], [*LOGITS, -9.0], -9.0)[None],
    },
}


@pytest.fixture
def yolo(tmp_path: Path) -> Path:
    """Return a model of YOLOv8's layout."""
    return save_model(tmp_path / "m.onnx", outputs_of("yolo_v8"))


def outputs_of(layout: str) -> dict[str, np.ndarray]:
    return {name: np.asarray(array, np.float32) for name, array in LAYOUTS[layout].items()}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_is_told_from_the_outputs_and_decoded(layout: str, tmp_path: Path) -> None:
    detector = opened(save_model(tmp_path / "model.onnx", outputs_of(layout)), CLASSES)
    assert detector.layout == layout
    assert only(detector).class_scores["bowl"] > 0.75


def test_yolox_that_was_exported_decoded_is_not_decoded_again(tmp_path: Path) -> None:
    only(opened(save_model(tmp_path / "m.onnx", {"output": decoded(TOP_LEFT, SCORES)[None]}), CLASSES))


def test_yolo_boxes_that_are_corners_are_told_apart(tmp_path: Path) -> None:
    rows = one_row(200, [22, 27, 42, 37, *SCORES])
    rows[:, 2:4] = np.maximum(rows[:, 2:4], rows[:, :2] + 4.0)
    only(opened(save_model(tmp_path / "m.onnx", {"output": rows.T[None]}), CLASSES))


def official_detr(path: Path, labels: tuple[int, int], squeezed: bool = False) -> Path:
    """Save a model of DETR's own form, whose second box is the sure one."""
    outputs = {
        "labels": np.array([labels]),
        "boxes": np.array([[[1, 1, 5, 5], CORNERS]], np.float32),
        "scores": np.array([[0.1, 0.9]], np.float32),
    }
    if squeezed:
        outputs = {name: array[0] for name, array in outputs.items()}
    return save_model(path, outputs, others={"orig_target_sizes": ([1, 2], "INT64")})


@pytest.mark.parametrize("squeezed", [False, True], ids=["batch", "no batch"])
def test_official_detr_form_is_fed_its_size(tmp_path: Path, squeezed: bool) -> None:
    detector = opened(official_detr(tmp_path / "m.onnx", (0, 1), squeezed), CLASSES)
    assert detector.layout == "detr_official"
    only(detector)


def test_torchvision_counts_from_the_background(tmp_path: Path) -> None:
    masks = np.zeros((2, 1, 64, 64), np.float32)
    masks[1, 0, 26:38, 22:32] = 0.9
    outputs = {
        "boxes": np.array([[1, 1, 5, 5], CORNERS], np.float32),
        "labels": np.array([1, 2]),
        "scores": np.array([0.1, 0.9], np.float32),
        "masks": masks,
    }
    detector = opened(save_model(tmp_path / "m.onnx", outputs, image=("images", [3, 64, 64])), CLASSES)
    assert detector.layout == "torchvision"
    found = only(detector)
    columns = np.nonzero(found.mask)[1]
    assert (columns.min(), columns.max()) == pytest.approx((110, 159), abs=3)
    assert found.mask.sum() == pytest.approx(50 * 45, rel=0.15)


def test_coco_numbers_with_gaps_get_their_names(tmp_path: Path) -> None:
    names = [f"class{i}" for i in range(80)]
    logits = np.full((1, 300, 91), -9.0, np.float32)
    logits[0, 7, 90] = 4.0  # toothbrush, the last of COCO's numbers
    outputs = {"dets": np.tile(np.array(STRETCHED, np.float32), (1, 300, 1)), "labels": logits}
    only(opened(save_model(tmp_path / "m.onnx", outputs), names), "class79")


def test_prototype_masks_are_cut_to_their_box(tmp_path: Path) -> None:
    prototypes = np.full((1, 4, 16, 16), -1.0, np.float32)
    prototypes[0, 2, :, :8] = 1.0  # the left half of the image
    rows = one_row(200, [*LETTERBOXED, *SCORES, 0.0, 0.0, 2.0, 0.0])
    outputs = {"output0": rows.T[None], "output1": prototypes}
    detector = opened(save_model(tmp_path / "m.onnx", outputs), CLASSES)
    assert detector.layout == "yolo_v8_seg"
    mask = only(detector).mask
    rows_, columns = np.nonzero(mask)
    assert (columns.min(), columns.max()) == pytest.approx((110, 159), abs=2)
    assert (rows_.min(), rows_.max()) == pytest.approx((95, 144), abs=1)


def test_query_masks_cover_the_input(tmp_path: Path) -> None:
    masks = np.full((1, 300, 16, 16), -5.0, np.float32)
    masks[0, 150, :, :8] = 5.0
    outputs = outputs_of("rf_detr") | {"masks": masks}
    mask = only(opened(save_model(tmp_path / "m.onnx", outputs), CLASSES)).mask
    assert mask is not None
    assert np.nonzero(mask)[1].max() == pytest.approx(159, abs=1)


def test_names_come_from_metadata_or_yaml(tmp_path: Path) -> None:
    outputs = outputs_of("yolo_v8")
    metadata = {"names": "{0: 'mug', 1: 'bowl', 2: 'plate'}", "imgsz": "[64, 64]"}
    only(opened(save_model(tmp_path / "a.onnx", outputs, metadata=metadata)))
    model = save_model(tmp_path / "b.onnx", outputs)
    with pytest.raises(InvalidValueError, match="no class names"):
        opened(model)
    (tmp_path / "b.yaml").write_text("names: {0: mug, 1: bowl, 2: plate}\nfit: letterbox\n", encoding="utf-8")
    only(opened(model))
    (tmp_path / "b.yaml").write_text("fitting: letterbox\n", encoding="utf-8")
    with pytest.raises(InvalidValueError, match="did you mean fit"):
        opened(model)


@pytest.mark.parametrize(
    ("names", "config", "said"),
    [
        (CLASSES, {"input_px": 640}, r"told to be of 640x640 pixels, but it takes 64x64"),
        ([*CLASSES, "cup", "jar"], {}, r"(?s)m\.onnx with the names of .*names\.txt.*"),
        ([*CLASSES, "cup", "jar"], {}, r"(?s)output0 \(1, 7, 200\).*with 5 class names.*yolox"),
        (["mug"], {"layout": "yolo_v5"}, "rows of 6 numbers"),
        (CLASSES, {"providers": "Quantum, CPU"}, "no provider quantum: expected"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(
    yolo: Path, names: list[str], config: dict[str, object], said: str
) -> None:
    with pytest.raises(InvalidValueError, match=said):
        opened(yolo, names, **config)


def test_class_numbers_beyond_the_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="class number 7, but only 3 class names"):
        opened(official_detr(tmp_path / "m.onnx", (0, 7)), CLASSES)


def test_detector_that_finds_nothing_is_diagnosed(tmp_path: Path) -> None:
    rows = one_row(200, [*LETTERBOXED, 0.01, 0.02, 0.0])
    detector = opened(save_model(tmp_path / "m.onnx", {"output": rows.T[None]}), CLASSES)
    black = np.zeros((240, 320, 3), np.uint8)
    for _ in range(250):
        detector.detect(black, None, None)
    assert detector.complaint == ""  # a covered lens shows nothing
    for _ in range(200):
        assert detector.complaint == ""
        detector.detect(COLOR, None, None)
    assert "found nothing in 200 images" in detector.complaint
    assert "best score 0.020" in detector.complaint


def test_several_images_go_through_in_one_batch(tmp_path: Path) -> None:
    rows = np.stack([one_row(200, [*LETTERBOXED, *SCORES]).T, one_row(200, [*LETTERBOXED, 0.9, 0.1, 0.0]).T])
    model = save_model(tmp_path / "m.onnx", {"output": rows}, image=("images", [2, 3, 64, 64]))
    found = opened(model, CLASSES, layout="yolo_v8").detect_all([COLOR, COLOR])
    assert ["bowl" in one[0].class_scores and one[0].class_scores["bowl"] > 0.5 for one in found] == [True, False]


def tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"[PAD]": 0, "mug": 1, "red": 2, "bowl": 3, ".": 4, "[UNK]": 5}
    made = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.save(str(folder / "tokenizer.json"))


def test_open_vocabulary_takes_prompts_and_other_ones_later(tmp_path: Path) -> None:
    logits = np.full((1, 100, 2), -9.0, np.float32)
    logits[0, 4, 1] = 4.0
    square = (160 / 320, 120 / 320, 100 / 320, 50 / 320)  # parts of the padded square
    outputs = {"logits": logits, "pred_boxes": np.tile(np.array(square, np.float32), (1, 100, 1))}
    texts = {"input_ids": (["prompts", 16], "INT64"), "attention_mask": (["prompts", 16], "INT64")}
    model = save_model(tmp_path / "m.onnx", outputs, ("pixel_values", [1, 3, 64, 64]), texts)
    with pytest.raises(ResourceMissingError, match=r"tokenizer\.json"):
        opened(model, prompts="mug, bowl")
    tokenizer(tmp_path)
    detector = opened(model, prompts="mug, red bowl")
    assert detector.layout == "owl"
    only(detector, "red bowl")
    detector.set_prompts(["bowl", "red mug"])
    only(detector, "red mug")
    with pytest.raises(InvalidValueError, match="stands twice"):
        detector.set_prompts(["mug", "mug"])


def test_grounded_text_gives_each_prompt_its_best_token(tmp_path: Path) -> None:
    # Tokens of "mug. red bowl.": mug . red bowl .
    logits = np.full((1, 100, 16), -9.0, np.float32)
    logits[0, 4, 3] = 4.0
    outputs = {"logits": logits, "pred_boxes": np.tile(np.array(STRETCHED, np.float32), (1, 100, 1))}
    texts = {
        "input_ids": ([1, 16], "INT64"),
        "token_type_ids": ([1, 16], "INT64"),
        "attention_mask": ([1, 16], "INT64"),
    }
    model = save_model(tmp_path / "m.onnx", outputs, ("pixel_values", [1, 3, 60, 80]), texts)
    tokenizer(tmp_path)
    detector = opened(model, prompts="mug, red bowl")
    assert detector.layout == "grounding_dino"
    only(detector, "red bowl")


def test_text_tells_places_in_phrases_and_which_tokens_see_each_other(tmp_path: Path) -> None:
    """Exports of Grounding DINO's own repository ask for these, too; "mug. red bowl." is mug . red bowl ."""
    outputs = {"logits": np.full((1, 100, 7), -9.0, np.float32), "boxes": np.full((1, 100, 4), 0.5, np.float32)}
    texts: dict[str, tuple[list[int], str]] = {
        "input_ids": ([1, 7], "INT64"),
        "position_ids": ([1, 7], "INT64"),
        "text_token_mask": ([1, 7, 7], "BOOL"),
    }
    model = save_model(tmp_path / "m.onnx", outputs, ("img", [1, 3, 60, 80]), texts)  # type: ignore[arg-type]
    tokenizer(tmp_path)
    detector = opened(model, prompts="mug, red bowl")
    assert detector.layout == "grounding_dino"
    feed = detector._prompts.feed
    assert feed["position_ids"].tolist() == [[0, 1, 0, 1, 2, 0, 0]]
    phrases = np.array([0, 0, 1, 1, 1, 2, 3])
    np.testing.assert_array_equal(feed["text_token_mask"][0], phrases[:, None] == phrases[None])


@pytest.mark.parametrize(
    ("told", "size", "fit"),
    [
        ({"size": {"shortest_edge": 48, "longest_edge": 80}}, (48, 64), "scaled"),
        ({"size": 48, "max_size": 56}, (42, 56), "scaled"),
        ({"size": [40, 56], "feature_extractor_type": "OwlViTFeatureExtractor"}, (40, 56), "stretch"),
        ({"size": 48, "image_processor_type": "OwlViTImageProcessor"}, (48, 48), "stretch"),
        ({"size": {"height": 64, "width": 64}}, (64, 64), "letterbox"),
    ],
)
def test_hugging_faces_notes_tell_how_an_image_enters(
    told: dict[str, object], size: tuple[int, int], fit: str, tmp_path: Path
) -> None:
    outputs = {"output": one_row(200, [*LETTERBOXED, *SCORES]).T[None]}
    model = save_model(tmp_path / "m.onnx", outputs, ("images", [1, 3, "high", "wide"]))
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(told), encoding="utf-8")
    detector = opened(model, CLASSES, layout="yolo_v8")
    image = fitted(COLOR, detector._size, detector._how)
    assert (image.input_size, detector._how.fit) == (size, fit)


def test_scaled_image_keeps_its_longer_side_within_the_size_either_way_round() -> None:
    how = Preprocessing("scaled")
    upright = np.zeros((320, 240, 3), np.uint8)
    assert fitted(COLOR, (480, 600), how).input_size == (450, 600)
    assert fitted(upright, (480, 600), how).input_size == (600, 450)


def test_fixed_classes_take_no_prompts(yolo: Path) -> None:
    with pytest.raises(InvalidValueError, match="its classes are fixed"):
        opened(yolo, CLASSES).set_prompts(["mug"])


@pytest.mark.parametrize("model", ["yolox_nano.onnx", "deimv2_atto_coco_int8.onnx"])
def test_real_exports_see_the_chairs_of_a_kitchen(model: str, shared_dir: Path) -> None:
    import cv2

    folder = shared_dir / "data" / "detectors"
    config = OnnxDetectorConfig(model=str(folder / model), class_names=str(folder / "coco.txt"), min_score=0.25)
    detector = OnnxDetector(config)
    names: set[str] = set()
    for path in sorted((shared_dir / "data" / "kitchen").glob("*.color.jpg"))[::8]:
        color = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
        names |= {max(d.class_scores, key=lambda n: d.class_scores[n]) for d in detector.detect(color, None, None)}
    assert "chair" in names
