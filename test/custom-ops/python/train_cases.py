"""Takes the steps of cases that Node took, and prints what is left of each: a line of JSON.

Usage: python3 train_cases.py <JSON file of cases>
"""

import json
import sys

import keras
import numpy as np
import tensorflow as tf
from tfjs_embeddings_ops import EmbeddingBag, train
from tfjs_embeddings_ops.model_weights import state_of


def numbers(variable):
    """The values of a variable, flat."""
    return np.asarray(variable.numpy(), np.float64).reshape(-1).tolist()


def trained(case):
    """Table, dense variable and state after all steps."""
    rows, dim = case["rows"], case["dim"]
    layer = EmbeddingBag(rows, dim, name="table", **case["layer"])
    layer.build()
    layer.set_weights([np.array(case["table"], np.float32).reshape(rows, dim)])
    dense = keras.Variable(np.array(case["dense"], np.float32), name="dense")
    variables = [layer.embeddings, dense]
    optimizer = getattr(train, case["optimizer"])(**case["fields"])

    def step(ids, weights, factors, dense_factors):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(dense.value * dense_factors)
            for use in range(case["uses"]):
                pooled = layer(ids[use], weights=weights[use] if case["weighted"] else None)
                loss += tf.reduce_sum(pooled * factors[use])
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

    run = tf.function(step) if case["traced"] else step
    for each in case["steps"]:
        floats = [tf.constant(each[key], tf.float32) for key in ("weights", "factors", "dense")]
        run(tf.constant(each["ids"], tf.int32), *floats)
    state = state_of(optimizer, {"table": layer.embeddings, "dense": dense})
    return {
        "table": numbers(layer.embeddings),
        "dense": numbers(dense),
        "state": {name: numbers(variable) for _, name, variable in state},
    }


with open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps([trained(case) for case in json.load(file)]))
