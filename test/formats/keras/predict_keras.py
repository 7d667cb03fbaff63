"""Loads .keras files and prints what the models compute: python predict_keras.py CASES.json

CASES.json lists {file, needs_keras_rs, inputs: [{name, shape, dtype, values}]}; the last line printed is JSON.
"""
import json
import os
import sys

# Convolutions with channels first need oneDNN, which TensorFlow uses by itself on processors with AVX512_VNNI alone.
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"

import keras  # noqa: E402
import numpy as np  # noqa: E402

RESULTS = []
with open(sys.argv[1]) as file:
    CASES = json.load(file)
# Models without layers of Keras RS must load before anybody imports it.
for case in sorted(CASES, key=lambda each: each["needs_keras_rs"]):
    if case["needs_keras_rs"]:
        import keras_rs  # noqa: F401
    try:
        model = keras.saving.load_model(case["file"])
        given = [np.array(each["values"], each["dtype"]).reshape(each["shape"]) for each in case["inputs"]]
        outputs = keras.tree.flatten(model(given if len(given) > 1 else given[0], training=False))
        results = [{"shape": list(each.shape), "values": np.asarray(each).ravel().tolist()} for each in outputs]
        RESULTS.append({"file": case["file"], "outputs": results, "class": type(model).__name__,
                        "layers": [[layer.name, type(layer).__name__] for layer in model.layers]})
    except Exception as error:
        RESULTS.append({"file": case["file"], "error": f"{type(error).__name__}: {error}"[:3000]})
assert any(case["needs_keras_rs"] for case in CASES) or "keras_rs" not in sys.modules
print(json.dumps(RESULTS))
