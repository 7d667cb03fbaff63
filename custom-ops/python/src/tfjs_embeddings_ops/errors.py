"""Errors that name the argument, what was expected and what came."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import tensorflow as tf


def shown(value: Any) -> str:
    """A short text of a value, for messages."""
    if isinstance(value, (bool, int, float, str, bytes, list, tuple, dict)) or value is None:
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:57]}..."
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or dtype is None:
        return f"an object of {type(value).__name__}"
    return f"{type(value).__name__} of {getattr(dtype, 'name', dtype)} and shape {shape}"


def message(argument: str, expected: str, received: str) -> str:
    """The sentence of every error of this package."""
    return f"{argument}: expected {expected}, received {received}"


def value_error(argument: str, expected: str, received: Any) -> ValueError:
    """For a value, a shape or a range that cannot be."""
    return ValueError(message(argument, expected, shown(received)))


def type_error(argument: str, expected: str, received: Any) -> TypeError:
    """For another type or dtype."""
    return TypeError(message(argument, expected, shown(received)))


@contextlib.contextmanager
def errors_of_ops(rows: int) -> Iterator[None]:
    """Turns what the ops refuse, where they run at once, into a ValueError with the names of the layer."""
    try:
        yield
    except tf.errors.OutOfRangeError as error:
        found = re.search(r"values\[(\d+)\] = (-?\d+)", error.message)
        if found is None:
            raise
        position, id_ = found.groups()
        received = f"{id_} at position {position} of those that count"
        raise ValueError(message("ids", f"ids in [0, {rows})", received)) from None
    except tf.errors.InvalidArgumentError as error:
        found = re.search(r"(?:ids|weights): expected .* received .*", error.message)
        if found is None:
            raise
        text = found.group().split(" [Op:")[0]
        raise ValueError(text) from None
