"""
Ops that tfjs-converter runs by itself, one a graph, run by real TensorFlow on small inputs: floats, whole numbers, truth
values, strings, and tensors without elements.

    PYTHONPATH=<a folder with tensorflow 2.21> python3 test/goldens/gen_stock_ops.py [every]

Cases that TensorFlow refuses are left out. `every`: all cases go into the file; else a seeded third of them, all of products, and some of images.
"""
import json
import os
import random
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from golden_values import b, f, i, plain, s
from google.protobuf.json_format import MessageToDict
from tensorflow.python.framework import op_def_library, op_def_registry

v1 = tf.compat.v1
v1.disable_v2_behavior()
HERE = os.path.dirname(os.path.abspath(__file__))
CASES = []
# Arguments of which an op wants to know how many numbers they have.
RANKED = {"block_shape", "paddings", "crops"}


def number(value):
    """JSON has no other numbers."""
    return value if isinstance(value, str) or np.isfinite(value) else str(value).replace("inf", "Infinity").replace("nan", "NaN")


def told(value):
    known = plain(value)
    return {**known, "values": [number(each) for each in known["values"]]}


def defaults(definition):
    """The attributes of an op that have one."""
    known = {a.name: a.default_value for a in definition.attr if a.HasField("default_value")}
    types = {name for a in definition.input_arg for name in (a.type_attr, a.number_attr, a.type_list_attr)}
    plain_ones = {k: getattr(v, v.WhichOneof("value")) for k, v in known.items() if k not in types}
    return {k: list(v.i) if known[k].WhichOneof("value") == "list" else v for k, v in plain_ones.items()}


def case(op, *inputs, **attributes):
    """One op of these inputs; a list is several tensors of one argument."""
    definition = op_def_registry.get(op)
    with tf.Graph().as_default(), v1.Session() as session:
        try:
            given, fed = {}, []
            for argument, value in zip(definition.input_arg, inputs):
                values = value if isinstance(value, list) else [value]
                fed += values
                wide = argument.type == tf.int64.as_datatype_enum
                made = [
                    v1.placeholder_with_default(tf.constant(v.astype(np.int64) if wide else v, tf.string if v.dtype == object else None), v.shape if argument.name in RANKED else None)
                    for v in values
                ]
                given[argument.name] = made if isinstance(value, list) else made[0]
            result = op_def_library.apply_op(op, name=op.strip("_"), **given, **{**defaults(definition), **attributes})
            outputs = tf.nest.flatten(result)
            node = outputs[0].op.node_def
            values = session.run(outputs)
            entry = {
                "op": op,
                "attributes": {k: MessageToDict(v) for k, v in node.attr.items() if not k.startswith("_")},
                "inputs": [told(v) for v in fed],
                # Behind them, what TensorFlow leaves in memory where a gradient would look.
                "outputs": [told(v) for v in values[: 3 if op.startswith("FusedBatchNorm") and not attributes.get("is_training", True) else 5]],
            }
        except (ValueError, TypeError, KeyError, tf.errors.OpError) as error:
            print("   ", op, " ".join(str(error).split())[:int(os.environ.get("TOLD", 150))])
            return
    CASES.append(entry)


A = f([[1.5, -2, 0.25], [0.5, 3, -1]])
AI = i([[1, -2, 7], [5, 3, -1]])
AB = b([[True, False, True], [False, False, True]])
AS = s([["a", "bc", ""], ["d", "e", "ff"]])
ANY = [A, AI, AB, AS]
NUMBERS = [A, AI]


def empty(value, *shape):
    return np.zeros(shape, value.dtype)


FLOAT_UNARY = "Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Erf Exp Expm1 Floor IsFinite IsInf IsNan Log Log1p Reciprocal Rint Round Rsqrt Selu Sigmoid Sin Sinh Softplus Sqrt Tan Tanh LogSoftmax Softmax LeakyRelu"
for op in FLOAT_UNARY.split():
    if op_def_registry.get(op) is None:
        continue
    name = {"LogSoftmax": "LogSoftmax"}.get(op, op)
    case(name, np.abs(A) / 4 if op in ("Acos", "Asin", "Atanh", "Log", "Sqrt", "Rsqrt") else np.abs(A) + 1 if op == "Acosh" else A)
    case(name, empty(A, 0, 3))
    case(name, empty(A, 2, 0))
case("Round", f([0.5, 1.5, -0.5, 2.5, -1.5]))
for op in "Abs Neg Sign Square Relu Relu6 OnesLike ZerosLike Identity StopGradient Snapshot Rank Shape Size Round".split():
    for value in NUMBERS:
        case(op, value)
        case(op, empty(value, 0, 3))
        case(op, value[0, 0])
for op in "Identity Shape Rank Size ZerosLike OnesLike".split():
    for value in (AB, AS):
        case(op, value)
        case(op, empty(value, 2, 0))
for op in "Add AddV2 Sub Mul Div RealDiv FloorDiv FloorMod Mod Maximum Minimum SquaredDifference Pow DivNoNan Atan2 BitwiseAnd Equal NotEqual Less LessEqual Greater GreaterEqual".split():
    for value in NUMBERS:
        other = np.abs(value) + value.dtype.type(1)
        case(op, value, other)
        case(op, value, other[0])
        case(op, value, other[:, :1])
        case(op, empty(value, 0, 3), other[0])
        case(op, empty(value, 0, 3), empty(value, 0, 3))
        case(op, -value, other)
