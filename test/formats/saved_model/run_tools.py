"""Runs saved_model_cli and the converter of TensorFlow.js on SavedModels.

Takes the path of a JSON file: a list of {directory, signature, inputs: {name: {dtype, shape, values}}, graph}. Prints one
line of JSON with, for each, what `show --all` said and the outputs of `run`; a graph model lies in the folder `graph`.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
from unittest import mock

# What the converter imports for formats that are not asked for.
ABSENT = ["tf_keras", "tensorflow_hub", "tensorflow_decision_forests", "jax", "jax.experimental", "flax"]
for name in [*ABSENT, "tensorflowjs.converters.jax_conversion"]:
    sys.modules[name] = mock.MagicMock()

import numpy as np
from tensorflow.python.tools import saved_model_cli
from tensorflowjs.converters import tf_saved_model_conversion_v2 as converter


def command_line(*words):
    """What the command prints."""
    said = io.StringIO()
    sys.argv = ["saved_model_cli", *words]
    try:
        with contextlib.redirect_stdout(said):
            saved_model_cli.main()
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise RuntimeError(f"saved_model_cli ended with {ended.code}") from ended
    return said.getvalue()


def run(case, folder):
    given = []
    for name, entry in case["inputs"].items():
        path = os.path.join(folder, name + ".npy")
        np.save(path, np.array(entry["values"], entry["dtype"]).reshape(entry["shape"]))
        given.append(f"{name}={path}")
    shown = command_line("show", "--dir", case["directory"], "--all")
    here = ["--dir", case["directory"], "--tag_set", "serve", "--signature_def", case["signature"]]
    command_line("run", *here, "--inputs", ";".join(given), "--outdir", folder)
    inputs = {name + ".npy" for name in case["inputs"]}
    outputs = {name[: -len(".npy")]: np.load(os.path.join(folder, name)) for name in set(os.listdir(folder)) - inputs}
    # Refuses a graph with ops that the runtime of TensorFlow.js does not know.
    converter.convert_tf_saved_model(case["directory"], case["graph"], signature_def=case["signature"])
    return {"show": shown, "outputs": {name: value.ravel().tolist() for name, value in outputs.items()}}


if __name__ == "__main__":
    results = []
    with open(sys.argv[1]) as file:
        for case in json.load(file):
            with tempfile.TemporaryDirectory() as folder:
                results.append(run(case, folder))
    print(json.dumps(results))
