from pathlib import Path

import cv2
import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

onnx = pytest.importorskip("onnx")

from memory_node.catalogue.object_catalogue import ObjectCatalogue  # noqa: E402
from memory_node.catalogue.object_kind import ObjectKind  # noqa: E402
from memory_node.domain.answer import FindQuery  # noqa: E402
from memory_node.domain.errors import InvalidValueError, ResourceMissingError  # noqa: E402
from memory_node.domain.memory_unit import MemoryUnit  # noqa: E402
from memory_node.search.clip_embedder import ClipEmbedder  # noqa: E402
from memory_node.search.config import RetrievalConfig  # noqa: E402
from memory_node.search.embedders import build_picture_embedder  # noqa: E402
from memory_node.search.glosses import ClassGlosses  # noqa: E402
from memory_node.search.ranker import Ranker  # noqa: E402
from memory_node.search.unit_index import UnitIndex  # noqa: E402


def save_graph(path, nodes, inputs, outputs, constants):
    graph = onnx.helper.make_graph(nodes, "tiny", inputs, outputs, initializer=constants)
    opsets = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A CLIP of the right form: text = one-hot of the first word's id, image = mean colour."""
    info, tensor, kind = onnx.helper.make_tensor_value_info, onnx.numpy_helper.from_array, onnx.TensorProto
    save_graph(
        tmp_path / "text.onnx",
        [
            onnx.helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"]),
            onnx.helper.make_node("Gather", ["last_hidden_state", "first"], ["text_embeds"], axis=1),
        ],
        [info("input_ids", kind.INT64, ["n", 77])],
        [info("last_hidden_state", kind.FLOAT, ["n", 77, 3]), info("text_embeds", kind.FLOAT, ["n", 3])],
        [tensor(5.0 * np.eye(3, dtype=np.float32), "table"), tensor(np.array(0, dtype=np.int64), "first")],
    )
    save_graph(
        tmp_path / "image.onnx",
        [onnx.helper.make_node("ReduceMean", ["pixel_values"], ["image_embeds"], axes=[2, 3], keepdims=0)],
        [info("pixel_values", kind.FLOAT, ["n", 3, 32, 32])],
        [info("image_embeds", kind.FLOAT, ["n", 3])],
        [],
    )
    tokenizer = Tokenizer(models.WordLevel({"red": 0, "green": 1, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def jpeg(bgr, height=40, width=90):
    image = np.zeros((height, width, 3), dtype=np.uint8)
    image[:, width // 2 - 20 : width // 2 + 20] = bgr
    return cv2.imencode(".jpg", image)[1].tobytes()


def test_texts_and_crops_meet_in_one_space(folder):
    clip = ClipEmbedder(folder)
    assert clip.dimension == 3
    texts = clip.embed(["red", "green thing"])
    np.testing.assert_allclose(texts, [[1, 0, 0], [0, 1, 0]])
    crops = clip.embed_crops([jpeg((0, 0, 255)), jpeg((0, 255, 0), height=120)])
    np.testing.assert_allclose(np.linalg.norm(crops, axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal((crops @ texts.T).argmax(axis=1), [0, 1])
    assert clip.embed([]).shape == clip.embed_crops([]).shape == (0, 3)


def test_damaged_crop_and_missing_files_are_named(folder):
    with pytest.raises(InvalidValueError, match="4 bytes that are none"):
        ClipEmbedder(folder).embed_crops([b"junk"])
    (folder / "image.onnx").unlink()
    with pytest.raises(ResourceMissingError, match=r"no image\.onnx"):
        ClipEmbedder(folder)


def test_recall_sees_the_colour_of_a_crop(folder):
    clip = build_picture_embedder(RetrievalConfig(clip_path=str(folder)))
    pictures = clip.embed_crops([jpeg((0, 255, 0)), jpeg((0, 0, 255))])
    units = [
        MemoryUnit(name, "Mug", np.zeros(3), np.eye(3), 1, looks=picture)
        for name, picture in zip(("green", "red"), pictures)
    ]
    # Words say the same of both mugs here; only the pictures differ.
    glosses = ClassGlosses.of(ObjectCatalogue("mugs", (ObjectKind("Mug", "mug"),)))
    recall = UnitIndex(Ranker(SameForAll(), glosses, RetrievalConfig(), picture_embedder=clip))
    recall.put_all(units)
    assert [answer.object_id for answer in recall.rank(FindQuery("red mug"), 1).answers] == ["red", "green"]
    np.testing.assert_allclose(recall.ranker.looks_of(jpeg((0, 255, 0))), pictures[0])
    assert build_picture_embedder(RetrievalConfig()) is None


class SameForAll:
    dimension = 2

    def embed(self, texts):
        return np.tile(np.array([0.6, 0.8], dtype=np.float32), (len(texts), 1))
