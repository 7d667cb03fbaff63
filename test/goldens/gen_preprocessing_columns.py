"""
Writes preprocessing_columns.json: what every preprocessing layer of Keras makes of a column of one value a row [rows, 1],
of lists of any length, and of lists of one length. Run with TensorFlow 2.21 and Keras 3.15.
"""

import json
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import numpy as np
import tensorflow as tf

layers = keras.layers
ROWS = 12
rng = np.random.default_rng(11)


def lists(values):
    return [[values[int(i)] for i in rng.integers(0, len(values), int(n))] for n in rng.integers(1, 5, ROWS)]


def forms(values):
    """The same kind of values, one a row, in lists, and in lists of three."""
    one = [values[int(i)] for i in rng.integers(0, len(values), ROWS)]
    three = [[values[int(i)] for i in rng.integers(0, len(values), 3)] for _ in range(ROWS)]
    return dict(one=one, lists=lists(values), three=three)


TEXTS = forms(["red", "green", "blue", "caf\u00e9", "Blue", "x y"])
WHOLES = forms([3, 7, 12, 1138, -4, 2000000000, 40])
NUMBERS = forms([-1.5, 0.1, 0.25, 3.7, 40.0, -0.0, 1e6, 0.3])
IDS = forms([0, 1, 2, 3, 4, 9])
SENTENCES = forms(["The cat sat.", "the dog", "a  Dog, a cat!", "...", "Cat"])

MODES = ["int", "one_hot", "multi_hot", "count"]
CASES = []
for mode in MODES + ["tf_idf"]:
    for settings in [{}, {"num_oov_indices": 3}, {"max_tokens": 4}]:
        CASES.append(("StringLookup", dict(settings, output_mode=mode), TEXTS, True))
        CASES.append(("IntegerLookup", dict(settings, output_mode=mode), WHOLES, True))
CASES += [
    ("StringLookup", dict(mask_token="red"), TEXTS, True),
    ("IntegerLookup", dict(mask_token=7), WHOLES, True),
    ("StringLookup", dict(vocabulary=["red", "blue"], output_mode="multi_hot"), TEXTS, False),
    ("IntegerLookup", dict(vocabulary=[12, 3], num_oov_indices=2), WHOLES, False),
    ("IntegerLookup", dict(vocabulary=[30, 20, 10], invert=True), IDS, False),
    ("StringLookup", dict(vocabulary=["c", "b", "a"], invert=True), IDS, False),
]
for mode in MODES:
    CASES += [
        ("Hashing", dict(num_bins=5, output_mode=mode), TEXTS, False),
        ("Hashing", dict(num_bins=7, salt=[3, 4], output_mode=mode), WHOLES, False),
        ("Discretization", dict(bin_boundaries=[-0.5, 0.1, 3.7], output_mode=mode), NUMBERS, False),
        ("Discretization", dict(num_bins=4, output_mode=mode), NUMBERS, True),
    ]
CASES += [
    ("Hashing", dict(num_bins=4, mask_value="red"), TEXTS, False),
    ("Hashing", dict(num_bins=4, mask_value=7), WHOLES, False),
    ("Normalization", dict(), NUMBERS, True),
    ("Normalization", dict(axis=None), NUMBERS, True),
    ("Normalization", dict(axis=None, mean=2.0, variance=4.0), NUMBERS, False),
    ("Normalization", dict(axis=None, mean=2.0, variance=4.0, invert=True), NUMBERS, False),
    ("TextVectorization", dict(output_sequence_length=3), SENTENCES, True),
    ("TextVectorization", dict(ragged=True), SENTENCES, True),
    ("TextVectorization", dict(ragged=True, ngrams=2, max_tokens=6), SENTENCES, True),
    ("TextVectorization", dict(split=None, standardize=None, output_sequence_length=2), TEXTS, True),
    ("TextVectorization", dict(split=None, standardize="lower", ragged=True), TEXTS, True),
    ("TextVectorization", dict(split=None, output_mode="count"), TEXTS, True),
]
CASES += [("TextVectorization", dict(output_mode=mode), SENTENCES, True) for mode in ["multi_hot", "count", "tf_idf"]]
for mode in ["one_hot", "multi_hot", "count"]:
    CASES.append(("CategoryEncoding", dict(num_tokens=5, output_mode=mode), IDS, False))


def tensor(form, values):
    if form == "lists":
        return tf.ragged.constant(values)
    rows = tf.constant(values)
    return rows[:, None] if form == "one" else rows


def words(values):
    return [v.decode() if isinstance(v, bytes) else [x.decode() if isinstance(x, bytes) else x for x in v] if isinstance(v, list) else v for v in values]


def plain(result):
    if isinstance(result, tf.RaggedTensor):
        return words(result.to_list())
    return words(np.asarray(result).tolist())


made = []
for name, settings, data, adapts in CASES:
    for form, values in data.items():
        layer = getattr(layers, name)(**settings)
        given = tensor(form, values)
        try:
            if adapts:
                layer.adapt(given)
            result = plain(layer(given))
        except Exception as error:
            result = None
            print(name, settings, form, type(error).__name__, str(error).splitlines()[0][:100])
        made.append(dict(layer=name, settings=settings, form=form, values=values, adapts=adapts, result=result))

path = pathlib.Path(__file__).parent / "preprocessing_columns.json"
path.write_text("[\n" + ",\n".join(json.dumps(each, allow_nan=False) for each in made) + "\n]\n")
print(len(made))
