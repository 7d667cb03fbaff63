"""Gradients that are part of the graph."""
import numpy as np
import tensorflow as tf

from .cases import case, f, gradient, i, ints, lengths, rag, splits

COUNTS = lengths(4)
TOTAL = int(COUNTS.sum())
IDS, ROWS, WEIGHTS = i(0, 8, TOTAL), splits(COUNTS, np.int64), (np.abs(f(TOTAL)) + 0.2).astype(np.float32)
for combiner in ("sum", "mean", "sqrtn"):
    for form in ("sparse", "ragged"):
        made = (lambda v, r: rag(v, r).to_sparse()) if form == "sparse" else rag
        case(f"gradient of a lookup, {form}, {combiner}", lambda t, v, r: gradient(lambda t: tf.nn.embedding_lookup_sparse(t, made(v, r), None, combiner=combiner), t), f(8, 3), IDS, ROWS)
        case(f"gradient of a weighted lookup, {form}, {combiner}", lambda t, v, r, w: gradient(lambda t, w: tf.nn.embedding_lookup_sparse(t, made(v, r), made(w, r), combiner=combiner), t, w), f(8, 3), IDS, ROWS, WEIGHTS)
        case(f"gradient of a safe lookup, {form}, {combiner}", lambda t, v, r: gradient(lambda t: tf.nn.safe_embedding_lookup_sparse(t, made(v, r), None, combiner=combiner), t), f(8, 3), IDS, ROWS)
