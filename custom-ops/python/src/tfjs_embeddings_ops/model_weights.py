"""Weights and optimizer state of models that TensorFlow.js saved: read into a model of Keras, and written back."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import keras
import numpy as np

from .model_files import DTYPES, ModelFiles, open_model
from .errors import message, shown, type_error, value_error
from .rules import RULES, fields_of
from .sparse_optimizer import SparseOptimizer, is_table


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _named_variables(model: keras.Model, names: Mapping[str, str] | None) -> dict[str, Any]:
    """The weights of a model by the names that files have: `<layer>/<weight>`, or those that `names` gives."""
    if names is not None and not isinstance(names, Mapping):
        raise type_error("names", "a dict from names of the file to names of the model", names)
    if not isinstance(model, keras.Model) or not model.built:
        raise type_error("model", "a model of Keras that was built", model)
    by_name: dict[str, Any] = {}
    for variable in model.weights:
        name = "/".join(variable.path.split("/")[-2:])
        if name in by_name:
            raise value_error("model", f"one weight that is called {name}", f"several: {variable.path}")
        by_name[name] = variable
    renamed = dict(names or {})
    for given in renamed.values():
        if given not in by_name:
            raise value_error("names", f"weights of the model ({', '.join(by_name)})", given)
    of_file = {given: name for name, given in renamed.items()}
    return {of_file.get(name, name): variable for name, variable in by_name.items()}


def state_of(optimizer: SparseOptimizer, variables: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Slots and running powers: what each belongs to, its name in files, its variable."""
    trained = {id(each) for each in optimizer._trainable_variables}
    known = {name: each for name, each in variables.items() if id(each) in trained}
    for name, variable in known.items():
        if is_table(variable):
            for slot, value in optimizer.slots_of(variable).items():
                yield name, f"{name}/{slot}", value
    for kind in optimizer.dense_step.kinds:
        for name, variable in known.items():
            if not is_table(variable):
                yield name, f"dense/{name}/{kind}", optimizer.slots_of(variable)[kind]
    for power, value in optimizer.powers.items():
        yield "powers", f"dense/{power}", value


def _optimizer_of(model: keras.Model) -> SparseOptimizer | None:
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        return None
    if not isinstance(optimizer, SparseOptimizer):
        raise type_error("model.optimizer", "an optimizer of tfjs_embeddings_ops.train, or none", optimizer)
    if optimizer.dense is not None:
        raise value_error("model.optimizer", "one without a `dense` of Keras", optimizer.dense)
    if not optimizer.built:
        optimizer.build(model.trainable_variables)
    return optimizer


def _check_shape(saved: ModelFiles, name: str, variable: Any) -> None:
    if tuple(variable.shape) != saved.shape(name):
        raise ValueError(message(name, f"shape {tuple(variable.shape)}", f"shape {saved.shape(name)}"))


def _known_names(given: Sequence[str], known: Set[str]) -> dict[str, str]:
    """Names of state, by those that the optimizer here has.

    TensorFlow.js adds a number to the name of a variable where that is taken: a second model in a process has
    `dense/scores/kernel_1/accumulator`.
    """
    found: dict[str, str] = {}
    for name in given:
        variable, _, kind = name.rpartition("/")
        plain = f"{re.sub(r'_[0-9]+$', '', variable)}/{kind}"
        own = plain if name not in known and name.startswith("dense/") and plain in known else name
        if own in found:
            raise ValueError(message("optimizer state", f"one {own}", f"{found[own]} and {name}"))
        found[own] = name
    return found


def _load_state(optimizer: SparseOptimizer, saved: ModelFiles, variables: Mapping[str, Any]) -> list[Any]:
    """Which variable of the optimizer takes the values of which name; None: those that it begins with."""
    state = list(state_of(optimizer, variables))
    known = {"iter", *(name for _, name, _ in state)}
    given = _known_names(saved.state, known)
    unknown = sorted(given.keys() - known)
    if unknown:
        expected = f"what this optimizer keeps ({', '.join(sorted(known))})"
        raise ValueError(message("optimizer state", expected, ", ".join(unknown)))
    # All of what belongs to one variable, or nothing where it has not been trained.
    begun = {owner for owner, name, _ in state if name in given}
    if any(name.startswith("dense/") for name in given):
        begun.add("powers")
    due = {"iter"} | {name for owner, name, _ in state if owner in begun}
    if due - given.keys():
        missing = ", ".join(sorted(due - given.keys()))
        raise ValueError(message("optimizer state", f"{missing}, as it was saved", "state without it"))
    pairs: list[tuple[Any, str | None]] = [(optimizer._iterations, "iter")]
    for _, name, variable in state:
        if name in given:
            _check_shape(saved, given[name], variable)
        pairs.append((variable, given.get(name)))
    return pairs


