"""Compares the op library with TensorFlow's own lookup. Prints one line of JSON; Node's spec judges it.

Usage: python3 embedding_bag.py <path of the op library>
"""
import itertools
import json
import sys

import numpy as np
import tensorflow as tf

ops = tf.load_op_library(sys.argv[1])
random = np.random.default_rng(7)


def make_case(dim):
    rows = int(random.integers(1, 50))
    batch = int(random.integers(1, 12))
    counts = random.integers(0, 7, batch) * (random.random(batch) < 0.7)
    counts[-1] = 0  # a trailing empty row
    splits = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    values = random.integers(0, rows, splits[-1]).astype(np.int32)
    weights = random.uniform(0.1, 2, splits[-1]).astype(np.float32)
    table = random.normal(size=(rows, dim)).astype(np.float32)
    return table, values, splits, weights


def expected(table, values, splits, weights, combiner, max_norm):
    counts = np.diff(splits)
    bag = np.repeat(np.arange(len(counts)), counts)
    column = np.concatenate([np.arange(n) for n in counts] or [[]])
    indices = np.stack([bag, column], axis=1).astype(np.int64).reshape(-1, 2)
    shape = [len(counts), max(1, counts.max())]
    ids = tf.SparseTensor(indices, values.astype(np.int64), shape)
    sparse_weights = None if weights is None else tf.SparseTensor(indices, weights, shape)
    return tf.nn.safe_embedding_lookup_sparse(
        tf.constant(table), ids, sparse_weights, combiner=combiner, max_norm=max_norm or None
    ).numpy()


def scale(table, values, splits, weights):
    w = np.ones(len(values), np.float32) if weights is None else weights
    sums = np.zeros((len(splits) - 1, table.shape[1]))
    for bag in range(len(splits) - 1):
        for i in range(splits[bag], splits[bag + 1]):
            sums[bag] += np.abs(w[i] * table[values[i]])
    return 1 + sums


def look_up(combiner, max_norm):
    def run(table, values, splits, weights):
        return ops.embedding_bag(
            table=table,
            values=values,
            row_splits=splits,
            weights=weights,
            combiner=combiner,
            out_of_range="error",
            max_norm=max_norm,
        )

    return run


def compare():
    results = {"eager": {"cases": 0, "worst": 0.0}, "function": {"cases": 0, "worst": 0.0}}
    settings = itertools.product(["sum", "mean", "sqrtn"], [0.0, 0.8], [False, True], [1, 3, 33])
    for combiner, max_norm, weighted, dim in settings:
        eager = look_up(combiner, max_norm)
        signature = [
            tf.TensorSpec([None, dim], tf.float32),
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([None], tf.float32),
        ]
        traced = tf.function(eager, input_signature=signature)
        for _ in range(2):
            table, values, splits, weights = make_case(dim)
            used = weights if weighted else None
            want = expected(table, values, splits, used, combiner, max_norm)
            unit = scale(table, values, splits, used)
            given = weights if weighted else np.zeros([0], np.float32)
            for name, run in [("eager", eager), ("function", traced)]:
                got = run(*(tf.constant(x) for x in (table, values, splits, given))).numpy()
                assert got.shape == want.shape, (got.shape, want.shape)
                result = results[name]
                result["cases"] += 1
                result["worst"] = max(result["worst"], float(np.max(np.abs(got - want) / unit)))
    return results


BAG = {"combiner": "sum", "out_of_range": "error", "max_norm": 0.0}


def static_shapes():
    shapes = {}

    def note(name, tensor):
        shapes[name] = tensor.shape.as_list()

    @tf.function(
        input_signature=[
            tf.TensorSpec(None, tf.float32),
            tf.TensorSpec([None, 5], tf.float32),
            tf.TensorSpec([7], tf.int32),
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([4], tf.int32),
        ]
    )
    def trace(unknown, table, values, splits, known_splits):
        none = tf.zeros([0])
        pooled = ops.embedding_bag(table=table, values=values, row_splits=splits, weights=none, **BAG)
        note("pooled", pooled)
        known = ops.embedding_bag(table=table, values=values, row_splits=known_splits, weights=none, **BAG)
        note("pooledOfKnownBatch", known)
        ids, gradients = ops.embedding_bag_grad(
            gradient=pooled, values=values, row_splits=splits, weights=none, table=table[:0], rows=9, **BAG
        )
        note("uniqueIds", ids)
        note("rowGradients", gradients)
        weights_gradient = ops.embedding_bag_weights_grad(
            table=unknown, gradient=pooled, values=values, row_splits=splits, weights=tf.ones([7]), **BAG
        )
        note("weightsGradient", weights_gradient)
        note("readRows", ops.embedding_read_rows(table=table, first_row=0, rows=1))
        changed, rows = ops.embedding_changed_rows(table=table, base=table)
        note("changedIds", changed)
        note("changedRows", rows)
        note("shares", ops.embedding_shares_memory(a=table, b=table))
        filled = ops.embedding_fill(
            shape=[2, 3],
            part=[0, 1, 0],
            kind=0,
            key=[0, 0],
            numbers=tf.constant([1, 0, 0], tf.float64),
            quantiles=tf.zeros([0], tf.float64),
        )
        note("filled", filled)
        numbers, instruction_set = ops.embedding_server_info()
        note("serverNumbers", numbers)
        note("instructionSet", instruction_set)
        return pooled

    trace.get_concrete_function()
    return shapes


