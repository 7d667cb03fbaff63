"""Ragged tensors."""
import numpy as np
import tensorflow as tf

from .cases import b, case, f, i, ints, lengths, rag, s, splits, texts, wide

KINDS = {"float": f, "int": lambda *shape: i(-9, 10, *shape), "text": s}


def rows(make, dtype=np.int64, count=5):
    counts = lengths(count)
    return make(int(counts.sum())), splits(counts, dtype)


for kind, make in KINDS.items():
    default = "-" if kind == "text" else make()
    for dtype in (np.int32, np.int64):
        bits = 32 if dtype == np.int32 else 64
        case(f"to_tensor of {kind}, {bits}", lambda v, r: [rag(v, r).to_tensor(), rag(v, r).to_tensor(default), rag(v, r).to_tensor(default, shape=[None, 2])], *rows(make, dtype))
        case(f"to_sparse of {kind}, {bits}", lambda v, r: rag(v, r).to_sparse(), *rows(make, dtype))
        case(f"ragged gather of {kind}, {bits}", lambda v, r, at: tf.gather(rag(v, r), at), *rows(make, dtype), i(0, 5, 4))
    case(f"ragged gather of {kind}, none", lambda v, r, at: tf.gather(rag(v, r), at), *rows(make), i(0, 5, 0))
    case(f"ragged gather of {kind}, ragged places", lambda x, v, r: tf.gather(x, rag(v, r)), make(10), *rows(lambda n: i(0, 10, n)))
    case(f"ragged gather of {kind} past the end", lambda v, r, at: tf.gather(rag(v, r), at), *rows(make), ints(0, 7))
    case(f"ragged slices of {kind}", lambda v, r: [rag(v, r)[1:3], rag(v, r)[:, :2], rag(v, r)[:, 1:], rag(v, r)[:, -1:], rag(v, r)[0], rag(v, r)[::2]], *rows(make))
    case(f"ragged concat of {kind}", lambda v, r: [tf.concat([rag(v, r), rag(v, r)], 0), tf.concat([rag(v, r), rag(v, r)], 1)], *rows(make))
    case(f"ragged stack of {kind}", lambda v, r: [tf.ragged.stack([rag(v, r), rag(v, r)]), tf.stack([rag(v, r), rag(v, r)], 1)], *rows(make))
    case(f"ragged boolean_mask of {kind}", lambda v, r, m: tf.ragged.boolean_mask(rag(v, r), m), *rows(make), b(5))
    case(f"ragged mask of {kind} by ragged", lambda v, r: tf.ragged.boolean_mask(rag(v, r), tf.ragged.map_flat_values(lambda x: tf.equal(x, x), rag(v, r))), *rows(make))
    case(f"ragged reverse of {kind}", lambda v, r: tf.reverse(rag(v, r), [1]), *rows(make))
    case(f"ragged tile of {kind}", lambda v, r: tf.tile(rag(v, r), [2, 2]), *rows(make))
    case(f"ragged expand of {kind}", lambda v, r: [tf.expand_dims(rag(v, r), 0), tf.expand_dims(rag(v, r), 1), tf.expand_dims(rag(v, r), 2)], *rows(make))
    case(f"ragged where of {kind}", lambda v, r, c: tf.where(c, rag(v, r), rag(v, r)), *rows(make), b(5))
    case(f"ragged of padded {kind}", lambda x, n: [tf.RaggedTensor.from_tensor(x, n), tf.RaggedTensor.from_tensor(x)], make(3, 4), ints(2, 0, 4))
    case(f"ragged of {kind} without padding", lambda x: tf.RaggedTensor.from_tensor(x, padding=default), make(3, 4))
    case(f"ragged of {kind} by lengths", lambda v, n: tf.RaggedTensor.from_row_lengths(v, n, validate=False), make(6), ints(2, 0, 4))
    case(f"ragged of {kind} by row ids", lambda v, n: tf.RaggedTensor.from_value_rowids(v, n, 4, validate=False), make(5), ints(0, 0, 2, 2, 3))
    case(f"ragged of {kind} by starts and limits", lambda v: [tf.RaggedTensor.from_row_starts(v, [0, 2, 2], validate=False), tf.RaggedTensor.from_row_limits(v, [2, 2, 5], validate=False), tf.RaggedTensor.from_uniform_row_length(v[:4], 2, validate=False)], make(5), static=True)
    case(f"ragged of {kind}, checked", lambda v, r: tf.RaggedTensor.from_row_splits(v, r), *rows(make))
    case(f"ragged merge of {kind}", lambda v, r: rag(rag(v, r), tf.constant([0, 2, 5], tf.int64)).merge_dims(1, 2), *rows(make))
    case(f"ragged of {kind} of two axes, padded", lambda v, r: rag(rag(v, r), tf.constant([0, 2, 5], tf.int64)).to_tensor(default), *rows(make))
    case(f"ragged of {kind} of two axes, gathered", lambda v, r, at: tf.gather(rag(rag(v, r), tf.constant([0, 2, 5], tf.int64)), at), *rows(make), i(0, 2, 3))
    case(f"ragged gather_nd of {kind}", lambda v, r, at: tf.gather_nd(rag(v, r), at), *rows(make), i(0, 5, 3, 1))
    case(f"ragged from_sparse of {kind}", lambda v, r: tf.RaggedTensor.from_sparse(rag(v, r).to_sparse()), *rows(make))
    case(f"ragged equality of {kind}", lambda v, r: tf.equal(rag(v, r), rag(v, r)), *rows(make))
    case(f"ragged rows as variants, {kind}", lambda v, r: tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[r], rt_dense_values=v, batched_input=True), input_ragged_rank=0, output_ragged_rank=1, Tvalues=v.dtype, Tsplits=r.dtype), *rows(make))
