"""Models that TensorFlow.js saved: layers models in files, and SavedModels of this package."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from .errors import message, type_error, value_error

DTYPES = {"float32": np.dtype("<f4"), "int32": np.dtype("<i4")}
_SOURCE = "the folder or model.json of a layers model of TensorFlow.js, or a SavedModel of tfjs-embeddings"
_ASSETS = Path("assets.extra", "tfjs_embeddings.json")
_VERSION = 1


def _json(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(message("source", _SOURCE, str(error))) from None
    if not isinstance(read, dict):
        raise value_error("source", _SOURCE, str(path))
    return read


class ModelFiles:
    """What a saved model holds: `description`, the fields of its model.json beside the weights; names; values."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.description = description
        self.weights: list[str] = []
        self.state: list[str] = []
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._values: dict[str, Callable[[], np.ndarray]] = {}

    def add(self, name: str, dtype: str, shape: Sequence[int], is_state: bool, read: Callable[[], np.ndarray]) -> None:
        """Takes note of a weight, or of a part of the optimizer's state, whose values `read` gives."""
        if dtype not in DTYPES:
            raise ValueError(message(name, "float32 or int32 values", dtype))
        (self.state if is_state else self.weights).append(name)
        self._shapes[name] = tuple(shape)
        self._values[name] = read

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a weight, or of a part of the optimizer's state."""
        return self._shapes[name]

    def value(self, name: str) -> np.ndarray:
        """Its values."""
        return self._values[name]()


def _add_group(files: ModelFiles, group: Mapping[str, Any], folder: Path) -> None:
    for name in group["paths"]:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise value_error("source", "weights in the folder of model.json", name)
    parts = [np.fromfile(folder / name, np.uint8) for name in group["paths"]]
    data = parts[0] if len(parts) == 1 else np.concatenate(parts)
    at = 0
    for spec in group["weights"]:
        name, shape = spec["name"], spec["shape"]
        dtype = "quantized values" if "quantization" in spec else spec["dtype"]
        files.add(
            name,
            dtype,
            shape,
            spec.get("group") == "optimizer",
            lambda at=at, dtype=dtype, shape=shape: np.ndarray(shape, DTYPES[dtype], data, at),
        )
        at += int(np.prod(shape, dtype=np.int64)) * DTYPES[dtype].itemsize
        if at > len(data):
            received = f"{len(data)} bytes for the weights up to {name}"
            raise ValueError(message("source", "files as long as model.json says", received))


def _layers_model(path: Path) -> ModelFiles:
    description = _json(path)
    groups = description.pop("weightsManifest", None)
    if not isinstance(groups, list):
        raise value_error("source", _SOURCE, str(path))
    files = ModelFiles(description)
    for group in groups:
        _add_group(files, group, path.parent)
    return files


def _saved_model(folder: Path) -> ModelFiles:
    assets = _json(folder / _ASSETS)
    if assets.get("format") != "tfjs-embeddings" or assets.get("version") != _VERSION:
        received = f"format {assets.get('format')} of version {assets.get('version')}"
        raise ValueError(message("source", f"tfjs-embeddings of version {_VERSION}", received))
    names = ("modelTopology", "userDefinedMetadata", "trainingConfig")
    kept = {name: assets[name] for name in names if name in assets}
    files = ModelFiles({"format": "layers-model", "generatedBy": "tfjs-embeddings", "convertedBy": None, **kept})
    reader = tf.train.load_checkpoint(str(folder / "variables" / "variables"))
    dtypes, shapes = reader.get_variable_to_dtype_map(), reader.get_variable_to_shape_map()
    for part in ("weights", "optimizer"):
        for each in assets[part]:
            key = each["key"]
            if key not in dtypes:
                raise value_error("source", f"a SavedModel with {key}", "variables without it")
            read = lambda key=key: np.asarray(reader.get_tensor(key))
            files.add(each["name"], dtypes[key].name, shapes[key], part == "optimizer", read)
    return files


def open_model(source: str | os.PathLike) -> ModelFiles:
    """A model that `model.save` or `emb.savedModel.export` wrote."""
    if not isinstance(source, (str, os.PathLike)):
        raise type_error("source", _SOURCE, source)
    try:
        return _opened(Path(source))
    except (OSError, KeyError, TypeError, AttributeError, tf.errors.OpError) as error:
        raise ValueError(message("source", _SOURCE, f"{type(error).__name__}: {error}")) from None


def _opened(path: Path) -> ModelFiles:
    if (path / "saved_model.pb").is_file():
        return _saved_model(path)
    return _layers_model(path / "model.json" if path.is_dir() else path)