def load_weights(model: keras.Model, source: str | os.PathLike, *, names: Mapping[str, str] | None = None) -> list[str]:
    """Returns the names of what it read into `model`: all its weights, and the state of its optimizer.

    `source`: the folder, or its model.json, that `model.save('file://...', {includeOptimizer: true})` wrote in
    TensorFlow.js, or the folder of `emb.savedModel.export` with the same option. Weights are found as
    `<layer>/<weight>`, `items/embeddings`; `names` maps names of the file to names of the model where they differ. All
    are float32 of the model's shapes.

    Where the model was compiled with an optimizer of `train`, its slots and number of steps come along, so that
    training goes on as it would have there; its hyper-parameters stay those that it was made with. A variable that was
    never trained there begins afresh. Without a compiled optimizer the weights alone are read.

    Raises:
        ValueError: for files that are no such model, weights that are missing, too many or of another shape, and for
            state that is not that of the optimizer. Nothing is written then.
        TypeError: for a model that is none, or has another optimizer.

    Source: tf.loadLayersModel (TensorFlow.js 4.22).

    Example:
        >>> load_weights(model, "model")
        ['items/embeddings', 'scores/kernel', 'scores/bias', 'iter', 'items/embeddings/accumulators', ...]
    """
    variables = _named_variables(model, names)
    saved = open_model(source)
    given = saved.weights
    if set(given) != set(variables):
        raise ValueError(message("source", f"the weights {', '.join(variables)}", ", ".join(given)))
    pairs = []
    for name in given:
        _check_shape(saved, name, variables[name])
        pairs.append((variables[name], name))
    optimizer = _optimizer_of(model)
    if optimizer is not None:
        pairs += _load_state(optimizer, saved, variables)
    for variable, name in pairs:
        if name is None:
            variable.assign(np.full(variable.shape, optimizer.start_of(variable), np.float32))
        else:
            variable.assign(saved.value(name))
    return given + ([] if optimizer is None else saved.state)


def _optimizer_config(optimizer: SparseOptimizer, state: list[str]) -> dict[str, Any]:
    rate = optimizer._learning_rate
    if isinstance(rate, keras.Variable):
        rate = float(rate.numpy())
    elif isinstance(rate, keras.optimizers.schedules.LearningRateSchedule):
        rate = {"className": type(rate).__name__, "config": rate.get_config()}
    else:
        raise value_error("learning_rate", "a number or a schedule, as a function cannot be saved", rate)
    fields = {_camel(each): optimizer.settings[each] for each in fields_of(optimizer.rule_name)}
    config = {"learningRate": rate, **fields, "state": [{"name": name} for name in state]}
    class_name = RULES[optimizer.rule_name].class_name
    return {"class_name": f"TfjsEmbeddings>{class_name}", "config": config}


def _write(path: Path, data: bytes | memoryview) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def save_weights(
    model: keras.Model,
    target: str | os.PathLike,
    *,
    source: str | os.PathLike,
    names: Mapping[str, str] | None = None,
) -> str:
    """Returns the path of the model.json that it wrote into the folder `target`, for `tf.loadLayersModel`.

    `source`: the model of TensorFlow.js that `model` was read from by `load_weights`, or one of the same layers: its
    layers and loss are written anew, with the weights of `model` and the settings and state of its optimizer.
    `names`: as for `load_weights`. All values are float32. The folder may be that of `source`; model.json is replaced
    in one step, after the weights are on disk.

    A model without an optimizer is written without one, and is to be compiled there.

    Raises:
        ValueError: for another `source` or other weights, one that was saved without its optimizer where the model has
            one, and for what cannot travel: a `dense` optimizer of Keras, a rate that is a function.
        TypeError: for a model that is none, or has another optimizer.

    Source: LayersModel.save (TensorFlow.js 4.22).

    Example:
        >>> save_weights(model, "trained", source="model")
        'trained/model.json'
    """
    if not isinstance(target, (str, os.PathLike)):
        raise type_error("target", "a folder", target)
    variables = _named_variables(model, names)
    saved = open_model(source)
    values = {name: variables.get(name) for name in saved.weights}
    if set(values) != set(variables):
        expected = f"a model with the weights {', '.join(variables)}"
        raise ValueError(message("source", expected, ", ".join(values)))
    for name, variable in values.items():
        _check_shape(saved, name, variable)
    description = {key: value for key, value in saved.description.items() if key != "trainingConfig"}
    optimizer = _optimizer_of(model)
    state = {}
    if optimizer is not None:
        training = saved.description.get("trainingConfig")
        if not isinstance(training, dict):
            raise value_error("source", "a model that was saved with includeOptimizer", shown(training))
        state = {"iter": optimizer._iterations}
        state.update({name: variable for _, name, variable in state_of(optimizer, variables)})
        config = _optimizer_config(optimizer, list(state))
        description["trainingConfig"] = {**training, "optimizer_config": config}
    arrays = [(name, np.asarray(variable.numpy()), {}) for name, variable in values.items()]
    arrays += [(name, np.asarray(each.numpy()), {"group": "optimizer"}) for name, each in state.items()]
    specs, parts = [], []
    for name, array, group in arrays:
        dtype = "int32" if name == "iter" and group else "float32"
        specs.append({"name": name, "shape": list(array.shape), "dtype": dtype, **group})
        parts.append(np.ascontiguousarray(array, DTYPES[dtype]).tobytes())
    data = b"".join(parts)
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    file = f"weights-{hashlib.sha256(data).hexdigest()[:16]}.bin"
    description["weightsManifest"] = [{"paths": [file], "weights": specs}]
    _write(folder / file, data)
    path = folder / "model.json"
    scratch = folder / f"model.json.{os.getpid()}.partial"
    _write(scratch, json.dumps(description).encode())
    os.replace(scratch, path)
    return str(path)
