"""Writes models of Keras 3 that take strings, and what they compute before and after a step: python gen_strings.py FOLDER"""
import json
import os
import sys

import keras
import numpy as np
import tensorflow as tf

FOLDER = sys.argv[1]
CASES = []
K = keras.layers
TEXTS = ["The cat sat.", "the dog, the cat", "bird?", "A bird; sat on the dog!"]
CITIES = ["Ulm", "Bonn", "Köln", ""]


def text_input(name, shape=(1,)):
    return keras.Input(shape, dtype="string", name=name)


def columns():
    """Each layer that takes strings, one input taken twice, and numbers beside."""
    city, text, age = text_input("city"), text_input("text", ()), keras.Input((1,), name="age")
    known = K.StringLookup(vocabulary=["Bonn", "Ulm"], num_oov_indices=2, name="known")
    learned = K.StringLookup(output_mode="multi_hot", name="learned")
    learned.adapt(["Ulm", "Bonn", "Ulm", "Paris"])
    words = K.TextVectorization(output_sequence_length=4, name="words")
    words.adapt(TEXTS)
    counts = K.TextVectorization(output_mode="count", ngrams=2, name="counts", vocabulary=["the", "cat", "the cat"])
    hashed = K.Hashing(5, name="hashed")
    rows = K.Flatten()(K.Embedding(4, 3)(known(city)))
    bags = K.GlobalAveragePooling1D()(K.Embedding(12, 3, mask_zero=True)(words(text)))
    others = K.Flatten()(K.Embedding(5, 2)(hashed(city)))
    x = K.Concatenate()([rows, bags, others, learned(city), counts(text), age])
    return keras.Model([city, text, age], K.Dense(2)(x))


def vectors():
    """Strings of shape [batch], in objects."""
    city, n = text_input("city", ()), keras.Input((2,), name="n")
    ids = K.StringLookup(vocabulary=["Bonn", "Ulm"], name="known")(city)
    x = K.Concatenate()([K.Embedding(3, 2)(ids), n])
    return keras.Model({"city": city, "n": n}, K.Dense(2)(x))


def sequential():
    words = K.TextVectorization(output_sequence_length=5, name="words")
    words.adapt(TEXTS)
    return keras.Sequential([text_input("text"), words, K.Embedding(12, 4), K.GlobalAveragePooling1D(), K.Dense(1)])


def built():
    model = keras.Sequential([K.TextVectorization(vocabulary=["cat", "dog"], output_mode="multi_hot", name="words"), K.Dense(2)])
    model.build((None, 1))
    return model


def save(name, model, rows, files=("keras",), numbers=()):
    rng = np.random.default_rng(7)
    for weight in model.weights:
        if weight.dtype.startswith("float"):
            weight.assign(rng.uniform(-0.5, 1.0, weight.shape).astype("float32"))
    # Keras names the inputs of some models itself.
    inputs = {each._keras_history.operation.name: each for each in model.inputs}
    rows = {key: rows.get(key, rows.get("text")) for key in inputs}
    given = {key: tf.reshape(tf.constant(rows[key]), [-1] + list(each.shape[1:])) for key, each in inputs.items()}
    told = given if name == "k3_string_vectors" else list(given.values())
    told = told[0] if isinstance(told, list) and len(told) == 1 else told
    outputs = model(told).numpy()
    for extension in files:
        model.save(os.path.join(FOLDER, f"{name}.{extension}"))
    targets = rng.uniform(-1, 1, outputs.shape).astype("float32")
    start = model.get_weights()
    model.compile(keras.optimizers.SGD(0.05), "mse")
    model.train_on_batch(told, targets)
    after = model(told).numpy()
    model.set_weights(start)
    listed = lambda array: np.asarray(array, "float32").round(7).ravel().tolist()
    for extension in files:
        CASES.append({"file": f"{name}.{extension}", "rows": rows, "numbers": list(numbers), "outputs": listed(outputs),
                      "targets": {"shape": list(targets.shape), "values": listed(targets)}, "after": listed(after)})


save("k3_strings", columns(), {"city": CITIES, "text": TEXTS, "age": [1.0, 2.5, -1.0, 0.0]})
save("k3_string_vectors", vectors(), {"city": CITIES, "n": [[1.0, 2.0], [0.5, 0.0], [-1.0, 1.0], [2.0, 0.25]]}, numbers=("n",), files=("keras", "h5"))
save("k3_text_sequential", sequential(), {"text": TEXTS})
save("k3_text_built", built(), {"text": TEXTS})


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.last = K.Dense(2)

    def call(self, x):
        return self.last(x)


own = Own()
own(np.ones((2, 3), "float32"))
own.save(os.path.join(FOLDER, "k3_subclassed.keras"))
with open(os.path.join(FOLDER, "strings.json"), "w") as file:
    json.dump({"cases": CASES}, file)
