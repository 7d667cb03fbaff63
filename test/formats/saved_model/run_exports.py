"""Loads SavedModels in Python's TensorFlow and prints what they predict, as one line of JSON.

Takes the path of a file, or - for standard input, and perhaps that of a library of ops. Each line is JSON:
{directory, signature, inputs: {name: {dtype, shape, values}}, call, keras}. Those of standard input are run as they come.
"""

import json
import os
import sys

# Dilated convolutions of volumes need oneDNN, which TensorFlow uses by itself on processors with AVX512_VNNI alone.
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402


def tensor(entry):
    values = np.array(entry["values"], dtype=entry["dtype"]).reshape(entry["shape"])
    return tf.constant(values)


def ragged(entry):
    return tf.RaggedTensor.from_row_splits(tensor(entry["values"]), tensor(entry["rowSplits"]))


def spec_of(spec):
    return {"dtype": spec.dtype.name, "shape": spec.shape.as_list()}


def run(case):
    loaded = tf.saved_model.load(case["directory"])
    given = {name: ragged(entry) if "rowSplits" in entry else tensor(entry) for name, entry in case["inputs"].items()}
    function = loaded.signatures[case["signature"]]
    if case["keras"]:
        import keras

        outputs = keras.layers.TFSMLayer(case["directory"], call_endpoint=case["signature"])(*given.values())
    else:
        outputs = loaded(**given) if case["call"] else function(**given)
    return {
        "outputs": {name: value.numpy().ravel().tolist() for name, value in outputs.items()},
        "shapes": {name: list(value.shape) for name, value in outputs.items()},
        "inputSpecs": {name: spec_of(spec) for name, spec in function.structured_input_signature[1].items()},
        "outputSpecs": {name: spec_of(spec) for name, spec in function.structured_outputs.items()},
        "variables": [[v.name, list(v.shape), v.dtype.name] for v in loaded.variables],
        "trainable": [v.name for v in loaded.trainable_variables],
    }


def attempt(case):
    try:
        return run(case)
    except Exception as error:  # What it says is compared by the spec.
        return {"error": f"{type(error).__name__}: {error}"[:600]}


if __name__ == "__main__":
    library = sys.argv[2] if len(sys.argv) > 2 else None
    if library:
        tf.load_op_library(library)
    with sys.stdin if sys.argv[1] == "-" else open(sys.argv[1]) as lines:
        results = [attempt(json.loads(line)) for line in lines]
    print(json.dumps(results))
