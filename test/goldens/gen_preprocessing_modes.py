"""
Writes preprocessing_modes.json: what Keras's preprocessing layers return in every output mode, from texts, crossed
features, moments, and where they adapt to batches. Run with TensorFlow 2.21 and Keras 3.15.
"""

import json
import os
import pathlib
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import numpy as np
import tensorflow as tf

layers = keras.layers
MODES = ["int", "one_hot", "multi_hot", "count", "tf_idf"]


def plain(result):
    if isinstance(result, tf.RaggedTensor):
        return dict(ragged=decoded(result.to_list()))
    result = np.asarray(result)
    return dict(shape=list(result.shape), values=decoded(result.ravel().tolist()))


def decoded(values):
    if isinstance(values, list):
        return [decoded(value) for value in values]
    return values.decode() if isinstance(values, bytes) else values


def words(vocabulary):
    return [v.item() if hasattr(v, "item") else v for v in vocabulary]


ROWS = [["a", "c", "d", "d"], ["d", "z", "b", "a"], ["", "z", "z", "[UNK]"]]
RAGGED = [["a", "d"], [], ["z", "nobody", "z"], [""]]
QUERIES = {"scalar": "d", "vector": ["a", "z", "nobody", "z"], "column": [["d"], ["nobody"], [""]], "matrix": ROWS}
SETTINGS = [
    {},
    {"num_oov_indices": 2},
    {"mask_token": ""},
    {"max_tokens": 4},
    {"max_tokens": 9, "pad_to_max_tokens": True},
]
lookups = []
for mode in MODES:
    for settings in SETTINGS:
        settings = dict(settings, output_mode=mode)
        layer = layers.StringLookup(**settings)
        layer.adapt(tf.constant(ROWS))
        queries = [dict(data=query, result=plain(layer(tf.constant(query)))) for query in QUERIES.values()]
        if mode in ("int", "multi_hot", "count", "tf_idf"):
            queries.append(dict(ragged=RAGGED, result=plain(layer(tf.ragged.constant(RAGGED)))))
        idf = [float(w) for w in layer.idf_weights.numpy()] if mode == "tf_idf" else None
        lookups.append(dict(settings=settings, adapt=ROWS, vocabulary=layer.get_vocabulary(), idf=idf, queries=queries))

given = []
for settings in [
    {"vocabulary": ["x", "y", "z"], "idf_weights": [0.5, 1.5, 2.25]},
    {"vocabulary": ["[UNK]", "x", "y"], "idf_weights": [3.0, 1.5, 2.25]},
    {"vocabulary": ["x", "y"], "idf_weights": [0.5, 1.5], "max_tokens": 6, "pad_to_max_tokens": True},
]:
    settings = dict(settings, output_mode="tf_idf")
    layer = layers.StringLookup(**settings)
    query = [["x", "x", "y"], ["nobody", "y", "z"]]
    given.append(dict(settings=settings, data=query, result=plain(layer(tf.constant(query)))))

vectors_as_documents = []
for name, data in {
    "vector": ["a", "b", "a", "c"],
    "matrix": [["a", "a"], ["a", "b"]],
}.items():
    layer = layers.StringLookup(output_mode="tf_idf")
    layer.adapt(data)
    vectors_as_documents.append(
        dict(name=name, adapt=data, vocabulary=layer.get_vocabulary(), idf=[float(w) for w in layer.idf_weights.numpy()])
    )
BATCHES = [["a", "b", "a"], ["a", "c"], ["d", "d", "d", "d"]]
layer = layers.StringLookup(output_mode="tf_idf")
layer.adapt(tf.constant(batch) for batch in BATCHES)
batches = dict(adapt=BATCHES, vocabulary=layer.get_vocabulary(), idf=[float(w) for w in layer.idf_weights.numpy()])
layer = layers.StringLookup(output_mode="tf_idf")
layer.adapt((tf.constant(batch) for batch in BATCHES), steps=2)
batches["steps"] = dict(count=2, vocabulary=layer.get_vocabulary(), idf=[float(w) for w in layer.idf_weights.numpy()])

inverted = []
for name, layer, query in [
    ("StringLookup", layers.StringLookup(vocabulary=["a", "b"], invert=True), [[0, 1], [2, 9]]),
    ("StringLookup", layers.StringLookup(vocabulary=["a", "b"], mask_token="", invert=True), [[0, 1], [2, 3]]),
    ("IntegerLookup", layers.IntegerLookup(vocabulary=[7, 9], mask_token=0, num_oov_indices=2, invert=True), [[0, 1], [3, 4]]),
]:
    config = layer.get_config()
    settings = {k: config[k] for k in ("vocabulary", "mask_token", "num_oov_indices", "invert", "oov_token")}
    settings["vocabulary"] = words(np.asarray(settings["vocabulary"]))
    inverted.append(dict(name=name, settings=settings, data=query, result=plain(layer(tf.constant(query, tf.int64)))))

