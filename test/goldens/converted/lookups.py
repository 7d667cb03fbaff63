"""Lookups of rows of tables."""
import numpy as np
import tensorflow as tf

from .cases import case, f, i, ints, lengths, rag, splits, wide

TABLE = f(20, 4)


def table(module):
    module.table = tf.Variable(TABLE)


def ids(dtype=np.int32):
    counts = lengths(5)
    total = int(counts.sum())
    return i(0, 20, total).astype(dtype), splits(counts, dtype), (np.abs(f(total)) + 0.1).astype(np.float32)


for combiner in ("sum", "mean", "sqrtn"):
    for is_safe in (False, True):
        lookup = tf.nn.safe_embedding_lookup_sparse if is_safe else tf.nn.embedding_lookup_sparse
        prefix = "safe lookup" if is_safe else "lookup"
        for dtype in (np.int32, np.int64):
            bits = "64 bits" if dtype == np.int64 else "32 bits"
            values, rows, weights = ids(dtype)
            for form in ("sparse", "ragged"):
                made = (lambda v, r: rag(v, r).to_sparse()) if form == "sparse" else rag
                case(f"{prefix}, {form}, {combiner}, {bits}", lambda m, v, r: lookup(m.table, made(v, r), None, combiner=combiner), values, rows, prepare=table)
                case(f"{prefix}, {form}, {combiner}, {bits}, weights", lambda m, v, r, w: lookup(m.table, made(v, r), made(w, r), combiner=combiner), values, rows, weights, prepare=table)
        values, rows, weights = ids()
        case(f"{prefix} with max_norm, {combiner}", lambda m, v, r, w: lookup(m.table, rag(v, r).to_sparse(), rag(w, r).to_sparse(), combiner=combiner, max_norm=1.5), values, rows, weights, prepare=table)
    values, rows, weights = ids(np.int64)
    case(f"lookup in parts, {combiner}", lambda m, v, r: tf.nn.embedding_lookup_sparse([m.table[::2], m.table[1::2]], rag(v, r).to_sparse(), None, combiner=combiner), values, rows, prepare=table)
    case(f"lookup in two tables, {combiner}", lambda m, v, r: [tf.nn.embedding_lookup_sparse(m.table * 2.0, rag(v, r).to_sparse(), None, combiner=combiner), tf.nn.safe_embedding_lookup_sparse(m.table, rag(v, r), None, combiner=combiner)], values, rows, prepare=table)
case("lookup of rows", lambda m, x: tf.nn.embedding_lookup(m.table, x), i(0, 20, 3, 2), prepare=table)
case("lookup of rows, max_norm", lambda m, x: tf.nn.embedding_lookup(m.table, x, max_norm=1.0), i(0, 20, 3, 2), prepare=table)
case("lookup of rows in parts", lambda m, x: tf.nn.embedding_lookup([m.table[:10], m.table[10:]], x), i(0, 20, 3, 2), prepare=table)
case("lookup of ragged rows", lambda m, v, r: tf.nn.embedding_lookup(m.table, rag(v, r)), *ids()[:2], prepare=table)
case("lookup of strays", lambda m, x: tf.nn.embedding_lookup(m.table, x), ints(3, 20), prepare=table)
case("lookup of negative ids", lambda m, x: tf.nn.embedding_lookup(m.table, x), ints(3, -1), prepare=table)
case("safe lookup of negative ids", lambda m, v, r: tf.nn.safe_embedding_lookup_sparse(m.table, rag(v, r).to_sparse()), ints(3, -1, -4, 5), ints(0, 2, 3, 4), prepare=table)
case("safe lookup of weights that are not positive", lambda m, v, r, w: tf.nn.safe_embedding_lookup_sparse(m.table, rag(v, r).to_sparse(), rag(w, r).to_sparse()), ints(3, 1, 4, 5), ints(0, 2, 3, 4), np.array([1, -1, 0, 2], np.float32), prepare=table)
case("safe lookup with a default id", lambda m, v, r: tf.nn.safe_embedding_lookup_sparse(m.table, rag(v, r).to_sparse(), default_id=2), *ids()[:2], prepare=table)
case("safe lookup of no ids at all", lambda m, v, r: tf.nn.safe_embedding_lookup_sparse(m.table, rag(v, r).to_sparse()), i(0, 1, 0), np.zeros(4, np.int32), prepare=table)
case("safe lookup of sparse ids of rank 3", lambda m, v: tf.nn.safe_embedding_lookup_sparse(m.table, tf.SparseTensor([[0, 0, 0], [0, 1, 2], [1, 1, 0]], v, [2, 2, 3])), wide(0, 20, 3), prepare=table)
case("padded lookup with a mask", lambda m, x: tf.reduce_sum(tf.gather(m.table, x) * tf.cast(x > 0, tf.float32)[..., None], 1), i(0, 20, 3, 4), prepare=table)
case("mean of a masked lookup", lambda m, x: tf.math.divide_no_nan(tf.reduce_sum(tf.gather(m.table, x) * tf.cast(x > 0, tf.float32)[..., None], 1), tf.reduce_sum(tf.cast(x > 0, tf.float32), 1, keepdims=True)), i(0, 20, 3, 4), prepare=table)
case("one-hot times a table", lambda m, x: tf.one_hot(x, 20) @ m.table, i(0, 20, 5), prepare=table)
case("attention over a lookup", lambda m, x: tf.nn.softmax(tf.einsum("bid,bjd->bij", tf.gather(m.table, x), tf.gather(m.table, x))) @ tf.gather(m.table, x), i(0, 20, 2, 3), prepare=table)
case("sampled candidates", lambda m, x: tf.reduce_sum(tf.gather(m.table, x[:, :1]) * tf.gather(m.table, x[:, 1:]), 2), i(0, 20, 3, 4), prepare=table)
