"""Numbers of types that tfjs lacks: integers of 64 bits, narrow ones, halves; and texts where stock tfjs takes numbers."""
import numpy as np
import tensorflow as tf

from .cases import case, f, i, ints, s, texts, wide


def long(*values):
    return np.array(values, np.int64)


LONG = {
    "square": (lambda x: x * x, long(70000, 3)),
    "sum": (tf.reduce_sum, long(2000000000, 2000000000)),
    "product": (tf.reduce_prod, long(100000, 100000)),
    "running sum": (tf.cumsum, long(2000000000, 1, 2000000000)),
    "power": (lambda x: x**3, long(2000)),
    "matrix": (lambda x: x[:, None] @ x[None], long(100000, 3)),
    "segment sum": (lambda x: tf.math.unsorted_segment_sum(x, [0, 0], 1), long(2000000000, 2000000000)),
    "triple": (lambda x: tf.add_n([x, x, x]), long(1000000000)),
    "sum less one": (lambda x: x + x - 1, long(1500000000)),
    "negative": (lambda x: -x, long(-2000000000, 7)),
    "shifted": (lambda x: tf.bitwise.left_shift(x, tf.constant(33, tf.int64)), long(1, 2)),
    "cast of floats": (lambda x: tf.cast(x, tf.int64), np.array([3e9, 1], np.float32)),
    "largest of none": (lambda x: tf.reduce_max(x, 0), wide(0, 9, 0, 2)),
    "mean": (tf.reduce_mean, long(2000000000, 2000000000)),
    "rest of a hash": (lambda x: (x * 31 + 7) % 1000, long(12345, 5)),
    "hash into 2^31": (lambda x: tf.strings.to_hash_bucket_fast(x, 2**31), s(4)),
    "hash into 2^40": (lambda x: tf.strings.to_hash_bucket_fast(x, 2**40), s(4)),
}
for name, (run, x) in LONG.items():
    case(f"64 bits, {name}", run, x)

WRAPPING = {
    "square": (lambda x: x * x, ints(70000, 3)),
    "sums and products": (lambda x: [tf.reduce_sum(x), tf.cumsum(x), tf.reduce_prod(x)], ints(2000000000, 2000000001, 2000000003)),
    "power": (lambda x: x**3, ints(2000, -3)),
    "negative power": (lambda x: 2 ** -x, ints(1, 0)),
    "mean": (tf.reduce_mean, ints(5, -8, 2)),
}
for name, (run, x) in WRAPPING.items():
    case(f"32 bits, {name}", run, x)

for name in ("int8", "uint8", "int16", "uint16", "uint32", "float16", "bfloat16"):
    kind = getattr(tf, name)
    x = np.array([65519.9, 281, 6e-8, -0.0, 2049, 2051, 0.1], np.float32) if kind.is_floating else i(0 if name == "uint32" else -70000, 70000, 6)
    case(f"casts to {name} and back", lambda x: tf.cast(tf.cast(x, kind), tf.int64 if kind.is_integer else tf.float32), x)
case("sums of int16", lambda x: tf.cast(tf.reduce_sum(tf.cast(x, tf.int16)), tf.int32), i(20000, 30000, 4))
case("squares of uint8", lambda x: tf.cast(tf.square(tf.cast(x, tf.uint8)), tf.int32), i(0, 256, 4))
case("constants of uint8", lambda x: tf.cast(tf.cast(x, tf.uint8) + tf.constant(200, tf.uint8), tf.int32), i(0, 256, 4))
case("uint32 of a negative number", lambda x: tf.cast(tf.cast(x, tf.uint32), tf.int64), ints(-1, 3))
case("sums of halves", lambda x: tf.cast(tf.cast(x, tf.float16) + 1000, tf.float32), f(4))
case("matrices of halves", lambda x: tf.cast(tf.cast(x, tf.float16) @ tf.cast(tf.transpose(x), tf.float16), tf.float32), f(2, 3))
case("truth of odd numbers", lambda x: [tf.cast(x, tf.bool), tf.where(x)], np.array([np.nan, np.inf, -0.0, 1e-30, 0], np.float32))
case("range of fractions, ragged", lambda x: tf.ragged.range(x, x + 2.0, 0.5), f(5))
case("argmax of nothing", lambda x: tf.argmax(x, 0), f(0, 2))
case("sum along an axis twice", lambda x, axis: tf.reduce_sum(x, axis), f(2, 2), ints(1, -1))
case("texts added", lambda x, y: [x + y, x + "!"], s(2, 3), s(3))
case("texts scattered", lambda at, x: tf.raw_ops.ScatterNd(indices=at, updates=x, shape=[4]), ints(3, 1, 3)[:, None], s(3))
case("texts joined and sliced", lambda x, y: [tf.concat([x, y, x], -1)[::-1], x[..., None], x[-1:, :]], s(3, 2), s(3, 1))
case("texts left", lambda x: tf.compat.v1.setdiff1d(x, tf.constant(["a", ""])), texts("a", "b", "", "b"))