NUMBERS = [[12, 36, 36], [42, -5, 7]]
integers = []
for settings in [
    {"output_mode": "multi_hot"},
    {"output_mode": "count", "num_oov_indices": 2},
    {"output_mode": "one_hot"},
    {"num_oov_indices": 3, "oov_method": "farmhash"},
    {"num_oov_indices": 3, "oov_method": "farmhash", "salt": [5, 6]},
    {"num_oov_indices": 3, "oov_method": "farmhash", "salt": 7},
]:
    layer = layers.IntegerLookup(vocabulary=[36, 12], **settings)
    integers.append(
        dict(settings=dict(settings, vocabulary=[36, 12]), data=NUMBERS, result=plain(layer(tf.constant(NUMBERS, tf.int64))))
    )
layer = layers.StringLookup(vocabulary=["a"], num_oov_indices=4, salt=[1, 2])
salted = dict(
    settings={"vocabulary": ["a"], "num_oov_indices": 4, "salt": [1, 2]},
    data=["a", "b", "c", "d", "e"],
    result=plain(layer(tf.constant(["a", "b", "c", "d", "e"]))),
)

files = []
for name, text, settings in [
    ("words", "earth\nwind\nand\nfire\n", {}),
    ("no line feed at the end", "earth\nwind", {"mask_token": ""}),
    ("multi_hot", "earth\nwind\nand", {"output_mode": "multi_hot"}),
]:
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
        file.write(text)
    keras.config.enable_unsafe_deserialization()
    layer = layers.StringLookup(vocabulary=file.name, **settings)
    query = [["earth", "fire"], ["and", "nobody"]]
    files.append(dict(name=name, text=text, settings=settings, data=query, result=plain(layer(tf.constant(query)))))

TEXTS = [
    "The quick, brown fox; the LAZY dog!",
    "  a  the\tquick\nquick\vfox ",
    "",
    "Ünïcode ÉCOLE école don't e-mail x_y (z) [w] {v} ~`\\|/<>?@#$%^&*+=",
    "one",
]
TEXT_QUERY = ["the fox is Quick", "", "école the the dog dog dog", "e-mail emails"]
text_settings = [
    {},
    {"standardize": "lower"},
    {"standardize": "strip_punctuation"},
    {"standardize": None},
    {"split": "character"},
    {"split": "character", "standardize": None},
    {"ngrams": 2},
    {"ngrams": (2, 3)},
    {"ngrams": 3, "split": "character", "max_tokens": 12},
    {"output_sequence_length": 3},
    {"output_sequence_length": 9},
    {"ragged": True},
    {"ragged": True, "output_sequence_length": 2},
    {"max_tokens": 5},
    {"output_mode": "multi_hot"},
    {"output_mode": "count", "ngrams": 2},
    {"output_mode": "tf_idf"},
    {"output_mode": "tf_idf", "max_tokens": 40, "pad_to_max_tokens": True},
    {"output_mode": "multi_hot", "max_tokens": 6, "pad_to_max_tokens": True},
]
texts = []
for settings in text_settings:
    layer = layers.TextVectorization(**settings)
    layer.adapt(tf.constant(TEXTS))
    idf = [float(w) for w in layer._lookup_layer.idf_weights.numpy()] if settings.get("output_mode") == "tf_idf" else None
    texts.append(
        dict(
            settings=settings,
            adapt=TEXTS,
            vocabulary=layer.get_vocabulary(),
            idf=idf,
            query=TEXT_QUERY,
            result=plain(layer(tf.constant(TEXT_QUERY))),
        )
    )
SPLIT_ROWS = [["The", "fox", "fox"], ["dog", "the", "x!"]]
for settings in [{}, {"output_sequence_length": 2}, {"output_sequence_length": 5}, {"ngrams": 2}, {"output_mode": "count"}]:
    settings = dict(settings, split=None)
    layer = layers.TextVectorization(**settings)
    layer.adapt(tf.constant(SPLIT_ROWS))
    texts.append(
        dict(
            settings=settings,
            adapt=SPLIT_ROWS,
            vocabulary=layer.get_vocabulary(),
            idf=None,
            query=SPLIT_ROWS,
            result=plain(layer(tf.constant(SPLIT_ROWS))),
        )
    )

STRINGS = ["A", "B", "A", "", "é京", "a longer text of more than sixteen bytes", "x" * 70]
OTHERS = [101, 101, -1, 0, 2**31 - 1, -(2**31), 7]
crossings = []
for settings in [{"num_bins": 5}, {"num_bins": 1}, {"num_bins": 2**31 - 1}, {"num_bins": 4, "output_mode": "one_hot"}]:
    layer = layers.HashedCrossing(**settings)
    for features in [[STRINGS, OTHERS], [OTHERS, STRINGS], [STRINGS, STRINGS, OTHERS]]:
        tensors = [tf.constant(f) if isinstance(f[0], str) else tf.constant(f, tf.int64) for f in features]
        crossings.append(dict(settings=settings, features=features, result=plain(layer(tensors))))
    column = [[[v] for v in STRINGS[:3]], [[v] for v in OTHERS[:3]]]
    tensors = [tf.constant(column[0]), tf.constant(column[1], tf.int64)]
    crossings.append(dict(settings=settings, features=column, result=plain(layer(tensors))))

