"""Writes models of Keras 3 whose outputs carry masks, and what training and evaluation make of them: python
gen_masked_losses.py FOLDER
"""
import json
import os
import sys

import keras
import numpy as np

FOLDER = sys.argv[1]
K = keras.layers
WORDS = np.array([[3, 1, 0, 0, 0], [2, 2, 5, 8, 1], [7, 0, 0, 0, 0], [0, 4, 0, 6, 0]], "int32")
CASES = []


def values(array):
    array = np.asarray(array)
    return {"dtype": str(array.dtype), "shape": list(array.shape),
            "values": [round(float(each), 7) for each in array.ravel()]}


def tagger(activation):
    words = keras.Input((5,), dtype="int32", name="words")
    x = K.Embedding(9, 4, mask_zero=True)(words)
    x = K.GRU(3, return_sequences=True)(x)
    return keras.Model(words, K.Dense(3, activation=activation)(x))


def save(name, model, loss, targets, metrics=(), words=WORDS):
    rng = np.random.default_rng(7)
    begin = [rng.uniform(-0.5, 1.0, weight.shape).astype("float32") for weight in model.weights]
    model.set_weights(begin)
    model.save(os.path.join(FOLDER, f"{name}.keras"))
    model.compile(optimizer=keras.optimizers.SGD(0.5), loss=loss, metrics=list(metrics))
    evaluated = np.ravel(model.test_on_batch(words, targets))
    steps = []
    for _ in range(2):
        told = np.ravel(model.train_on_batch(words, targets))
        steps.append([float(each) for each in told[:1]])
        # Metrics are sums over batches in Keras.
        model.reset_metrics()
    CASES.append({
        "name": name, "loss": loss, "metrics": list(metrics), "words": values(words), "targets": values(targets),
        "evaluated": [float(each) for each in evaluated], "losses": [step[0] for step in steps],
        "after": values(model(words)),
    })


rng = np.random.default_rng(3)
labels = rng.integers(0, 3, (4, 5, 1)).astype("float32")
numbers = rng.uniform(-1, 1, (4, 5, 3)).astype("float32")
save("k3_tagger", tagger("softmax"), "sparse_categorical_crossentropy", labels, ["sparse_categorical_accuracy"])
save("k3_masked_numbers", tagger("linear"), "mean_squared_error", numbers, ["mean_absolute_error"])
# No word of the batch counts.
save("k3_unmarked_numbers", tagger("linear"), "mean_squared_error", numbers, words=np.zeros_like(WORDS))
with open(os.path.join(FOLDER, "masked_losses.json"), "w") as file:
    json.dump(CASES, file, indent=1)
    file.write("\n")
