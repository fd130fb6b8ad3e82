"""OWL-ViT, OWLv2 and Grounding DINO by transformers with random weights, told classes as words."""

from __future__ import annotations

import string
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from original_detectors import Original, picture, run_file

PROMPTS = ("mug", "red bowl", "a spoon", "book")
_THRESHOLD = 0.3
_SIDE_PX = 256
_IMAGE_SIZE = [(240, 320)]
_KEYS = ("boxes", "scores", "labels")


def owl(folder: Path, kind: str) -> Original:
    """OWL-ViT and OWLv2, which compare each patch of the image with each prompt; `kind` as transformers names it."""
    import torch
    import transformers

    torch.manual_seed(1)
    names = clip_tokenizer(folder)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    ends = {"bos_token_id": names.bos_token_id, "eos_token_id": names.eos_token_id, "pad_token_id": 0}
    config = getattr(transformers, f"{kind}Config")(
        text_config=size | ends | {"vocab_size": len(names), "max_position_embeddings": 16},
        vision_config=size | {"image_size": _SIDE_PX, "patch_size": 32},
        projection_dim=32,
    )
    model = getattr(transformers, f"{kind}ForObjectDetection")(config).eval()
    image_processor = getattr(transformers, f"{kind}ImageProcessor")()
    image_processor.size = {"height": _SIDE_PX, "width": _SIDE_PX}
    image_processor.save_pretrained(folder)
    text = names(list(PROMPTS), padding="max_length", max_length=16, return_tensors="np")
    feed = {name: np.asarray(text[name], np.int64) for name in ("input_ids", "attention_mask")}
    feed["pixel_values"] = np.asarray(image_processor(picture(), return_tensors="np")["pixel_values"], np.float32)
    head = model.class_head
    order = ("input_ids", "pixel_values", "attention_mask")
    spread(model, order, feed, {model.box_head.dense2: 1.0, head.logit_shift: 0.6, head.logit_scale: 1.5})
    path = _exported(model, order, feed, folder)
    return _original(
        path, feed, lambda told: image_processor.post_process_object_detection(told, _THRESHOLD, _IMAGE_SIZE)
    )


def clip_tokenizer(folder: Path) -> Any:
    """Save CLIP's tokenizer for a vocabulary of single letters, padded with "!" as OWL's are."""
    import transformers

    letters = ["!", *(character for character in string.ascii_lowercase)]
    entries = letters + [f"{letter}</w>" for letter in letters] + ["<|startoftext|>", "<|endoftext|>"]
    made = transformers.CLIPTokenizer({entry: i for i, entry in enumerate(entries)}, [], pad_token="!")
    made.save_pretrained(folder)
    return made