for op in ("Equal", "NotEqual"):
    case(op, AS, AS[0])
    case(op, AB, AB[0])
    case(op, AS[:0], AS[0])
case("AddV2", f([1e8]), f([1]))
for op in ("LogicalAnd", "LogicalOr"):
    case(op, AB, AB[0])
    case(op, AB[:0], AB[0])
case("LogicalNot", AB)
case("LogicalNot", AB[:0])

for op in "Sum Prod Max Min Mean Any All".split():
    values = [AB] if op in ("Any", "All") else NUMBERS
    for value in values:
        for keep in (False, True):
            for shape in [(2, 3), (0, 3), (2, 0), (0,), (2, 0, 3)]:
                x = value if shape == (2, 3) else empty(value, *shape)
                for axes in [[0], [-1], list(range(len(shape))), []]:
                    case(op, x, i(axes), keep_dims=keep)
            case(op, value, i(1), keep_dims=keep)
        case(op, value[0, 0], i([]))
for value in NUMBERS:
    for op in ("ArgMax", "ArgMin"):
        case(op, value, i(0))
        case(op, value, i(-1))
        case(op, empty(value, 0, 3), i(1))
    for op in ("Cumsum", "Cumprod"):
        for exclusive in (False, True):
            for reverse in (False, True):
                case(op, value, i(1), exclusive=exclusive, reverse=reverse)
        case(op, value, i(0))
        case(op, empty(value, 0, 3), i(0))
    case("TopKV2", value, i(2), sorted=True)
    case("TopKV2", value, i(0), sorted=True)
    case("TopKV2", empty(value, 0, 3), i(1), sorted=True)
    case("AddN", [value, value, value])
    case("AddN", [empty(value, 0, 3)] * 2)
    case("ClipByValue", value, value.dtype.type(-1), value.dtype.type(2))
    case("MatMul", value, value.T.copy())
    case("MatMul", value, value, transpose_b=True)
    case("MatMul", value, value, transpose_a=True)
    case("MatMul", empty(value, 0, 3), value.T.copy())
    case("MatMul", empty(value, 2, 0), empty(value, 0, 3))
    for op in ("BatchMatMul", "BatchMatMulV2"):
        three = np.stack([value, value + value.dtype.type(1)])
        case(op, three, three, adj_y=True)
        case(op, three, three, adj_x=True)
        case(op, three[:0], three[:0], adj_y=True)
    case("BatchMatMulV2", value, np.stack([value, value]), adj_y=True)
    case("Einsum", [value, value.T.copy()], equation="ij,jk->ik")
    case("Einsum", [value, value], equation="ij,kj->ik")
    case("Einsum", [value], equation="ij->ji")
    case("Einsum", [value], equation="ij->i")
    case("Einsum", [np.stack([value, value]), value], equation="bij,kj->bik")
    case("Range", value.dtype.type(1), value.dtype.type(8), value.dtype.type(3))
    case("Range", value.dtype.type(5), value.dtype.type(5), value.dtype.type(1))
    case("Range", value.dtype.type(5), value.dtype.type(0), value.dtype.type(-2))
    case("MatrixBandPart", value, i(0), i(1))
    case("Bincount", i([1, 1, 3]), i(5), value[0])
    case("Bincount", i([1, 1, 3]), i(5), empty(value, 0))
    case("DenseBincount", i([1, 1, 3]), i(5), value[0])
    case("DenseBincount", i([1, 1, 3]), i(5), empty(value, 0))
    case("DenseBincount", i([[1, 1], [3, 7]]), i(5), empty(value, 0))
    case("DenseBincount", i([[1, 1], [3, 0]]), i(5), value[:, :2])
    case("DenseBincount", i([[1, 1], [3, 0]]), i(5), empty(value, 0), binary_output=True)
    case("LowerBound", np.sort(value), value, out_type=tf.int32)
    case("UpperBound", np.sort(value), value, out_type=tf.int32)
    case("EuclideanNorm", value, i([1]))
case("LinSpace", f(1), f(4), i(4))
case("LinSpace", f(1), f(4), i(1))
case("BiasAdd", A, f([1, 2, 3]))
case("Einsum", [A[:0], A.T.copy()], equation="ij,jk->ik")

