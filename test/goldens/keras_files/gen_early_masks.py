"""Writes early_masks/: recurrent layers of Keras 2 and 3 that begin with states and with masked steps, and layers behind an
attention whose operands are masked: python gen_early_masks.py FOLDER

Needs tf_keras 2.21, Keras 3.15 and tensorflow 2.21.
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras as keras3
import numpy as np
import tf_keras as keras2

FOLDER = sys.argv[1]
CASES = []
STEPS = np.random.default_rng(1).uniform(-1, 1, (5, 4, 2)).astype("float32")
# Masked steps at the beginning, at the end, in the middle, everywhere and nowhere.
for row, masked in enumerate([[0, 1], [3], [0, 2], [0, 1, 2, 3], []]):
    STEPS[row, masked] = 0
STATES = np.random.default_rng(2).uniform(0.2, 1, (5, 3)).astype("float32")
KINDS = {"SimpleRNN": 1, "GRU": 1, "LSTM": 2}


def recurrent(keras, kind, told=False, **settings):
    K = keras.layers
    x, state = keras.Input((4, 2), name="steps"), keras.Input((3,), name="state")
    mask = K.Masking(name="masking")
    masked = mask(x)
    states = [state] + [K.Dense(3, name="second")(state)] * (KINDS[kind] - 1)
    more = {"mask": mask.compute_mask(x, None)} if told else {}
    layer = getattr(K, kind)(3, name="loop", return_state=True, **settings)
    outputs = layer(masked, initial_state=states if len(states) > 1 else states[0], **more)
    return keras.Model([x, state], list(outputs)), {"steps": STEPS, "state": STATES}


def values(array):
    return {"dtype": "float32", "shape": list(array.shape), "values": np.asarray(array, "float64").ravel().tolist()}


def add(name, model, inputs):
    rng = np.random.default_rng(7)
    model.set_weights([rng.uniform(-0.8, 0.8, weight.shape) for weight in model.weights])
    outputs = model([inputs[each.name.split(":")[0]] for each in model.inputs])
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    model.save(os.path.join(FOLDER, f"{name}.keras"))
    CASES.append({"file": f"{name}.keras", "inputs": {key: values(value) for key, value in inputs.items()},
                  "outputs": [values(np.asarray(each)) for each in outputs]})


for version, keras in [("k2", keras2), ("k3", keras3)]:
    for kind in KINDS:
        for wanted in ["all", "last"]:
            settings = {"return_sequences": wanted == "all"}
            add(f"{version}_{kind}_{wanted}", *recurrent(keras, kind, **settings))
            if version == "k3":
                add(f"{version}_{kind}_{wanted}_told", *recurrent(keras, kind, told=True, **settings))
        back = {"return_sequences": True, "go_backwards": True}
        add(f"{version}_{kind}_backwards", *recurrent(keras, kind, told=version == "k3", **back))
with open(os.path.join(FOLDER, "cases.json"), "w") as file:
    json.dump(CASES, file)
    file.write("\n")
