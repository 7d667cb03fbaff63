"""Arithmetic, reductions, products."""
import numpy as np
import tensorflow as tf

from .cases import b, case, f, i, ints, s

A = lambda: (f(2, 3), i(-9, 10, 2, 3))
for name in "reduce_sum reduce_prod reduce_max reduce_min reduce_mean".split():
    run = getattr(tf, name)
    for kind, make in {"float": f, "int": lambda *shape: i(-9, 10, *shape)}.items():
        case(f"{name} of {kind}", lambda x: [run(x), run(x, 0), run(x, [-1], keepdims=True), run(x, [])], make(2, 3))
        case(f"{name} of {kind} of an open axis", lambda x, axis: run(x, axis), make(2, 3), ints(1))
        case(f"{name} of {kind} of nothing", lambda x: [run(x), run(x, 0), run(x, 1, keepdims=True)], make(0, 3))
        case(f"{name} of {kind} of a number", lambda x: run(x), make())
for name in ("reduce_any", "reduce_all"):
    run = getattr(tf, name)
    case(name, lambda x: [run(x), run(x, 0), run(x, [1], keepdims=True), run(x, [])], b(2, 3))
    case(f"{name} of nothing", lambda x: [run(x), run(x, 0), run(x, 1)], b(0, 3))
for name in "reduce_logsumexp reduce_variance reduce_std reduce_euclidean_norm".split():
    run = getattr(tf.math, name)
    case(name, lambda x: [run(x), run(x, 0), run(x, 1, keepdims=True)], f(3, 4))
case("euclidean norm of whole numbers", lambda x: tf.math.reduce_euclidean_norm(x, 1), i(-5, 5, 2, 3))
case("norms", lambda x: [tf.norm(x), tf.norm(x, 1, axis=1), tf.norm(x, np.inf, axis=0), tf.linalg.l2_normalize(x, 1)], f(3, 4))
case("l2_loss", lambda x: tf.nn.l2_loss(x), f(3, 4))
case("count_nonzero", lambda x: [tf.math.count_nonzero(x), tf.math.count_nonzero(x, 0)], i(0, 2, 3, 4))
case("argmax", lambda x: [tf.argmax(x), tf.argmin(x, 1), tf.argmax(x, -1, tf.int32)], f(3, 4))
case("argmax of whole numbers", lambda x: [tf.argmax(x), tf.argmin(x, 1)], i(-5, 5, 3, 4))
case("argmax of truth", lambda x: tf.argmax(x, 1), b(3, 4))
for name in ("cumsum", "cumprod"):
    run = getattr(tf.math, name)
    for kind, make in {"float": f, "int": lambda *shape: i(-3, 4, *shape)}.items():
        case(f"{name} of {kind}", lambda x: [run(x), run(x, 1, exclusive=True), run(x, -1, reverse=True), run(x, 0, True, True)], make(3, 4))
        case(f"{name} of {kind} of nothing", lambda x: run(x), make(0, 4))
case("cumulative logsumexp", lambda x: tf.math.cumulative_logsumexp(x, 1), f(2, 3))

UNARY = """abs ceil cos cosh erf exp expm1 floor log1p negative reciprocal rint round rsqrt sigmoid sign sin sinh softplus sqrt
square tan tanh is_nan is_inf is_finite acos asin atan acosh asinh atanh log log_sigmoid softsign digamma lgamma erfinv bessel_i0e xlogy"""
for name in UNARY.split():
    run = getattr(tf.math, name, None)
    if run is None or name == "xlogy":
        continue
    x = f(3, 4)
    x = np.abs(x) / 4 if name in ("acos", "asin", "atanh", "erfinv") else np.abs(x) + 1.1 if name in ("acosh", "log", "sqrt", "rsqrt", "log1p", "lgamma", "digamma") else x
    case(name, run, x.astype(np.float32))
for name in ("abs", "negative", "sign", "square"):
    case(f"{name} of whole numbers", getattr(tf.math, name), i(-9, 10, 3))
