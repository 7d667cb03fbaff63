"""The row-sparse optimizers, under the names and with the fields of `emb.train` in snake case.

Each is a class of optimizers of Keras 3, for `model.compile(optimizer=...)` and for loops of your own
(`optimizer.apply_gradients(zip(gradients, variables))`). It steps the table of an `EmbeddingBag` by the rows that
the batch touched: each row once, with the sum of its gradients, where it lies. Everything that is not a table goes to
`dense`, an optimizer of Keras; by default to the same ops as in TensorFlow.js. All state is float32: slots have the
shape of their table, those of `row_wise_adagrad` [rows].

`learning_rate` is a number, a function without arguments or a schedule of Keras; the other fields and their defaults
are those of docs/optimizers.md: `clip_value`, `clip_norm`, `global_clip_norm`, `clip_weight_min`,
`clip_weight_max`, `weight_decay` and `multiply_weight_decay_by_learning_rate` for all, and those of each. With
`lazy=True`, the default, rows without ids keep still.

The dtype of variables is float32. XLA (`tf.function(jit_compile=True)`) and several replicas are a RuntimeError.

Raises:
    TypeError: for a field of another type, or one that the optimizer has not.
    ValueError: for a number that a field may not be.
    RuntimeError: for XLA, and for several replicas.

Source: emb.train of tfjs-embeddings.

Example:
    >>> model.compile(optimizer=train.adagrad(learning_rate=0.1), loss="binary_crossentropy")
"""

from __future__ import annotations

import keras

from .rules import RULES
from .sparse_optimizer import SparseOptimizer


def _define(name: str) -> type[SparseOptimizer]:
    rule = RULES[name]
    fields = ", ".join(rule.fields)
    cls = type(
        rule.class_name,
        (SparseOptimizer,),
        {
            "rule_name": name,
            "__module__": __name__,
            "__doc__": f"Row-sparse {rule.class_name}. Fields beside the common ones: {fields}.",
        },
    )
    return keras.saving.register_keras_serializable("TfjsEmbeddings", rule.class_name)(cls)


sgd = _define("sgd")
adagrad = _define("adagrad")
row_wise_adagrad = _define("row_wise_adagrad")
adagrad_momentum = _define("adagrad_momentum")
adam = _define("adam")
ftrl = _define("ftrl")
adam_w = _define("adam_w")
rmsprop = _define("rmsprop")

__all__ = list(RULES)
