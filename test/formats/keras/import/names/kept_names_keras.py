"""
Models whose inputs and outputs have names of any letters: python kept_names_keras.py make FOLDER | check FILE...

`make` writes keyed.keras, whose inputs and outputs are objects, and listed.keras, and prints what they compute of ones;
`check` prints the same of files, with inputs by the same names, and the names of outputs.
"""
import json
import sys

import keras
import numpy as np

NAMES = ["user id", "_score", "größe", "plain"]


def made(is_keyed):
    inputs = {name: keras.Input([2], name=None if is_keyed else name) for name in NAMES}
    joined = keras.layers.Concatenate(name="join_all")(list(inputs.values()))
    outputs = [keras.layers.Dense(1, name=name)(joined) for name in ["wie viel", "plain_out"]]
    ends = dict(zip(["z out", "a.out"], outputs)) if is_keyed else outputs
    return keras.Model(inputs if is_keyed else list(inputs.values()), ends)


def told(model):
    x = {name: np.full([1, 2], 1.0 + at, "float32") for at, name in enumerate(NAMES)}
    found = model(x)
    keys = sorted(found) if isinstance(found, dict) else model.output_names
    values = [found[key] for key in keys] if isinstance(found, dict) else found
    return {"outputs": keys, "values": [float(each[0, 0]) for each in values]}


if sys.argv[1] == "make":
    keras.utils.set_random_seed(5)
    results = []
    for kind in ["keyed", "listed"]:
        model = made(kind == "keyed")
        model.save(f"{sys.argv[2]}/{kind}.keras")
        results.append(told(model))
else:
    results = [told(keras.saving.load_model(path)) for path in sys.argv[2:]]
print(json.dumps(results))