for value in ANY:
    one = value.dtype.type if value.dtype != object else (lambda text: s(str(text)))
    for axis in (0, 1, -1):
        for at in ([0], [1, 0, 1], [[0, 1], [1, 0]], []):
            case("GatherV2", value, i(at), i(axis))
        case("ExpandDims", value, i(axis))
        case("ConcatV2", [value, value], i(axis))
        case("ConcatV2", [value, empty(value, 0, 3)], i(axis))
        case("Pack", [value, value], axis=axis)
        case("Unpack", value, num=value.shape[axis], axis=axis)
        case("ReverseV2", value, i([axis]))
        case("Split", i(axis), value, num_split=value.shape[axis])
    case("ConcatV2", [empty(value, 0, 3), empty(value, 0, 3)], i(0))
    case("GatherV2", value, i(1), i(0))
    case("GatherV2", empty(value, 0, 3), i([]), i(0))
    case("GatherV2", empty(value, 2, 0), i([1, 0]), i(0))
    case("GatherV2", empty(value, 0, 3), i([1, 2]), i(1))
    case("GatherV2", value, i([[0, 1], [2, 1]]), i(1), batch_dims=1)
    case("GatherV2", np.stack([value] * 4), i(np.zeros([0])), i(1))
    case("Gather", value, i([1, 0]))
    case("Gather", value, i([]))
    case("GatherNd", value, i([[0, 1], [1, 2]]))
    case("GatherNd", value, i([[1], [0]]))
    case("GatherNd", value, i(np.zeros([0, 2])))
    case("Slice", value, i([0, 1]), i([2, 1]))
    case("Slice", value, i([0, 1]), i([-1, -1]))
    case("Slice", value, i([0, 1]), i([0, 2]))
    case("StridedSlice", value, i([0, 0]), i([2, 3]), i([1, 2]))
    case("StridedSlice", value, i([0, 2]), i([2, 0]), i([1, -1]))
    case("StridedSlice", value, i([1]), i([2]), i([1]), shrink_axis_mask=1)
    case("StridedSlice", value, i([0, 0]), i([0, 2]), i([1, 1]), begin_mask=2)
    case("StridedSlice", value, i([0, 1]), i([0, 2]), i([1, 1]), ellipsis_mask=1, shrink_axis_mask=2)
    case("StridedSlice", value, i([0]), i([0]), i([1]), new_axis_mask=1)
    case("SplitV", value, i([1, 2]), i(1), num_split=2)
    case("SplitV", value, i([0, 3]), i(1), num_split=2)
    case("SplitV", value, i([1, -1]), i(1), num_split=2)
    case("Tile", value, i([2, 1]))
    case("Tile", value, i([0, 1]))
    case("Tile", empty(value, 0, 3), i([2, 2]))
    case("Transpose", value, i([1, 0]))
    case("Transpose", empty(value, 0, 3), i([1, 0]))
    case("Reshape", value, i([3, -1]))
    case("Reshape", value, i([-1]))
    case("Reshape", empty(value, 0, 3), i([-1, 3]))
    case("Reshape", empty(value, 0, 3), i([0]))
    case("Squeeze", value[:1])
    case("Squeeze", value[:1], squeeze_dims=[0])
    case("Pad", value, i([[1, 0], [0, 2]]))
    case("Pad", empty(value, 0, 3), i([[1, 0], [0, 2]]))
    case("PadV2", value, i([[1, 0], [0, 2]]), value[0, 0] if value.dtype != object else s("x"))
    case("MirrorPad", value, i([[1, 0], [0, 2]]), mode="REFLECT")
    case("MirrorPad", value, i([[1, 0], [0, 2]]), mode="SYMMETRIC")
    case("BroadcastTo", value, i([2, 2, 3]))
    case("BroadcastTo", value[:1], i([4, 3]))
    case("BroadcastTo", value[:1], i([0, 3]))
    case("BroadcastTo", np.asarray(value[0, 1], value.dtype), i([2]))
    case("Fill", i([2, 3]), np.asarray(value[0, 1], value.dtype))
    case("Fill", i([0, 3]), np.asarray(value[0, 1], value.dtype))
    case("Fill", i([]), np.asarray(value[0, 1], value.dtype))
    case("Select", AB, value, value[:, ::-1].copy())
    case("SelectV2", AB[:, :1], value, value[0, ::-1].copy())
    case("SelectV2", AB[:0], value[0], value[0])
    case("Where", value)
    case("Where", empty(value, 0, 3))
    case("Where", empty(value, 2, 0))
    case("Unique", value[0])
    case("Unique", empty(value, 0))
    case("ListDiff", value[0], value[1])
    case("ListDiff", value[0], value[0])
    case("ListDiff", empty(value, 0), value[0])
    case("ScatterNd", i([[0], [2]]), value, i([4, 3]))
    case("ScatterNd", i([[0], [0]]), value, i([2, 3]))
    case("ScatterNd", i(np.zeros([0, 1])), empty(value, 0, 3), i([2, 3]))
    case("TensorScatterUpdate", value, i([[1]]), value[:1])
    case("TensorScatterUpdate", value, i(np.zeros([0, 1])), value[:0])
    case("SparseToDense", i([[0, 1], [1, 0]]), i([2, 2]), value[0, :2], np.asarray(value[1, 1], value.dtype))
    case("IdentityN", [value, value])
    case("BatchToSpaceND", np.stack([value[:, :2]] * 4)[..., None], i([2, 2]), i([[0, 0], [0, 0]]))
    case("SpaceToBatchND", value[None, :, :2, None], i([2, 2]), i([[0, 0], [0, 0]]))
    for axis in (-1, 0, 1):
        for at in (i([0, 2, -1]), i([[0, 1], [2, 3]]), i(1), i([])):
            on, off = np.asarray(value[0, 0], value.dtype), np.asarray(value[1, 1], value.dtype)
            case("OneHot", at, i(3), on, off, axis=axis)
    case("OneHot", i([0, 1]), i(0), np.asarray(value[0, 0], value.dtype), np.asarray(value[1, 1], value.dtype))
for value in (A, AI, AB):
    for dtype in (tf.float32, tf.int32, tf.bool):
        case("Cast", value, DstT=dtype)
        case("Cast", value[:0], DstT=dtype)
