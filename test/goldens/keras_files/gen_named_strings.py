"""Writes names/: models whose inputs and layers have names with spaces and umlauts, of Keras 2 and 3, with strings and without:
python gen_named_strings.py FOLDER

Needs tf_keras 2.21, Keras 3.15 and tensorflow 2.21.
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras as keras3
import numpy as np
import tensorflow as tf
import tf_keras as keras2

FOLDER = sys.argv[1]
CASES = []
ROWS = {"Größe in cm": [1.5, 2.0, -1.0], "Stadt Name": ["Köln", "Ulm", "?"], "Zahl der Käufe": [2.0, 0.0, 1.0]}


def own(keras, name):
    """A name of a layer: Keras 2 takes scopes of TensorFlow alone, but inputs of any name."""
    return name if keras is keras3 else "".join(each if each.isascii() and each.isalnum() else "_" for each in name).strip("_")


def numbers(keras):
    K = keras.layers
    a, b = keras.Input((1,), name="Größe in cm"), keras.Input((1,), name="Zahl der Käufe")
    x = K.Dense(3, activation="tanh", name=own(keras, "erste Größe"))(K.Concatenate(name=own(keras, "beide zusammen"))([b, a]))
    return keras.Model([a, b], K.Dense(2, name=own(keras, "Übrig"))(x), name=own(keras, "Modell der Stadt"))


def strings(keras):
    K = keras.layers
    size, city = keras.Input((1,), name="Größe in cm"), keras.Input((1,), dtype="string", name="Stadt Name")
    ids = K.StringLookup(vocabulary=["Ulm", "Köln"], name=own(keras, "Nummer der Städte"))(city)
    hashed = K.Hashing(4, name=own(keras, "Übrige Städte"))(city)
    rows = [K.Flatten(name=own(keras, f"flach {i}"))(K.Embedding(4, 2, name=own(keras, f"Tabelle {i}"))(each)) for i, each in enumerate([ids, hashed])]
    return keras.Model([city, size], K.Dense(2, name=own(keras, "Übrig"))(K.Concatenate(name="alle")(rows + [size])))


def values(array):
    return {"shape": list(array.shape), "values": np.asarray(array, "float64").ravel().tolist()}


def add(name, keras, make, endings):
    model = make(keras)
    rng = np.random.default_rng(7)
    for weight in model.trainable_weights:
        weight.assign(rng.uniform(-0.8, 0.8, weight.shape).astype("float32"))
    names = [each.name if keras is keras3 else each.node.layer.name for each in model.inputs]
    fed = [tf.constant([[each] for each in ROWS[key]], "string" if key.startswith("Stadt") else "float32") for key in names]
    outputs = model(fed).numpy()
    for ending in endings:
        try:
            model.save(os.path.join(FOLDER, name + ending))
        except Exception as error:
            print(name, ending, repr(error)[:150])
            continue
        CASES.append({"file": name + ending, "rows": {key: ROWS[key] for key in names}, "outputs": values(outputs)})


add("k2_named_numbers", keras2, numbers, [".keras", ".h5"])
add("k3_named_numbers", keras3, numbers, [".keras", ".h5"])
add("k2_named_strings", keras2, strings, [".keras"])
add("k3_named_strings", keras3, strings, [".keras"])
with open(os.path.join(FOLDER, "named.json"), "w") as file:
    json.dump(CASES, file, ensure_ascii=False)
    file.write("\n")
