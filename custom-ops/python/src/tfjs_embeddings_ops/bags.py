"""Ids of every form become bags, and bags pooled rows, with gradients that hold the touched rows alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from .errors import message, shown, type_error, value_error
from .library import ops

COMBINERS = ("sum", "mean", "sqrtn", "max")
OUT_OF_RANGE = ("error", "zero")
_IDS = "int32 or int64 ids: dense, ragged or sparse"
_MOST_INT32 = 2**31 - 1


class Bags(NamedTuple):
    """Bag b holds values[row_splits[b]:row_splits[b + 1]]; `weights` [nnz], empty for none."""

    values: tf.Tensor
    row_splits: tf.Tensor
    weights: tf.Tensor


def _no_weights() -> tf.Tensor:
    return tf.zeros([0], tf.float32)


def _as_int32(ids: tf.Tensor) -> tf.Tensor:
    if ids.dtype == tf.int32:
        return ids
    if ids.dtype == tf.int64:
        # What int32 cannot hold is beyond every table, and what is negative remains so.
        return tf.cast(tf.clip_by_value(ids, -1, _MOST_INT32), tf.int32)
    if ids.dtype == tf.float32:
        return ops.embedding_whole_ids(numbers=ids)  # inputs of Keras are float32 unless they say otherwise
    raise type_error("ids", f"{_IDS}, or whole numbers of float32", ids)


def _as_weights(weights: Any) -> tf.Tensor:
    flat = tf.convert_to_tensor(weights)
    if flat.dtype != tf.float32:
        raise type_error("weights", "float32 weights", weights)
    return tf.reshape(flat, [-1])


def _splits_of_lengths(lengths: tf.Tensor) -> tf.Tensor:
    return tf.concat([[0], tf.cumsum(tf.cast(lengths, tf.int32))], 0)


def _check_alike(weights: Any, ids: Any) -> None:
    """Weights come in the form of the ids."""
    forms = (tf.RaggedTensor, tf.SparseTensor)
    if any(isinstance(weights, form) != isinstance(ids, form) for form in forms):
        raise type_error("weights", f"weights in the form of the ids ({type(ids).__name__})", weights)
    if not weights.shape.is_compatible_with(ids.shape):
        raise value_error("weights", f"one per id, of shape {ids.shape}", weights)


def _assert_equal(a: tf.Tensor, b: tf.Tensor, what: str) -> list[Any]:
    text = message("weights", f"the {what} of the ids", "others")
    same_size = tf.equal(tf.size(a), tf.size(b))
    same = tf.cond(same_size, lambda: tf.reduce_all(tf.equal(a, b)), lambda: False)
    done = tf.debugging.Assert(same, [text])
    return [] if done is None else [done]


def _of_ragged(ids: tf.RaggedTensor, weights: Any) -> Bags:
    if ids.ragged_rank != 1 or ids.shape.rank != 2:
        raise value_error("ids", "ragged ids of shape [batch, None]", ids)
    splits = tf.cast(ids.row_splits, tf.int32)
    if weights is None:
        return Bags(_as_int32(ids.flat_values), splits, _no_weights())
    same = _assert_equal(tf.cast(weights.row_splits, tf.int32), splits, "row splits")
    with tf.control_dependencies(same):
        return Bags(_as_int32(ids.flat_values), splits, tf.identity(_as_weights(weights.flat_values)))


def _of_sparse(ids: tf.SparseTensor, weights: Any) -> Bags:
    if ids.shape.rank != 2:
        raise value_error("ids", "sparse ids of shape [batch, places]", ids)
    batch = ids.dense_shape[0]
    lengths = tf.math.bincount(
        tf.cast(ids.indices[:, 0], tf.int32),
        minlength=tf.cast(batch, tf.int32),
        maxlength=tf.cast(batch, tf.int32),
    )
    splits = _splits_of_lengths(lengths)
    if weights is None:
        return Bags(_as_int32(ids.values), splits, _no_weights())
    with tf.control_dependencies(_assert_equal(weights.indices, ids.indices, "indices")):
        return Bags(_as_int32(ids.values), splits, tf.identity(_as_weights(weights.values)))


def _of_dense(ids: tf.Tensor, weights: Any) -> Bags:
    if ids.shape.rank is None or ids.shape.rank < 2:
        raise value_error("ids", "dense ids of rank 2 or more, [batch, ..., ids]", ids)
    shape = tf.shape(ids)
    rows = tf.reduce_prod(shape[:-1])
    splits = tf.range(rows + 1) * shape[-1]
    flat = _as_int32(tf.reshape(ids, [-1]))
    if weights is None:
        return Bags(flat, splits, _no_weights())
    done = _assert_equal(tf.shape(weights), shape, "shape")
    with tf.control_dependencies(done):
        return Bags(flat, splits, tf.identity(_as_weights(weights)))


def bags_of(ids: Any, weights: Any, mask_zero: bool) -> Bags:
    """The ids that count, as bags. Negative ids of dense ids are padding; `mask_zero` leaves out the id 0 too."""
    is_composite = isinstance(ids, (tf.RaggedTensor, tf.SparseTensor))
    if not is_composite:
        try:
            ids = tf.convert_to_tensor(ids)
        except (ValueError, TypeError):
            raise type_error("ids", _IDS, ids) from None
    if weights is not None:
        if not isinstance(weights, (tf.RaggedTensor, tf.SparseTensor)):
            weights = tf.convert_to_tensor(weights)
        _check_alike(weights, ids)
    if isinstance(ids, tf.RaggedTensor):
        bags = _of_ragged(ids, weights)
    elif isinstance(ids, tf.SparseTensor):
        bags = _of_sparse(ids, weights)
    else:
        bags = _of_dense(ids, weights)
    if weights is not None:
        done = ops.embedding_check_weights(weights=bags.weights)
        with tf.control_dependencies([] if done is None else [done]):
            bags = bags._replace(weights=tf.identity(bags.weights))
    if is_composite and not mask_zero:
        return bags
    skip = tf.constant([int(mask_zero), int(not is_composite)], tf.int32)
    values, splits = ops.embedding_present_ids(ids=bags.values, row_splits=bags.row_splits, skip=skip)
    if weights is None:
        return Bags(values, splits, bags.weights)
    present = ops.embedding_present_weights(ids=bags.values, weights=bags.weights, skip=skip)
    return Bags(values, splits, present)


@tf.RegisterGradient("EmbeddingPresentWeights")
def _present_weights_gradient(op: tf.Operation, gradient: tf.Tensor) -> list[tf.Tensor | None]:
    ids, _, skip = op.inputs
    return [None, ops.embedding_spread_weights(ids=ids, present=gradient, skip=skip), None]


def _attributes(op: tf.Operation) -> dict[str, Any]:
    return {
        "combiner": op.get_attr("combiner"),
        "out_of_range": op.get_attr("out_of_range"),
        "max_norm": op.get_attr("max_norm"),
    }


@tf.RegisterGradient("EmbeddingBag")
def _bag_gradient(op: tf.Operation, gradient: tf.Tensor) -> list[Any]:
    """The gradient of the table as IndexedSlices: each touched row once, ids ascending."""
    table, values, row_splits, weights = op.inputs
    rows, dim = table.shape
    attributes = _attributes(op)
    # Only norms are read from the table: without them nothing here holds it, so that it is stepped where it lies.
    read = table if attributes["max_norm"] > 0 else tf.zeros([0, dim], tf.float32)
    ids, row_gradients = ops.embedding_bag_grad(
        gradient=gradient,
        values=values,
        row_splits=row_splits,
        weights=weights,
        table=read,
        rows=rows,
        **attributes,
    )
    of_table = tf.IndexedSlices(row_gradients, ids, tf.constant([rows, dim], tf.int64))
    of_weights = None
    if weights.shape[0] != 0:
        of_weights = ops.embedding_bag_weights_grad(
            table=table,
            gradient=gradient,
            values=values,
            row_splits=row_splits,
            weights=weights,
            **attributes,
        )
    return [of_table, None, None, of_weights]


@tf.custom_gradient
def _largest(rows: tf.Tensor, row_splits: tf.Tensor) -> Any:
    """The largest of each column of a bag; its gradient goes to the first row that is the largest."""
    ragged = tf.RaggedTensor.from_row_splits(rows, row_splits, validate=False)
    padded = ragged.to_tensor(-float("inf"))
    empty = tf.equal(ragged.row_lengths(), 0)[:, tf.newaxis]
    most = tf.reduce_max(padded, 1)

    def gradient(upstream: tf.Tensor) -> list[tf.Tensor | None]:
        is_largest = tf.cast(tf.equal(padded, most[:, tf.newaxis]), tf.float32)
        is_first = is_largest * tf.cast(tf.equal(tf.cumsum(is_largest, 1), 1), tf.float32)
        spread = is_first * upstream[:, tf.newaxis]
        return [tf.RaggedTensor.from_tensor(spread, ragged.row_lengths()).flat_values, None]

    return tf.where(empty, tf.zeros_like(most), most), gradient


def pooled_rows(table: tf.Variable, bags: Bags, combiner: str, max_norm: float, out_of_range: str) -> tf.Tensor:
    """Pooled rows [bags, dim] of a table [rows, dim]; zeros for empty bags."""
    rows = table.shape[0]
    attributes = {"out_of_range": out_of_range, "max_norm": max_norm}
    values = bags.values
    if out_of_range == "error" and not tf.executing_eagerly():
        # The op's own error is OutOfRangeError, which loops of Keras take for the end of the data.
        least, most = tf.reduce_min(values), tf.reduce_max(values)
        text = f"ids: expected ids in [0, {rows}), received ids from"
        inside = tf.logical_or(tf.equal(tf.size(values), 0), (least >= 0) & (most < rows))
        with tf.control_dependencies([tf.debugging.Assert(inside, [text, least, "to", most])]):
            values = tf.identity(values)
    single = combiner == "max"
    splits = ops.embedding_single_splits(ids=values) if single else bags.row_splits
    found = ops.embedding_bag(
        table=table.read_value() if isinstance(table, tf.Variable) else table,
        values=values,
        row_splits=splits,
        weights=bags.weights,
        combiner="sum" if single else combiner,
        **attributes,
    )
    return _largest(found, bags.row_splits) if single else found


def refuse_xla() -> None:
    """XLA has no kernels for the ops: a function that it compiles is told so when it is traced."""
    graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
    while graph is not None:
        context = graph._get_control_flow_context()
        while context is not None:
            if context.IsXLAContext():
                raise RuntimeError(
                    message(
                        "jit_compile",
                        "False, as XLA has no kernels for the ops of this package",
                        shown(True),
                    )
                )
            context = context.outer_context
        graph = getattr(graph, "outer_graph", None)
