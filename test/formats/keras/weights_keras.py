"""Loads .keras files, writes them again and prints the weights of each layer: python weights_keras.py CASES.json

CASES.json lists {file, inputs: [{shape, dtype, values}]}; the last line printed is JSON: of each file the weights by the
names of the models around a layer and its own, joined by '>', and what the model computes. `again` is the file that
Keras wrote of it.
"""
import json
import os
import sys

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"

import keras  # noqa: E402
import numpy as np  # noqa: E402


def weights_of(model, path=()):
    found = {}
    for layer in model.layers:
        at = (*path, layer.name)
        if isinstance(layer, keras.Model):
            found.update(weights_of(layer, at))
        elif layer.weights:
            found[">".join(at)] = [np.asarray(weight).ravel().tolist() for weight in layer.weights]
    return found


RESULTS = []
with open(sys.argv[1]) as file:
    CASES = json.load(file)
for case in CASES:
    try:
        model = keras.saving.load_model(case["file"])
        given = [np.array(each["values"], each["dtype"]).reshape(each["shape"]) for each in case["inputs"]]
        outputs = keras.tree.flatten(model(given if len(given) > 1 else given[0], training=False))
        again = case["file"].replace(".keras", " again.keras")
        model.save(again)
        RESULTS.append({"file": case["file"], "again": again, "weights": weights_of(model),
                        "outputs": [np.asarray(each).ravel().tolist() for each in outputs]})
    except Exception as error:
        RESULTS.append({"file": case["file"], "error": f"{type(error).__name__}: {error}"[:3000]})
print(json.dumps(RESULTS))
