"""What each row-sparse optimizer reads, keeps and runs: the tables of src/rules in TypeScript; a test compares them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Settings = Mapping[str, Any]

# Slots of each update kernel, in the order in which it takes them; names as in saved models.
SLOTS: Mapping[str, tuple[str, ...]] = {
    "Sgd": (),
    "Adagrad": ("accumulators",),
    "RowWiseAdagrad": ("accumulators",),
    "AdagradMomentum": ("accumulators", "momenta"),
    "Adam": ("momenta", "velocities"),
    "Ftrl": ("accumulators", "linears"),
    "Rmsprop": ("velocities",),
    "RmspropMomentum": ("velocities", "momenta"),
    "RmspropCentered": ("velocities", "averageGradients"),
    "RmspropCenteredMomentum": ("velocities", "averageGradients", "momenta"),
    "Momentum": ("momenta",),
    "Amsgrad": ("momenta", "velocities", "velocityMaxima"),
    "AdamByRow": ("momenta", "velocities", "steps"),
    "AdamWByRow": ("momenta", "velocities", "steps"),
    "AmsgradByRow": ("momenta", "velocities", "velocityMaxima", "steps"),
}

# Of updates where they do, how many of the last slots hold one number per row.
ROW_SLOTS: Mapping[str, int] = {"RowWiseAdagrad": 1, "AdamByRow": 1, "AdamWByRow": 1, "AmsgradByRow": 1}

# Numbers that a kernel takes, in its order, with values that change nothing.
NEUTRAL_HYPER: Mapping[str, float] = {
    "learning_rate": 0.0,
    "epsilon": 0.0,
    "momentum": 0.0,
    "use_nesterov": 0.0,
    "exponent": 2.0,
    "beta1": 0.0,
    "beta2": 1.0,
    "correction1": 1.0,
    "correction2": 1.0,
    "sum_inside_sqrt": 0.0,
    "lazy": 1.0,
    "learning_rate_power": -0.5,
    "l1": 0.0,
    "l2": 0.0,
    "beta": 0.0,
    "multiply_linear_by_learning_rate": 0.0,
    "clip_gradient_min": -math.inf,
    "clip_gradient_max": math.inf,
    "clip_norm": 0.0,
    "clip_weight_min": -math.inf,
    "clip_weight_max": math.inf,
    "weight_decay": 0.0,
    "idle_decay": 0.0,
    "constraint": 0.0,
    "constraint_min": 0.0,
    "constraint_max": 0.0,
    "constraint_rate": 1.0,
    "rounding_key0": 0.0,
    "rounding_key1": 0.0,
    "rounding_key2": 0.0,
    "rounding_key3": 0.0,
}

DEFAULTS: Settings = {
    "initial_accumulator_value": 0.1,
    "momentum": 0.0,
    "use_nesterov": False,
    "nesterov": False,
    "exponent": 2.0,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-7,
    "rho": 0.9,
    "centered": False,
    "bias_correction": True,
    "amsgrad": False,
    "sum_inside_sqrt": False,
    "lazy": True,
    "learning_rate_power": -0.5,
    "l1": 0.0,
    "l2": 0.0,
    "beta": 0.0,
    "multiply_linear_by_learning_rate": False,
    "clip_value": None,
    "clip_norm": None,
    "global_clip_norm": None,
    "clip_weight_min": None,
    "clip_weight_max": None,
    "weight_decay": None,
    "multiply_weight_decay_by_learning_rate": False,
}

COMMON_FIELDS = (
    "clip_value",
    "clip_norm",
    "global_clip_norm",
    "clip_weight_min",
    "clip_weight_max",
    "weight_decay",
    "multiply_weight_decay_by_learning_rate",
)


@dataclass(frozen=True)
class Limit:
    """Which numbers a field may be, here and as the float32 that kernels take."""

    expected: str
    holds: Callable[[float], bool]


POSITIVE = Limit("a finite number > 0", lambda x: 0 < x < math.inf)
NOT_NEGATIVE = Limit("a finite number >= 0", lambda x: 0 <= x < math.inf)
UP_TO_ONE = Limit("a number in [0, 1]", lambda x: 0 <= x <= 1)
FINITE = Limit("a finite number", math.isfinite)
BELOW_ONE = Limit("a number in [0, 1)", lambda x: 0 <= x < 1)
NOT_POSITIVE = Limit("a finite number <= 0", lambda x: -math.inf < x <= 0)

LIMITS: Mapping[str, Limit] = {
    "initial_accumulator_value": NOT_NEGATIVE,
    "momentum": NOT_NEGATIVE,
    "exponent": POSITIVE,
    "beta1": BELOW_ONE,
    "beta2": BELOW_ONE,
    "epsilon": NOT_NEGATIVE,
    "rho": BELOW_ONE,
    "learning_rate_power": NOT_POSITIVE,
    "l1": NOT_NEGATIVE,
    "l2": NOT_NEGATIVE,
    "beta": NOT_NEGATIVE,
    "clip_norm": POSITIVE,
    "global_clip_norm": POSITIVE,
    "clip_weight_min": FINITE,
    "clip_weight_max": FINITE,
    "weight_decay": NOT_NEGATIVE,
}


@dataclass(frozen=True)
class Rule:
    """An optimizer: its class in saved models, its own fields, and which update its settings ask for."""

    class_name: str
    fields: tuple[str, ...]
    update: Callable[[Settings], str]
    learning_rate: float = 0.01
    defaults: Settings = field(default_factory=dict)
    limits: Mapping[str, Limit] = field(default_factory=dict)
    # Weight decay reaches rows without ids, where those are stepped, and dense variables.
    decays_idle_rows: bool = False
    # The stock optimizer that steps dense variables; None: the rule itself does.
    dense: Callable[[Settings], str | None] = lambda _: None


def _rmsprop(settings: Settings) -> str:
    centered = "Centered" if settings["centered"] else ""
    return f"Rmsprop{centered}{'Momentum' if settings['momentum'] > 0 else ''}"


def _adam(settings: Settings) -> str:
    return "Amsgrad" if settings["amsgrad"] else "Adam"


def _dense_adam(settings: Settings) -> str | None:
    # The stock one knows none of these.
    is_stock = settings["bias_correction"] and not settings["amsgrad"] and not settings["sum_inside_sqrt"]
    return "Adam" if is_stock else None


_STARTS_ABOVE_0 = {"initial_accumulator_value": POSITIVE}

RULES: Mapping[str, Rule] = {
    "sgd": Rule(
        "SGD",
        ("momentum", "nesterov", "lazy"),
        lambda settings: "Momentum" if settings["momentum"] > 0 else "Sgd",
        limits={"momentum": UP_TO_ONE},
        dense=lambda settings: None if settings["momentum"] > 0 else "Sgd",
    ),
    "adagrad": Rule(
        "Adagrad",
        ("initial_accumulator_value", "epsilon"),
        lambda _: "Adagrad",
        limits=_STARTS_ABOVE_0,
        dense=lambda _: "Adagrad",
    ),
    "row_wise_adagrad": Rule(
        "RowWiseAdagrad",
        ("initial_accumulator_value", "epsilon"),
        lambda _: "RowWiseAdagrad",
        limits=_STARTS_ABOVE_0,
        dense=lambda _: "Adagrad",
    ),
    "adagrad_momentum": Rule(
        "AdagradMomentum",
        (
            "initial_accumulator_value",
            "momentum",
            "use_nesterov",
            "exponent",
            "beta2",
            "epsilon",
            "lazy",
        ),
        lambda _: "AdagradMomentum",
        learning_rate=0.001,
        defaults={"initial_accumulator_value": 0.0, "beta2": 1.0, "epsilon": 1e-10},
        limits={"beta2": UP_TO_ONE, "epsilon": POSITIVE},
        dense=lambda _: "Momentum",
    ),
    "adam": Rule(
        "Adam",
        ("beta1", "beta2", "epsilon", "bias_correction", "amsgrad", "sum_inside_sqrt", "lazy"),
        _adam,
        learning_rate=0.001,
        limits={"epsilon": POSITIVE},
        dense=_dense_adam,
    ),
    "ftrl": Rule(
        "Ftrl",
        (
            "initial_accumulator_value",
            "learning_rate_power",
            "l1",
            "l2",
            "beta",
            "multiply_linear_by_learning_rate",
        ),
        lambda _: "Ftrl",
        learning_rate=0.001,
        limits=_STARTS_ABOVE_0,
        dense=lambda _: "Adagrad",
    ),
    "adam_w": Rule(
        "AdamW",
        ("beta1", "beta2", "epsilon", "amsgrad", "lazy"),
        _adam,
        learning_rate=0.001,
        defaults={"weight_decay": 0.004, "multiply_weight_decay_by_learning_rate": True},
        limits={"epsilon": POSITIVE},
        decays_idle_rows=True,
    ),
    "rmsprop": Rule(
        "RMSprop",
        ("rho", "momentum", "epsilon", "centered", "lazy"),
        _rmsprop,
        learning_rate=0.001,
        limits={"epsilon": POSITIVE, "momentum": UP_TO_ONE},
    ),
}


def fields_of(name: str) -> tuple[str, ...]:
    """The fields of an optimizer beside its learning rate, the common ones first."""
    return COMMON_FIELDS + RULES[name].fields


def hyper_of(name: str, settings: Settings, step: Any, rate: Any, sqrt: Callable[[Any], Any]) -> dict:
    """The numbers of step `step` (from 1), which, as the rate, is a float or a float64 tensor."""
    rule = RULES[name]
    decay: Any = settings["weight_decay"] or 0.0
    if decay and settings["multiply_weight_decay_by_learning_rate"]:
        decay = decay * rate
    hyper: dict[str, Any] = dict(NEUTRAL_HYPER)
    hyper.update({each: float(settings[each]) for each in rule.fields if each in hyper})
    low, high = settings["clip_value"] or (None, None)
    limits = {
        "clip_gradient_min": low,
        "clip_gradient_max": high,
        "clip_norm": settings["clip_norm"],
        "clip_weight_min": settings["clip_weight_min"],
        "clip_weight_max": settings["clip_weight_max"],
    }
    hyper.update({each: value for each, value in limits.items() if value is not None})
    hyper["learning_rate"] = rate
    hyper["weight_decay"] = decay
    hyper["idle_decay"] = decay if rule.decays_idle_rows else 0.0
    if name == "sgd":
        hyper["use_nesterov"] = float(settings["nesterov"])
    if name == "rmsprop":
        hyper["beta2"] = settings["rho"]
    if name in ("adam", "adam_w") and settings["bias_correction"]:
        hyper["correction1"] = 1 - settings["beta1"] ** step
        hyper["correction2"] = 1 - settings["beta2"] ** step
        # The epsilon of Keras stands beside the root before its correction.
        if name == "adam_w" or settings["amsgrad"]:
            hyper["epsilon"] = settings["epsilon"] / sqrt(hyper["correction2"])
    return hyper
