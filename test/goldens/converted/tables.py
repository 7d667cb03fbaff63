"""Lookup tables."""
import numpy as np
import tensorflow as tf

from .cases import case, f, i, ints, s, texts, wide

K, V = tf.lookup.KeyValueTensorInitializer, tf.lookup.StaticHashTable
WORDS = ["a", "bc", "zebra", "12"]


def static(keys, values, default):
    def prepare(module):
        module.lookup = V(K(tf.constant(keys[0], keys[1]), tf.constant(values[0], values[1])), default)

    return prepare


case("table of words", lambda m, x: m.lookup.lookup(x), s(6), prepare=static((WORDS, tf.string), ([3, 1, 4, 1], tf.int64), -1))
case("table of words to int32", lambda m, x: m.lookup.lookup(x), s(2, 3), prepare=static((WORDS, tf.string), ([3, 1, 4, 1], tf.int32), -1))
case("table of words to fractions", lambda m, x: m.lookup.lookup(x), s(6), prepare=static((WORDS, tf.string), ([0.5, 1, 2, 3], tf.float32), -1.0))
case("table of numbers", lambda m, x: m.lookup.lookup(x), wide(0, 6, 6), prepare=static(([1, 3, 5], tf.int64), ([30, 10, 40], tf.int64), 0))
case("table of numbers to words", lambda m, x: m.lookup.lookup(x), wide(0, 6, 6), prepare=static(([1, 3, 5], tf.int64), (["x", "y", "z"], tf.string), "?"))
case("table of int32 to words", lambda m, x: m.lookup.lookup(x), i(0, 6, 6), prepare=static(([1, 3, 5], tf.int32), (["x", "y", "z"], tf.string), "?"))
case("size of a table", lambda m, x: m.lookup.size() + tf.cast(tf.shape(x)[0], tf.int64), s(3), prepare=static((WORDS, tf.string), ([3, 1, 4, 1], tf.int64), -1))
case("table of nothing", lambda m, x: m.lookup.lookup(x), s(0), prepare=static((WORDS, tf.string), ([3, 1, 4, 1], tf.int64), -1))
case("table then rows", lambda m, x: tf.gather(tf.constant(f(6, 3)), m.lookup.lookup(x)), s(4), prepare=static((WORDS, tf.string), ([3, 1, 4, 1], tf.int64), 0))
case("table of ragged words", lambda m, x: m.lookup.lookup(tf.strings.split(x)).to_tensor(-5), texts("a bc", "", "zebra x a"), prepare=static((WORDS, tf.string), ([3, 1, 4, 1], tf.int64), -1))


def vocabulary(module):
    module.lookup = tf.lookup.StaticVocabularyTable(K(tf.constant(WORDS), tf.range(4, dtype=tf.int64)), 3)


case("vocabulary with buckets", lambda m, x: m.lookup.lookup(x), s(8), prepare=vocabulary)


def two(module):
    static((WORDS, tf.string), ([3, 1, 4, 1], tf.int64), -1)(module)
    module.back = V(K(tf.constant([3, 4, 1], tf.int64), tf.constant(["p", "q", "r"])), "?")


case("tables one after the other", lambda m, x: m.back.lookup(m.lookup.lookup(x)), s(6), prepare=two)
case("table in a branch", lambda m, x: tf.cond(tf.shape(x)[0] > 2, lambda: m.lookup.lookup(x), lambda: tf.zeros([1], tf.int64)), s(4), prepare=static((WORDS, tf.string), ([3, 1, 4, 1], tf.int64), -1))
case("table in a loop", lambda m, x: tf.map_fn(m.lookup.lookup, x, fn_output_signature=tf.int64), s(4), prepare=static((WORDS, tf.string), ([3, 1, 4, 1], tf.int64), -1))


def mutable(x, y, q):
    table = tf.raw_ops.MutableHashTableV2(key_dtype=x.dtype, value_dtype=y.dtype)
    with tf.control_dependencies([tf.raw_ops.LookupTableInsertV2(table_handle=table, keys=x, values=y)]):
        found = tf.raw_ops.LookupTableFindV2(table_handle=table, keys=q, default_value=tf.constant(-1, y.dtype))
        size = tf.raw_ops.LookupTableSizeV2(table_handle=table)
    return found, size


case("mutable table", mutable, wide(0, 5, 4), wide(0, 9, 4), wide(0, 7, 5), style="v1")
case("mutable table of words", mutable, s(4), wide(0, 9, 4), s(5), style="v1")
case("mutable table of fractions", mutable, wide(0, 5, 4), f(4), wide(0, 7, 5), style="v1")
case("mutable table, function", mutable, wide(0, 5, 4), wide(0, 9, 4), wide(0, 7, 5))


def removed(x, y, q):
    table = tf.raw_ops.MutableHashTableV2(key_dtype=x.dtype, value_dtype=y.dtype)
    with tf.control_dependencies([tf.raw_ops.LookupTableInsertV2(table_handle=table, keys=x, values=y)]):
        gone = tf.raw_ops.LookupTableRemoveV2(table_handle=table, keys=x[:2])
    with tf.control_dependencies([gone]):
        return tf.raw_ops.LookupTableFindV2(table_handle=table, keys=q, default_value=tf.constant(-1, y.dtype))


case("mutable table, keys removed", removed, wide(0, 5, 4), wide(0, 9, 4), wide(0, 7, 5), style="v1")


def dense(x, y, q):
    table = tf.raw_ops.MutableDenseHashTableV2(empty_key=tf.constant(-1, tf.int64), deleted_key=tf.constant(-2, tf.int64), value_dtype=y.dtype)
    with tf.control_dependencies([tf.raw_ops.LookupTableInsertV2(table_handle=table, keys=x, values=y)]):
        return tf.raw_ops.LookupTableFindV2(table_handle=table, keys=q, default_value=tf.constant(-1, y.dtype))


case("dense table", dense, wide(0, 5, 4), wide(0, 9, 4), wide(0, 7, 5), style="v1")
case("dense table that is asked for its empty key", dense, wide(0, 5, 4), wide(0, 9, 4), np.array([1, -1], np.int64), style="v1")