def errors():
    caught = {}

    def attempt(name, run):
        try:
            run()
        except Exception as error:  # whatever it is, its name is judged by the spec
            caught[name] = {"type": type(error).__name__, "text": str(error)}

    table = tf.ones([4, 2])

    def bag(table=table, values=(0, 1), splits=(0, 2), weights=(), **changes):
        return ops.embedding_bag(
            table=table,
            values=tf.constant(values, tf.int32),
            row_splits=tf.constant(splits, tf.int32),
            weights=tf.constant(weights, tf.float32),
            **{**BAG, **changes},
        )

    attempt("id", lambda: bag(values=(0, 7)))
    attempt("idInFunction", lambda: tf.function(bag)(values=(0, 7)))
    attempt("rank", lambda: bag(table=tf.ones([4])))
    attempt("splits", lambda: bag(splits=(0, 3)))
    attempt("weights", lambda: bag(weights=(1.0,)))
    attempt("combiner", lambda: bag(combiner="max"))
    # A table without rows may have any number of columns, and no product of sizes may run over.
    wide = tf.zeros([0, 2**45])
    many = (0,) * (2**19 + 1)
    attempt("pooledSize", lambda: bag(table=wide, values=(), splits=many))
    attempt("pooledBytes", lambda: bag(table=wide, values=(), splits=(0,) * (2**17 + 1)))
    attempt("pooledSizeInFunction", lambda: tf.function(bag)(table=wide, values=(), splits=many))
    traced = tf.function(
        lambda table, splits: ops.embedding_bag(
            table=table, values=tf.constant([], tf.int32), row_splits=splits, weights=tf.zeros([0]), **BAG
        ),
        input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None], tf.int32)],
    )
    attempt("pooledSizeAtRunTime", lambda: traced(wide, tf.zeros([2**19 + 1], tf.int32)))
    for name, run in [("rows", lambda f: f()), ("rowsInFunction", lambda f: tf.function(f)())]:
        attempt(
            name,
            lambda: run(
                lambda: ops.embedding_bag_grad(
                    gradient=tf.zeros([1, 16]),
                    values=tf.constant([], tf.int32),
                    row_splits=tf.constant([0, 0], tf.int32),
                    weights=tf.zeros([0]),
                    table=tf.zeros([0, 16]),
                    rows=2**62,
                    **BAG,
                )
            ),
        )
    attempt("staticRank", lambda: tf.function(bag)(table=tf.ones([4])))
    attempt("staticWeights", lambda: tf.function(bag)(weights=(1.0,)))
    return caught


def trained():
    hyper = np.zeros(31, np.float32)
    hyper[0] = 1.5  # learning rate
    hyper[16], hyper[17], hyper[19], hyper[20] = -np.inf, np.inf, -np.inf, np.inf  # clipping is off
    table = ops.embedding_copy(tf.ones([4, 1]))

    @tf.function
    def step(table):
        # Nothing uses a result: a stateful op must run all the same.
        ops.embedding_sparse_apply_sgd(
            table=table,
            gradient=tf.ones([1, 1]),
            values=[2],
            row_splits=[0, 1],
            weights=tf.zeros([0]),
            hyper=hyper,
            **BAG,
        )

    step(table)
    step(table)
    return table.numpy().ravel().tolist()


activations = tf.raw_ops.TPUEmbeddingActivations(
    embedding_variable=tf.zeros([1]), sliced_activations=tf.constant([1.0, 2, 3, 4]), table_id=0, lookup_id=0
)
print(
    json.dumps(
        {
            "lookups": compare(),
            "staticShapes": static_shapes(),
            "errors": errors(),
            "activations": activations.numpy().tolist(),
            "trained": trained(),
        }
    )
)
