"""Compares models of Keras with what exportKeras wrote of them: python compare_exports.py CASES

CASES is a file of JSON lines with `seed`, `file` and `exported`, inputs and targets as draw_models.py tells them. For each
a line of JSON: seed and a list of what differs: weights and `trainable` by the name of the layer, settings by field,
predictions, and the loss and the predictions after a step of training.
"""
import base64
import json
import os
import sys
import warnings

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
warnings.filterwarnings("ignore")

import keras
import numpy as np

# What tells nothing of what a layer computes.
PASSED = {"name", "dtype", "seed", "batch_shape", "trainable", "input_shape", "build_config", "shared_object_id", "optional", "sparse", "ragged"}


def unpacked(told):
    kind = {"bool": "uint8"}.get(told["dtype"], told["dtype"])
    return np.frombuffer(base64.b64decode(told["values"]), kind).reshape(told["shape"]).astype(told["dtype"])


def layers_of(model):
    """Layers by name, those of models within too."""
    found = {}
    for layer in model.layers:
        if isinstance(layer, keras.Model):
            found.update(layers_of(layer))
        elif not isinstance(layer, keras.layers.InputLayer):
            found[layer.name] = layer
    return found


def plain(value):
    """A setting without names and modules, which exports may leave out."""
    if isinstance(value, dict) and value.get("class_name") in ("L1", "L2", "L1L2"):
        return ["penalty", plain(value["config"].get("l1", 0.0)), plain(value["config"].get("l2", 0.0))]
    if isinstance(value, dict):
        # One class of initializers stands for others; weights have their values.
        return {k: plain(v) for k, v in value.items() if k not in PASSED | {"module", "registered_name"} and not k.endswith("_initializer")}
    if isinstance(value, float):
        return float(np.float32(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def differences(case):
    told = []
    before, after = (keras.models.load_model(case[key], compile=False) for key in ("file", "exported"))
    own, other = layers_of(before), layers_of(after)
    for name, layer in own.items():
        if not layer.weights:
            continue
        if name not in other:
            told.append(f"no layer {name}")
            continue
        same = other[name]
        a, b = layer.get_weights(), same.get_weights()
        if len(a) != len(b) or not all(np.array_equal(x, y) for x, y in zip(a, b)):
            told.append(f"weights of {name}")
        if layer.trainable != same.trainable or [w.trainable for w in layer.weights] != [w.trainable for w in same.weights]:
            told.append(f"trainable of {name}")
        if type(layer) is type(same):
            x, y = layer.get_config(), same.get_config()
            told += [f"{name}.{field}: {y[field]} for {x[field]}" for field in x if field in y and field not in PASSED and not field.endswith("_initializer") and plain(x[field]) != plain(y[field])]
    x, y = [unpacked(each) for each in case["inputs"]], [unpacked(each) for each in case["targets"]]
    one = lambda values: values[0] if len(values) == 1 else values

    def near(stage):
        a, b = ([np.asarray(each) for each in keras.tree.flatten(model(one(x), training=False))] for model in (before, after))
        if len(a) != len(b) or not all(p.shape == q.shape and np.allclose(p, q, 1e-5, 1e-5) for p, q in zip(a, b)):
            told.append(stage)

    near("predictions")
    if case.get("after") is None:
        return told
    losses = []
    for model in (before, after):
        model.compile(keras.optimizers.SGD(0.05), ["mse"] * len(y) if len(y) > 1 else "mse", run_eagerly=True, jit_compile=False)
        losses.append(np.ravel(model.train_on_batch(one(x), one(y)))[0])
    if not np.allclose(*losses, 1e-5, 1e-5):
        told.append(f"loss: {losses[1]} for {losses[0]}")
    near("predictions after a step")
    return told


for line in open(sys.argv[1]):
    case = json.loads(line)
    keras.backend.clear_session()
    try:
        told = differences(case)
    except Exception as error:
        told = [f"{type(error).__name__}: {error}"[:300]]
    print(json.dumps({"seed": case["seed"], "differences": told}), flush=True)