def grounding_dino(folder: Path) -> Original:
    """Grounding DINO, which compares each query with each token of one text that names all classes.

    The library tells no class. It is asked for each prompt with the tokens of that prompt alone.
    """
    import torch
    import transformers
    from transformers.models.grounding_dino import modeling_grounding_dino as code

    torch.manual_seed(1)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "?", "mug", "red", "bowl", "a", "spoon", "bo", "##ok"]
    tokenizer = transformers.BertTokenizer({word: i for i, word in enumerate(words)})
    tokenizer.save_pretrained(folder)
    sides = {"shortest_edge": 160, "longest_edge": 280}
    image_processor = transformers.GroundingDinoImageProcessor(size=sides)
    image_processor.save_pretrained(folder)
    processor = transformers.GroundingDinoProcessor(image_processor, tokenizer)
    backbone = transformers.SwinConfig(
        embed_dim=16,
        depths=[1, 1, 1, 1],
        num_heads=[1, 1, 2, 2],
        window_size=4,
        out_features=["stage2", "stage3", "stage4"],
    )
    text = {"vocab_size": 128, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.GroundingDinoConfig(
        backbone_config=backbone,
        text_config=transformers.BertConfig(**text, intermediate_size=64),
        **{"d_model": 32, "encoder_layers": 1, "decoder_layers": 2, "num_queries": 60, "encoder_ffn_dim": 64},
        **{"decoder_ffn_dim": 64, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_text_len": 32},
    )
    model = transformers.GroundingDinoForObjectDetection(config).eval()
    given = processor(images=picture(), text=[list(PROMPTS)], return_tensors="np")
    feed = {name: np.asarray(value) for name, value in given.items()}
    order = ("pixel_values", "input_ids", "token_type_ids", "attention_mask", "pixel_mask")
    boxes = [one.layers[-1] for one in (*model.bbox_embed[:1], model.model.encoder_output_bbox_embed)]
    # Where the prompts end is made a constant of the file: the exporter has no operator for looking it up.
    finds_ends = "generate_masks_with_special_tokens_and_transfer_map"
    marks = torch.tensor(tokenizer.convert_tokens_to_ids(["[CLS]", "[SEP]", ".", "?"]))
    ends = getattr(code, finds_ends)(torch.from_numpy(feed["input_ids"]), marks)
    with mock.patch.object(code, finds_ends, return_value=ends):
        spread(model, order, feed, dict.fromkeys(boxes, 0.7))
        path = _exported(model, order, feed, folder)
    phrases = _tokens_of_prompts(feed["input_ids"][0], marks)

    def read(told: Any) -> list[dict[str, Any]]:
        found = []
        for number, tokens in enumerate(phrases):
            one = told.logits.clone()
            one[..., [token for token in range(one.shape[-1]) if token not in tokens]] = -np.inf
            alone = transformers.utils.ModelOutput(logits=one, pred_boxes=told.pred_boxes)
            ids = torch.from_numpy(feed["input_ids"])
            (these,) = processor.post_process_grounded_object_detection(alone, ids, _THRESHOLD, 0.0, _IMAGE_SIZE)
            found.append({**these, "labels": np.full(len(these["scores"]), number)})
        return found

    return _original(path, feed, read)


def _tokens_of_prompts(ids: np.ndarray, marks: Any) -> list[list[int]]:
    """Return of one text (n,) the numbers of the tokens of each prompt: what lies between two marks."""
    ends = np.flatnonzero(np.isin(ids, np.asarray(marks)))
    between = [list(range(first + 1, last)) for first, last in pairwise(ends)]
    return [tokens for tokens in between if tokens]


def spread(model: Any, order: tuple[str, ...], feed: dict[str, np.ndarray], deviations: dict[Any, float]) -> None:
    """Scale layers with random weights, one after the other, so that what they put out has these deviations."""
    import torch

    given = {name: torch.from_numpy(feed[name]) for name in order}
    for layer, deviation in deviations.items():
        torch.nn.init.normal_(layer.weight)
        seen: list[Any] = []
        hook = layer.register_forward_hook(lambda _, __, out, seen=seen: seen.append(out))
        with torch.no_grad():
            model(**given)
            layer.weight.mul_(deviation / seen[0].std().clamp(min=1e-3))
        hook.remove()


def _exported(model: Any, order: tuple[str, ...], feed: dict[str, np.ndarray], folder: Path) -> Path:
    import torch

    class Plain(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *given: Any) -> Any:
            told = self.model(**dict(zip(order, given)))
            return told.logits, told.pred_boxes

    path = folder / "model.onnx"
    given = tuple(torch.from_numpy(feed[name]) for name in order)
    names = {"input_names": list(order), "output_names": ["logits", "pred_boxes"]}
    torch.onnx.export(Plain(), given, str(path), **names, opset_version=17, dynamo=False)
    return path


def _original(path: Path, feed: dict[str, np.ndarray], read: Callable[[Any], list[dict[str, Any]]]) -> Original:
    """Return what a library reads from a file: `read` gives what it found of each prompt, or of all in one list."""
    import torch
    import transformers

    outputs = run_file(path, feed)
    told = transformers.utils.ModelOutput({name: torch.from_numpy(array) for name, array in outputs.items()})
    found = read(told)
    boxes, scores, labels = (np.concatenate([np.asarray(one[key]) for one in found]) for key in _KEYS)
    text = {name: array for name, array in feed.items() if name != "pixel_values"}
    given = {"prompts": PROMPTS, "text": text}
    return Original(path, feed["pixel_values"], outputs, boxes, scores, labels, _THRESHOLD, **given)
