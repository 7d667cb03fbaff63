"""Writes model files of Keras 2 (tf_keras), some with NVIDIA's class names: python gen_keras2.py FOLDER"""
import json
import os
import sys

import numpy as np
import tensorflow as tf
import tf_keras as keras

FOLDER = sys.argv[1]
CASES = []
K = keras.layers


@keras.utils.register_keras_serializable()
class Embedding(K.Layer):
    """Stands for the layer of NVIDIA distributed-embeddings 23.06: the same fields, weight and results."""

    def __init__(self, input_dim, output_dim, embeddings_initializer="uniform", embeddings_regularizer=None,
                 activity_regularizer=None, embeddings_constraint=None, combiner=None, use_custom_kernel=True, **kwargs):
        super().__init__(**kwargs)
        self.input_dim, self.output_dim, self.combiner = input_dim, output_dim, combiner
        self.embeddings_initializer = keras.initializers.get(embeddings_initializer)
        self.use_custom_kernel = use_custom_kernel

    def build(self, _shape):
        self.embeddings = self.add_weight("embeddings", (self.input_dim, self.output_dim), initializer=self.embeddings_initializer)

    def call(self, inputs):
        rows = tf.gather(self.embeddings, tf.cast(inputs, tf.int32))
        if self.combiner is None:
            return rows
        return tf.reduce_sum(rows, -2) if self.combiner == "sum" else tf.reduce_mean(rows, -2)

    def get_config(self):
        config = super().get_config()
        config.update(input_dim=self.input_dim, output_dim=self.output_dim,
                      embeddings_initializer=keras.initializers.serialize(self.embeddings_initializer),
                      embeddings_regularizer=None, activity_regularizer=None, embeddings_constraint=None,
                      combiner=self.combiner, use_custom_kernel=self.use_custom_kernel)
        return config


def values(array):
    array = np.asarray(array)
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": array.ravel().tolist()}


def save(name, model, inputs, files):
    rng = np.random.default_rng(7)
    model.set_weights([rng.uniform(0.5 if "variance" in weight.name else -0.5, 1.0, weight.shape) for weight in model.weights])
    given = inputs if len(inputs) > 1 else next(iter(inputs.values()))
    outputs = tf.nest.flatten(model(given, training=False))
    for extension in files:
        path = os.path.join(FOLDER, f"{name}.{extension}")
        model.save(path)
        CASES.append({
            "file": os.path.basename(path),
            "inputs": {key: values(value) for key, value in inputs.items()},
            "outputs": [values(each) for each in outputs],
        })


def ids(shape, rows, seed=3):
    return np.random.default_rng(seed).integers(0, rows, shape).astype("int32")


def nvidia():
    user = keras.Input((3,), dtype="int32", name="user_id")
    item = keras.Input((2,), dtype="int64", name="Item_Id")
    a = Embedding(12, 5, combiner="sum", name="user_id_embedding")(user)
    b = Embedding(9, 4, combiner="mean", name="Item_Embedding")(item)
    c = K.Flatten()(Embedding(9, 2, name="apart")(item))
    return keras.Model([user, item], K.Dense(2, name="head")(K.Concatenate()([a, b, c])))


def nested():
    inner_in = keras.Input((6,), name="inner_in")
    inner = keras.Model(inner_in, K.BatchNormalization(name="norm")(K.Dense(4, name="deep")(inner_in)), name="inner")
    tower = keras.Sequential([keras.Input((4,)), K.Dense(3, name="last"), K.LeakyReLU(alpha=0.2)], name="tower")
    a, b = keras.Input((6,), name="a"), keras.Input((6,), name="b")
    x, y = tower(inner(a)), tower(inner(b))
    return keras.Model([a, b], [K.Average()([x, y]), K.Dot(1)([x, y])])


