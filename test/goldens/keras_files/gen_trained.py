"""Writes trained/k2_trained.keras: a model of Keras 2 with the state of its optimizer and of its metrics.

Needs tf_keras 2.21 and tensorflow 2.21.
"""
import json
import os

import numpy as np
import tf_keras as keras

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trained")

keras.utils.set_random_seed(1)
np.random.seed(0)
inputs = keras.Input((3,))
outputs = keras.layers.Dense(1)(keras.layers.Dense(4, activation="relu")(inputs))
model = keras.Model(inputs, outputs)
model.compile("adam", "mse", metrics=["mae", keras.metrics.RootMeanSquaredError(name="rmse")])
rows = np.random.rand(32, 3).astype("float32")
model.fit(rows, rows.sum(1, keepdims=True), epochs=2, verbose=0)
model.save(os.path.join(FOLDER, "k2_trained.keras"))
with open(os.path.join(FOLDER, "k2_trained.json"), "w") as file:
    json.dump({"x": rows[:4].tolist(), "y": model.predict(rows[:4], verbose=0).tolist()}, file)
