"""Writes interactions.json: what DotInteraction and FeatureCross of Keras RS return. Run with Keras RS 0.4, Keras 3.15."""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import keras_rs
import numpy as np

random = np.random.default_rng(11)


def numbers(*shape):
    """Multiples of 1/8, so that they are short and exact."""
    return (random.integers(-16, 17, shape) / 8).astype("float32")


def plain(array):
    array = np.asarray(array)
    return {"shape": list(array.shape), "values": array.astype("float64").ravel().tolist()}


def serialized(layer):
    return json.loads(json.dumps(keras.saving.serialize_keras_object(layer)))


def dot(count, batch, dim, **args):
    layer = keras_rs.layers.DotInteraction(name="pairs", **args)
    inputs = [numbers(batch, dim) for _ in range(count)]
    return {"config": serialized(layer)["config"], "inputs": [plain(x) for x in inputs], "output": plain(layer(inputs))}


def cross(shape, pair=True, **args):
    layer = keras_rs.layers.FeatureCross(name="cross", **args)
    inputs = [numbers(*shape) for _ in range(2 if pair else 1)]
    layer(*inputs)
    layer.set_weights([numbers(*weight.shape) for weight in layer.weights])
    weights = layer.get_weights()
    return {
        "config": serialized(layer)["config"],
        "inputs": [plain(x) for x in inputs],
        "weights": [plain(weight) for weight in weights],
        "output": plain(layer(*inputs)),
        "penalty": float(sum(np.sum(loss) for loss in layer.losses)),
    }


CASES = {
    "dot": [
        dot(3, 2, 4),
        dot(4, 3, 2, self_interaction=True),
        dot(4, 3, 5, skip_gather=True),
        dot(3, 2, 3, self_interaction=True, skip_gather=True),
        dot(1, 2, 3, self_interaction=True),
        dot(7, 5, 6),
    ],
    "cross": [
        cross((3, 4)),
        cross((3, 4), pair=False, diag_scale=0.5),
        cross((2, 5), projection_dim=2),
        cross((2, 3), use_bias=False, pre_activation="relu"),
        cross((2, 3, 4), projection_dim=3, diag_scale=1.5, pre_activation="tanh"),
        cross((2, 3), pre_activation="silu", kernel_initializer="he_normal", bias_initializer="ones"),
        cross((2, 4), projection_dim=2, kernel_regularizer="l2", bias_regularizer=keras.regularizers.L1(0.25)),
        cross((3, 2), pre_activation="gelu"),
        cross((2, 4), pre_activation="softmax", kernel_regularizer=keras.regularizers.L1L2(l1=0.5, l2=0.125)),
    ],
}

path = pathlib.Path(__file__).with_name("interactions.json")
path.write_text(json.dumps(CASES, separators=(",", ":")) + "\n")
