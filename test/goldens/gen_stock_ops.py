"""
Ops that tfjs-converter runs by itself, one a graph, run by real TensorFlow on small inputs: floats, whole numbers, truth
values, strings, and tensors without elements.

    PYTHONPATH=<a folder with tensorflow 2.21> python3 test/goldens/gen_stock_ops.py [every]

Cases that TensorFlow refuses are left out. `every`: all cases go into the file; else a seeded third of them, and all of products.
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
    return {k: [] if known[k].WhichOneof("value") == "list" else v for k, v in plain_ones.items()}


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
                    v1.placeholder_with_default(tf.constant(v.astype(np.int64) if wide else v, tf.string if v.dtype == object else None), None)
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
                "outputs": [told(v) for v in values],
            }
        except (ValueError, TypeError, KeyError, tf.errors.OpError) as error:
            print("   ", op, " ".join(str(error).split())[:150])
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

every = sys.argv[1:] == ["every"]
random.seed(26)
kept = CASES if every else [c for c in CASES[:FEW] if random.random() < 0.33] + CASES[FEW:]
target = os.environ.get("TARGET", os.path.join(HERE, "stock_ops.json"))
with open(target, "w") as file:
    json.dump({"tensorflow": tf.__version__, "cases": kept}, file, separators=(",", ":"))
    file.write("\n")
print(len(CASES), "cases,", len(kept), "kept")