case("Cast", f([1.9, -1.9, 0.5]), DstT=tf.int32)
case("StringToHashBucketFast", AS, num_buckets=7)
case("StringToHashBucketFast", AS[:0], num_buckets=7)
case("StringToHashBucketFast", s("word"), num_buckets=1000)
case("StaticRegexReplace", AS, pattern="[a-c]", rewrite="z")
case("StaticRegexReplace", AS[:0], pattern="a", rewrite="z")
case("StringSplit", s(["a b", "", "c"]), s(" "))
case("StringSplit", s(["abc"]), s(""))
case("StringSplit", s([]), s(" "))
case("BroadcastArgs", i([2, 1]), i([3]))
case("Softmax", f([[1000, 1001]]))
case("L2Loss", A)
case("LRN", A[None, :, :, None])

FEW = len(CASES)
for value in NUMBERS:
    three = np.stack([value, value + value.dtype.type(1)])
    case("MatMul", value, value, transpose_b=True)
    case("MatMul", value, value.T.copy())
    case("MatMul", value * value.dtype.type(100000), value.T.copy())
    case("MatMul", empty(value, 0, 3), value.T.copy())
    case("BatchMatMul", three, three, adj_x=True)
    case("BatchMatMulV2", three[None], np.stack([three] * 2), adj_y=True)
    case("BatchMatMulV2", three[:1], value.T.copy())
    one, two, cube = value, value.T.copy(), np.stack([value] * 2)
    for equation, terms in {
        "ij,jk->ik": [one, two], "ij,jk->ki": [one, two], "ij,ij->ij": [one, one], "ij,ij->": [one, one],
        "ij,ik->jk": [one, one], "i,j->ij": [one[0], one[1]], "ij->ji": [one], "ij->": [one], "ij->j": [one],
        "ij,kl->il": [one, two], "ii->i": [one[:, :2]], "ii->": [one[:, :2]], "iij,j->i": [cube, one[0]],
        "bij,bkj->bik": [cube, cube], "bij,bkj->ikb": [cube, cube], "aAb,bA->a": [cube, two],
        "...ij,...jk->...ik": [cube, two], "...i->...": [cube], "i...,...->i...": [one, one[0]],
        "b...,...->...b": [cube, one], "...j,jk->...k": [cube[None], two], "ij,jk->k": [one[:0], two],
    }.items():
        case("Einsum", terms, equation=equation)
for fused, count in [([b"BiasAdd"], 1), *[([b"BiasAdd", name], 1) for name in (b"Relu", b"Relu6", b"Elu", b"LeakyRelu", b"Tanh", b"Sigmoid")]]:
    case("_FusedMatMul", A, A, [f([0.5, -1])], [], transpose_b=True, fused_ops=fused, leakyrelu_alpha=0.3)
    case("_FusedMatMul", A[:0], A, [f([0.5, -1])], [], transpose_b=True, fused_ops=fused)
case("_FusedMatMul", A, A, [f([0.5, -1, 2])], [], transpose_a=True, fused_ops=[b"BiasAdd", b"GeluApproximate"])

for value in ANY:
    # Slices that end before they begin have no elements.
    case("StridedSlice", value[0], i([2]), i([0]), i([1]))
    case("StridedSlice", value[0], i([-1]), i([1]), i([2]))
    case("StridedSlice", value[0], i([-1]), i([-2]), i([1]))
    case("StridedSlice", value[0], i([1]), i([0]), i([1]))
    case("StridedSlice", value, i([1, 2]), i([0, 1]), i([1, 1]), begin_mask=1, end_mask=1)
    case("StridedSlice", value, i([0, 0]), i([1, 2]), i([-1, 1]), shrink_axis_mask=2)
    case("GatherNd", value, i([[0, 1], [1, 3], [2, 0], [-1, 0]]), bad_indices_policy="IGNORE")
    case("GatherNd", value, i([[1], [2]]), bad_indices_policy="IGNORE")

for words, splits in [(["a", "bb", "c", "ß", "e"], [0, 2, 2, 5]), (["x"], [0, 1]), ([], [0]), ([], [0, 0])]:
    for widths in ([1], [2, 3], [5, 1], [4]):
        for pad, short in [(0, False), (-1, False), (0, True), (1, False), (1, True), (2, False)]:
            case("StringNGrams", s(words), i(splits), separator=b"|", ngram_widths=widths, left_pad=b"<", right_pad=b">", pad_width=pad, preserve_short_sequences=short)
TEXTS = s([" a  b\tc ", "", "x,,y,", "Ä\u0130ß,Σ", ",", "A b"])
for sep in ["", ",", ",,", "b\tc", "ß,"]:
    for most in (-1, 0, 1, 2):
        case("StringSplitV2", TEXTS, s(sep), maxsplit=most)
case("StringSplitV2", s([]), s(","))
case("StringSplitV2", AS, s(","))
for op in ["StringLower", "StringUpper"]:
    for encoding in [b"", b"utf-8"]:
        case(op, TEXTS, encoding=encoding)
        case(op, AS, encoding=encoding)
    case(op, s([b"A\xffz\xc3", b"\xed\xa0\x80B"]), encoding=b"")
