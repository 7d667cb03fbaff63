"""Arrays and lists of tensors."""
import numpy as np
import tensorflow as tf

from .cases import case, f, i, ints, s, texts, wide

TA = tf.TensorArray


def of(x, **options):
    return TA(x.dtype, tf.shape(x)[0], **options).unstack(x)


for style in ("v1", "v2"):
    old = ", old" if style == "v1" else ""
    add = lambda name, run, *inputs: case(f"array {name}{old}", run, *inputs, style=style)
    add("stacked", lambda x: of(x).stack(), f(3, 2))
    add("of texts", lambda x: of(x).stack(), s(3))
    add("of whole numbers", lambda x: of(x).gather([2, 0, 0]), i(0, 9, 3))
    add("of nothing", lambda x: [of(x, element_shape=[2]).stack(), of(x).size()], f(0, 2))
    add("read", lambda x: [of(x, clear_after_read=False).read(1), of(x).read(0)], f(3, 2))
    add("read past the end", lambda x, n: of(x).read(n), f(3, 2), i(3, 4))
    add("read before the start", lambda x, n: of(x).read(n), f(3, 2), ints(-1).reshape(()))
    add("written in part", lambda x: TA(tf.float32, 4, element_shape=[2]).write(1, x[0]).write(3, x[1]).stack(), f(2, 2))
    add("written in part, sizes of the elements unknown", lambda x: TA(tf.float32, 3, infer_shape=False).write(1, x[0]).stack(), f(2, 2))
    add("that grows", lambda x: TA(tf.float32, 0, dynamic_size=True, element_shape=[2]).write(0, x[0]).write(2, x[1]).stack(), f(2, 2))
    add("written past the end", lambda x, n: TA(tf.float32, 2, element_shape=[2]).write(n, x[0]).stack(), f(2, 2), i(2, 3))
    add("written twice", lambda x: TA(tf.float32, 2, element_shape=[2]).write(0, x[0]).write(0, x[1]).stack(), f(2, 2))
    add("scattered", lambda x: TA(tf.float32, 5, element_shape=[2]).scatter([4, 1, 0], x).stack(), f(3, 2))
    add("concat", lambda x: TA(tf.float32, 2, infer_shape=False).write(0, x[:1]).write(1, x[1:]).concat(), f(4, 2))
    add("concat of equal rows", lambda x: TA(tf.float32, 2).write(0, x[:2]).write(1, x[2:]).concat(), f(4, 2))
    add("split", lambda x, n: TA(tf.float32, 3, infer_shape=False).split(x, n).concat(), f(5, 2), ints(2, 0, 3))
    add("split and read", lambda x, n: TA(tf.float32, 3, infer_shape=False, element_shape=None).split(x, n).read(2), f(5, 2), ints(2, 0, 3))
    add("split in 0 pieces", lambda x, n: TA(tf.float32, 0, infer_shape=False).split(x, n).size(), f(0, 2), i(0, 1, 0))
    add("split in 0 pieces of 3", lambda x, n: TA(tf.float32, 3, infer_shape=False).split(x, n).size(), f(0, 2), i(0, 1, 0))
    add("split in 0 pieces, joined", lambda x, n: TA(tf.float32, 0, infer_shape=False, element_shape=[None, 2]).split(x, n).concat(), f(0, 2), i(0, 1, 0))
    add("split of rows in 0 pieces", lambda x, n: TA(tf.float32, 0, infer_shape=False).split(x, n).size(), f(2, 2), i(0, 1, 0))
    add("split in 0 pieces that grows", lambda x, n: TA(tf.float32, 0, dynamic_size=True, infer_shape=False).split(x, n).size(), f(0, 2), i(0, 1, 0))
    add("split that does not add up", lambda x, n: TA(tf.float32, 2, infer_shape=False).split(x, n).concat(), f(5, 2), ints(2, 2))
    add("split of a wrong number", lambda x, n: TA(tf.float32, 4, infer_shape=False).split(x, n).concat(), f(5, 2), ints(2, 3))
    add("size", lambda x: of(x).size(), f(3, 2))
    add("gathered past the end", lambda x, at: of(x).gather(at), f(3, 2), ints(0, 3))
    add("gathered none", lambda x, at: of(x, element_shape=[2]).gather(at), f(3, 2), i(0, 1, 0))
    add("elements of other shapes", lambda x: TA(tf.float32, 2, infer_shape=False).write(0, x[:1]).write(1, x[1:]).stack(), f(4, 2))

