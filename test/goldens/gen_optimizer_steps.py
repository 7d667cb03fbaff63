"""Writes optimizer_steps.json: a table after each step of optimizers of Keras. Run with Keras 3.15 on any backend."""

import json
import pathlib

import keras
import numpy as np

ROWS, DIM, STEPS = 6, 3, 5
RATES = [0.1, 0.1, 0.05, 0.2, 0.1]
numbers = np.random.default_rng(27)
TABLE = numbers.uniform(-1, 1, [ROWS, DIM]).astype("float32").round(3)
EVERY_ROW = numbers.uniform(-1, 1, [STEPS, ROWS, DIM]).astype("float32").round(3)
# Rows that a step does not touch have a gradient of zero.
SOME_ROWS = EVERY_ROW * (numbers.uniform(0, 1, [STEPS, ROWS, 1]) < 0.5).astype("float32")

optimizers = keras.optimizers
CASES = [
    optimizers.AdamW(),
    optimizers.AdamW(weight_decay=0.1, beta_1=0.8, beta_2=0.95, epsilon=0.01),
    optimizers.AdamW(amsgrad=True, epsilon=0.1),
    optimizers.RMSprop(),
    optimizers.RMSprop(rho=0.6, epsilon=0.01),
    optimizers.RMSprop(momentum=0.7, epsilon=0.01),
    optimizers.RMSprop(centered=True, epsilon=0.01),
    optimizers.RMSprop(rho=0.6, momentum=0.7, centered=True, epsilon=0.1),
    optimizers.SGD(),
    optimizers.SGD(momentum=0.9),
    optimizers.SGD(momentum=0.5, nesterov=True),
    optimizers.Adam(amsgrad=True),
    optimizers.Adam(amsgrad=True, beta_1=0.8, beta_2=0.6, epsilon=0.01),
]


def tables(optimizer, gradients):
    """The table after each step."""
    optimizer = optimizers.deserialize(optimizers.serialize(optimizer))
    table = keras.Variable(TABLE)
    optimizer.build([table])
    found = []
    for rate, gradient in zip(RATES, gradients):
        optimizer.learning_rate = rate
        optimizer.apply([keras.ops.convert_to_tensor(gradient)])
        found.append(keras.ops.convert_to_numpy(table).tolist())
    return found


out = {
    "keras": keras.__version__,
    "table": TABLE.tolist(),
    "rates": RATES,
    "gradients": {"everyRow": EVERY_ROW.tolist(), "someRows": SOME_ROWS.tolist()},
    "cases": [
        {
            "serialized": optimizers.serialize(each),
            "everyRow": tables(each, EVERY_ROW),
            "someRows": tables(each, SOME_ROWS),
        }
        for each in CASES
    ],
}
path = pathlib.Path(__file__).with_name("optimizer_steps.json")
path.write_text(json.dumps(out) + "\n")
