"""Writes SavedModels of Keras 2 (tf_keras), Keras 3 and plain TensorFlow: python gen_saved_models.py FOLDER

With them comes cases.json: what each signature is given and what it answers. Run with TensorFlow 2.21, tf_keras 2.21 and
Keras 3.15.
"""
import json
import os
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras as keras3
import numpy as np
import tensorflow as tf
import tf_keras as keras2

FOLDER = sys.argv[1]
CASES = []
K = keras2.layers


def values(array):
    array = np.asarray(array)
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": array.ravel().tolist()}


def scramble(model):
    rng = np.random.default_rng(7)
    model.set_weights([rng.uniform(0.5 if "variance" in weight.name else -0.5, 1.0, weight.shape) for weight in model.weights])


def add(name, save, kind, inputs, signature="serving_default"):
    path = os.path.join(FOLDER, name)
    if save is not None:
        save(path)
    answer = tf.saved_model.load(path).signatures[signature](**{key: tf.constant(value) for key, value in inputs.items()})
    CASES.append({
        "name": name,
        "kind": kind,
        "signature": signature,
        "inputs": {key: values(value) for key, value in inputs.items()},
        "outputs": {key: values(value) for key, value in answer.items()},
    })


def ids(shape, rows, dtype="int32"):
    return np.random.default_rng(3).integers(0, rows, shape).astype(dtype)


def floats(shape, seed=5):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("float32")


def keras2_nested():
    """Layers of one name in two models, a model that is called twice, state that does not train; compiled and trained."""
    inside = keras2.Input((4,), name="inside")
    tower = keras2.Model(inside, K.Dense(3, activation="tanh", name="deep")(K.BatchNormalization(name="norm")(inside)), name="tower")
    words, a, b = keras2.Input((3,), dtype="int32", name="words"), keras2.Input((4,), name="a"), keras2.Input((4,), name="b")
    looked = K.Flatten(name="flat")(K.Embedding(7, 2, name="table")(words))
    norm = K.BatchNormalization(name="norm", trainable=False)(looked)
    joined = K.Concatenate(name="joined")([norm, tower(a), tower(b)])
    model = keras2.Model([words, a, b], [K.Dense(2, name="deep")(joined), K.Dense(1, use_bias=False, name="score")(joined)], name="top")
    model.compile("adam", "mse", metrics=["mae"])
    model.fit([ids((4, 3), 7), floats((4, 4)), floats((4, 4), 6)], [np.ones((4, 2)), np.ones((4, 1))], verbose=0)
    scramble(model)
    add("keras2_nested", lambda path: model.save(path, save_format="tf"), "layers", {"words": ids((4, 3), 7), "a": floats((4, 4)), "b": floats((4, 4), 6)})


def keras2_sequential():
    model = keras2.Sequential([
        K.Embedding(9, 4, input_length=3, name="words"),
        K.Bidirectional(K.SimpleRNN(2, unroll=True), merge_mode="concat", name="both_ways"),
        K.Dense(1, activation="sigmoid", name="score"),
    ])
    scramble(model)
    add("keras2_sequential", lambda path: model.save(path, save_format="tf"), "layers", {"words_input": ids((4, 3), 9).astype("float32")})


def keras2_unknown():
    """Code in Python: no layers model."""
    x = keras2.Input((3,), name="x")
    model = keras2.Model(x, K.Lambda(lambda each: each * 2 + 1, name="code")(x))
    add("keras2_lambda", lambda path: model.save(path, save_format="tf"), "function", {"x": floats((2, 3))})


def keras3_models():
    words, a = keras3.Input((3,), dtype="int32", name="words"), keras3.Input((4,), name="a")
    looked = keras3.layers.Flatten()(keras3.layers.Embedding(7, 2, name="table")(words))
    inner = keras3.Sequential([keras3.layers.Dense(3, activation="relu", name="deep")], name="inner")
    model = keras3.Model({"words": words, "a": a}, keras3.layers.Dense(2, name="score")(keras3.layers.Concatenate()([looked, inner(a)])))
    scramble(model)
    inputs = {"words": ids((4, 3), 7), "a": floats((4, 4))}
    add("keras3_export", lambda path: model.export(path, verbose=False), "function", inputs)
    add("keras3_saved", lambda path: tf.saved_model.save(model, path), "python only", {"inputs": inputs["a"], "inputs_1": inputs["words"]})


class Functions(tf.Module):
    """Not a model at all: a table of 64-bit ids, and one function that gives several results of several types."""

    def __init__(self):
        super().__init__()
        self.table = tf.Variable(floats((5, 2)), name="table")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64, "ids")])
    def look_up(self, ids):
        places = tf.math.floormod(ids, 5)
        return {"rows": tf.gather(self.table, places), "places": places, "negated": -ids}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64, "ids")])
    def beyond(self, ids):
        return {"far": ids + 2**40}

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x"), tf.TensorSpec([], tf.bool, "flip")])
    def describe(self, x, flip):
        sums = tf.where(flip, -tf.reduce_sum(x, 1), tf.reduce_sum(x, 1))
        return {"sums": sums, "positive": sums > 0, "rounded": tf.cast(tf.round(sums), tf.int32)}


def functions():
    module = Functions()
    signatures = {"look_up": module.look_up, "describe": module.describe, "beyond": module.beyond}
    save = lambda path: tf.saved_model.save(module, path, signatures=signatures)
    add("functions", save, "function", {"ids": np.array([0, 4, -1, -7, 12], "int64")}, "look_up")
    add("functions", None, "function", {"x": floats((3, 2)), "flip": np.array(True)}, "describe")


def vocabulary():
    """A table that is filled from a file, which goes with the SavedModel as an asset."""
    path = os.path.join(tempfile.mkdtemp(), "codes.txt")
    with open(path, "w") as file:
        file.write("".join(f"{code}\n" for code in [17, 4, -9]))
    index = tf.lookup.TextFileIndex
    initializer = tf.lookup.TextFileInitializer(path, tf.int64, 0, tf.int64, index.LINE_NUMBER)
    module = tf.Module()
    module.table = tf.lookup.StaticHashTable(initializer, -1)
    module.look_up = tf.function(lambda codes: {"places": module.table.lookup(codes)}, input_signature=[tf.TensorSpec([None], tf.int64, "codes")])
    add("vocabulary", lambda path: tf.saved_model.save(module, path, signatures=module.look_up), "function", {"codes": np.array([4, 17, 5, -9], "int64")})


for make in [keras2_nested, keras2_sequential, keras2_unknown, keras3_models, functions, vocabulary]:
    make()
with open(os.path.join(FOLDER, "cases.json"), "w") as file:
    json.dump(CASES, file, indent=1)
    file.write("\n")
