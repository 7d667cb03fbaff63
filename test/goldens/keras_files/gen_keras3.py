"""Writes model files of Keras 3 with Keras RS, and what the models compute: python gen_keras3.py FOLDER"""
import json
import os
import sys

import keras
import keras_rs
import numpy as np

FOLDER = sys.argv[1]
CASES = []
K = keras.layers


def values(array):
    array = np.asarray(array)
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": array.ravel().tolist()}


def save(name, model, inputs, files=("keras",)):
    """`inputs`: by the names of the input layers."""
    rng = np.random.default_rng(7)
    for weight in model.weights:
        if weight.dtype.startswith("float"):
            low = 0.5 if "variance" in weight.path else -0.5
            weight.assign(rng.uniform(low, 1.0, weight.shape).astype("float32"))
    given = inputs if len(inputs) > 1 else next(iter(inputs.values()))
    outputs = keras.tree.flatten(model(given, training=False))
    for extension in files:
        path = os.path.join(FOLDER, f"{name}.{extension}")
        model.save(path)
        CASES.append({
            "file": os.path.basename(path),
            "inputs": {key: values(value) for key, value in inputs.items()},
            "outputs": [values(keras.ops.convert_to_numpy(each)) for each in outputs],
        })


def ids(shape, rows, seed=3):
    return np.random.default_rng(seed).integers(0, rows, shape).astype("int32")


def embed_reduce():
    user = keras.Input((3,), dtype="int32", name="User_Ids")
    item = keras.Input((4,), dtype="int32", name="item_ids")
    weights = keras.Input((4,), dtype="float32", name="item_weights")
    a = keras_rs.layers.EmbedReduce(12, 5, combiner="sqrtn", name="User_Table")(user)
    b = keras_rs.layers.EmbedReduce(9, 3, combiner="sum", name="item_table")(item, weights)
    x = K.Concatenate(name="both")([a, b])
    return keras.Model([user, item, weights], K.Dense(2, activation="sigmoid", name="Head_1")(x), name="My_Model")


def distributed():
    kwargs = dict(initializer="random_uniform", placement="default_device")
    item = keras_rs.layers.TableConfig("itemTable", 30, 6, combiner="mean", **kwargs)
    user = keras_rs.layers.TableConfig("user_id", 20, 4, combiner="sum", **kwargs)
    feature = lambda name, table, dim: keras_rs.layers.FeatureConfig(name, table, (2, 3), (2, dim))
    layer = keras_rs.layers.DistributedEmbedding(
        {"user": feature("user", user, 4), "items": [feature("seen", item, 6), feature("next_item", item, 6)]},
        name="Tables_1")
    inputs = {"user": keras.Input((3,), 2, dtype="int32", name="user"),
              "items": [keras.Input((3,), 2, dtype="int32", name="seen"), keras.Input((3,), 2, dtype="int32", name="next_item")]}
    out = layer(inputs)
    x = K.Concatenate()([out["user"], out["items"][0], out["items"][1]])
    flat = [inputs["user"], *inputs["items"]]
    return keras.Model(flat, K.Dense(2)(x))


def nested():
    inner_in = keras.Input((6,), name="inner_in")
    inner = keras.Model(inner_in, K.Dense(4, activation="tanh", name="dense")(inner_in), name="inner")
    tower = keras.Sequential([keras.Input((4,)), K.Dense(3, name="dense"), K.LeakyReLU(negative_slope=0.2)], name="tower")
    a, b = keras.Input((6,), name="first"), keras.Input((6,), name="second")
    norm = K.BatchNormalization(name="norm")
    x, y = inner(norm(a)), inner(norm(b))
    z = K.Multiply()([tower(x), tower(y)])
    return keras.Model({"first": a, "second": b}, [K.Add()([z, tower(y)]), K.Dense(1, name="dense")(z)])


def recurrent():
    words = keras.Input((5,), dtype="int32", name="words")
    x = K.Embedding(8, 4, mask_zero=True, name="words_table")(words)
    x = K.Bidirectional(K.LSTM(3, return_sequences=True), name="both_ways")(x)
    x = K.TimeDistributed(K.Dense(4, activation="relu"))(x)
    x = K.LayerNormalization()(x)
    x = K.GRU(2, reset_after=False)(x)
    return keras.Model(words, K.Dropout(0.5)(x))


def sequential():
    # Inputs of Keras are float32 unless told otherwise.
    return keras.Sequential([keras.Input((3,)), K.Embedding(7, 4), K.Flatten(), K.Dense(2, kernel_regularizer="l2")])


def image():
    return keras.Sequential([
        keras.Input((6, 6, 2)), K.Rescaling(0.5, offset=1.0), K.Conv2D(3, 3, padding="same", activation="silu"),
        K.MaxPooling2D(), K.DepthwiseConv2D(2), K.PReLU(), K.SeparableConv2D(4, 2), K.GlobalAveragePooling2D(), K.Softmax()])


def interactions():
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    dots = keras_rs.layers.DotInteraction(self_interaction=True)([a, b])
    cross = keras_rs.layers.FeatureCross(projection_dim=2, name="cross")(a)
    return keras.Model([a, b], K.Concatenate()([dots, cross]))


floats = lambda *shape: np.random.default_rng(5).normal(size=shape).astype("float32")
both = ("keras", "h5")
save("k3_embed_reduce", embed_reduce(),
     {"User_Ids": ids((2, 3), 12), "item_ids": ids((2, 4), 9), "item_weights": floats(2, 4)}, both)
save("k3_distributed", distributed(),
     {"user": ids((2, 3), 20, 1), "seen": ids((2, 3), 30, 2), "next_item": ids((2, 3), 30, 4)})
save("k3_nested", nested(), {"first": floats(3, 6), "second": -floats(3, 6)}, both)
save("k3_recurrent", recurrent(), {"words": np.array([[1, 2, 0, 0, 0], [3, 7, 1, 1, 0]], "int32")}, both)
save("k3_sequential", sequential(), {"input": ids((2, 3), 7).astype("float32")}, both)
save("k3_image", image(), {"input": floats(1, 6, 6, 2)}, both)
save("k3_interactions", interactions(), {"a": floats(2, 4), "b": -floats(2, 4)})
with open(os.path.join(FOLDER, "keras3.json"), "w") as file:
    json.dump({"keras": keras.__version__, "keras_rs": keras_rs.__version__, "cases": CASES}, file)
