"""A detector from an ONNX file, of any layout that is known; class names from a text file, metadata or prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.domain.geometry import Intrinsics
from memory_node.perception.config import OnnxDetectorConfig
from memory_node.perception.detection import Detection
from memory_node.perception.detectors.candidates import Candidates, FloatArray
from memory_node.perception.detectors.decoding import Decoding, usual_preprocessing, usual_size
from memory_node.perception.detectors.model_description import ModelDescription, ModelNotes, read_notes
from memory_node.perception.detectors.preprocessing import FittedImage, Preprocessing, fitted
from memory_node.perception.detectors.recognition import Outputs, recognised
from memory_node.perception.detectors.text_prompts import TextPrompts, checked_prompts
from memory_node.perception.onnx_session import open_session, running_on

_IMAGES = 200
# Grey values of an image of something vary by more than this; of a covered lens by less.
_CONTRAST = 8.0


class EmptyWatch:
    """Counts images that show something in which nothing was found, in a row."""

    def __init__(self, what: str, min_score: float) -> None:
        self._what = what
        self._min_score = min_score
        self._empty = 0
        self._best = 0.0

    def note(self, color: NDArray[np.uint8], found: int, best: float) -> None:
        """Take in an RGB image (h, w, 3), how many things were found in it, and the best score of any box."""
        if found:
            self._empty, self._best = 0, 0.0
        elif float(color[::16, ::16].std()) > _CONTRAST:
            self._empty += 1
            self._best = max(self._best, best)

    @property
    def complaint(self) -> str:
        """What is wrong, "" while nothing seems to be."""
        if self._empty < _IMAGES:
            return ""
        if self._best < 0.5 * self._min_score:
            guess = (
                "no box came near: its images are probably prepared otherwise; compare scale, channel order and fit "
                "with the model's own, and set them in a YAML file beside it"
            )
        else:
            guess = "boxes come near: lower min_score, or check that the classes are those of this place"
        return (
            f"{self._what} found nothing in {self._empty} images in a row; best score {self._best:.3f}, "
            f"min_score {self._min_score:g}; {guess}"
        )


# Classes that a detection gets at most, and the least score of all but the first.
_LIKELY_CLASSES, _LIKELY_SCORE = 3, 0.05
_KINDS: dict[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(uint8)": np.uint8,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}


def read_class_names(path: Path) -> list[str]:
    """Read one class name a line; the line's number is the class's.

    Raises:
        ResourceMissingError: there is no such file.
        InvalidValueError: it is no text, or names nothing.
    """
    if not path.is_file():
        raise ResourceMissingError(f"{path}: no such class names file; give a text file with one name a line")
    try:
        names = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise InvalidValueError(f"{path}: expected a text file with one class name a line: {error}") from error
    if not names:
        raise InvalidValueError(f"{path}: no class name in it")
    return names


class OnnxDetector:
    """Detects with an ONNX model. Opening it runs it once, so that what does not fit is told at the start.

    Raises:
        ResourceMissingError: no such model, class names or tokenizer.
        InvalidValueError: no known layout, class names of another number, a model of another size than told.
    """

    def __init__(self, config: OnnxDetectorConfig) -> None:
        self.config = config
        path = Path(config.model).expanduser()
        self._session = open_session(path, config.threads, [word.strip() for word in config.providers.split(",")])
        self._model = ModelDescription.of(self._session)
        notes = read_notes(path)
        self._size = _input_size(self._model, notes, config, path)
        self._prompts: TextPrompts | None = None
        names = self._names(notes)
        layout = config.layout if config.layout != "auto" else notes.layout
        if self._model.takes_text:
            self._prompts = TextPrompts(path, self._model)
            names = list(checked_prompts(names))
            self._prompts.set(names)
        self._how = self._followed(notes, Preprocessing("letterbox" if None in self._model.input_size else "stretch"))
        outputs = self._probe()
        what = f"{path} with the names of {config.class_names}" if config.class_names else str(path)
        if layout == "auto":
            layout = recognised(self._model, outputs, len(names), self._size, what)  # type: ignore[assignment]
        self.layout = str(layout)
        how = self._followed(notes, usual_preprocessing(self.layout, self._model))
        if how != self._how:
            self._how = how
            outputs = self._probe()
        if not names:
            names = self._numbered_names(outputs)
        decoding = Decoding.probed(self.layout, tuple(names), self._model, what, outputs, self._size)
        self._decoding = replace(decoding, prompts=self._prompts)
        self._watch = EmptyWatch(str(path), config.min_score)
        self._decoding.candidates(outputs, self._size)

    @property
    def names(self) -> tuple[str, ...]:
        """The classes that are told apart."""
        return self._decoding.names

    @property
    def running_on(self) -> str:
        """What runs the model, by onnxruntime itself."""
        return running_on(self._session)

    @property
    def complaint(self) -> str:
        """What seems to be wrong with a detector that never finds anything, "" while it does."""
        return self._watch.complaint

    def set_prompts(self, prompts: Sequence[str]) -> None:
        """Look for other classes from now on; of open-vocabulary models only.

        Raises:
            InvalidValueError: the model's classes are fixed, or the prompts are none.
        """
        clean = checked_prompts(prompts)
        if self._prompts is None:
            raise InvalidValueError(f"{self.config.model}: its classes are fixed; it takes no prompts")
        self._prompts.set(clean)
        self._decoding = replace(self._decoding, names=clean)

    def detect(
        self, color: NDArray[np.uint8] | None, depth_m: NDArray[np.float32] | None, intrinsics: Intrinsics | None
    ) -> list[Detection]:
        """Return what is in an RGB image (h, w, 3), strongest first; nothing without one. Depth is not used."""
        return [] if color is None else self.detect_all([color])[0]

    def detect_all(self, colors: Sequence[NDArray[np.uint8]]) -> list[list[Detection]]:
        """Return what is in each of several RGB images (h, w, 3); `batch` of them go through the model at once where it
        takes several."""
        most = self.config.batch if self._model.batch is None else self._model.batch
        found = []
        for first in range(0, len(colors), most):
            chunk = colors[first : first + most]
            images = [fitted(color, self._size, self._how) for color in chunk]
            for color, image, outputs in zip(chunk, images, self._run(images)):
                candidates = self._decoding.candidates(outputs, image.input_size)
                detections, best = self._detections(candidates, image)
                self._watch.note(color, len(detections), best)
                found.append(detections)
        return found

    def _followed(self, notes: ModelNotes, usual: Preprocessing) -> Preprocessing:
        """Return how images are prepared. An input of a fixed size takes no image of another ratio of its sides."""
        how = notes.followed(usual)
        return replace(how, fit="stretch") if how.fit == "scaled" and None not in self._model.input_size else how

    def _names(self, notes: ModelNotes) -> list[str]:
        if self.config.prompts:
            return self.config.prompts.split(",")
        if self.config.class_names:
            return read_class_names(Path(self.config.class_names).expanduser())
        names = list(notes.names) or self._model.class_names()
        if not names and self._model.takes_text:
            raise InvalidValueError(f"{self.config.model}: an open-vocabulary model; name its classes in `prompts`")
        return names

    def _numbered_names(self, outputs: Outputs) -> list[str]:
        shapes = ", ".join(f"{name} {tuple(array.shape)}" for name, array in outputs.items())
        raise InvalidValueError(
            f"{self.config.model}: layout {self.layout}, outputs {shapes}, but no class names: neither the file's "
            "metadata nor a YAML file beside it has any; give a text file with one name a line as class_names"
        )

    def _probe(self) -> Outputs:
        """Return the outputs of one run on an image of nothing, by name."""
        gray = np.full((*self._size, 3), 114, np.uint8)
        return self._run([fitted(gray, self._size, self._how)])[0]

    def _run(self, images: Sequence[FittedImage]) -> list[Outputs]:
        """Return the outputs of each image by name; lists without a batch side belong to the only image."""
        pixels = np.stack([image.pixels for image in images])
        wanted = self._model.batch
        if wanted is not None and len(images) < wanted:
            pixels = np.concatenate([pixels, np.repeat(pixels[-1:], wanted - len(images), axis=0)])
        entry = self._model.image
        if self._model.channels_last:
            pixels = pixels.transpose(0, 2, 3, 1)
        shown = pixels if len(entry.shape) == 4 else pixels[0]
        feed: dict[str, NDArray[np.generic]] = {entry.name: shown.astype(_KINDS.get(entry.kind, np.float32))}
        feed |= self._other_inputs(images, len(pixels))
        try:
            results = self._session.run(None, feed)
        except Exception as error:  # onnxruntime's errors share no base class
            raise InvalidValueError(f"{self.config.model}: the model could not be run: {error}") from error
        named = {one.name: np.asarray(array) for one, array in zip(self._model.outputs, results)}
        if len(pixels) == 1:
            return [named]
        return [{name: array[i : i + 1] for name, array in named.items()} for i in range(len(images))]

    def _other_inputs(self, images: Sequence[FittedImage], count: int) -> dict[str, NDArray[np.generic]]:
        feed: dict[str, NDArray[np.generic]] = {}
        for one in self._model.inputs:
            if one.name == self._model.image.name:
                continue
            kind = _KINDS.get(one.kind, np.float32)
            if self._prompts is not None and one.name in self._prompts.feed:
                feed[one.name] = self._prompts.feed[one.name].astype(kind)
            elif one.name == "pixel_mask":
                feed[one.name] = np.ones((count, *images[0].input_size), kind)
            elif len(one.shape) == 2 and one.shape[1] == 2:
                # Asked for in pixels of the input: what lies where in the image is told from there for every layout.
                height, width = images[0].input_size
                feed[one.name] = np.array([[width, height]] * count, kind)
            else:
                raise InvalidValueError(f"{self.config.model}: an input {one} that no known layout has")
        return feed

    def _detections(self, found: Candidates, image: FittedImage) -> tuple[list[Detection], float]:
        """Return the detections of an image, strongest first, and the best score of any box."""
        best = found.scores.max(axis=1) if found.scores.size else np.zeros(len(found.scores), np.float32)
        sound = np.isfinite(found.corners).all(axis=1) & np.isfinite(best)
        top = float(best[sound].max()) if sound.any() else 0.0
        chosen = np.flatnonzero(sound & (best >= self.config.min_score))
        if found.repeated:
            # Before boxes are cut at the image's edge: cut, two things at the edge would be more alike than they are.
            chosen = chosen[
                self._unsuppressed(found.corners[chosen], best[chosen], found.scores[chosen].argmax(axis=1))
            ]
        boxes = image.to_image(found.corners[chosen])
        large = (boxes[:, 2] - boxes[:, 0] > 1.0) & (boxes[:, 3] - boxes[:, 1] > 1.0)
        chosen, boxes = chosen[large], boxes[large]
        scores = np.clip(found.scores[chosen], 0.0, 1.0)
        kept = list(range(len(chosen)))
        kept.sort(key=lambda i: -best[chosen[i]])
        masks = found.masks(chosen[kept]) if found.masks is not None and kept else None
        detections = []
        for place, i in enumerate(kept):
            likely = np.argsort(-scores[i], kind="stable")[:_LIKELY_CLASSES]
            least = min(_LIKELY_SCORE, float(scores[i, likely[0]]))
            named = {self.names[k]: float(scores[i, k]) for k in likely.tolist() if scores[i, k] >= least}
            left, top_, right, bottom = (float(side) for side in boxes[i])
            mask = None if masks is None else _inside(image.mask_in_image(masks[place]), boxes[i])
            detections.append(Detection(named, (left, top_, right, bottom), mask=mask))
        return detections, top

    def _unsuppressed(self, boxes: FloatArray, best: FloatArray, kinds: NDArray[np.intp]) -> list[int]:
        """Return the boxes that no better one of their class covers: a mug before a plate overlaps it and stays."""
        sides = np.column_stack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]])
        left: list[int] = []
        for kind in np.unique(kinds):
            (own,) = np.nonzero(kinds == kind)
            # Class by class: OpenCV's own function for that came with 4.7.
            kept = cv2.dnn.NMSBoxes(
                sides[own].tolist(), best[own].tolist(), self.config.min_score, self.config.max_overlap
            )
            left += own[np.asarray(kept, dtype=int).ravel()].tolist()
        return left


def _inside(mask: NDArray[np.bool_], box: FloatArray) -> NDArray[np.bool_] | None:
    """Return a mask cut to its box; None where nothing of it is left."""
    left, top, right, bottom = int(box[0]), int(box[1]), int(np.ceil(box[2])), int(np.ceil(box[3]))
    cut = np.zeros_like(mask)
    cut[top:bottom, left:right] = mask[top:bottom, left:right]
    return cut if cut.any() else None


def _input_size(model: ModelDescription, notes: ModelNotes, config: OnnxDetectorConfig, path: Path) -> tuple[int, int]:
    """Return height and width of the model's input: its own, else what its YAML, the parameter or its metadata say."""
    if notes.size and len(notes.size) not in (1, 2):
        raise InvalidValueError(f"{path.with_suffix('.yaml')}: size: expected height and width, got {notes.size}")
    told = tuple(notes.size[:1] * 2 if len(notes.size) == 1 else notes.size) or (config.input_px,) * 2
    own = model.input_size
    if None not in own:
        if any(told) and told != own and notes.fit != "scaled":
            raise InvalidValueError(f"{path}: told to be of {told[1]}x{told[0]} pixels, but it takes {own[1]}x{own[0]}")
        return own  # type: ignore[return-value]
    height, width = told if any(told) else (model.told_size() or usual_size(model))
    return own[0] or height, own[1] or width
