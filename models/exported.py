"""Loads an export in Python's TensorFlow and predicts. Started by export_proof.ts."""

import json
import sys

import numpy as np
import tensorflow as tf

with open(sys.argv[1]) as file:
    request = json.load(file)
predict = tf.saved_model.load(request["directory"]).signatures["serving_default"]
inputs = {
    name: tf.constant(np.array(entry["values"], "int32").reshape(entry["shape"]))
    for name, entry in request["inputs"].items()
}
outputs = predict(**inputs)
np.concatenate([value.numpy().ravel() for value in outputs.values()]).astype("float32").tofile(sys.argv[2])
