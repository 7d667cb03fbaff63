"""Hyper-parameters that were given: checked, with defaults for the others."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from .errors import message, shown, type_error, value_error
from .rules import DEFAULTS, LIMITS, NOT_NEGATIVE, RULES, Limit, Settings, fields_of

_RATE = "a finite number >= 0, a function without arguments, or a schedule of Keras"


def _number(value: Any) -> float | None:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    return float(value) if is_number else None


def _is_within(limit: Limit, value: float) -> bool:
    # 1e-60 is 0 in float32, and 1e39 infinite.
    with np.errstate(over="ignore"):
        return limit.holds(value) and limit.holds(float(np.float32(value)))


def read_number(argument: str, limit: Limit, value: Any) -> float:
    """A number within its limit."""
    number = _number(value)
    if number is None:
        raise type_error(argument, limit.expected, value)
    if not _is_within(limit, number):
        raise value_error(argument, f"{limit.expected}, in float32 too", value)
    return number


def read_rate(value: Any) -> Any:
    """A learning rate: a float, or what gives one."""
    if callable(value) or isinstance(value, keras.optimizers.schedules.LearningRateSchedule):
        return value
    number = _number(value)
    if number is None:
        raise type_error("learning_rate", _RATE, value)
    if not _is_within(NOT_NEGATIVE, number):
        raise value_error("learning_rate", _RATE, value)
    return number


def _read_clip_value(value: Any) -> tuple[float | None, float | None]:
    expected = "a number >= 0, or [min, max] where either may be None"
    number = _number(value)
    if number is not None:
        if not number >= 0:
            raise value_error("clip_value", expected, value)
        return (-number, number)
    if not isinstance(value, (list, tuple)):
        raise type_error("clip_value", expected, value)
    if len(value) != 2:
        raise value_error("clip_value", expected, value)
    bounds = [None if each is None else _number(each) for each in value]
    if any(number is None and each is not None for number, each in zip(bounds, value)):
        raise type_error("clip_value", expected, value)
    low, high = bounds
    if any(each is not None and math.isnan(each) for each in bounds):
        raise value_error("clip_value", expected, value)
    if (-math.inf if low is None else low) > (math.inf if high is None else high):
        raise value_error("clip_value", expected, value)
    return (low, high)


def _read(name: str, field: str, value: Any) -> Any:
    if field == "clip_value":
        return _read_clip_value(value)
    if isinstance(DEFAULTS[field], bool):
        if not isinstance(value, (bool, np.bool_)):
            raise type_error(field, "True or False", value)
        return bool(value)
    return read_number(field, RULES[name].limits.get(field, LIMITS.get(field)), value)


def _owners(field: str) -> str:
    owners = [name for name in RULES if field in fields_of(name)]
    return f". {field} is a field of train.{', '.join(owners)}" if owners else ""


def read_settings(name: str, given: Mapping[str, Any]) -> Settings:
    """All settings of an optimizer. None is the default of fields that are off by default, and of epsilon."""
    defaults = {**DEFAULTS, **RULES[name].defaults}
    settings = dict(defaults)
    fields = fields_of(name)
    for field, value in given.items():
        if field not in fields:
            expected = f"the fields of train.{name} (learning_rate, {', '.join(fields)}, dense, name)"
            raise TypeError(message(field, expected, shown(value)) + _owners(field))
        if value is None and (field == "epsilon" or defaults[field] is None):
            continue
        settings[field] = _read(name, field, value)
    low, high = settings["clip_weight_min"], settings["clip_weight_max"]
    if low is not None and high is not None and low > high:
        raise value_error("clip_weight_min", f"a number <= clip_weight_max ({high})", low)
    return settings
