"""Steps of variables that are no tables: what `dense` of emb.train does by default, by the same ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from .in_place import by_copies
from .library import ops
from .rules import DEFAULTS, RULES, SLOTS, Settings

# State of the stock optimizers, by kind, as saved models name it.
_STOCK_SLOTS: Mapping[str, tuple[str, ...]] = {
    "Sgd": (),
    "Momentum": ("momentum",),
    "Adagrad": ("accumulator",),
    "Adam": ("m", "v"),
}
_STOCK_OPS = {
    "Sgd": ops.embedding_dense_apply_sgd,
    "Momentum": ops.embedding_dense_apply_momentum,
    "Adagrad": ops.embedding_dense_apply_adagrad,
    "Adam": ops.embedding_dense_apply_adam,
}
# Optimizers of TensorFlow.js that name none take this one.
_EPSILON = 1e-7
# Names of Adam's running powers in saved models.
POWERS = ("accBeta1", "accBeta2")


def _rows_op(update: str) -> Any:
    """The op that steps dense variables as tables are stepped."""
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in update)
    return getattr(ops, f"embedding_dense_apply_rows{words}")


class DenseStep:
    """The default step of dense variables of one optimizer."""

    def __init__(self, name: str, settings: Settings) -> None:
        self._settings = settings
        self._stock = RULES[name].dense(settings)
        self._update = RULES[name].update(settings)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of state, one of each per variable."""
        return SLOTS[self._update] if self._stock is None else _STOCK_SLOTS[self._stock]

    @property
    def starts(self) -> tuple[float, ...]:
        """What each kind of state begins with."""
        first = self._settings["initial_accumulator_value"] if self._stock == "Adagrad" else 0.0
        return tuple(first for _ in self.kinds)

    @property
    def powers(self) -> dict[str, float]:
        """State of the optimizer itself, and what it begins with."""
        if self._stock != "Adam":
            return {}
        return dict(zip(POWERS, (self._settings["beta1"], self._settings["beta2"])))

    @staticmethod
    def settings_of(settings: Settings) -> dict[str, Any]:
        """The settings without what is said of tables alone."""
        of_tables = ("clip_norm", "clip_value", "clip_weight_min", "clip_weight_max")
        return {**settings, **{each: DEFAULTS[each] for each in of_tables}}

    def _stock_hyper(self, rate: Any) -> list[Any]:
        settings = self._settings
        # Optimizers without a field have 0 in its place.
        has_momentum, is_adam = self._stock == "Momentum", self._stock == "Adam"
        beta1, beta2 = (settings["beta1"], settings["beta2"]) if is_adam else (0.0, 0.0)
        return [
            rate,
            settings["momentum"] if has_momentum else 0.0,
            float(has_momentum and settings["use_nesterov"]),
            beta1,
            1 - beta1,
            beta2,
            1 - beta2,
            settings["epsilon"] if is_adam else _EPSILON,
        ]

    def apply(
        self,
        variables: Sequence[tf.Variable],
        slots: Sequence[Sequence[tf.Variable]],
        powers: Sequence[tf.Variable],
        gradients: Sequence[tf.Tensor],
        rate: Any,
        hyper: tf.Tensor,
    ) -> None:
        """One step. `slots`: by variable; `hyper`: the numbers of an update of rows."""
        count = len(variables)
        by_kind = [[each[kind] for each in slots] for kind in range(len(self.kinds))]
        written = [*variables, *(slot for kind in by_kind for slot in kind), *powers]

        def run(copies: list[tf.Tensor]) -> Any:
            inputs: dict[str, Any] = {"variables": copies[:count], "gradients": list(gradients)}
            for kind in range(len(by_kind)):
                inputs[f"slot{kind}"] = copies[count * (kind + 1) : count * (kind + 2)]
            for i, _ in enumerate(powers):
                inputs[f"power{i + 1}"] = copies[len(written) - len(powers) + i]
            if self._stock is None:
                return _rows_op(self._update)(**inputs, hyper=hyper)
            return _STOCK_OPS[self._stock](**inputs, hyper=as_float32(self._stock_hyper(rate)))

        by_copies(written, run)


def as_float32(numbers: Sequence[Any]) -> tf.Tensor:
    """Numbers, some of them float64 tensors, as a vector of float32, each rounded once."""
    if not any(tf.is_tensor(each) for each in numbers):
        return tf.constant(np.array(numbers, np.float64).astype(np.float32))
    return tf.cast(tf.stack([tf.cast(each, tf.float64) for each in numbers]), tf.float32)


def value_of(variable: Any) -> tf.Variable:
    """The variable of TensorFlow behind one of Keras."""
    return variable.value if isinstance(variable, keras.Variable) else variable
