"""Prints all tensors of a checkpoint as JSON: read_checkpoint.py <prefix>"""
import json
import sys

import tensorflow as tf

reader = tf.train.load_checkpoint(sys.argv[1])
found = {}
for name, shape in reader.get_variable_to_shape_map().items():
    value = reader.get_tensor(name)
    is_text = isinstance(value, bytes)
    found[name] = {"shape": shape, "values": value.decode() if is_text else value.ravel().tolist()}
print(json.dumps(found))