for separator in [b"", b", ", "ß".encode()]:
    case("UnsortedSegmentJoin", s(["a", "b", "", "d"]), i([1, 0, 1, -1]), i(3), separator=separator)
    case("UnsortedSegmentJoin", AS, i([1, 1]), i(2), separator=separator)
    case("UnsortedSegmentJoin", AS, i([[1, 0, 1], [0, 3, 1]]), i(4), separator=separator)
case("UnsortedSegmentJoin", s([]), i([]), i(2))
case("UnsortedSegmentJoin", s(["a", "b"]), i([0, 2]), i(2))
for value in NUMBERS:
    case("Bucketize", value, boundaries=[-1.0, 0.25, 3.0])
    case("Bucketize", value, boundaries=[1.0, 1.0])
    case("Bucketize", value, boundaries=[])
    case("Bucketize", empty(value, 0, 3), boundaries=[1.0])
case("Bucketize", f([np.nan, np.inf, -np.inf, 0.1]), boundaries=[0.1, 5.0])
case("Bucketize", i([16777217, 16777216]), boundaries=[16777217.0])
case("Bucketize", A, boundaries=[2.0, 1.0])
for value in ANY:
    for shift, axis in [(1, 0), (-1, 1), (5, -1), ([1, 2], [0, 1]), ([1, -3], [1, 1]), ([], [])]:
        case("Roll", value, i(shift), i(axis))
    case("Roll", empty(value, 0, 3), i(1), i(0))
    case("Roll", value[0], i(2), i(0))
for op in ["Xlogy", "Xlog1py", "Xdivy"]:
    case(op, f([0, 0, 0, 2, -1, 3]), f([0, np.nan, -2, 4, 0.5, 0]))
    case(op, A, np.abs(A[0]))
    case(op, f([[0], [2]]), f([0, 1.5, 3]))
    case(op, f(0), f([[1, 0], [np.inf, 2]]))
    case(op, empty(A, 0, 3), A[0])
for value in [*ANY, empty(A, 2, 0, 3)]:
    square = value if value.ndim == 3 else np.stack([value, value[::-1]])
    pad = np.asarray(b"-" if value.dtype == object else 9, value.dtype)
    case("MatrixDiagPart", square)
    for k in (0, 1, -1, 2, [-1, 1], [0, 2], [-1, 0], [1, 2], [-1, 2], 3):
        case("MatrixDiagPartV2", square, i(k), pad)
        for align in (b"RIGHT_LEFT", b"LEFT_RIGHT", b"LEFT_LEFT", b"RIGHT_RIGHT"):
            case("MatrixDiagPartV3", square, i(k), pad, align=align)
for value in ANY:
    pad = np.asarray(b"-" if value.dtype == object else 9, value.dtype)
    zero = np.asarray(b"" if value.dtype == object else 0, value.dtype)
    case("MatrixDiag", value)
    case("MatrixDiagV2", value, i(1), i(-1), i(-1), pad)
    case("MatrixDiagV2", value, i([0, 1]), i(3), i(-1), pad)
    for k, rows, columns in [(0, -1, -1), (1, -1, -1), (-2, -1, -1), (0, 3, 5), (0, 5, -1), (0, 4, 4), ([0, 1], -1, -1), ([-1, 0], 3, 3), ([0, 1], 3, 4), ([-1, 0], 2, -1)]:
        for align in (b"RIGHT_LEFT", b"LEFT_RIGHT"):
            case("MatrixDiagV3", value, i(k), i(rows), i(columns), pad, align=align)
    case("MatrixSetDiag", value, value[0, :2])
    case("MatrixSetDiagV2", value, value[:, :2], i([0, 1]))
    for align in (b"RIGHT_LEFT", b"LEFT_RIGHT"):
        case("MatrixSetDiagV3", value, value[0, :2], i(0), align=align)
        case("MatrixSetDiagV3", value, value[:, :2], i([-1, 0]), align=align)
        case("MatrixSetDiagV3", np.stack([value, value]), np.stack([value[:, :2], value[:, 1:]]), i([1, 2]), align=align)
        case("MatrixSetDiagV3", value, value, i(0), align=align)

l = lambda value: np.array(value, np.int64)
ROWS_AT, FEW_AT = i([[0, 0], [0, 1], [2, 0]]), i([[0, 0], [1, 0], [2, 0], [2, 1]])
WORDS, PLACES, SHAPE = s(["a", "Ä", ""]), l([7, -3, 0, 2147483647]), l([3, 2])
CROSSED = [
    ([ROWS_AT], [WORDS], []), ([ROWS_AT, FEW_AT], [WORDS, PLACES], []), ([FEW_AT], [PLACES], [s([["x", "y"], ["z", ""], ["w", "v"]])]),
    ([], [], [l([[1, 2], [3, 4]]), s([["x"], ["y"]])]), ([ROWS_AT[:0]], [WORDS[:0]], [l([[1], [2], [3]])]), ([FEW_AT], [PLACES], [l([[1], [2]])]),
    ([FEW_AT, ROWS_AT, ROWS_AT], [PLACES, WORDS, WORDS], []),
]
HASHED = [dict(num_buckets=7, hash_key=956888297470), dict(num_buckets=1000000, hash_key=-2)]
for indices, values, dense in CROSSED:
    given = [indices, values, [SHAPE] * len(indices), dense]
    plain_type = dict(out_type=tf.string, internal_type=tf.string)
    case("SparseCross", *given, hashed_output=False, num_buckets=0, hash_key=1, **plain_type)
    for hashes in HASHED:
        case("SparseCross", *given, hashed_output=True, out_type=tf.int64, internal_type=tf.int64, **hashes)
    case("SparseCrossV2", *given, s("-ß-"))
