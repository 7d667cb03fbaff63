"""Writes learned/: models of Keras 2 and 3 whose layers learned by adapt(), as SavedModels and `.keras` files, with what they
compute and what one step makes of that: python gen_learned.py FOLDER

Needs tf_keras 2.21, Keras 3.15 and tensorflow 2.21. What Keras 2 computes is asked before it saves: its `.keras` files lose
the boundaries of a Discretization when Python loads them.
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
NUMBERS = np.random.default_rng(0).normal(3, 2, (50, 3)).astype("float32")
ROWS = {
    "numbers": NUMBERS[:4].round(4).tolist(),
    "code": [[5], [9], [1], [7]],
    "pair": [[1, 2], [2, 2], [9, 4], [3, 8]],
    "city": [["Ulm"], ["Köln"], ["x"], [""]],
    "name": [["b"], ["a"], ["q"], ["d"]],
    "text": [["The dog."], ["cat sat the"], ["no"], ["dog dog bird"]],
}


def numbers(keras):
    """Layers inside of the model: whole numbers and floats alone."""
    K = keras.layers
    x, code = keras.Input((3,), name="numbers"), keras.Input((1,), dtype="int64", name="code")
    pair = keras.Input((2,), dtype="int64", name="pair")
    norm, both = K.Normalization(name="norm"), K.Normalization(axis=None, name="one_for_all")
    bins, hot = K.Discretization(num_bins=4, name="bins"), K.Discretization(num_bins=3, output_mode="count", name="hot_bins")
    for layer in [norm, both, bins, hot]:
        layer.adapt(NUMBERS)
    codes = K.IntegerLookup(name="codes")
    codes.adapt(np.array([5, 5, 7, 9, 9, 9]))
    masked = K.IntegerLookup(mask_token=0, num_oov_indices=2, output_mode="int", name="masked")
    masked.adapt(np.array([2, 2, 4, 0]))
    weighed = K.IntegerLookup(output_mode="tf_idf", max_tokens=8, pad_to_max_tokens=True, name="weighed")
    weighed.adapt(np.array([[1, 2], [1, 4], [3, 2]]))
    hots = K.CategoryEncoding(num_tokens=4, output_mode="multi_hot", name="hots")(codes(code))
    looked = [K.Flatten()(K.Embedding(6, 2, name=name)(ids)) for name, ids in [("of_bins", bins(x)), ("of_masked", masked(pair))]]
    joined = K.Concatenate()([norm(x), both(x), hot(x), hots, weighed(pair)] + looked)
    return keras.Model([x, code, pair], K.Dense(2, name="score")(joined))


def strings(keras):
    """Layers that take strings, which a pipeline stands for."""
    K = keras.layers
    city, name = [keras.Input((1,), dtype="string", name=each) for each in ["city", "name"]]
    # Of vectors in columns Keras 3 makes three axes.
    text = keras.Input((1,) if keras is keras2 else (), dtype="string", name="text")
    x = keras.Input((3,), name="numbers")
    known = K.StringLookup(num_oov_indices=2, mask_token="", name="known")
    known.adapt(np.array(["Ulm", "Köln", "Ulm", "Bonn"]))
    weighed = K.StringLookup(output_mode="tf_idf", name="weighed")
    weighed.adapt(np.array([["a", "b"], ["a", "d"], ["c", "b"]]))
    words = K.TextVectorization(output_sequence_length=4, name="words")
    words.adapt(["the cat", "the dog sat"])
    counts = K.TextVectorization(output_mode="tf_idf", max_tokens=9, pad_to_max_tokens=True, name="counts")
    counts.adapt(["the cat", "dog sat", "the dog"])
    norm = K.Normalization(name="norm")
    norm.adapt(NUMBERS)
    # In a model of its own.
    inner = keras.Sequential([keras.Input((3,), name="inside"), norm, K.Dense(2, name="scaled")], name="inner")
    looked = [K.Flatten()(K.Embedding(9, 2, name=each)(ids)) for each, ids in [("of_known", known(city)), ("of_words", words(text))]]
    return keras.Model([city, name, text, x], K.Dense(2, name="score")(K.Concatenate()(looked + [weighed(name), counts(text), inner(x)])))


def files(keras):
    """Vocabularies that were given as files, which go with a SavedModel as assets."""
    K = keras.layers
    folder = tempfile.mkdtemp()

    def written(name, lines):
        with open(os.path.join(folder, name), "w") as file:
            file.write("\n".join(lines) + "\n")
        return os.path.join(folder, name)

    city, code = keras.Input((1,), dtype="string", name="city"), keras.Input((1,), dtype="int64", name="code")
    text = keras.Input((1,), dtype="string", name="text")
    known = K.StringLookup(vocabulary=written("cities.txt", ["Köln", "Ulm"]), mask_token="", name="known")
    codes = K.IntegerLookup(vocabulary=written("codes.txt", ["9", "-4", "7"]), num_oov_indices=2, name="codes")
    words = K.TextVectorization(vocabulary=written("words.txt", ["dog", "the"]), output_mode="count", name="words")
    looked = [K.Flatten()(K.Embedding(6, 2, name=each)(ids)) for each, ids in [("of_known", known(city)), ("of_codes", codes(code))]]
    return keras.Model([city, code, text], K.Dense(2, name="score")(K.Concatenate()(looked + [words(text)])))


def values(array):
    return {"shape": list(array.shape), "values": np.asarray(array, "float64").ravel().tolist()}


def add(name, keras, make, saves):
    model = make(keras)
    rng = np.random.default_rng(7)
    for weight in model.trainable_weights:
        weight.assign(rng.uniform(-0.5, 1.0, weight.shape).astype("float32"))
    dtypes = {"code": "int64", "pair": "int64", "numbers": "float32"}
    given = {each.name.split(":")[0]: each for each in model.inputs}
    fed = [tf.reshape(tf.constant(ROWS[key], dtypes.get(key, "string")), [4] + list(each.shape[1:])) for key, each in given.items()]
    outputs = model(fed).numpy()
    for ending, save in saves:
        save(model, os.path.join(FOLDER, name + ending))
    targets = rng.uniform(-1, 1, outputs.shape).astype("float32")
    model.compile(keras.optimizers.SGD(0.05), "mse")
    model.train_on_batch(fed, targets)
    after = model(fed).numpy()
    for ending, _ in saves:
        rows = {key: ROWS[key] for key in given}
        CASES.append({"file": name + ending, "rows": rows, "outputs": values(outputs), "targets": values(targets), "after": values(after)})


one = [(".keras", lambda model, path: model.save(path))]
both = one + [("", lambda model, path: model.save(path, save_format="tf"))]
add("k2_numbers", keras2, numbers, both)
add("k2_strings", keras2, strings, both)
add("k2_files", keras2, files, both[1:])
add("k3_numbers", keras3, numbers, one)
add("k3_strings", keras3, strings, one)
with open(os.path.join(FOLDER, "cases.json"), "w") as file:
    json.dump(CASES, file)
    file.write("\n")
