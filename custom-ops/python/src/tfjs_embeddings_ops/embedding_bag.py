"""The layer."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from .bags import COMBINERS, OUT_OF_RANGE, bags_of, pooled_rows, refuse_xla
from .errors import errors_of_ops, message, shown, type_error, value_error
from .rules import POSITIVE
from .settings import read_number

_MOST_ROWS = 2**31 - 1


def _count(argument: str, value: Any) -> int:
    expected = f"a whole number from 1 to {_MOST_ROWS}"
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise type_error(argument, expected, value)
    if not 1 <= int(value) <= _MOST_ROWS:
        raise value_error(argument, expected, value)
    return int(value)


def _one_of(argument: str, known: tuple[str, ...], value: Any) -> str:
    expected = f"one of {', '.join(map(repr, known))}"
    if not isinstance(value, str):
        raise type_error(argument, expected, value)
    if value not in known:
        raise value_error(argument, expected, value)
    return value


@keras.saving.register_keras_serializable("TfjsEmbeddings", "EmbeddingBag")
class EmbeddingBag(keras.layers.Layer):
    """Pools the rows of a table that the ids of each sample name.

    `layer(ids, weights=None)` returns pooled rows, float32 [..., output_dim]: what the last axis of the ids named is
    combined. `ids`: int32 or int64, dense [batch, ..., n], where negative ids are padding; `tf.RaggedTensor`
    [batch, None]; or `tf.SparseTensor` [batch, n] in row-major order. `weights`: float32, one per id, in the form of
    the ids; not with `max`. Whole numbers in float32 are taken as ids, because inputs of Keras are float32 by default.

    A sample without ids gives zeros. The gradient of the table is `tf.IndexedSlices` of the touched rows, each once;
    the optimizers of `train` step these alone. Any optimizer of Keras trains the layer too, at its own cost. The layer
    does not run under XLA: `compile` leaves it off, a `tf.function(jit_compile=True)` is refused.

    Args:
        input_dim: Rows of the table; ids lie in [0, input_dim).
        output_dim: Columns of the table.
        combiner: 'sum', 'mean' (over the sum of the weights), 'sqrtn' (over the root of the sum of their squares) or
            'max'.
        embeddings_initializer: Of the table; Keras's `uniform` by default.
        mask_zero: Leaves the id 0 out of sum and divisor.
        max_norm: Rows are scaled to at most this L2 norm where they are looked up. None: they are not.
        out_of_range: 'error', or 'zero': an id that names no row counts as a row of zeros and stays in the divisor.
        **kwargs: As for every layer: `name`, `trainable`, `dtype`.

    Raises:
        TypeError, ValueError: for arguments, and for ids and weights of a call that runs at once. Inside a
            `tf.function`, as in `fit`, ids out of range are a `tf.errors.InvalidArgumentError`.
        RuntimeError: when it is traced for XLA.

    Source: `raggedEmbedding` of tfjs-embeddings; `torch.nn.EmbeddingBag`.

    Example:
        >>> layer = EmbeddingBag(1000, 4, combiner="mean")
        >>> layer(np.array([[3, 7, -1], [5, -1, -1]])).shape
        TensorShape([2, 4])
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        combiner: str = "mean",
        embeddings_initializer: Any = "uniform",
        mask_zero: bool = False,
        max_norm: float | None = None,
        out_of_range: str = "error",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.input_dim = _count("input_dim", input_dim)
        self.output_dim = _count("output_dim", output_dim)
        self.combiner = _one_of("combiner", COMBINERS, combiner)
        self.embeddings_initializer = keras.initializers.get(embeddings_initializer)
        if not isinstance(mask_zero, bool):
            raise type_error("mask_zero", "True or False", mask_zero)
        self.mask_zero = mask_zero
        self.max_norm = None if max_norm is None else read_number("max_norm", POSITIVE, max_norm)
        self.out_of_range = _one_of("out_of_range", OUT_OF_RANGE, out_of_range)
        if self.variable_dtype != "float32":
            raise ValueError(message("dtype", "a policy with float32 variables", shown(self.variable_dtype)))
        self.autocast = False
        self.supports_jit = False

    def build(self, *_: Any, **__: Any) -> None:
        """Makes the table, [input_dim, output_dim]."""
        if self.built:
            return
        self.embeddings = self.add_weight(
            name="embeddings",
            shape=(self.input_dim, self.output_dim),
            initializer=self.embeddings_initializer,
            autocast=False,
        )
        # Optimizers step it by rows, from the gradients of lookups.
        self.embeddings.is_embedding_table = True
        self.built = True

    def call(self, ids: Any, weights: Any = None) -> tf.Tensor:
        """Pooled rows; see the class."""
        refuse_xla()
        if weights is not None and self.combiner == "max":
            raise value_error("weights", "None, because the combiner is 'max'", weights)
        with errors_of_ops(self.input_dim):
            bags = bags_of(ids, weights, self.mask_zero)
            pooled = pooled_rows(self.embeddings.value, bags, self.combiner, self.max_norm or 0.0, self.out_of_range)
        if not isinstance(ids, (tf.RaggedTensor, tf.SparseTensor)):
            leading = tf.shape(ids)[:-1]
            known = tf.convert_to_tensor(ids).shape[:-1]
            if known.rank != 1:
                pooled = tf.reshape(pooled, tf.concat([leading, [self.output_dim]], 0))
            pooled = tf.ensure_shape(pooled, [*known, self.output_dim])
        return tf.cast(pooled, self.compute_dtype)

    def compute_output_shape(self, ids_shape: Any, weights_shape: Any = None) -> tuple:
        """The shape of the ids with `output_dim` in place of their last axis."""
        return (*ids_shape[:-1], self.output_dim)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the layer."""
        return {
            **super().get_config(),
            "input_dim": self.input_dim,
            "output_dim": self.output_dim,
            "combiner": self.combiner,
            "embeddings_initializer": keras.initializers.serialize(self.embeddings_initializer),
            "mask_zero": self.mask_zero,
            "max_norm": self.max_norm,
            "out_of_range": self.out_of_range,
        }