for name in "reduce_sum reduce_prod reduce_max reduce_min reduce_mean".split():
    run = getattr(tf, name)
    case(f"ragged {name}", lambda v, r: [run(rag(v, r), 1), run(rag(v, r), 0), run(rag(v, r))], *rows(f))
    case(f"ragged {name} of whole numbers", lambda v, r: [run(rag(v, r), 1), run(rag(v, r))], *rows(KINDS["int"])) if name != "reduce_mean" else None
    case(f"ragged {name} of rows", lambda v, r: run(rag(v, r), 1), f(6, 3), np.array([0, 2, 2, 6], np.int64))
    case(f"ragged {name} of two axes", lambda v, r: [run(rag(rag(v, r), tf.constant([0, 2, 5], tf.int64)), 2), run(rag(rag(v, r), tf.constant([0, 2, 5], tf.int64)), [1, 2])], *rows(f))
for name in ("reduce_any", "reduce_all"):
    case(f"ragged {name}", lambda v, r: [getattr(tf, name)(rag(v > 0, r), 1), getattr(tf, name)(rag(v > 0, r))], *rows(KINDS["int"]))
case("ragged variance", lambda v, r: tf.math.reduce_variance(rag(v, r), 1), f(6), np.array([0, 2, 6], np.int64))
case("ragged lengths", lambda v, r: [rag(v, r).row_lengths(), rag(v, r).row_starts(), rag(v, r).row_limits(), rag(v, r).value_rowids(), rag(v, r).nrows(), rag(v, r).bounding_shape(), tf.size(rag(v, r)), tf.rank(rag(v, r))], *rows(f))
case("ragged arithmetic", lambda v, r: [rag(v, r) + 1.0, rag(v, r) * rag(v, r), tf.nn.relu(rag(v, r)), -rag(v, r), tf.cast(rag(v, r), tf.int32)], *rows(f))
case("ragged arithmetic, broadcast", lambda v, r, x: rag(v, r) + x[:, None], *rows(f), f(5))
case("ragged comparisons", lambda v, r: [rag(v, r) > 0.0, tf.logical_not(rag(v, r) > 0.0)], *rows(f))
case("ragged range", lambda x, y: [tf.ragged.range(x), tf.ragged.range(x, x + y), tf.ragged.range(x, 0, -1)], i(0, 5, 4), i(0, 4, 4))
case("ragged range of fractions", lambda x: tf.ragged.range(0.0, x, 0.5), np.abs(f(3)))
case("ragged range of step 0", lambda x: tf.ragged.range(0, x, 0), ints(1, 2))
case("ragged softmax", lambda v, r: tf.nn.softmax(rag(v, r)), *rows(f))
case("ragged split", lambda v, r: tf.split(rag(v, r), [2, 3]), *rows(f))
case("ragged one_hot", lambda v, r: tf.one_hot(rag(v, r), 4), *rows(lambda n: i(0, 4, n)))
case("ragged matmul", lambda v, r, y: tf.matmul(rag(v, r), y), f(6, 3), np.array([0, 2, 2, 6], np.int64), f(3, 3, 2))
case("ragged segment_sum", lambda v, r, at: tf.math.unsorted_segment_sum(rag(v, r), at, 3), *rows(f), i(0, 3, 5))
case("ragged top of rows", lambda v, r: tf.ragged.map_flat_values(tf.square, rag(v, r)), *rows(f))
case("ragged bincount", lambda v, r: tf.math.bincount(rag(v, r), axis=-1), *rows(lambda n: i(0, 4, n)))
case("ragged cross", lambda v, r: tf.ragged.cross_hashed([rag(v, r), rag(v, r)], 20), *rows(s))
case("ragged squeeze", lambda v: tf.squeeze(tf.RaggedTensor.from_uniform_row_length(rag(v, tf.constant([0, 2, 3], tf.int64)), 1, validate=False), [1]), f(3), static=True)
case("ragged dynamic partition", lambda v, r, p: tf.dynamic_partition(rag(v, r), p, 2), *rows(f), i(0, 2, 5))
case("ragged rows of rows", lambda v, r, x: tf.gather(x, rag(v, r)), *rows(lambda n: i(0, 6, n)), f(6, 2))
case("ragged mean of rows", lambda v, r, x: tf.reduce_mean(tf.gather(x, rag(v, r)), 1), i(0, 6, 6), np.array([0, 2, 6], np.int64), f(6, 2))
case("ragged batch gather", lambda v, r, at: tf.gather(rag(v, r), at, batch_dims=1), f(9), np.array([0, 3, 6, 9], np.int64), i(0, 3, 3, 2))
case("ragged segment ids and splits", lambda v: [tf.ragged.segment_ids_to_row_splits(v), tf.ragged.row_splits_to_segment_ids(tf.constant([0, 2, 3], tf.int64))], ints(0, 0, 2, 3), static=True)
case("ragged splits that do not start at 0", lambda v, r: tf.RaggedTensor.from_row_splits(v, r), f(3), ints(1, 3))
case("ragged splits that fall", lambda v, r: tf.RaggedTensor.from_row_splits(v, r), f(3), ints(0, 2, 1, 3))
case("ragged lengths that do not add up", lambda v, n: tf.RaggedTensor.from_row_lengths(v, n), f(3), ints(1, 1))
case("ragged row ids that fall", lambda v, n: tf.RaggedTensor.from_value_rowids(v, n), f(3), ints(0, 2, 1))
case("ragged rows of other lengths, added", lambda v, r, q: rag(v, r) + rag(v, q), f(4), ints(0, 2, 4), ints(0, 1, 4))
case("ragged map_fn", lambda v, r: tf.map_fn(tf.reduce_sum, rag(v, r), fn_output_signature=tf.float32), *rows(f))
case("ragged map_fn to ragged", lambda v, r: tf.map_fn(lambda x: x * 2.0, rag(v, r), fn_output_signature=tf.RaggedTensorSpec([None], tf.float32)), *rows(f))
case("ragged map_fn of texts", lambda v, r: tf.map_fn(lambda x: tf.size(x), rag(v, r), fn_output_signature=tf.int32), *rows(s))
case("ragged map_fn of no rows", lambda v, r: tf.map_fn(tf.reduce_sum, rag(v, r), fn_output_signature=tf.float32), f(0), np.zeros(1, np.int64))
case("ragged fill_empty_rows", lambda v, r: tf.raw_ops.RaggedFillEmptyRows(value_rowids=rag(v, r).value_rowids(), values=v, nrows=rag(v, r).nrows(), default_value=7.0), *rows(f))
