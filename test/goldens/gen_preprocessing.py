"""Writes preprocessing.json: what Keras's preprocessing layers return. Run with TensorFlow 2.21 and Keras 3.15."""

import json
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import numpy as np
import tensorflow as tf

layers = keras.layers


def ids(layer, values):
    return np.asarray(layer(values)).tolist()


def plain(vocabulary):
    return [v.item() if hasattr(v, "item") else v for v in vocabulary]


ADAPT_STRINGS = {
    "ties": [["a", "c", "d"], ["d", "z", "b"]],
    "code_points": ["é", "z", "𝒳", "\uffee", "aa", "a", "Z", "", "é"],
    "with_mask": ["x", "", "y", "x", "", "", "[UNK]", "[UNK]", "[UNK]"],
}
QUERY_STRINGS = ["a", "d", "nope", "", "[UNK]", "é", "𝒳", "x", "another", "word", "zz"]
SETTINGS = [
    {},
    {"num_oov_indices": 3},
    {"mask_token": ""},
    {"mask_token": "", "num_oov_indices": 2},
    {"max_tokens": 4},
    {"max_tokens": 4, "mask_token": "", "num_oov_indices": 2},
    {"oov_token": "?"},
]
string_lookup = []
for name, data in ADAPT_STRINGS.items():
    for settings in SETTINGS:
        layer = layers.StringLookup(**settings)
        layer.adapt(tf.constant(data))
        string_lookup.append(
            dict(
                name=name,
                settings=settings,
                adapt=data,
                vocabulary=layer.get_vocabulary(),
                vocabularySize=layer.vocabulary_size(),
                query=QUERY_STRINGS,
                ids=ids(layer, tf.constant(QUERY_STRINGS)),
            )
        )

ADAPT_INTEGERS = {
    "ties": [[12, 1138, 42], [42, 1000, 36]],
    "negatives": [-5, -5, 7, 0, 0, 0, -1, -1, 3, -7],
}
QUERY_INTEGERS = [42, 36, 0, -1, -5, 8, 9, -8, 10, 1000]
integer_lookup = []
for name, data in ADAPT_INTEGERS.items():
    for settings in [{}, {"num_oov_indices": 3}, {"mask_token": 0}, {"max_tokens": 3}, {"oov_token": -7}]:
        layer = layers.IntegerLookup(**settings)
        layer.adapt(tf.constant(data, tf.int64))
        integer_lookup.append(
            dict(
                name=name,
                settings=settings,
                adapt=data,
                vocabulary=plain(layer.get_vocabulary()),
                vocabularySize=layer.vocabulary_size(),
                query=QUERY_INTEGERS,
                ids=ids(layer, tf.constant(QUERY_INTEGERS, tf.int64)),
            )
        )

rng = np.random.default_rng(0)
alphabet = list("abcdefghijklmnopqrstuvwxyz0123456789 _-é京𝒳")
hash_strings = ["", "A", "B", "C", "D", "E"]
for length in [*range(1, 40), 47, 48, 63, 64, 65, 66, 90, 127, 128, 129, 200, 256, 300]:
    hash_strings.append("".join(rng.choice(alphabet, length)))
hash_integers = [0, 1, -1, 7, 10, 123456789, -2147483648, 2147483647, 2**53 - 1]
hashing = []
for settings in [
    {"num_bins": 3},
    {"num_bins": 1},
    {"num_bins": 2147483647},
    {"num_bins": 1000, "mask_value": ""},
    {"num_bins": 1000, "salt": 133},
    {"num_bins": 2147483647, "salt": [133, 137]},
    {"num_bins": 97, "salt": 0},
    {"num_bins": 1000, "mask_value": "A", "salt": 7},
]:
    layer = layers.Hashing(**settings)
    case = dict(settings=settings, strings=hash_strings, ids=ids(layer, tf.constant(hash_strings)))
    if "mask_value" not in settings:
        case["integers"] = hash_integers
        case["integerIds"] = ids(layer, tf.constant(hash_integers, tf.int64))
    hashing.append(case)
layer = layers.Hashing(num_bins=50, mask_value=7)
hashing.append(
    dict(
        settings={"num_bins": 50, "mask_value": 7},
        integers=hash_integers,
        integerIds=ids(layer, tf.constant(hash_integers, tf.int64)),
    )
)

discretization = []
data_sets = {
    "documentation": [[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 0.0]],
    "few": [3.0, 1.0, 2.0],
    "many": np.round(rng.normal(size=1000), 3).tolist(),
    "ties": rng.integers(0, 5, 400).astype(float).tolist(),
}
for name, data in data_sets.items():
    for settings in [{"num_bins": 4}, {"num_bins": 10}, {"num_bins": 20, "epsilon": 0.001}, {"num_bins": 2, "epsilon": 0.3}]:
        layer = layers.Discretization(**settings)
        layer.adapt(np.array(data))
        query = [-10.0, -0.5, 0.0, 0.25, 1.0, 1.3, 2.0, 3.0, 3.4, 10.0]
        discretization.append(
            dict(
                name=name,
                settings=settings,
                adapt=data,
                boundaries=[float(b) for b in layer.bin_boundaries],
                query=query,
                ids=ids(layer, np.array(query)),
            )
        )
layer = layers.Discretization(bin_boundaries=[0.0, 1.0, 2.0])
query = [[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 2.0]]
discretization.append(
    dict(name="fixed", settings={"bin_boundaries": [0.0, 1.0, 2.0]}, query=query, ids=ids(layer, np.array(query)))
)

out = dict(
    versions=dict(tensorflow=tf.__version__, keras=keras.__version__),
    stringLookup=string_lookup,
    integerLookup=integer_lookup,
    hashing=hashing,
    discretization=discretization,
)
path = pathlib.Path(__file__).with_name("preprocessing.json")
path.write_text(json.dumps(out, ensure_ascii=False) + "\n")
