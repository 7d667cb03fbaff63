"""Steps that write where a variable lies.

The update ops write through the tensor that they are given. A variable is read without a copy, so that they write into
the variable; but whoever else holds its values (what `read_value` gave, an array that TensorFlow took without a copy,
another variable) would see them change. So the variable first takes a buffer of its own. TensorFlow does that for
scatters: it copies where the buffer has other holders and does nothing otherwise. Reads copy from then on, until
`DisableCopyOnRead` ends that. None of this depends on the size of the variable where nobody else holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from .library import ops


def _own_buffer(variable: tf.Variable) -> tf.Tensor:
    """The values of a variable, in a buffer that nobody else holds."""
    handle = variable.handle
    nothing = tf.zeros([0, *variable.shape[1:]], variable.dtype)
    # An update, as graph rewriting drops additions of nothing.
    tf.raw_ops.ResourceScatterUpdate(resource=handle, indices=tf.zeros([0], tf.int32), updates=nothing)
    tf.raw_ops.DisableCopyOnRead(resource=handle)
    return tf.raw_ops.ReadVariableOp(resource=handle, dtype=variable.dtype)


def in_place(variables: Sequence[tf.Variable], after: Sequence[Any], step: Callable[[list[tf.Tensor]], Any]) -> None:
    """Runs an op that writes into variables of rank 1 and more.

    `after`: tensors that come first; what was computed of the variables is then done with their buffers. `step` takes
    the buffers and returns what its op does. In graphs, later reads of the variables come after it.
    """
    with tf.control_dependencies([each for each in after if each is not None]):
        buffers = [_own_buffer(variable) for variable in variables]
    done = step(buffers)
    if tf.executing_eagerly():
        return
    with tf.control_dependencies([done]):
        for variable in variables:
            # Control dependencies of functions go by resource: what reads the variable next waits for this op.
            tf.raw_ops.DisableCopyOnRead(resource=variable.handle)


def by_copies(variables: Sequence[tf.Variable], step: Callable[[list[tf.Tensor]], Any]) -> None:
    """The same on copies, which then are what the variables hold: for small ones, of any rank."""
    copies = [ops.embedding_copy(input=variable.read_value()) for variable in variables]
    done = step(copies)
    with tf.control_dependencies([] if tf.executing_eagerly() else [done]):
        for variable, copy in zip(variables, copies):
            variable.assign(copy)
