"""Checks, most of which nothing reads."""
import numpy as np
import tensorflow as tf

from .cases import case, f, i, ints, lengths, splits, texts

D = tf.debugging


def after(check, result):
    """What comes after a check."""
    with tf.control_dependencies([check] if check is not None else []):
        return tf.identity(result)


@tf.function
def checked(x):
    assert tf.reduce_all(x > 0), "not positive"
    return x * 2


GOOD, BAD = ints(1, 2, 3), ints(1, -2, 3)
for name, x in (("holds", GOOD), ("fails", BAD)):
    case(f"assert before a result: {name}", lambda x: after(D.Assert(tf.reduce_all(x > 0), [x]), x * 2), x)
    case(f"assert that nothing reads: {name}", lambda x: [D.Assert(tf.reduce_all(x > 0), [x]), x * 2][1], x)
    case(f"assert before a constant: {name}", lambda x: after(D.Assert(tf.reduce_all(x > 0), [x]), tf.constant([5.0, 6.0])), x)
    case(f"assert before a constant that is computed with: {name}", lambda x: after(D.Assert(tf.reduce_all(x > 0), [x]), tf.constant([5, 6, 7])) + x, x)
    case(f"assert_positive: {name}", lambda x: after(D.assert_positive(x), x), x)
    case(f"assert_less: {name}", lambda x: after(D.assert_less(-x, 2, message="too large"), x + 1), x)
    case(f"assert_equal: {name}", lambda x: after(D.assert_equal(x, tf.abs(x)), x + 1), x)
    case(f"assert in a branch: {name}", lambda x: tf.cond(tf.size(x) > 2, lambda: after(D.Assert(tf.reduce_all(x > 0), [x]), x), lambda: x), x)
    case(f"assert in a branch that is not taken: {name}", lambda x: tf.cond(tf.size(x) > 9, lambda: after(D.Assert(tf.reduce_all(x > 0), [x]), x), lambda: x), x)
    case(f"assert in a branch that nothing reads: {name}", lambda x: tf.cond(tf.size(x) > 2, lambda: [D.Assert(tf.reduce_all(x > 0), [x]), x + 1][1], lambda: x), x)
    case(f"assert in a branch before a constant: {name}", lambda x: tf.cond(tf.size(x) > 2, lambda: after(D.Assert(tf.reduce_all(x > 0), [x]), tf.constant(1)), lambda: tf.constant(2)), x)
    case(f"assert in a loop: {name}", lambda x: tf.while_loop(lambda at, y: at < 3, lambda at, y: (at + 1, after(D.Assert(x[at] > 0, [x]), y + x[at])), (0, 0)), x)
    case(f"assert in a loop that nothing reads: {name}", lambda x: tf.while_loop(lambda at, y: at < 3, lambda at, y: [D.Assert(x[at] > 0, [x]), (at + 1, y + x[at])][1], (0, 0)), x)
    case(f"assert in a loop before a constant: {name}", lambda x: tf.while_loop(lambda at, y: at < 3, lambda at, y: (at + 1, after(D.Assert(x[at] > 0, [x]), tf.constant(7))), (0, 0)), x)
    case(f"assert in map_fn: {name}", lambda x: tf.map_fn(lambda each: after(D.assert_positive(each), each * 2), x), x)
    case(f"assert in map_fn that nothing reads: {name}", lambda x: tf.map_fn(lambda each: [D.assert_positive(each), each * 2][1], x), x)
    case(f"assert in a call: {name}", lambda x: tf.function(lambda y: [D.assert_positive(y), y * 2][1])(x), x)
    case(f"assert, old: {name}", lambda x: after(tf.compat.v1.Assert(tf.reduce_all(x > 0), [x]), x * 2), x, style="v1")
    case(f"assert_positive, old: {name}", lambda x: after(tf.compat.v1.assert_positive(x), x * 2), x, style="v1")
    case(f"assert in a branch, old: {name}", lambda x: tf.cond(tf.size(x) > 2, lambda: after(tf.compat.v1.Assert(tf.reduce_all(x > 0), [x]), x), lambda: x), x, style="v1")
    case(f"assert in a branch not taken, old: {name}", lambda x: tf.cond(tf.size(x) > 9, lambda: after(tf.compat.v1.Assert(tf.reduce_all(x > 0), [x]), x), lambda: x), x, style="v1")
    case(f"assert in a loop, old: {name}", lambda x: tf.while_loop(lambda at, y: at < 3, lambda at, y: (at + 1, after(tf.compat.v1.Assert(x[at] > 0, [x]), y + x[at])), (0, 0)), x, style="v1")
    case(f"group of asserts: {name}", lambda x: after(tf.group(D.assert_positive(x), D.assert_less(x, 10)), x), x)
    case(f"assert of an order of asserts: {name}", lambda x: after(D.Assert(after(D.assert_less(x, 10), tf.reduce_all(x > 0)), [x]), tf.constant(3)), x)
    case(f"assert by autograph: {name}", lambda x: checked(x), x)
    case(f"assert beside a lookup: {name}", lambda x: after(D.assert_non_negative(x), tf.gather(tf.reshape(tf.range(20.0), [10, 2]), tf.abs(x))), x)
    case(f"assert_shapes: {name}", lambda x: after(D.assert_equal(tf.shape(x)[0], 3 if name == "holds" else 4), x), x)
    case(f"assert of texts: {name}", lambda x: after(D.Assert(tf.reduce_all(x > 0), [tf.constant("told"), x]), x), x)


case("assert_rank", lambda x: after(D.assert_rank(x, 2), x), f(2, 3))
case("assert_type", lambda x: [D.assert_type(x, tf.float32), x][1], f(2))
case("assert_near holds", lambda x: after(D.assert_near(x, x + 1e-8), x), f(3))
case("assert_near fails", lambda x: after(D.assert_near(x, x + 1.0), x), f(3))
case("assert_all_finite holds", lambda x: D.assert_all_finite(x, "odd"), f(3))
case("assert_all_finite fails", lambda x: D.assert_all_finite(x, "odd"), np.array([1, np.nan], np.float32))
case("check_numerics in a sum fails", lambda x: tf.debugging.check_numerics(x, "odd") + 1.0, np.array([1, np.inf], np.float32))
case("assert_non_negative of nothing", lambda x: after(D.assert_non_negative(x), x), i(0, 1, 0))
case("assert_scalar", lambda x: after(D.assert_scalar(tf.reduce_sum(x)), x), f(3))
case("assert_proper_iterable", lambda x: after(D.assert_integer(x), x), i(0, 3, 3))
case("assert_increasing", lambda x: after(D.Assert(tf.math.is_strictly_increasing(x), [x]), x), ints(1, 3, 2))
case("ragged checks hold", lambda v, n: tf.RaggedTensor.from_row_lengths(v, n).to_tensor(), f(4), ints(1, 0, 3))
case("ragged checks fail", lambda v, n: tf.RaggedTensor.from_row_lengths(v, n).to_tensor(), f(4), ints(1, -1, 4))
