"""Gradients of elementwise functions as TensorFlow computes them: python3 gen_gradient_ops.py > gradient_ops.json"""
import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

X = [[-2.5, -1.0, -0.25], [0.5, 1.0, 3.0]]
DY = [[1.0, -2.0, 0.5], [4.0, -0.75, 2.0]]
POSITIVE = [[0.1, 1.0, 0.25], [0.5, 2.0, 3.0]]
EMPTY = tf.zeros([0, 3])
CASES = []


def case(op, first, second, *given):
    for pair in [given, (EMPTY, EMPTY)]:
        result = getattr(tf.raw_ops, op)(**{first: tf.constant(pair[0]), second: tf.constant(pair[1])})
        values = [tf.reshape(each, [-1]).numpy().tolist() for each in [*map(tf.constant, pair), result]]
        CASES.append({"op": op, "inputs": [first, second], "shape": list(result.shape), "values": values})


for op in ["SqrtGrad", "RsqrtGrad", "TanhGrad", "SigmoidGrad", "ReciprocalGrad", "InvGrad"]:
    case(op, "y", "dy", POSITIVE if op == "SqrtGrad" else X, DY)
case("ReluGrad", "gradients", "features", DY, X)
case("ReluGrad", "gradients", "features", DY, [[0.0, -0.0, 1.0], [0.0, 1e-30, -1e-30]])
case("EluGrad", "gradients", "outputs", DY, [[-0.9, -0.5, -0.1], [0.0, 1.0, 3.0]])
case("SoftplusGrad", "gradients", "features", DY, X)
print(json.dumps({"tensorflow": tf.__version__, "cases": CASES}))
