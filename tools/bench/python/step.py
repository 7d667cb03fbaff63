"""A step of Keras's Adagrad on keras.layers.Embedding, and of ours on EmbeddingBag, in turns. Prints JSON lines.

Usage: python3 step.py [--rows N] [--columns N] [--batch N] [--ids N] [--rounds N] [--steps N]
TFJS_EMBEDDINGS_LIBRARY names the op library.

Both models end in a mean over the ids of a sample, a dense layer and binary cross-entropy, and start from the same
weights. A round is `--steps` steps of each; what is printed are medians over rounds, in milliseconds for a step.
"""

import argparse
import json
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from tfjs_embeddings_ops import EmbeddingBag, train

parser = argparse.ArgumentParser()
for name, default in [("rows", 1_000_000), ("columns", 32), ("batch", 4096), ("ids", 4)]:
    parser.add_argument(f"--{name}", type=int, default=default)
parser.add_argument("--rounds", type=int, default=9)
parser.add_argument("--steps", type=int, default=5)
given = parser.parse_args()
random = np.random.default_rng(1)


def classifier(layers, optimizer):
    """A model of these layers and a dense one, compiled without XLA."""
    dense = keras.layers.Dense(1, activation="sigmoid", kernel_initializer="ones")
    model = keras.Sequential([keras.Input((given.ids,), dtype="int32"), *layers, dense])
    model.compile(optimizer=optimizer, loss="binary_crossentropy", jit_compile=False)
    return model


def batch():
    """Ids and labels."""
    ids = random.integers(0, given.rows, (given.batch, given.ids), dtype=np.int32)
    return tf.constant(ids), tf.constant(random.integers(0, 2, (given.batch, 1)).astype(np.float32))


table = random.uniform(-0.05, 0.05, (given.rows, given.columns)).astype(np.float32)
keras_layer = keras.layers.Embedding(given.rows, given.columns)
own_layer = EmbeddingBag(given.rows, given.columns, combiner="mean")
models = {
    "Keras": classifier(
        [keras_layer, keras.layers.GlobalAveragePooling1D()],
        keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.1),
    ),
    "EmbeddingBag": classifier([own_layer], train.adagrad(learning_rate=0.1)),
}
for layer in (keras_layer, own_layer):
    layer.set_weights([table])

times = {name: [] for name in models}
for round_number in range(given.rounds + 1):
    batches = [batch() for _ in range(given.steps)]
    for name, model in models.items():
        begun = time.perf_counter()
        for ids, labels in batches:
            model.train_on_batch(ids, labels)
        if round_number > 0:  # the first traces the step
            times[name].append((time.perf_counter() - begun) / given.steps * 1e3)
apart = np.abs(keras_layer.get_weights()[0] - own_layer.get_weights()[0]).max()
medians = {name: statistics.median(list_) for name, list_ in times.items()}
shape = {each: getattr(given, each) for each in ("rows", "columns", "batch", "ids", "rounds")}
for name, median in medians.items():
    line = {"name": f"python step, {name}", **shape, "milliseconds": round(median, 3)}
    print(json.dumps(line), flush=True)
ratio = medians["Keras"] / medians["EmbeddingBag"]
print(json.dumps({"name": "python step", "times faster": round(ratio, 1), "largest difference": float(apart)}))
