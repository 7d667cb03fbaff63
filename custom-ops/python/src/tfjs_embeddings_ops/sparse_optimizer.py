"""The base of the row-sparse optimizers: tables by their touched rows, everything else by a dense step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from .bags import refuse_xla
from .dense_step import DenseStep, as_float32, value_of
from .errors import message, type_error
from .in_place import in_place
from .library import ops
from .rules import ROW_SLOTS, RULES, SLOTS, fields_of, hyper_of
from .settings import read_rate, read_settings

_BAG = {"combiner": "sum", "out_of_range": "error", "max_norm": 0.0}


def is_table(variable: Any) -> bool:
    """Whether a variable is the table of an `EmbeddingBag`."""
    return getattr(variable, "is_embedding_table", False)


def _apply_op(update: str) -> Any:
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in update)
    return getattr(ops, f"embedding_sparse_apply{words}")


def _slices(gradient: Any, variable: tf.Variable) -> tf.IndexedSlices:
    """A gradient of a table by rows; a tensor is one of every row."""
    if isinstance(gradient, tf.IndexedSlices):
        return gradient
    return tf.IndexedSlices(tf.convert_to_tensor(gradient), tf.range(variable.shape[0]))


def _summed(slices: tf.IndexedSlices, rows: int) -> tf.IndexedSlices:
    """The same with each row once: several lookups of a table give their rows one after the other."""
    ids = tf.cast(slices.indices, tf.int32)
    unique, summed = ops.embedding_bag_grad(
        gradient=slices.values,
        values=ids,
        row_splits=ops.embedding_single_splits(ids=ids),
        weights=tf.zeros([0], tf.float32),
        table=tf.zeros([0, slices.values.shape[1]], tf.float32),
        rows=rows,
        **_BAG,
    )
    return tf.IndexedSlices(summed, unique)


class SparseOptimizer(keras.optimizers.Optimizer):
    """A Keras optimizer whose step on the tables of `EmbeddingBag` costs what the batch touches.

    The classes of `train` derive from it; what they return and take is told there.
    """

    rule_name: str

    def __init__(
        self,
        learning_rate: Any = None,
        *,
        dense: keras.optimizers.Optimizer | None = None,
        name: str | None = None,
        **fields: Any,
    ) -> None:
        rule = RULES[self.rule_name]
        settings = read_settings(self.rule_name, fields)
        rate = read_rate(rule.learning_rate if learning_rate is None else learning_rate)
        if dense is not None and not isinstance(dense, keras.optimizers.Optimizer):
            raise type_error("dense", "an optimizer of Keras", dense)
        super().__init__(learning_rate=rate, name=name)
        self._settings = settings
        self.dense = dense
        self._slots: list[list[Any]] = []
        self._starts: dict[int, float] = {}
        self._powers: list[Any] = []
        if isinstance(rate, float):
            self._keep_exact(rate)

    def _keep_exact(self, rate: float) -> None:
        """float64: products with the rate are rounded once, as in TensorFlow.js."""
        self._untrack_variable(self._learning_rate)
        exact = keras.Variable(rate, dtype="float64", trainable=False, name="learning_rate")
        self._track_variable(exact)
        self._learning_rate = exact

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters in force, beside the learning rate."""
        return dict(self._settings)

    @property
    def update(self) -> str:
        """Which update kernel steps tables."""
        return RULES[self.rule_name].update(self._settings)

    @property
    def dense_step(self) -> DenseStep:
        """The default step of dense variables."""
        return DenseStep(self.rule_name, self._settings)

    @property
    def variables(self) -> list[Any]:
        """All state: iterations, rate, slots; that of `dense` last."""
        return super().variables + (self.dense.variables if self.dense is not None else [])

    def build(self, variables: Sequence[Any]) -> None:
        """Makes the slots of tables and the state of dense variables."""
        if self.built:
            return
        variables = list(variables)
        super().build(variables)
        step = self.dense_step
        if self.dense is not None:
            self.dense.build([each for each in variables if not is_table(each)])
        own = self.dense is None
        self._slots = [self._slots_of(each, step, own) for each in variables]
        if own:
            self._powers = [self._state((), start, name) for name, start in step.powers.items()]

    def _slots_of(self, variable: Any, step: DenseStep, own: bool) -> list[Any]:
        if value_of(variable).dtype != tf.float32:
            raise type_error("variables", "float32 variables", value_of(variable))
        if is_table(variable):
            kinds = SLOTS[self.update]
            first = self._settings["initial_accumulator_value"]
            starts = [first if kind == "accumulators" else 0.0 for kind in kinds]
        else:
            kinds, starts = (step.kinds, step.starts) if own else ((), ())
        shape = tuple(variable.shape)
        matrices = len(kinds) - (ROW_SLOTS.get(self.update, 0) if is_table(variable) else 0)
        shapes = [shape if i < matrices else shape[:1] for i in range(len(kinds))]
        path = getattr(variable, "path", variable.name).replace("/", "_")
        return [self._state(s, start, f"{path}_{kind}") for s, kind, start in zip(shapes, kinds, starts)]

    def _state(self, shape: tuple[int, ...], start: float, name: str) -> Any:
        variable = self.add_variable(shape, keras.initializers.Constant(start), "float32", name=name)
        self._starts[id(variable)] = start
        return variable

    def start_of(self, slot: Any) -> float:
        """The number that a slot, or a running power, begins with."""
        return self._starts[id(slot)]

    def slots_of(self, variable: Any) -> dict[str, Any]:
        """The slots of a variable by their names in saved models. The optimizer must have been built with it."""
        kinds = SLOTS[self.update] if is_table(variable) else self.dense_step.kinds
        return dict(zip(kinds, self._slots[self._get_variable_index(variable)]))

    @property
    def powers(self) -> dict[str, Any]:
        """Adam's running powers of its betas for dense variables, by their names in saved models."""
        return dict(zip(self.dense_step.powers, self._powers))

    def _backend_apply_gradients(self, grads: Sequence[Any], trainable_variables: Sequence[Any]) -> None:
        refuse_xla()
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        if replicas > 1:
            raise RuntimeError(message("strategy", "one replica", f"{replicas}"))
        pairs = [(grad, each) for grad, each in zip(grads, trainable_variables) if grad is not None]
        tables = [(_slices(grad, value_of(each)), each) for grad, each in pairs if is_table(each)]
        dense = [(self._whole(grad, each), each) for grad, each in pairs if not is_table(each)]
        if self._settings["global_clip_norm"] is not None:
            tables, dense = self._clipped(tables, dense)
        rate, step, sqrt = self._numbers_of_step()
        hyper = hyper_of(self.rule_name, self._settings, step, rate, sqrt)
        numbers = as_float32(list(hyper.values()))
        for slices, table in tables:
            self._step_table(slices, table, numbers)
        if dense and self.dense is not None:
            self.dense.apply(*zip(*dense))
        elif dense:
            self._step_dense(dense, rate, step, sqrt)

    def _numbers_of_step(self) -> tuple[Any, Any, Any]:
        """The rate, the number of the step and a square root, all of float64."""
        rate = self._get_current_learning_rate()
        if tf.executing_eagerly():
            return float(rate), float(self._iterations) + 1, math.sqrt
        return (
            tf.cast(tf.convert_to_tensor(rate), tf.float64),
            tf.cast(value_of(self._iterations), tf.float64) + 1,
            tf.sqrt,
        )

    def _step_table(self, slices: tf.IndexedSlices, table: Any, hyper: tf.Tensor) -> None:
        ids = tf.cast(slices.indices, tf.int32)
        slots = [value_of(slot) for slot in self._slots[self._get_variable_index(table)]]

        def run(buffers: list[tf.Tensor]) -> Any:
            inputs = {f"slot{i}": slot for i, slot in enumerate(buffers[1:])}
            return _apply_op(self.update)(
                table=buffers[0],
                **inputs,
                gradient=slices.values,
                values=ids,
                row_splits=ops.embedding_single_splits(ids=ids),
                weights=tf.zeros([0], tf.float32),
                hyper=hyper,
                **_BAG,
            )

        in_place([value_of(table), *slots], [slices.values, ids], run)

    def _step_dense(self, dense: Sequence[tuple[Any, Any]], rate: Any, step: Any, sqrt: Any) -> None:
        of_dense = self.dense_step
        settings = DenseStep.settings_of(self._settings)
        hyper = hyper_of(self.rule_name, settings, step, rate, sqrt)
        of_dense.apply(
            [value_of(each) for _, each in dense],
            [[value_of(slot) for slot in self._slots[self._get_variable_index(each)]] for _, each in dense],
            [value_of(power) for power in self._powers],
            [grad for grad, _ in dense],
            rate,
            as_float32(list(hyper.values())),
        )

    @staticmethod
    def _whole(gradient: Any, variable: Any) -> tf.Tensor:
        if not isinstance(gradient, tf.IndexedSlices):
            return tf.convert_to_tensor(gradient)
        warnings.warn(
            f"{variable.name} {tuple(variable.shape)} is no table of EmbeddingBag: each step builds a gradient of its "
            "whole shape",
            stacklevel=2,
        )
        return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, variable.shape[0])

    def _clipped(self, tables: list[Any], dense: list[Any]) -> tuple[list[Any], list[Any]]:
        """All gradients, scaled together so that their L2 norm is at most global_clip_norm."""
        most = tf.constant(self._settings["global_clip_norm"], tf.float32)
        summed = [(_summed(slices, table.shape[0]), table) for slices, table in tables]
        tensors = [slices.values for slices, _ in summed] + [grad for grad, _ in dense]
        if not tensors:
            return tables, dense
        norm = tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(each)) for each in tensors]))
        # What is not finite spoils everything, so that it is seen: infinity times 0 is no number.
        scale = most / tf.maximum(norm, most) + norm * 0
        scaled = [(tf.IndexedSlices(slices.values * scale, slices.indices), table) for slices, table in summed]
        return scaled, [(grad * scale, each) for grad, each in dense]

    def get_config(self) -> dict[str, Any]:
        """The arguments of the optimizer."""
        of_keras = super().get_config()
        fields = {each: self._settings[each] for each in fields_of(self.rule_name)}
        dense = None if self.dense is None else keras.optimizers.serialize(self.dense)
        return {
            "name": of_keras["name"],
            "learning_rate": of_keras["learning_rate"],
            **fields,
            "dense": dense,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> SparseOptimizer:
        """The optimizer that these arguments make."""
        dense = config.get("dense")
        if isinstance(dense, dict):
            config = {**config, "dense": keras.optimizers.deserialize(dense, custom_objects)}
        return super().from_config(config, custom_objects)
