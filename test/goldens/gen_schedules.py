"""Writes schedules.json: learning rates of Keras's schedules by step. Run with Keras 3.15 on any backend."""

import json
import pathlib

import keras
import numpy as np

schedules = keras.optimizers.schedules

STEPS = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 19, 20, 21, 30, 37, 99, 100, 1000]
CASES = [
    schedules.ExponentialDecay(0.5, 10, 0.8),
    schedules.ExponentialDecay(0.5, 10, 0.8, staircase=True, name="stairs_of_mine"),
    schedules.ExponentialDecay(0.1, 2.5, 1.1, staircase=True),
    schedules.InverseTimeDecay(0.5, 10, 0.8),
    schedules.InverseTimeDecay(0.5, 4, 2, staircase=True),
    schedules.PolynomialDecay(0.5, 10),
    schedules.PolynomialDecay(0.5, 10, end_learning_rate=0.05, power=2.5),
    schedules.PolynomialDecay(0.5, 10, end_learning_rate=0.05, power=0.5, cycle=True),
    schedules.PolynomialDecay(0.01, 7, end_learning_rate=0.5, power=2, cycle=True),
    schedules.PiecewiseConstantDecay([3], [1.0, 0.5]),
    schedules.PiecewiseConstantDecay([3, 6, 20], [1.0, 0.5, 0.25, 0.125]),
    schedules.PiecewiseConstantDecay([2.7, 6.0], [1.0, 0.5, 0.25]),
    schedules.CosineDecay(0.5, 10),
    schedules.CosineDecay(0.5, 10, alpha=0.1),
    schedules.CosineDecay(0.0, 20, alpha=0.1, warmup_target=0.5, warmup_steps=5),
    schedules.CosineDecay(0.25, 20, warmup_target=0.5),
    schedules.CosineDecay(0.5, 6, warmup_target=0.125, warmup_steps=4),
]


def rates(schedule):
    return [float(schedule(np.int32(step))) for step in STEPS]


out = {
    "keras": keras.__version__,
    "steps": STEPS,
    "cases": [{"serialized": schedules.serialize(each), "rates": rates(each)} for each in CASES],
}
path = pathlib.Path(__file__).with_name("schedules.json")
path.write_text(json.dumps(out, indent=1) + "\n")