RUNS = {
    "gather": lambda x: tf.gather(x, [0, 3, 3]), "gather along an axis": lambda x: tf.gather(x, [0, 2, 2], axis=1), "gather_nd": lambda x: tf.gather_nd(x, [[0, 1], [3, 2]]),
    "slice": lambda x: x[1:3, ::2], "reversed slice": lambda x: x[::-1, 1:], "new axis": lambda x: x[:, None, 1:] * 2.0, "concat": lambda x: tf.concat([x, x * 2.0], 1), "split": lambda x: tf.split(x, [1, 2], 1)[1],
    "tile": lambda x: tf.tile(x, [2, 2]), "pad": lambda x: tf.pad(x, [[1, 0], [0, 2]]) * 3.0, "transpose": lambda x: tf.transpose(x) @ x, "matmul": lambda x: x @ tf.transpose(x), "batched matmul": lambda x: tf.matmul(x[None], x[None], transpose_b=True),
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, x * x), "reduce_sum": lambda x: tf.reduce_sum(x, 1), "reduce_mean": lambda x: tf.reduce_mean(x, 0), "reduce_max": lambda x: tf.reduce_max(x, 1), "reduce_prod": lambda x: tf.reduce_prod(x, 1),
    "softmax": tf.nn.softmax, "log_softmax": tf.nn.log_softmax, "relu": tf.nn.relu, "elu": tf.nn.elu, "selu": tf.nn.selu, "relu6": tf.nn.relu6, "leaky_relu": tf.nn.leaky_relu, "sigmoid": tf.sigmoid, "tanh": tf.tanh, "softplus": tf.nn.softplus, "gelu": tf.nn.gelu, "silu": tf.nn.silu,
    "exp and log": lambda x: tf.math.log(tf.exp(x) + 1.0), "sqrt": lambda x: tf.sqrt(tf.abs(x) + 1.0), "rsqrt": lambda x: tf.math.rsqrt(tf.abs(x) + 1.0), "division": lambda x: x / (x * x + 1.0), "pow": lambda x: tf.pow(tf.abs(x) + 0.5, 1.5), "maximum": lambda x: tf.maximum(x, 0.5), "minimum": lambda x: tf.minimum(x, x * x), "where": lambda x: tf.where(x > 0.0, x, x * 0.1),
    "clip": lambda x: tf.clip_by_value(x, -1.0, 1.0), "norm": lambda x: tf.linalg.l2_normalize(x, 1), "cumsum": lambda x: tf.cumsum(x, 1), "sort": lambda x: tf.sort(x), "top_k": lambda x: tf.math.top_k(x, 2)[0], "segment_sum": lambda x: tf.math.segment_sum(x, [0, 0, 2, 2]), "segment_mean": lambda x: tf.math.segment_mean(x, [0, 0, 2, 2]), "segment_max": lambda x: tf.math.segment_max(x, [0, 0, 1, 1]),
    "unsorted_segment_sum": lambda x: tf.math.unsorted_segment_sum(x, [2, 0, 2, -1], 3), "unsorted_segment_max": lambda x: tf.maximum(tf.math.unsorted_segment_max(x, [2, 0, 2, 1], 3), -9.0), "unsorted_segment_prod": lambda x: tf.math.unsorted_segment_prod(x, [2, 0, 2, 1], 3), "sparse segment_mean": lambda x: tf.sparse.segment_mean(x, [0, 3, 3], [0, 0, 1]), "sparse segment_sqrt_n": lambda x: tf.sparse.segment_sqrt_n(x, [0, 3, 3], [0, 0, 1]),
    "dynamic partition": lambda x: tf.dynamic_partition(x, [0, 1, 1, 0], 2)[1], "dynamic stitch": lambda x: tf.dynamic_stitch([[0, 2], [1, 3]], [x[:2], x[2:]]), "scatter_nd": lambda x: tf.scatter_nd([[1], [1], [0], [3]], x, [5, 3]), "tensor_scatter_nd_add": lambda x: tf.tensor_scatter_nd_add(x, [[1], [1]], x[:2]), "stack": lambda x: tf.stack([x, x], 1), "unstack": lambda x: tf.unstack(x, axis=1)[2], "broadcast": lambda x: tf.broadcast_to(x[:1], [5, 3]), "bias": lambda x: tf.nn.bias_add(x, x[0]),
    "sparse matmul": lambda x: tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 1], [2, 3]], x[0, :2], [3, 4]), x), "ragged to_tensor": lambda x: tf.RaggedTensor.from_row_splits(x, [0, 1, 4], validate=False).to_tensor(), "ragged sum": lambda x: tf.reduce_sum(tf.RaggedTensor.from_row_splits(x, [0, 1, 4], validate=False), 1), "ragged gather": lambda x: tf.gather(tf.RaggedTensor.from_row_splits(x, [0, 1, 4], validate=False), [1, 1, 0]).values, "reverse": lambda x: tf.reverse(x, [0]) * x, "abs and square": lambda x: tf.abs(x) * tf.square(x),
    "conv1d": lambda x: tf.nn.conv1d(x[None], tf.ones([2, 3, 2]), 1, "SAME"), "sigmoid loss": lambda x: tf.nn.sigmoid_cross_entropy_with_logits(tf.ones([4, 3]), x), "softmax loss": lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.ones([4, 3]) / 3.0, x), "sparse softmax loss": lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1, 2, 0], x),
    "array": lambda x: tf.TensorArray(tf.float32, 4).unstack(x).gather([0, 3, 3]), "map_fn": lambda x: tf.map_fn(lambda row: row * row, x), "scan": lambda x: tf.scan(lambda total, row: total * 0.5 + row, x), "loop with a table": lambda x: tf.while_loop(lambda at, y: at < 3, lambda at, y: (at + 1, y + tf.gather(x, at)), (0, tf.zeros([3])))[1], "branch": lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * x, lambda: x * 3.0),
}
for name, run in RUNS.items():
    case(f"gradient of {name}", lambda x: gradient(run, x), f(4, 3), static=True)
for name in ("gather", "slice", "concat", "reduce_sum", "reduce_mean", "softmax", "matmul", "tile", "segment_sum", "map_fn", "scan", "where"):
    case(f"gradient of {name} of an open size", lambda x: gradient(RUNS[name], x), f(4, 3))
case("gradient of a gradient", lambda x: tf.gradients(tf.gradients(tf.reduce_sum(x * x * x), x), x), f(3))