def recurrent():
    words = keras.Input((5,), dtype="int32", name="words")
    x = K.Embedding(8, 4, mask_zero=True, name="words_table")(words)
    x = K.Bidirectional(K.LSTM(3, recurrent_activation="hard_sigmoid", return_sequences=True), name="both_ways")(x)
    x = K.TimeDistributed(K.Dense(4))(x)
    return keras.Model(words, K.GRU(2, reset_after=False)(x))


def gated():
    words = keras.Input((5,), dtype="int32", name="words")
    x = K.Embedding(8, 4, mask_zero=True, name="words_table")(words)
    x = K.Bidirectional(K.GRU(3, return_sequences=True), name="both_ways")(x)
    return keras.Model(words, K.GRU(2, recurrent_activation="hard_sigmoid")(x))


def sequential():
    return keras.Sequential([K.Embedding(7, 4, input_length=3), K.GlobalAveragePooling1D(), K.Dense(2, activation="gelu")])


def masked():
    """Masks that are merged, and branches without one beside branches with one."""
    words, plain = keras.Input((5,), dtype="int32", name="words"), keras.Input((5, 4), name="plain")
    rows = K.Embedding(8, 4, mask_zero=True, name="table")(words)
    other = K.Embedding(8, 4, mask_zero=True, name="other")(words)
    both, one = K.Add()([rows, other]), K.Multiply()([plain, rows])
    return keras.Model([words, plain], [K.LSTM(2)(both), K.LSTM(2)(one), K.LSTM(2)(plain), K.LSTM(2)(K.Conv1D(3, 2)(rows))])


def image():
    return keras.Sequential([
        keras.Input((6, 6, 2)), K.Conv2D(3, 3, padding="same"), K.DepthwiseConv2D(2), K.SeparableConv2D(4, 2),
        K.Conv2DTranspose(2, 3, strides=2, padding="same"), K.UpSampling2D(2), K.GlobalMaxPooling2D()])


def preprocessing():
    """As Keras 2 writes them: with the dtypes and the sizes of their tables beside."""
    age, raw = keras.Input((3,), name="age"), keras.Input((3,), dtype="int64", name="raw")
    lookup = K.IntegerLookup(vocabulary=[12, 36, 7], num_oov_indices=2, name="lookup")
    return keras.Model([age, raw], [
        K.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0])(age),
        K.Normalization(axis=None, mean=2.0, variance=4.0, invert=True)(age), lookup(raw),
        K.IntegerLookup(vocabulary=[12, 36, 7], output_mode="count")(raw),
        K.Discretization([-0.5, 0.0, 1.0], output_mode="multi_hot")(age),
        K.CategoryEncoding(6, output_mode="multi_hot")(lookup(raw)), K.Hashing(7)(raw), K.Hashing(7, salt=133)(raw)])


floats = lambda *shape: np.random.default_rng(5).normal(size=shape).astype("float32")
both = ("keras", "h5")
save("k2_nvidia", nvidia(), {"user_id": ids((2, 3), 12), "Item_Id": ids((2, 2), 9)}, both)
save("k2_nested", nested(), {"a": floats(3, 6), "b": -floats(3, 6)}, both)
save("k2_recurrent", recurrent(), {"words": np.array([[1, 2, 0, 0, 0], [3, 7, 1, 1, 0]], "int32")}, both)
save("k2_gated", gated(), {"words": np.array([[1, 2, 0, 0, 0], [3, 7, 1, 1, 0]], "int32")}, both)
save("k2_sequential", sequential(), {"input": ids((2, 3), 7)}, both)
save("k2_masked", masked(), {"words": np.array([[1, 2, 0, 0, 0], [3, 0, 1, 1, 0]], "int32"), "plain": floats(2, 5, 4)}, both)
save("k2_image", image(), {"input": floats(1, 6, 6, 2)}, both)
save("k2_preprocessing", preprocessing(), {"age": floats(2, 3), "raw": np.array([[12, 0, 7], [-5, 36, 1000003]], "int32")},
     both)
with open(os.path.join(FOLDER, "keras2.json"), "w") as file:
    json.dump({"tf_keras": keras.__version__, "cases": CASES}, file)