RAGGED = [([s(["a", "b", "c"])], [l([0, 2, 2, 3])]), ([l([5, -6, 7])], [l([0, 0, 1, 3])])]
for order, ragged, sparse, dense in [
    (b"R", RAGGED[:1], [], []), (b"RR", RAGGED, [], []), (b"RSD", RAGGED[:1], [(ROWS_AT, WORDS)], [l([[1, 2], [3, 4], [5, 6]])]),
    (b"DSRSR", RAGGED, [(ROWS_AT, WORDS), (FEW_AT, PLACES)], [s([["x"], ["y"], ["z"]])]), (b"RD", RAGGED[1:], [], [l([[1], [2]])]),
]:
    given = [
        [r[0][0] for r in ragged], [r[1][0] for r in ragged], [a for a, _ in sparse], [v for _, v in sparse], [SHAPE] * len(sparse), dense,
    ]
    types = dict(out_row_splits_type=tf.int64, input_order=order)
    case("RaggedCross", *given, hashed_output=False, num_buckets=0, hash_key=1, out_values_type=tf.string, **types)
    for hashes in HASHED:
        case("RaggedCross", *given, hashed_output=True, out_values_type=tf.int64, **hashes, **types)

def slices(value, count):
    """Slices of all kinds, drawn."""
    made = 0
    while made < count:
        entries = random.randint(1, value.ndim + 1)
        numbers = [[random.randint(-5, 5) for _ in range(entries)] for _ in range(2)]
        steps = [random.choice([1, 1, 2, 3, -1, -2]) for _ in range(entries)]
        masks = [random.getrandbits(entries) for _ in range(2)]
        rest = [random.choice([0, 0, 1 << random.randrange(entries)]) for _ in range(3)]
        names = ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"]
        before = len(CASES)
        case("StridedSlice", value, *map(i, numbers), i(steps), **dict(zip(names, masks + rest)))
        made += len(CASES) - before


random.seed(31)
CUBE = np.arange(24).reshape(2, 3, 4)
slices(f(CUBE), 30)
slices(i(CUBE), 6)
slices(CUBE % 3 == 0, 6)
slices(CUBE.astype(str).astype(object), 6)
for of in (f, i):
    ones = lambda *shape: of(np.arange(1, 1 + np.prod(shape)).reshape(shape))
    case("BatchMatMulV2", ones(2, 2, 1, 1), of([[[[10]]], [[[100]]]]))
    case("BatchMatMulV2", ones(2, 1, 1, 1), of([[[[10]], [[100]]]]))
    case("BatchMatMulV2", ones(1, 3, 2, 2), ones(2, 1, 2, 3))
    case("BatchMatMulV2", ones(2, 1, 3, 2), ones(2, 2, 3), adj_x=True, adj_y=True)
    case("BatchMatMulV2", ones(2, 3), ones(2, 2, 3, 1))

# Images, their windows, and what stands beside them in a network.
IMAGES = len(CASES)
random.seed(47)


def drawn(*shape):
    return f(np.array([random.randint(-16, 16) / 8 for _ in range(int(np.prod(shape)))]).reshape(shape))


IMAGE, VOLUME = drawn(2, 6, 5, 3), drawn(1, 4, 5, 3, 2)
STEPS = [[1, 1, 1, 1], [1, 2, 2, 1], [1, 3, 2, 1]]
HOLES = f([[[[np.nan], [1], [-np.inf], [2]], [[-1], [np.inf], [-np.inf], [-np.inf]], [[0], [5], [-np.inf], [-3]]]])
for padding in (b"SAME", b"VALID"):
    for window in ([1, 2, 2, 1], [1, 3, 2, 1], [1, 1, 1, 1]):
        for steps in STEPS:
            for op in ("MaxPool", "AvgPool", "MaxPoolWithArgmax"):
                case(op, IMAGE, ksize=window, strides=steps, padding=padding, **({"Targmax": tf.int64} if op.endswith("max") else {}))
    case("MaxPoolWithArgmax", IMAGE, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding=padding, include_batch_in_index=True, Targmax=tf.int64)
    for op in ("MaxPool", "AvgPool"):
        case(op, i(np.round(IMAGE * 10)), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding=padding)
        case(op, HOLES[:, :, 2:], ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding=padding)
        case(op, IMAGE[:0], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding=padding)
    for op in ("MaxPool3D", "AvgPool3D"):
        for steps in ([1, 1, 1, 1, 1], [1, 2, 3, 1, 1]):
            case(op, VOLUME, ksize=[1, 2, 3, 2, 1], strides=steps, padding=padding)
    for steps in STEPS:
        for height, width in ((1, 1), (2, 2), (3, 2)):
            case("Conv2D", IMAGE, drawn(height, width, 3, 4), strides=steps, padding=padding)
            case("DepthwiseConv2dNative", IMAGE, drawn(height, width, 3, 2), strides=[1, steps[1], steps[1], 1], padding=padding)
    for rate in ([1, 2, 2, 1], [1, 1, 3, 1]):
        case("Conv2D", IMAGE, drawn(2, 2, 3, 4), strides=[1, 1, 1, 1], padding=padding, dilations=rate)
        case("DepthwiseConv2dNative", IMAGE, drawn(2, 2, 3, 1), strides=[1, 1, 1, 1], padding=padding, dilations=[1, rate[2], rate[2], 1])
        case("Dilation2D", IMAGE, drawn(2, 2, 3), strides=[1, 1, 2, 1], rates=rate, padding=padding)
    for steps in ([1, 1, 1, 1], [1, 2, 2, 1]):
        size = [2, 6 * steps[1], 5 * steps[2], 4] if padding == b"SAME" else [2, 5 * steps[1] + 3, 4 * steps[2] + 2, 4]
        case("Conv2DBackpropInput", i(size), drawn(3, 2, 4, 3), IMAGE, strides=steps, padding=padding)
    case("Conv3D", VOLUME, drawn(2, 2, 2, 2, 3), strides=[1, 1, 1, 1, 1], padding=padding)
    case("Conv3D", VOLUME, drawn(2, 1, 2, 2, 3), strides=[1, 2, 1, 2, 1], padding=padding)
    case("Conv2D", IMAGE[..., :2], drawn(2, 2, 1, 4), strides=[1, 1, 1, 1], padding=padding)