case("rounding of halves", lambda x: [tf.round(x), tf.math.rint(x), tf.floor(x), tf.math.ceil(x)], np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49], np.float32))
case("round of whole numbers", tf.round, i(-9, 10, 3))
for name in "elu gelu leaky_relu relu relu6 selu silu softmax log_softmax crelu".split():
    case(f"nn.{name}", getattr(tf.nn, name), f(2, 4))
case("relu of whole numbers", lambda x: [tf.nn.relu(x), tf.nn.relu6(x)], i(-9, 10, 3))
case("softmax along the first axis", lambda x: [tf.nn.softmax(x, 0), tf.nn.log_softmax(x, 0)], f(3, 4))
case("gelu by tanh", lambda x: tf.nn.gelu(x, approximate=True), f(2, 4))

BINARY = "add subtract multiply divide floordiv floormod truncatediv truncatemod maximum minimum squared_difference pow divide_no_nan atan2"
for name in BINARY.split():
    run = getattr(tf.math, name, None) or getattr(tf, name)
    x, y = f(3, 4), f(4)
    case(f"{name} of fractions", run, (np.abs(x) + 0.1).astype(np.float32) if name == "pow" else x, y)
    case(f"{name} of fractions of nothing", run, f(0, 4), f(1, 4)) if name in ("add", "maximum", "divide", "pow", "atan2") else None
    if name in ("divide_no_nan", "atan2"):
        continue
    other = i(1, 4, 4)
    case(f"{name} of whole numbers", run, i(-9, 10, 3, 4), other if name == "pow" else other * np.where(b(4), 1, -1).astype(np.int32))