encodings = []
for mode in ["multi_hot", "one_hot", "count"]:
    layer = layers.CategoryEncoding(num_tokens=4, output_mode=mode)
    for data in [2, [3, 1, 1], [[0, 1], [0, 0], [1, 2], [3, 1]], [[3], [0]]]:
        encodings.append(dict(settings={"num_tokens": 4, "output_mode": mode}, data=data, result=plain(layer(np.array(data)))))
layer = layers.CategoryEncoding(num_tokens=4, output_mode="count")
ids, weights = [[0, 1], [0, 0], [1, 2], [3, 1]], [[0.1, 0.2], [0.1, 0.1], [0.2, 0.3], [0.4, 0.2]]
encodings.append(
    dict(
        settings={"num_tokens": 4, "output_mode": "count"},
        data=ids,
        weights=weights,
        result=plain(layer(np.array(ids), count_weights=np.array(weights))),
    )
)

hashings = []
for mode in ["one_hot", "multi_hot", "count"]:
    for extra in [{}, {"mask_value": "a"}, {"salt": 3}]:
        settings = dict(extra, num_bins=5, output_mode=mode)
        layer = layers.Hashing(**settings)
        hashings.append(dict(settings=settings, data=ROWS, result=plain(layer(tf.constant(ROWS)))))

bins = []
for mode in ["one_hot", "multi_hot", "count"]:
    settings = {"bin_boundaries": [0.0, 1.0, 2.0], "output_mode": mode}
    data = [[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 2.0]]
    bins.append(dict(settings=settings, data=data, result=plain(layers.Discretization(**settings)(np.array(data)))))
rng = np.random.default_rng(3)
parts = [np.round(rng.normal(i, 1 + i, 40 * (i + 1)), 3).tolist() for i in range(5)]
adapted_bins = []
for settings in [{"num_bins": 4}, {"num_bins": 10, "epsilon": 0.05}, {"num_bins": 20, "epsilon": 0.001}]:
    layer = layers.Discretization(**settings)
    layer.adapt(np.array(part) for part in parts)
    adapted_bins.append(dict(settings=settings, batches=parts, boundaries=[float(b) for b in layer.bin_boundaries]))

normalizations = []
cube = np.round(rng.normal(3, 4, (6, 2, 3)), 3)
for settings, data, batched in [
    ({"axis": -1}, cube, False),
    ({"axis": None}, cube, False),
    ({"axis": [1, 2]}, cube, False),
    ({"axis": 1}, cube, False),
    ({"axis": -1, "invert": True}, cube, False),
    ({"axis": None}, np.array([1.0, 2, 3, 4, 5]), False),
    ({"axis": -1}, np.array([[5.0, 1], [5, 2], [5, 3]]), False),
    ({"axis": -1}, cube, True),
    ({"axis": [1, 2]}, cube, True),
]:
    layer = layers.Normalization(**settings)
    data = data.astype("float32")
    if batched:
        layer.adapt(iter([data[:1], data[1:4], data[4:]]))
    else:
        layer.adapt(data)
    normalizations.append(
        dict(
            settings=settings,
            adapt=[data[:1].tolist(), data[1:4].tolist(), data[4:].tolist()] if batched else data.tolist(),
            batched=batched,
            mean=np.asarray(layer.adapt_mean).tolist(),
            variance=np.asarray(layer.adapt_variance).tolist(),
            data=data.tolist(),
            result=plain(layer(data)),
        )
    )
for settings in [
    {"mean": 3.0, "variance": 2.0},
    {"mean": [1.0, 2.0, 3.0], "variance": [4.0, 0.0, 1.0]},
    {"axis": [1, 2], "mean": [1.0, 2.0, 3.0], "variance": [4.0, 9.0, 1.0]},
]:
    layer = layers.Normalization(**settings)
    data = cube.astype("float32")
    normalizations.append(dict(settings=settings, data=data.tolist(), result=plain(layer(data))))

out = dict(
    versions=dict(tensorflow=tf.__version__, keras=keras.__version__),
    lookups=lookups,
    givenWeights=given,
    documents=vectors_as_documents,
    batches=batches,
    inverted=inverted,
    integers=integers,
    salted=salted,
    files=files,
    texts=texts,
    crossings=crossings,
    encodings=encodings,
    hashings=hashings,
    bins=bins,
    adaptedBins=adapted_bins,
    normalizations=normalizations,
)
path = pathlib.Path(__file__).with_name("preprocessing_modes.json")
path.write_text(json.dumps(out, ensure_ascii=False) + "\n")