EDGES = [0, 0, 1, 0, 0, 2, 0, 0]
case("Conv2D", IMAGE, drawn(2, 2, 3, 4), strides=[1, 1, 1, 1], padding=b"EXPLICIT", explicit_paddings=EDGES)
case("Conv2D", IMAGE, drawn(2, 2, 3, 4), strides=[1, 2, 2, 1], padding=b"EXPLICIT", explicit_paddings=[0, 0, 1, 1, 1, 1, 0, 0])
case("DepthwiseConv2dNative", IMAGE, drawn(2, 2, 3, 1), strides=[1, 1, 1, 1], padding=b"EXPLICIT", explicit_paddings=EDGES)
case("MaxPool", IMAGE, ksize=[1, 2, 3, 1], strides=[1, 2, 2, 1], padding=b"EXPLICIT", explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0])
case("Conv2DBackpropInput", i([2, 6, 6, 4]), drawn(2, 2, 4, 3), IMAGE, strides=[1, 1, 1, 1], padding=b"EXPLICIT", explicit_paddings=[0, 0, 1, 0, 0, 0, 0, 0])
for op in ("ResizeBilinear", "ResizeNearestNeighbor"):
    for size in ([3, 7], [12, 10], [1, 1], [6, 5]):
        for options in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
            case(op, IMAGE, i(size), **options)
    case(op, i(np.round(IMAGE * 10)), i([4, 4]))
BOXES = f([[0, 0, 1, 1], [0.1, -0.2, 0.7, 1.3], [0.93, 0.82, 0.12, 0.2], [0.5, 0.5, 0.5, 0.5]])
for method in (b"bilinear", b"nearest"):
    for size in ([3, 2], [1, 1]):
        case("CropAndResize", IMAGE, BOXES, i([0, 1, 1, 0]), i(size), method=method, extrapolation_value=0.5)
for radius in (1, 5):
    case("LRN", IMAGE, depth_radius=radius, bias=0.7, alpha=0.3, beta=0.6)
case("DepthToSpace", drawn(1, 2, 3, 8), block_size=2)
case("SpaceToDepth", drawn(1, 4, 6, 2), block_size=2)
case("SpaceToBatchND", IMAGE, i([2, 3]), i([[0, 0], [1, 0]]))
case("SpaceToBatchND", IMAGE, i([2]), i([[2, 2]]))
case("BatchToSpaceND", drawn(6, 2, 2, 1), i([2, 3]), i([[1, 0], [0, 2]]))
SCORES = f([0.9, 0.75, 0.6, 0.95, 0.5, 0.3])
CORNERS = f([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [1, 101, 0, 100]])
for most, overlap, least in ((3, 0.5, 0.0), (6, 0.3, 0.55), (0, 0.5, 0.0)):
    case("NonMaxSuppressionV2", CORNERS, SCORES, i(most), f(overlap))
    case("NonMaxSuppressionV3", CORNERS, SCORES, i(most), f(overlap), f(least))
    for pad in (True, False):
        case("NonMaxSuppressionV4", CORNERS, SCORES, i(most), f(overlap), f(least), pad_to_max_output_size=pad)
    for soft in (0, 0.5):
        case("NonMaxSuppressionV5", CORNERS, SCORES, i(most), f(overlap), f(least), f(soft))
for version in ("", "V2", "V3"):
    known = [drawn(3), drawn(3), drawn(3), np.abs(drawn(3))]
    case(f"FusedBatchNorm{version}", IMAGE, *known, epsilon=0.01, is_training=False)
    case(f"FusedBatchNorm{version}", IMAGE, *known[:2], f([]), f([]), epsilon=0.01)
    case(f"FusedBatchNorm{version}", IMAGE, *known, epsilon=0.01, exponential_avg_factor=0.25)
    case(f"FusedBatchNorm{version}", IMAGE[:1, :1, :1], *known[:2], f([]), f([]))
    case(f"FusedBatchNorm{version}", IMAGE, known[0], known[1], known[2], f([1, -4, 2]), is_training=False)
