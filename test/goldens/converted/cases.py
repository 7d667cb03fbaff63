"""Small functions of TensorFlow with inputs: what a case of converted graphs is made of."""
import types
from collections import namedtuple

import numpy as np
import tensorflow as tf

# `run` takes tensors and gives a nest of them; `style`: "v1" for graphs of TensorFlow 1, whose `run` gets placeholders.
Case = namedtuple("Case", "name run inputs static style prepare")
CASES = []
room = ""
random = np.random.default_rng(0)


def case(name, run, *inputs, static=False, style="v2", prepare=None):
    """`static`: the graph knows all sizes of the inputs, else the first size of each is open."""
    name = f"{room}: {name}"
    if any(known.name == name for known in CASES):
        raise ValueError(f"two cases are called {name}")
    if isinstance(run, types.FunctionType):
        # With what the variables of loops are now.
        run = types.FunctionType(run.__code__, dict(run.__globals__), run.__name__, run.__defaults__, run.__closure__)
    CASES.append(Case(name, run, inputs, static, style, prepare))


def f(*shape):
    """Numbers of two digits, so that sums of them hardly round."""
    return np.round(random.uniform(-3, 3, shape), 2).astype(np.float32)


def i(low, high, *shape):
    return random.integers(low, high, shape).astype(np.int32)


def wide(low, high, *shape):
    return random.integers(low, high, shape).astype(np.int64)


def b(*shape):
    return random.random(shape) < 0.5


def s(*shape):
    words = ["", "a", "bc", "b c", "ÄÖ", "zebra", "12", "-3", "x,y", "Hello World"]
    return np.array([words[at] for at in random.integers(0, len(words), int(np.prod(shape)))], object).reshape(shape)


def ints(*values):
    return np.array(values, np.int32)


def texts(*values):
    return np.array(values, object)


def lengths(rows, most=4):
    """Lengths of ragged rows, of which at least one is empty."""
    counts = random.integers(0, most, rows)
    counts[random.integers(0, rows)] = 0
    return counts


def splits(counts, dtype=np.int32):
    return np.concatenate([[0], np.cumsum(counts)]).astype(dtype)


def rag(values, row_splits):
    return tf.RaggedTensor.from_row_splits(values, row_splits, validate=False)


def gradient(run, *given):
    """Gradients of a sum of squares, as dense tensors."""
    given = [tf.identity(each) for each in given]
    with tf.GradientTape() as tape:
        tape.watch(given)
        results = tf.nest.flatten(run(*given), expand_composites=True)
        loss = tf.add_n([tf.reduce_sum(tf.square(each)) for each in results if each.dtype == tf.float32])
    return [tf.convert_to_tensor(each) for each in tape.gradient(loss, given) if each is not None]
