"""Loops and branches."""
import numpy as np
import tensorflow as tf

from .cases import b, case, f, i, ints, s, texts


def loop(run):
    return tf.function(run, autograph=True)


for name, at in (("taken", 3), ("not taken", -3)):
    case(f"cond, {name}", lambda x, n: tf.cond(n > 0, lambda: x * 2.0, lambda: x - 1.0), f(3), ints(at).reshape(()))
    case(f"cond of two outputs, {name}", lambda x, n: tf.cond(n > 0, lambda: (x, n), lambda: (x - 1.0, n + 1)), f(3), ints(at).reshape(()))
    case(f"cond with shapes, {name}", lambda x, n: tf.cond(n > 0, lambda: tf.concat([x, x], 0), lambda: x[:1]), f(3), ints(at).reshape(()))
    case(f"cond of texts, {name}", lambda x, n: tf.cond(n > 0, lambda: tf.reverse(x, [0]), lambda: tf.gather(x, [0])), s(3), ints(at).reshape(()))
    case(f"cond in cond, {name}", lambda x, n: tf.cond(n > 0, lambda: tf.cond(n > 5, lambda: x, lambda: x * 3.0), lambda: tf.cond(n < -1, lambda: -x, lambda: x)), f(3), ints(at).reshape(()))
    case(f"cond without inputs, {name}", lambda n: tf.cond(n > 0, lambda: tf.constant([1, 2]), lambda: tf.constant([3])), ints(at).reshape(()))
    case(f"cond of gradients, {name}", lambda x, n: tf.gradients(tf.cond(n > 0, lambda: tf.reduce_sum(x * x), lambda: tf.reduce_sum(x)), x), f(3), ints(at).reshape(()))
case("case", lambda x, n: tf.case([(n > 3, lambda: x), (n > 1, lambda: x * 2.0)], default=lambda: -x), f(3), i(0, 5))
for n in (-1, 0, 1, 2, 7):
    case(f"switch_case at {n}", lambda x, n: tf.switch_case(n, [lambda: x, lambda: x * 2.0, lambda: -x]), f(3), ints(n).reshape(()))
for n in (0, 1, 4):
    N = ints(n).reshape(())
    case(f"while, {n} times", lambda x, n: tf.while_loop(lambda at, y: at < n, lambda at, y: (at + 1, y * 1.5), (0, x)), f(3), N)
    case(f"while that grows, {n} times", lambda x, n: tf.while_loop(lambda at, y: at < n, lambda at, y: (at + 1, tf.concat([y, x], 0)), (0, x), shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 2]))), f(1, 2), N)
    case(f"while in while, {n} times", lambda x, n: tf.while_loop(lambda at, y: at < n, lambda at, y: (at + 1, tf.while_loop(lambda k, z: k < at, lambda k, z: (k + 1, z + 1.0), (0, y))[1]), (0, x)), f(2), N)
    case(f"while with cond, {n} times", lambda x, n: tf.while_loop(lambda at, y: at < n, lambda at, y: (at + 1, tf.cond(at % 2 == 0, lambda: y + 1.0, lambda: y * 2.0)), (0, x)), f(2), N)
    case(f"while of texts, {n} times", lambda x, n: tf.while_loop(lambda at, y: at < n, lambda at, y: (at + 1, tf.reverse(y, [0])), (0, x)), s(3), N)
    case(f"while with an array, {n} times", lambda n: tf.while_loop(lambda at, a: at < n, lambda at, a: (at + 1, a.write(at, tf.cast(at, tf.float32))), (0, tf.TensorArray(tf.float32, n)))[1].stack(), N)
    case(f"while with an array that grows, {n} times", lambda n: tf.while_loop(lambda at, a: at < n, lambda at, a: (at + 1, a.write(at, [at, at])), (0, tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[2])))[1].stack(), N)
    case(f"while, gradient, {n} times", lambda x, n: tf.gradients(tf.while_loop(lambda at, y: at < n, lambda at, y: (at + 1, y * x), (0, x))[1], x), f(3), N)
    case(f"while over a constant, {n} times", lambda n: tf.while_loop(lambda at, y: at < n, lambda at, y: (at + 1, y + tf.reduce_sum(tf.constant([1.0, 2.0]))), (0, 0.0)), N)
    case(f"while, old, {n} times", lambda x, n: tf.while_loop(lambda at, y: at < n, lambda at, y: (at + 1, y * 1.5), (0, x)), f(3), N, style="v1")
    case(f"while with an array, old, {n} times", lambda n: tf.while_loop(lambda at, a: at < n, lambda at, a: (at + 1, a.write(at, tf.cast(at, tf.float32))), (0, tf.TensorArray(tf.float32, n, element_shape=[])))[1].stack(), N, style="v1")
    case(f"while with cond, old, {n} times", lambda x, n: tf.while_loop(lambda at, y: at < n, lambda at, y: (at + 1, tf.cond(tf.equal(at % 2, 0), lambda: y + 1.0, lambda: y * 2.0)), (0, x)), f(2), N, style="v1")