L = tf.raw_ops
R = lambda x, n, shape=(2,): L.TensorListReserve(element_shape=tf.constant(shape, tf.int32), num_elements=n, element_dtype=x.dtype)
stacked = lambda handle, x, shape=(2,): L.TensorListStack(input_handle=handle, element_shape=tf.constant(shape, tf.int32), element_dtype=x.dtype)
case("list reserved", lambda x, n: stacked(R(x, n), x), f(1, 2), i(1, 4))
case("list reserved, none", lambda x: stacked(R(x, 0), x), f(1, 2))
case("list set and got", lambda x: L.TensorListGetItem(input_handle=L.TensorListSetItem(input_handle=R(x, 3), index=1, item=x[0]), index=1, element_shape=[2], element_dtype=tf.float32), f(1, 2))
case("list got that nobody wrote", lambda x: L.TensorListGetItem(input_handle=L.TensorListSetItem(input_handle=R(x, 3), index=1, item=x[0]), index=0, element_shape=[2], element_dtype=tf.float32), f(1, 2))
case("list got past the end", lambda x, n: L.TensorListGetItem(input_handle=R(x, 3), index=n, element_shape=[2], element_dtype=tf.float32), f(1, 2), i(3, 4))
case("list set past the end", lambda x, n: stacked(L.TensorListSetItem(input_handle=R(x, 3), index=n, item=x[0]), x), f(1, 2), i(3, 4))
case("list pushed and popped", lambda x: L.TensorListPopBack(input_handle=L.TensorListPushBack(input_handle=L.TensorListFromTensor(tensor=x, element_shape=[2]), tensor=x[0] * 2.0), element_shape=[2], element_dtype=tf.float32)[1], f(3, 2))
case("list popped of nothing", lambda x, n: L.TensorListPopBack(input_handle=R(x, n), element_shape=[2], element_dtype=tf.float32)[1], f(3, 2), i(0, 1))
case("list length", lambda x: L.TensorListLength(input_handle=L.TensorListFromTensor(tensor=x, element_shape=[2])), f(3, 2))
case("list resized", lambda x, n: stacked(L.TensorListResize(input_handle=L.TensorListFromTensor(tensor=x, element_shape=[2]), size=n), x), f(3, 2), i(1, 6))
case("list gathered", lambda x, at: L.TensorListGather(input_handle=L.TensorListFromTensor(tensor=x, element_shape=[2]), indices=at, element_shape=[2], element_dtype=tf.float32), f(3, 2), i(0, 3, 4))
case("list scattered", lambda x, at: stacked(L.TensorListScatterV2(tensor=x, indices=at, element_shape=[2], num_elements=6), x), f(3, 2), ints(5, 0, 2))
case("list scattered to -1", lambda x, at: stacked(L.TensorListScatterV2(tensor=x, indices=at, element_shape=[2], num_elements=-1), x), f(3, 2), ints(5, 0, 2))
case("list scattered before the start", lambda x, at: stacked(L.TensorListScatterV2(tensor=x, indices=at, element_shape=[2], num_elements=-1), x), f(2, 2), ints(-1, 0))
case("list split and joined", lambda x, n: L.TensorListConcatV2(input_handle=L.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=n), element_shape=[-1, 2], leading_dims=tf.constant([], tf.int64), element_dtype=tf.float32), f(5, 2), np.array([2, 0, 3], np.int64))
case("list two joined", lambda x: stacked(L.TensorListConcatLists(input_a=L.TensorListFromTensor(tensor=x, element_shape=[2]), input_b=L.TensorListFromTensor(tensor=x, element_shape=[2]), element_dtype=tf.float32), x), f(3, 2))
case("list elements of another shape", lambda x: stacked(L.TensorListFromTensor(tensor=x, element_shape=[3]), x, (3,)), f(3, 2))
case("list of texts", lambda x: stacked(L.TensorListSetItem(input_handle=L.TensorListReserve(element_shape=[2], num_elements=2, element_dtype=tf.string), index=1, item=x), x), s(2), static=True)
case("list a list stays as it was", lambda x: (lambda handle: [stacked(L.TensorListSetItem(input_handle=handle, index=0, item=x[1]), x), stacked(handle, x)])(L.TensorListFromTensor(tensor=x, element_shape=[2])), f(3, 2))
case("list stack of a wrong number", lambda x: L.TensorListStack(input_handle=L.TensorListFromTensor(tensor=x, element_shape=[2]), element_shape=[2], element_dtype=tf.float32, num_elements=5), f(3, 2))