WHOLE = f([-7, -6, -2.51, -0.02, 0, 0.0236, 0.03, 1, 2.49, 5.999, 6, 7])
for bits in (2, 8, 16):
    for narrow in (True, False):
        options = {"num_bits": bits, "narrow_range": narrow}
        case("FakeQuantWithMinMaxArgs", drawn(40) * 3, **options)
        case("FakeQuantWithMinMaxArgs", WHOLE, min=-0.5, max=2.25, **options)
        for least, most in ((-6, 6), (-1.3, 4.2), (0.5, 3), (-3, -0.5), (0, 0), (-0.1, 0)):
            case("FakeQuantWithMinMaxVars", WHOLE, f(least), f(most), **options)
        case("FakeQuantWithMinMaxVarsPerChannel", drawn(4, 3) * 3, f([-1, 0, -2.2]), f([1, 6, 0.3]), **options)
for labels in (f([[0, 1, 0], [0.2, 0.3, 0.5]]), f([[0, 0, 0], [2, -1, 0.5]])):
    case("SoftmaxCrossEntropyWithLogits", A, labels)
    case("SoftmaxCrossEntropyWithLogits", A, labels[:1])
    case("SoftmaxCrossEntropyWithLogits", A[:1], labels)
    case("SoftmaxCrossEntropyWithLogits", f([[1000, -1000, 0], [np.inf, 0, 1]]), labels)
case("SparseSoftmaxCrossEntropyWithLogits", A, i([2, 0]))
case("SparseSoftmaxCrossEntropyWithLogits", f([[1000, -1000, 0], [3, 0, 1]]), i([0, 1]))
case("SparseSoftmaxCrossEntropyWithLogits", A[:0], i([]))
for value in ANY:
    deep = np.stack([value, value[::-1], value])
    case("ReverseSequence", value, i([2, 3]), seq_dim=1, batch_dim=0)
    case("ReverseSequence", deep, i([0, 3, 1]), seq_dim=0, batch_dim=2)
    case("ReverseSequence", deep, i([2, 1]), seq_dim=2, batch_dim=1)
    case("ReverseSequence", deep, i([1, 2, 2]), seq_dim=1, batch_dim=0)
    case("ReverseSequence", empty(value, 0, 3), i([]), seq_dim=1, batch_dim=0)
case("Erfc", f([-8, -3, -1.5, -1e-4, 0, 1e-4, 0.4, 1, 1.99, 2, 2.01, 3.5, 5, 9, np.inf, -np.inf, np.nan]))
case("Erfc", A[:0])
for separator in (b"", b"-", "ß".encode()):
    case("StringJoin", [AS, s("x"), AS], separator=separator)
    case("StringJoin", [s("a"), s("b")], separator=separator)
    case("StringJoin", [AS[:0], AS[:0]], separator=separator)
for op in ("CheckNumerics", "CheckNumericsV2"):
    case(op, A, message=b"all is well")
    case(op, A[:0], message=b"")
STRANGE = f([np.nan, np.inf, -np.inf, 0, -1, 2])
for op in "Relu Relu6 Abs Sign Exp Sigmoid Tanh Elu Selu Softplus Floor Ceil Round Neg Square IsNan IsInf Log1p Expm1 Erf LeakyRelu Reciprocal".split():
    case(op, STRANGE)
for op in "Maximum Minimum Mul Add Sub RealDiv DivNoNan Less GreaterEqual SquaredDifference Pow Atan2".split():
    case(op, STRANGE, f([[1], [np.nan], [0.5 if op == "Pow" else -np.inf]]))
for op in ("Max", "Min", "Sum", "Mean", "Prod"):
    case(op, np.stack([STRANGE, STRANGE[::-1]]), i([0]))
    case(op, f([[-np.inf, -np.inf], [np.inf, 1]]), i([1]))
for op in ("ArgMax", "ArgMin"):
    case(op, f([[-np.inf, -np.inf, 3], [np.inf, 1, np.inf]]), i(1))
case("TopKV2", f([[-np.inf, 2, 2, np.inf], [1, 1, 1, 1]]), i(3), sorted=True)
case("PadV2", A, i([[1, 1], [0, 2]]), f(-np.inf))
case("ClipByValue", STRANGE, f(-np.inf), f(1))
case("Softmax", f([[-np.inf, 0, 1], [-np.inf, -np.inf, 5]]))
case("LogSoftmax", f([[-np.inf, 0, 1], [3, -np.inf, 5]]))
case("Prelu", A, A) if op_def_registry.get("Prelu") else None

every = sys.argv[1:] == ["every"]
random.seed(26)
some = lambda cases, share: [c for c in cases if random.random() < share]
kept = CASES if every else some(CASES[:FEW], 0.33) + CASES[FEW:IMAGES] + some(CASES[IMAGES:], 0.4)
target = os.environ.get("TARGET", os.path.join(HERE, "stock_ops.json"))
with open(target, "w") as file:
    json.dump({"tensorflow": tf.__version__, "cases": kept}, file, separators=(",", ":"))
    file.write("\n")
print(len(CASES), "cases,", len(kept), "kept")