case("floordiv by 0", lambda x, y: x // y, i(1, 9, 3), i(0, 1, 3))
case("floormod by 0", lambda x, y: x % y, i(1, 9, 3), i(0, 1, 3))
case("division by 0", lambda x, y: [x / y, tf.math.divide_no_nan(x, y), x // y], f(3), np.zeros(3, np.float32))
case("wrapping whole numbers", lambda x, y: [x + y, x * y, x - y], ints(2**31 - 1, -(2**31), 123456789), ints(1, -1, 987654321))
case("comparisons", lambda x, y: [x < y, x <= y, x > y, x >= y, tf.equal(x, y), tf.not_equal(x, y)], i(0, 3, 3, 4), i(0, 3, 4))
case("comparisons of fractions", lambda x, y: [x < y, x <= y, x > y, x >= y], f(3, 4), f(3, 4))
case("comparisons of nothing", lambda x, y: [x < y, tf.equal(x, y)], f(0, 4), f(0, 4))
case("comparisons with NaN", lambda x: [tf.equal(x, x), x < 1.0, tf.maximum(x, 0.0), tf.reduce_max(x), tf.nn.relu(x), tf.sort(x[1:])], np.array([np.nan, 1, np.inf, -np.inf], np.float32))
case("logic", lambda x, y: [x & y, x | y, x ^ y, ~x], b(3, 4), b(4))
case("logic of nothing", lambda x, y: [x & y, ~x], b(0, 4), b(0, 4))
case("bits", lambda x, y: [tf.bitwise.bitwise_and(x, y), tf.bitwise.bitwise_or(x, y), tf.bitwise.bitwise_xor(x, y), tf.bitwise.invert(x)], i(-99, 99, 3), i(-99, 99, 3))
case("bits, and alone", lambda x, y: tf.bitwise.bitwise_and(x, y), i(-99, 99, 2, 3), i(-99, 99, 3))
case("shifts", lambda x, y: [tf.bitwise.left_shift(x, y), tf.bitwise.right_shift(x, y)], i(-99, 99, 3), i(0, 5, 3))
case("clip", lambda x: [tf.clip_by_value(x, -1.0, 1.0), tf.clip_by_norm(x, 1.0, 1), tf.clip_by_global_norm([x], 1.5)[0]], f(3, 4))
case("clip of whole numbers", lambda x: tf.clip_by_value(x, -2, 3), i(-9, 10, 3))
case("clip of nothing", lambda x: tf.clip_by_value(x, -1.0, 1.0), f(0, 3))
case("clip by raw op", lambda x, y: tf.raw_ops.ClipByValue(t=x, clip_value_min=y, clip_value_max=y + 1.0), f(3), f())
case("add_n", lambda x, y: tf.add_n([x, y, x]), f(2, 3), f(2, 3))
case("add_n of whole numbers", lambda x, y: tf.add_n([x, y, x]), i(0, 9, 2), i(0, 9, 2))
case("accumulate", lambda x, y: tf.math.accumulate_n([x, y]), f(2, 3), f(2, 3))
case("lerp and polyval", lambda x: tf.math.polyval([1.0, 2.0, -1.0], x), f(3))
case("approximately equal", lambda x: tf.raw_ops.ApproximateEqual(x=x, y=x + 1e-6), f(3))
case("bincount", lambda x: [tf.math.bincount(x), tf.math.bincount(x, minlength=8), tf.math.bincount(x, maxlength=3)], i(0, 5, 9))
case("bincount of weights", lambda x, w: tf.math.bincount(x, w), i(0, 5, 9), f(9))
case("bincount of rows", lambda x: [tf.math.bincount(x, axis=-1, minlength=6, maxlength=6), tf.math.bincount(x, axis=-1, binary_output=True)], i(0, 5, 3, 4))
case("bincount of whole weights", lambda x, w: tf.math.bincount(x, w, minlength=6), i(0, 5, 9), i(0, 9, 9))
case("bincount of nothing", lambda x: tf.math.bincount(x, minlength=3), i(0, 5, 0))
case("bincount of negative numbers", lambda x: tf.math.bincount(x), ints(1, -1))
case("bincount, sparse", lambda x: tf.sparse.bincount(x, axis=-1), i(0, 5, 3, 4))

for kind, make in {"float": f, "int": lambda *shape: i(-5, 6, *shape)}.items():
    case(f"matmul of {kind}", lambda x, y: [x @ y, tf.matmul(y, x, transpose_a=True, transpose_b=True)], make(3, 4), make(4, 2))
    case(f"matmul of {kind} batches", lambda x, y: x @ y, make(2, 3, 4), make(2, 4, 2))
    case(f"matmul of {kind} batches, broadcast", lambda x, y: x @ y, make(2, 1, 3, 4), make(5, 4, 2))
    case(f"matmul of {kind} batches, transposed", lambda x, y: tf.matmul(x, y, transpose_b=True), make(2, 3, 4), make(2, 5, 4))
    case(f"matmul of {kind} of nothing", lambda x, y: x @ y, make(0, 4), make(4, 2))
    case(f"matmul of {kind} along nothing", lambda x, y: x @ y, make(3, 0), make(0, 2))
    case(f"matmul of {kind} that does not fit", lambda x, y: x @ tf.reshape(y, [-1, 2]), make(3, 4), make(6))
    case(f"tensordot of {kind}", lambda x, y: tf.tensordot(x, y, [[1, 2], [0, 1]]), make(2, 3, 4), make(3, 4, 2))
    for at, (equation, *shapes) in enumerate([
        ("ij,jk->ik", (2, 3), (3, 4)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)), ("ij->ji", (2, 3)), ("ii->i", (3, 3)), ("ij->", (2, 3)),
        ("i,j->ij", (2,), (3,)), ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 3, 4)), ("...ij,...jk->...ik", (2, 3, 4), (4, 2)), ("ij,ij->i", (2, 3), (2, 3)),
        ("abc,cd->abd", (2, 3, 4), (4, 2)), ("ijk->kij", (2, 3, 4)), ("iij->ij", (2, 2, 3)), ("i,i->", (3,), (3,)), ("ij,kj->ik", (2, 3), (4, 3)), ("b...,...->b...", (2, 3), (3,)),
    ]):
        case(f"einsum {equation} of {kind}", lambda *given: tf.einsum(equation, *given), *[make(*shape) for shape in shapes], static=at % 2 == 0)
