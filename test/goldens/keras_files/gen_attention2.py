"""Writes models of Keras 2 with attention and functions of TensorFlow between layers, and what they compute: python
gen_attention2.py FOLDER
"""
import json
import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf_keras as keras  # noqa: E402

FOLDER = sys.argv[1]
CASES = []
K = keras.layers


def values(array):
    array = np.asarray(array)
    return {"dtype": str(array.dtype), "shape": list(array.shape),
            "values": [round(float(each), 7) for each in array.ravel()]}


def save(name, model, inputs, files=("keras", "h5")):
    rng = np.random.default_rng(7)
    for weight in model.weights:
        weight.assign(rng.uniform(-0.5, 1.0, weight.shape).astype("float32"))
    given = inputs if len(inputs) > 1 else next(iter(inputs.values()))
    outputs = [each.numpy() for each in tf.nest.flatten(model(given, training=False))]
    for extension in files:
        model.save(os.path.join(FOLDER, f"{name}.{extension}"))
        CASES.append({
            "file": f"{name}.{extension}",
            "inputs": {key: values(value) for key, value in inputs.items()},
            "outputs": [values(each) for each in outputs],
        })


def transformer():
    words = keras.Input((6,), dtype="int32", name="words")
    positions = tf.zeros_like(words) + tf.range(6)
    x = K.Embedding(12, 4, mask_zero=True)(words) + K.Embedding(6, 4)(positions)
    for number in range(2):
        attended = K.MultiHeadAttention(2, 3, dropout=0.1, name=f"heads_{number}")(x, x, use_causal_mask=number == 1)
        x = K.LayerNormalization(epsilon=1e-6)(x + K.Dropout(0.1)(attended))
        fed = keras.Sequential([K.Dense(5, activation="relu"), K.Dense(4)])(x)
        x = K.LayerNormalization(epsilon=1e-6)(K.Add()([x, fed]))
    return keras.Model(words, K.Dense(3)(K.GlobalAveragePooling1D()(x)))


def functions():
    words = keras.Input((6,), dtype="int32", name="words")
    x = K.Embedding(9, 4)(words)
    near = tf.constant(np.tril(np.ones((6, 6))), "float32")
    many, scores = K.MultiHeadAttention(2, 4, output_shape=3)(x, x, attention_mask=near, return_attention_scores=True)
    one = K.Attention(use_scale=True)([x, K.UnitNormalization()(x)])
    f, g = K.GlobalAveragePooling1D()(x), K.GlobalAveragePooling1D()(one)
    parts = [x[:, -1], x[:, 1:3, 0], x[:, :, 1], f[:, tf.newaxis][:, 0], tf.reduce_sum(many, axis=-1), tf.cast(words, tf.float32) * 2.0,
             tf.reshape(scores, [-1, 72]), 1.0 - g, tf.sqrt(tf.abs(f)), tf.nn.softmax(f), tf.reduce_mean(one, 1, keepdims=True)[:, 0],
             tf.transpose(x, [0, 2, 1])[:, :, 0], tf.matmul(x, x, transpose_b=True)[:, 0], tf.stack([f, g], 1)[:, 0],
             tf.squeeze(tf.expand_dims(f, 1), 1), tf.where(f > 0, f, g), tf.maximum(f, g), f / 3, -f, f ** 2, tf.multiply(f, g),
             tf.gather(f, [0, 1], axis=1), tf.tile(f, [1, 2]), tf.one_hot(words[:, 0], 3), tf.math.l2_normalize(f, axis=-1),
             tf.reduce_max(x, 1), tf.nn.gelu(f), tf.clip_by_value(g, 0.0, 0.5), tf.cumsum(f, axis=1), tf.exp(g), tf.tanh(f),
             tf.cast(tf.not_equal(words, 3), tf.float32), tf.nn.relu(f - 0.25)]
    return keras.Model(words, tf.concat(parts, axis=-1))


WORDS = np.array([[3, 1, 4, 0, 0, 0], [5, 2, 6, 5, 3, 5], [8, 0, 0, 0, 0, 0]], "int32")
save("k2_transformer", transformer(), {"words": WORDS})
save("k2_functions", functions(), {"words": WORDS})
with open(os.path.join(FOLDER, "attention2.json"), "w") as file:
    json.dump({"cases": CASES}, file)