for rows in (0, 1, 4):
    case(f"map_fn over {rows} rows", lambda x: tf.map_fn(lambda row: row * 2.0, x), f(rows, 3))
    case(f"map_fn over {rows} rows of two", lambda x, y: tf.map_fn(lambda pair: pair[0] * tf.cast(pair[1], tf.float32), (x, y), fn_output_signature=tf.float32), f(rows, 3), i(0, 5, rows))
    case(f"map_fn over {rows} rows to two", lambda x: tf.map_fn(lambda row: (tf.reduce_sum(row), row > 0.0), x, fn_output_signature=(tf.float32, tf.bool)), f(rows, 3))
    case(f"map_fn over {rows} texts", lambda x: tf.map_fn(lambda each: tf.equal(each, "a"), x, fn_output_signature=tf.bool), s(rows))
    case(f"map_fn over {rows} texts to texts", lambda x: tf.map_fn(lambda row: tf.reverse(row, [0]), x), s(rows, 2))
    case(f"map_fn over {rows} rows of whole numbers", lambda x: tf.map_fn(lambda row: tf.reduce_max(row), x), i(-9, 9, rows, 3))
    case(f"map_fn over {rows} rows of truth", lambda x: tf.map_fn(tf.reduce_any, x), b(rows, 3))
    case(f"map_fn in map_fn over {rows} rows", lambda x: tf.map_fn(lambda row: tf.map_fn(lambda each: each + 1.0, row), x), f(rows, 2))
    case(f"map_fn over {rows} rows, old", lambda x: tf.map_fn(lambda row: row * 2.0, x), f(rows, 3), style="v1", static=True)
    case(f"vectorized_map over {rows} rows", lambda x: tf.vectorized_map(lambda row: row * tf.reduce_sum(row), x), f(rows, 3))
    case(f"scan over {rows} rows", lambda x: tf.scan(lambda total, row: total + row, x), f(rows, 3))
    case(f"scan over {rows} rows, begun", lambda x: tf.scan(lambda total, row: total * 0.5 + row, x, initializer=tf.ones([3])), f(rows, 3))
    case(f"scan over {rows} rows, backwards", lambda x: tf.scan(lambda total, row: total + row, x, reverse=True, initializer=tf.zeros([3])), f(rows, 3))
    case(f"foldl over {rows} rows", lambda x: tf.foldl(lambda total, row: total + row, x, initializer=tf.zeros([3])), f(rows, 3))
    case(f"foldr over {rows} rows", lambda x: tf.foldr(lambda total, row: total * 0.5 + row, x, initializer=tf.zeros([3])), f(rows, 3))


def break_early(x, n):
    total = tf.constant(0.0)
    for row in x:
        if row < 0.0:
            continue
        if total > 4.0:
            break
        total += row
    return total, n


def append(x, n):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
    for at in tf.range(n):
        array = array.write(at, x[at] * 2.0)
    return array.stack(), array.size()


def collatz(n, steps):
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return n, steps


case("autograph with break and continue", lambda x, n: loop(break_early)(x, n), f(6), i(0, 2))
case("autograph that appends", lambda x, n: loop(append)(x, n), f(6), i(1, 6))
case("autograph while with if", lambda n, steps: loop(collatz)(n, steps), ints(7).reshape(()), ints(0).reshape(()))
case("while without inputs", lambda x: x + tf.while_loop(lambda at: at < 5, lambda at: (at + 1,), (tf.constant(0),))[0], i(0, 3, 2))
case("loops one after the other", lambda x, n: tf.while_loop(lambda at, y: at < tf.cast(tf.while_loop(lambda k: k < n, lambda k: (k + 2,), (0,))[0], tf.int32), lambda at, y: (at + 1, y + 1.0), (0, x)), f(2), i(1, 5))
case("a call in a loop", lambda x, n: tf.while_loop(lambda at, y: at < n, lambda at, y: (at + 1, tf.function(lambda z: z * 2.0)(y)), (0, x)), f(2), i(1, 4))
case("a call", lambda x: tf.function(lambda z: tf.nn.relu(z) * 2.0)(x), f(2))
case("group and identity", lambda x: tf.tuple([x, x * 2.0], control_inputs=[tf.group(x)]), f(3))
case("custom gradient", lambda x: tf.gradients(tf.custom_gradient(lambda y: (y * y, lambda dy: dy * 7.0))(x), x), f(3))
case("stop_gradient", lambda x: tf.gradients(x * tf.stop_gradient(x), x), f(3))
case("prevent_gradient", lambda x: tf.raw_ops.PreventGradient(input=x), f(3))
case("print", lambda x: [tf.print(x), x][1], f(2))
case("where in a loop", lambda x: tf.map_fn(lambda row: tf.shape(tf.where(row > 0.0))[0], x, fn_output_signature=tf.int32), f(3, 4))
case("lookup in a loop", lambda x: tf.map_fn(lambda row: tf.reduce_sum(tf.gather(tf.reshape(tf.range(20.0), [10, 2]), row), 0), x, fn_output_signature=tf.float32), i(0, 10, 3, 2))
case("unique in a loop", lambda x: tf.map_fn(lambda row: tf.size(tf.unique(row)[0]), x), i(0, 4, 3, 4))
case("segments in a loop", lambda x: tf.map_fn(lambda row: tf.math.unsorted_segment_sum(row, [0, 1, 0, 1], 2), x), f(3, 4))
case("top_k in a loop", lambda x: tf.map_fn(lambda row: tf.math.top_k(row, 2)[1], x, fn_output_signature=tf.int32), f(3, 4))
case("while, parallel 1", lambda x, n: tf.while_loop(lambda at, y: at < n, lambda at, y: (at + 1, y * 1.5), (0, x), parallel_iterations=1, maximum_iterations=2), f(3), i(3, 5))
case("while of sparse", lambda x: tf.while_loop(lambda at, y: at < 3, lambda at, y: (at + 1, tf.sparse.map_values(lambda z: z + 1.0, y)), (0, tf.sparse.from_dense(x)))[1], f(2, 2))
case("while of ragged", lambda x: tf.while_loop(lambda at, y: at < 3, lambda at, y: (at + 1, y + 1.0), (0, tf.RaggedTensor.from_row_lengths(x, [1, 2], validate=False)))[1], f(3), static=True)