case("einsum of three", lambda x, y, z: tf.einsum("ij,jk,kl->il", x, y, z), f(2, 3), f(3, 4), f(4, 2))
case("einsum of nothing", lambda x, y: tf.einsum("ij,jk->ik", x, y), f(0, 3), f(3, 4))
for name in ("relu", "relu6", "elu", "sigmoid", "tanh", "leaky_relu", "gelu", "silu"):
    case(f"dense layer, {name}", lambda x, w: getattr(tf.nn, name)(tf.nn.bias_add(x @ w, tf.constant([0.5, -1.0]))), f(3, 4), f(4, 2))
case("dense layer of a constant", lambda x: tf.nn.relu(x @ tf.constant(f(4, 2)) + tf.constant([0.5, -1.0])), f(3, 4))
case("losses", lambda x, y: [tf.nn.sigmoid_cross_entropy_with_logits(y, x), tf.keras.losses.mean_squared_error(y, x)], f(3, 4), f(3, 4))
case("softmax loss", lambda x, y: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(y), x), f(3, 4), f(3, 4))
case("sparse softmax loss", lambda x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(y, x), f(3, 4), i(0, 4, 3))
case("moments and norm", lambda x: [*tf.nn.moments(x, 0), tf.nn.batch_normalization(x, [0.5], [2.0], [0.1], [1.5], 1e-3)], f(3, 4))
case("conv1d", lambda x, w: tf.nn.conv1d(x, w, 1, "SAME"), f(2, 5, 3), f(2, 3, 4))
case("conv2d", lambda x, w: tf.nn.relu(tf.nn.conv2d(x, w, 1, "VALID")), f(1, 4, 4, 2), f(2, 2, 2, 3))
case("conv2d, strides and dilations", lambda x, w: [tf.nn.conv2d(x, w, 2, "SAME"), tf.nn.conv2d(x, w, 1, "SAME", dilations=2)], f(1, 5, 5, 2), f(2, 2, 2, 3), static=True)
case("depthwise conv2d", lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), f(1, 4, 4, 2), f(2, 2, 2, 1))
case("transposed conv2d", lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 5, 5, 3], 2, "VALID"), f(1, 2, 2, 2), f(3, 3, 3, 2), static=True)
case("pools", lambda x: [tf.nn.max_pool2d(x, 2, 2, "VALID"), tf.nn.avg_pool2d(x, 2, 1, "SAME")], f(1, 4, 4, 2))
case("pool with places", lambda x: tf.nn.max_pool_with_argmax(x, 2, 2, "VALID"), f(1, 4, 4, 2))
case("resize", lambda x: [tf.image.resize(x, [3, 5]), tf.image.resize(x, [4, 4], "nearest")], f(1, 2, 3, 2))
case("local response", lambda x: tf.nn.local_response_normalization(x, 2), f(1, 2, 2, 5))
case("fft", lambda x: tf.abs(tf.signal.rfft(x)), f(2, 8))
case("complex numbers", lambda x, y: [tf.math.real(tf.complex(x, y)), tf.abs(tf.complex(x, y))], f(3), f(3))
case("dropout at rate 0", lambda x: tf.nn.dropout(x, 0.0), f(3, 4))
case("cross and outer", lambda x, y: tf.linalg.cross(x, y), f(2, 3), f(2, 3))
case("inverse", lambda x: tf.linalg.inv(x @ tf.transpose(x) + 5.0 * tf.eye(3)), f(3, 3))
case("quantized and back", lambda x: tf.quantization.fake_quant_with_min_max_args(x), f(3))
case("quantized and back, given", lambda x: tf.quantization.fake_quant_with_min_max_vars(x, -2.0, 2.0), f(3))
case("stateless random numbers", lambda x: tf.random.stateless_uniform([3], [1, 2]) + x, f(3))
case("non-maximum suppression", lambda x: tf.image.non_max_suppression(tf.abs(x), tf.reduce_sum(x, 1), 3, 0.5), f(4, 4))
