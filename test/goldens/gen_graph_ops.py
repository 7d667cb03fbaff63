"""
Ops of graphs, run by real TensorFlow: inputs, attributes, and what came out or which error.

    PYTHONPATH=<a folder with tensorflow 2.21> python3 test/goldens/gen_graph_ops.py

Integers are int32, as in tfjs; where an op takes int64 alone they are widened here and there. Left out are gradients of
SparseSegment ops without indices and RaggedTensorToTensor with too few values: TensorFlow gives what its memory held.
"""
import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from golden_values import b, f, i, plain, s
from tensorflow.python.framework import op_def_registry

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {"float32": tf.float32, "int32": tf.int32, "bool": tf.bool, "string": tf.string}
CASES = []


def signature(op):
    definition = op_def_registry.get(op)

    def arguments(args):
        return [
            {
                "name": a.name,
                "type": a.type_attr or a.type_list_attr or tf.dtypes.DType(a.type).name.replace("_ref", ""),
                "count": a.number_attr or None,
            }
            for a in args
        ]

    return {"name": op, "inputs": arguments(definition.input_arg), "outputs": arguments(definition.output_arg)}


def tensor(value, argument):
    if argument["type"] == "int64":
        return tf.constant(value.astype(np.int64))
    return tf.constant(value, tf.string if value.dtype == object else None)


def case(op, *inputs, note="", **attributes):
    definition = signature(op)
    entry = {"op": op, "note": note, "attributes": attributes, "inputs": []}
    arguments = {}
    for argument, value in zip(definition["inputs"], inputs):
        values = list(value) if argument["count"] else [value]
        entry["inputs"] += [plain(v) for v in values]
        tensors = [tensor(v, argument) for v in values]
        arguments[argument["name"]] = tensors if argument["count"] else tensors[0]
        if argument["count"] and argument["count"] not in attributes:
            attributes[argument["count"]] = len(values)
    given = {a.name for a in op_def_registry.get(op).input_arg}
    inferred = {a["count"] for a in definition["inputs"] if a["count"]}
    extra = {"out_idx": tf.int32, "Tsplits": tf.int32}
    known = {a.name for a in op_def_registry.get(op).attr}
    extra = {k: v for k, v in extra.items() if k in known and k not in {a["type"] for a in definition["inputs"]}}
    passed = {k: v for k, v in attributes.items() if k not in inferred}
    try:
        outputs = getattr(tf.raw_ops, op)(**arguments, **passed, **extra)
        flat = tf.nest.flatten(outputs)
        entry["outputs"] = [plain(x.numpy()) for x in flat]
    except (ValueError, tf.errors.OpError) as error:
        entry["error"] = type(error).__name__
    CASES.append(entry)
    print(op, note, "|", json.dumps(entry.get("error") or [o["values"] for o in entry["outputs"]])[:110], flush=True)


D = f([[1, 2], [3, -4], [5, 6], [-7, 8], [9, 10]])
DI = i([[1, 2], [3, -4], [5, 6], [-7, 8], [9, 10]])
for name in ["Sum", "Mean", "Max", "Min", "Prod"]:
    op = f"Segment{name}"
    case(op, D, i([0, 0, 1, 3, 3]), note="with an empty segment")
    case(op, DI, i([0, 0, 1, 3, 3]), note="int32, with an empty segment")
    case(op, D[:0], i([]), note="no rows")
    case(op, f([1, 2, 3]), i([2, 2, 5]), note="of numbers, beginning at 2")
    case(op, D, i([0, 1, 0, 2, 2]), note="ids that fall")
    case(op, D, i([-1, 0, 0, 1, 1]), note="a negative id")
    case(op, D, i([0, 0, 1]), note="too few ids")
    case(op, D, i([[0, 0, 1, 3, 3]]), note="a matrix of ids")
    case(op, f(3), i([0]), note="a scalar")
    if name == "Mean":
        continue
    unsorted = f"UnsortedSegment{name}"
    case(unsorted, D, i([0, 0, 1, 3, 3]), i(5), note="with empty segments")
    case(unsorted, DI, i([0, 0, 1, 3, 3]), i(4), note="int32, with an empty segment")
    case(unsorted, D[:0], i([]), i(2), note="no rows")
    case(unsorted, D[:0], i([]), i(0), note="no rows and no segments")
    case(unsorted, D, i([0, 0, 1, 1, 2]), i(2), note="an id that is too large")
    case(unsorted, D, i([0, 0, 1, 1, 2]), i(-1), note="a negative number of segments")
    case(unsorted, D, i([0, 0, 1]), i(3), note="too few ids")
    case(unsorted, D, i([2, 0, 2, -1, 0]), i(3), note="ids of any order, a negative one")
    case(unsorted, D, i([[0, 1], [1, 1], [2, 0], [0, 0], [2, 2]]), i(3), note="ids for numbers")

IDX = i([0, 2, 2, 4, 1])
for name in ["Sum", "Mean", "SqrtN"]:
    op = f"SparseSegment{name}"
    counted = f"{op}WithNumSegments"
    seg = i([0, 0, 1, 3, 3])
    case(op, D, IDX, seg, note="with an empty segment")
    case(op, D, i([]), i([]), note="no indices")
    case(op, D[:0], i([]), i([]), note="no rows")
    case(op, f([1, 2, 3, 4, 5]), IDX, seg, note="of numbers")
    case(op, D, i([0, 5]), i([0, 0]), note="an index that is too large")
    case(op, D, i([0, -1]), i([0, 0]), note="a negative index")
    case(op, D, i([0, 1, 2]), i([0, 1, 0]), note="ids that fall")
    case(op, D, i([0, 1]), i([-1, 0]), note="a negative id")
    case(op, D, i([0, 1, 2]), i([0, 1]), note="too few ids")
    if name == "Sum":
        case(op, DI, IDX, seg, note="int32")
    case(counted, D, IDX, seg, i(6), note="with empty segments")
    case(counted, D, i([]), i([]), i(2), note="no indices")
    case(counted, D, IDX, seg, i(3), note="an id that is too large")
    case(counted, D, IDX, seg, i(-1), note="a negative number of segments")
    G = f([[1, 2], [3, 4], [5, 6], [7, 8]])
    case(f"{op}Grad", G, IDX, seg, i(5))
    case(f"{op}Grad", G, i([0, 3]), i([0, 0]), i(3), note="an index that is too large")
    case(f"{op}Grad", G, i([0, 1]), i([0, 4]), i(3), note="an id that is too large")
    case(f"{op}GradV2", G, IDX, seg, i(5))
    case(f"{op}GradV2", G, i([4, 0, 4, 12, 12]), i([0, 0, 1, 2, 3]), i(13), note="indices of two digits")
    case(f"{op}GradV2", G, i([0, 3]), i([0, 0]), i(3), note="an index that is too large")

SPLITS = i([0, 2, 2, 3, 5])
case("RaggedTensorToSparse", [SPLITS], f([1, 2, 3, 4, 5]))
case("RaggedTensorToSparse", [SPLITS], s(["a", "b", "c", "d", "e"]), note="strings")
case("RaggedTensorToSparse", [SPLITS], D, note="values of two numbers")
case("RaggedTensorToSparse", [i([0, 2, 2, 4]), SPLITS], i([1, 2, 3, 4, 5]), note="two ragged axes")
case("RaggedTensorToSparse", [i([0])], f([]), note="no rows")
case("RaggedTensorToSparse", [i([0, 0, 0])], f([]), note="empty rows")
case("RaggedTensorToSparse", [i([1, 2])], f([1, 2]), note="splits that do not start at 0")
case("RaggedTensorToSparse", [i([0, 2, 1])], f([1]), note="splits that fall")
case("RaggedTensorToSparse", [i([0, 3])], f([1, 2]), note="splits that end elsewhere")
case("RaggedGather", [SPLITS], D, i([3, 0, 3]), OUTPUT_RAGGED_RANK=1)
case("RaggedGather", [SPLITS], s(["a", "b", "c", "d", "e"]), i([[1, 0], [2, 3]]), OUTPUT_RAGGED_RANK=2, note="a matrix of indices")
case("RaggedGather", [i([0, 2, 2, 4]), SPLITS], i([1, 2, 3, 4, 5]), i([2, 0]), OUTPUT_RAGGED_RANK=2, note="two ragged axes")
case("RaggedGather", [i([0, 2, 2, 4]), SPLITS], i([1, 2, 3, 4, 5]), i(2), OUTPUT_RAGGED_RANK=1, note="a scalar index")
case("RaggedGather", [SPLITS], D, i(3), OUTPUT_RAGGED_RANK=0, note="a scalar index, one ragged axis")
case("RaggedGather", [SPLITS], D, i([]), OUTPUT_RAGGED_RANK=1, note="no indices")
case("RaggedGather", [SPLITS], D, i([4]), OUTPUT_RAGGED_RANK=1, note="an index that is too large")
case("RaggedGather", [SPLITS], D, i([-1]), OUTPUT_RAGGED_RANK=1, note="a negative index")
case("RaggedRange", i([0, 5, 8]), i([3, 5, 0]), i([1, 1, -3]))
case("RaggedRange", f([0, 1]), f([1, 1.3]), f(0.25), note="numbers, one step for all")
case("RaggedRange", i(0), i([2, 0, 4]), i(1), note="one start for all")
case("RaggedRange", i([]), i([]), i([]), note="no rows")
case("RaggedRange", i([0]), i([3]), i([0]), note="a step of 0")
case("RaggedRange", i([0, 1]), i([3]), i(1), note="lengths that differ")
to_tensor = {"row_partition_types": ["ROW_SPLITS"]}
case("RaggedTensorToTensor", i(-1), f([1, 2, 3, 4, 5]), f(9), [SPLITS], **to_tensor)
case("RaggedTensorToTensor", i([-1, 3]), i([1, 2, 3, 4, 5]), i(9), [SPLITS], note="a wider shape", **to_tensor)
case("RaggedTensorToTensor", i([2, 1]), i([1, 2, 3, 4, 5]), i(9), [SPLITS], note="a smaller shape", **to_tensor)
case("RaggedTensorToTensor", i([6, -1]), i([1, 2, 3, 4, 5]), i(9), [SPLITS], note="more rows", **to_tensor)
case("RaggedTensorToTensor", i(-1), D, f([7, 8]), [SPLITS], note="a default for each row", **to_tensor)
case("RaggedTensorToTensor", i([-1, -1, 2]), D, f([7]), [SPLITS], note="a default of size 1", **to_tensor)
case("RaggedTensorToTensor", i(-1), s(["a", "b", "c", "d", "e"]), s("-"), [SPLITS], note="strings", **to_tensor)
case("RaggedTensorToTensor", i(-1), f([]), f(9), [i([0, 0, 0])], note="empty rows", **to_tensor)
case("RaggedTensorToTensor", i(-1), f([]), f(9), [i([0])], note="no rows", **to_tensor)
case("RaggedTensorToTensor", i(-1), i([1, 2, 3, 4, 5]), i(0), [i([0, 2, 2, 4]), SPLITS], row_partition_types=["ROW_SPLITS", "ROW_SPLITS"], note="two ragged axes")
case("RaggedTensorToTensor", i(-1), i([1, 2, 3, 4, 5]), i(0), [i(4), i([0, 0, 2, 3, 3])], row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"], note="row ids")
case("RaggedTensorToTensor", i(-1), i([1, 2, 3, 4, 5]), i(0), [i(4), SPLITS], row_partition_types=["FIRST_DIM_SIZE", "ROW_SPLITS"], note="a size and splits")
case("RaggedTensorToTensor", i(-1), i([1]), i([0, 0]), [i([0, 1])], note="a default of a wrong shape", **to_tensor)
case("RaggedTensorToTensor", i([-1]), i([1]), i(0), [i([0, 1])], note="a shape of wrong rank", **to_tensor)
case("RaggedTensorToTensor", i(-1), i([1, 2, 3, 4, 5]), i(0), [i(4), i([0, 0, 2, 3, 4])], row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"], note="a row id that is too large")

AT = i([[2, 1], [0, 3], [0, 0], [2, 0]])
case("SparseReorder", AT, f([1, 2, 3, 4]), i([3, 4]))
case("SparseReorder", AT, s(["a", "b", "c", "d"]), i([3, 4]), note="strings")
case("SparseReorder", i(np.zeros([0, 2])), f([]), i([3, 4]), note="nothing")
case("SparseReorder", AT, f([1, 2, 3]), i([3, 4]), note="too few values")
case("SparseReorder", AT, f([1, 2, 3, 4]), i([3]), note="a shape of wrong rank")
AS = i([[0, 0], [0, 3], [2, 0], [2, 1]])
BS = i([[1, 1], [2, 0]])
case("SparseConcat", [AS, BS], [f([1, 2, 3, 4]), f([5, 6])], [i([3, 4]), i([3, 2])], concat_dim=1)
case("SparseConcat", [AS, BS], [s(["a", "b", "c", "d"]), s(["e", "f"])], [i([3, 4]), i([3, 4])], concat_dim=0, note="rows, strings")
case("SparseConcat", [AS, BS], [i([1, 2, 3, 4]), i([5, 6])], [i([3, 4]), i([3, 4])], concat_dim=-2, note="a negative axis")
case("SparseConcat", [AS, BS[:0]], [i([1, 2, 3, 4]), i([])], [i([3, 4]), i([3, 1])], concat_dim=1, note="an empty one")
case("SparseConcat", [AS, BS], [i([1, 2, 3, 4]), i([5, 6])], [i([3, 4]), i([4, 2])], concat_dim=1, note="shapes that do not fit")
case("SparseConcat", [AS, BS], [i([1, 2, 3, 4]), i([5, 6])], [i([3, 4]), i([3, 2])], concat_dim=2, note="an axis that is not there")
case("SparseSlice", AS, f([1, 2, 3, 4]), i([3, 4]), i([0, 1]), i([3, 3]))
case("SparseSlice", AS, s(["a", "b", "c", "d"]), i([3, 4]), i([2, 0]), i([5, 1]), note="beyond the end")
case("SparseSlice", AS, f([1, 2, 3, 4]), i([3, 4]), i([1, 0]), i([1, 4]), note="an empty row")
case("SparseSlice", AS, f([1, 2, 3, 4]), i([3, 4]), i([1]), i([1, 4]), note="a start of wrong length")
case("SparseSplit", i(1), AS, f([1, 2, 3, 4]), i([3, 4]), num_split=2)
case("SparseSplit", i(0), AS, i([1, 2, 3, 4]), i([3, 4]), num_split=2, note="parts of different sizes")
case("SparseSplit", i(0), AS, i([1, 2, 3, 4]), i([3, 4]), num_split=4, note="too many parts")
case("SparseSplit", i(2), AS, i([1, 2, 3, 4]), i([3, 4]), num_split=1, note="an axis that is not there")
case("SparseReshape", AS, i([3, 4]), i([2, 6]))
case("SparseReshape", AS, i([3, 4]), i([2, -1, 2]), note="a size to be found")
case("SparseReshape", AS[:0], i([0, 4]), i([2, -1]), note="nothing")
case("SparseReshape", AS, i([3, 4]), i([5, 2]), note="another number of elements")
case("SparseReshape", AS, i([3, 4]), i([-1, -1]), note="two sizes to be found")
case("SparseFillEmptyRows", AS, f([1, 2, 3, 4]), i([5, 4]), f(9))
case("SparseFillEmptyRows", AT, s(["a", "b", "c", "d"]), i([4, 4]), s("-"), note="strings, not sorted")
case("SparseFillEmptyRows", AS[:0], i([]), i([2, 3]), i(7), note="nothing but rows")
case("SparseFillEmptyRows", AS[:0], i([]), i([0, 3]), i(7), note="nothing")
case("SparseFillEmptyRows", AS, f([1, 2, 3, 4]), i([2, 4]), f(9), note="a row that is too large")
case("SparseFillEmptyRows", AS, f([1, 2, 3, 4]), i([0, 4]), f(9), note="no rows")
case("SparseFillEmptyRows", AS, f([1, 2, 3]), i([3, 4]), f(9), note="too few values")
case("SparseFillEmptyRows", AS, f([1, 2, 3, 4]), i([3, 4]), f([9]), note="a default that is no scalar")
case("SparseFillEmptyRowsGrad", i([0, 2, 3]), f([1, 2, 4, 8, 16]))
case("SparseFillEmptyRowsGrad", i([]), f([1, 2]), note="defaults alone")
case("SparseFillEmptyRowsGrad", i([0, 5]), f([1, 2]), note="a place that is not there")
case("SparseToDense", AS, i([3, 4]), f([1, 2, 3, 4]), f(9))
case("SparseToDense", i([0, 2]), i([4]), s(["a", "b"]), s("-"), note="a vector of strings")
case("SparseToDense", i(2), i([4]), i(7), i(1), note="a scalar index")
case("SparseToDense", i([1, 3]), i([4]), i(7), i(1), note="one value for all")
case("SparseToDense", AS[:0], i([2, 2]), f([]), f(9), note="nothing")
case("SparseToDense", AT, i([3, 4]), f([1, 2, 3, 4]), f(9), note="not sorted")
case("SparseToDense", AT, i([3, 4]), f([1, 2, 3, 4]), f(9), validate_indices=False, note="not sorted, unchecked")
case("SparseToDense", AS, i([2, 4]), f([1, 2, 3, 4]), f(9), note="an index outside")

V = f([1.5, -2, 3, -0.25])
for op in ["SparseReduceSum", "SparseReduceMax"]:
    for axes, note in [(i([0]), "rows"), (i([1]), "columns"), (i(-1), "a scalar axis"), (i([0, 1]), "all axes"), (i([]), "no axes"), (i([1, -1]), "an axis twice")]:
        case(op, AS, V, i([3, 4]), axes, note=note)
        case(op, AS, V, i([3, 4]), axes, keep_dims=True, note=f"{note}, kept")
    case(op, AT, i([5, -6, 7, -8]), i([3, 4]), i([1]), note="int32, not sorted")
    case(op, i([[0, 1], [0, 1]]), f([2, 3]), i([2, 2]), i([1]), note="a place twice")
    case(op, AS[:0], f([]), i([3, 4]), i([1]), note="nothing")
    case(op, AS, V, i([3, 4]), i([2]), note="an axis that is not there")
    case(op, AS, V, i([2, 4]), i([1]), note="a row that is too large")
    case(op, AS, V[:3], i([3, 4]), i([1]), note="too few values")
    case(op, AS, V, i([3]), i([1]), note="a shape of wrong rank")
    case(op, i([[0, 0, 1], [1, 0, 0], [1, 1, 1]]), f([1, 2, 4]), i([2, 2, 2]), i([0, 2]), note="two axes of three")
add = lambda indices, values, shape=(3, 4): (i(indices).reshape(-1, len(shape)), values, i(shape))
case("SparseAdd", *add(AS, V), *add(BS, f([4, -3])), f(0))
case("SparseAdd", *add(AS, V), *add(BS, f([4, -3])), f(0.5), note="a threshold")
case("SparseAdd", *add(AS, V), *add(AS, -V), f(0), note="sums of 0, kept")
case("SparseAdd", *add(AS, V), *add(AS, -V), f(1e-6), note="sums of 0, left out")
case("SparseAdd", *add(AS, i([1, 2, 3, 4])), *add(BS, i([5, -3])), i(1), note="int32")
case("SparseAdd", *add([], f([])), *add(BS, f([4, -3])), f(0), note="nothing in the first")
case("SparseAdd", *add([], f([])), *add([], f([])), f(0), note="nothing")
case("SparseAdd", *add([1, 3], f([1, 2]), [5]), *add([0, 3, 4], f([4, 8, 16]), [5]), f(0), note="vectors")
case("SparseAdd", *add(AT, V), *add(BS, f([4, -3])), f(0), note="not sorted")
case("SparseAdd", *add(AS, V), *add(BS, f([4, -3]), (4, 4)), f(0), note="shapes that differ")
case("SparseAdd", *add(AS, V[:2]), *add(BS, f([4, -3])), f(0), note="too few values")
case("SparseAdd", *add(AS, V), *add(BS, f([4, -3])), f([0, 1]), note="a threshold that is no scalar")
GRID = f(np.arange(12).reshape(3, 4) - 3)
for op in ["SparseDenseCwiseMul", "SparseDenseCwiseAdd"]:
    case(op, AS, V, i([3, 4]), GRID)
    case(op, AT, i([1, 2, 3, 4]), i([3, 4]), i(GRID), note="int32, not sorted")
    case(op, AS, V, i([3, 4]), GRID[0], note="a row for all")
    case(op, AS, V, i([3, 4]), GRID[:, :1], note="a column for all")
    case(op, AS, V, i([3, 4]), f(2), note="a scalar")
    case(op, AS[:0], f([]), i([3, 4]), GRID, note="nothing")
    case(op, AS, V, i([3, 4]), GRID[:2], note="rows that do not fit")
    case(op, AS, V, i([3, 4]), f(np.zeros([2, 3, 4])), note="an axis too many")
    case(op, AS, V, i([2, 4]), GRID[:2], note="a row that is too large")
    case(op, AS, V[:3], i([3, 4]), GRID, note="too few values")

M = f([[1, 2], [3, 4], [5, 6], [7, 8]])
case("SparseTensorDenseMatMul", AS, f([1, 2, 3, 4]), i([3, 4]), M)
case("SparseTensorDenseMatMul", AT, i([1, 2, 3, 4]), i([3, 4]), i([[1, 2], [3, 4], [5, 6], [7, 8]]), note="int32, not sorted")
case("SparseTensorDenseMatMul", i([[0, 1], [0, 1]]), f([2, 3]), i([1, 2]), f([[1, 2, 3], [4, 5, 6]]), note="a place twice")
case("SparseTensorDenseMatMul", AS, f([1, 2, 3, 4]), i([3, 4]), M[:3], adjoint_a=True, note="the transposed first")
case("SparseTensorDenseMatMul", AS, f([1, 2, 3, 4]), i([3, 4]), f([[1, 2, 3, 4], [5, 6, 7, 8]]), adjoint_b=True, note="the transposed second")
case("SparseTensorDenseMatMul", AS, f([1, 2, 3, 4]), i([3, 4]), f([[1, 2, 3]]), adjoint_a=True, adjoint_b=True, note="both transposed")
case("SparseTensorDenseMatMul", AS[:0], f([]), i([3, 4]), M, note="nothing")
case("SparseTensorDenseMatMul", AS[:0], f([]), i([0, 4]), M, note="no rows")
case("SparseTensorDenseMatMul", AS, f([1, 2, 3, 4]), i([3, 4]), M[:, :0], note="no columns")
case("SparseTensorDenseMatMul", AS, f([1, 2, 3, 4]), i([2, 4]), M, note="a row that is too large")
case("SparseTensorDenseMatMul", i([[0, -1]]), f([1]), i([3, 4]), M, note="a negative column")
case("SparseTensorDenseMatMul", AS, f([1, 2, 3, 4]), i([3, 5]), M, note="sizes that do not fit")
case("SparseTensorDenseMatMul", AS, f([1, 2, 3]), i([3, 4]), M, note="too few values")
case("SparseTensorDenseMatMul", AS, f([1, 2, 3, 4]), i([3]), M, note="a shape of wrong rank")
case("SparseTensorDenseMatMul", AS, f([1, 2, 3, 4]), i([3, 4]), f([1, 2, 3, 4]), note="a vector as the second")
case("SparseTensorDenseMatMul", i([[0, 0, 0]]), f([1]), i([3, 4]), M, note="indices of three axes")
case("RaggedFillEmptyRows", i([0, 0, 2]), f([1, 2, 3]), i(4), f(9))
case("RaggedFillEmptyRows", i([0, 0, 2, 3]), s(["a", "b", "c", "d"]), i(4), s("-"), note="strings")
case("RaggedFillEmptyRows", i([0, 1]), i([5, 6]), i(2), i(7), note="no row is empty")
case("RaggedFillEmptyRows", i([]), f([]), i(2), f(9), note="nothing but rows")
case("RaggedFillEmptyRows", i([]), f([]), i(0), f(9), note="nothing")
case("RaggedFillEmptyRows", i([2, 0, 2]), f([1, 2, 3]), i(4), f(9), note="rows that are not sorted")
case("RaggedFillEmptyRows", i([0, 4]), f([1, 2]), i(4), f(9), note="a row that is too large")
case("RaggedFillEmptyRows", i([-1, 0]), f([1, 2]), i(4), f(9), note="a negative row")
case("RaggedFillEmptyRows", i([0, 1]), f([1]), i(4), f(9), note="too few values")
case("RaggedFillEmptyRows", i([0]), f([1]), i(0), f(9), note="no rows")
case("RaggedFillEmptyRows", i([0]), f([1]), i(2), f([9]), note="a default that is no scalar")
case("RaggedFillEmptyRowsGrad", i([0, 2, 3]), f([1, 2, 4, 8, 16]))
case("RaggedFillEmptyRowsGrad", i([]), f([1, 2]), note="defaults alone")
case("RaggedFillEmptyRowsGrad", i([0, 5]), f([1, 2]), note="a place that is not there")

case("DynamicPartition", D, i([0, 2, 0, 3, 2]), num_partitions=4)
case("DynamicPartition", s(["a", "b", "c"]), i([1, 0, 1]), num_partitions=2, note="strings")
case("DynamicPartition", DI, i([[0, 1], [1, 1], [0, 0], [1, 0], [1, 1]]), num_partitions=2, note="numbers of rows")
case("DynamicPartition", D[:0], i([]), num_partitions=2, note="nothing")
case("DynamicPartition", b([True, False]), i([0, 0]), num_partitions=1, note="bool")
case("DynamicPartition", D, i([0, 2, 0, 3, 4]), num_partitions=4, note="a partition that is not there")
case("DynamicPartition", D, i([0, -1, 0, 3, 3]), num_partitions=4, note="a negative partition")
case("DynamicPartition", D, i([0, 1]), num_partitions=4, note="too few partitions")
for op in ["DynamicStitch", "ParallelDynamicStitch"]:
    case(op, [i([0, 2]), i([1, 3])], [D[:2], D[2:4]])
    case(op, [i(1), i([[0, 2], [3, 4]])], [f([5, 6]), D[[0, 1, 2, 3]].reshape(2, 2, 2)], note="a scalar and a matrix")
    case(op, [i([0, 1]), i([])], [s(["a", "b"]), s([])], note="strings, nothing beside")
    case(op, [i([])], [f(np.zeros([0, 3]))], note="nothing")
    case(op, [i([0]), i([1])], [D[:1], f([[1, 2, 3]])], note="rows of different lengths")
    case(op, [i([0, -1])], [D[:2]], note="a negative index")
case("DynamicStitch", [i([0, 1]), i([1, 0])], [i([1, 2]), i([3, 4])], note="the last one wins")

X = [i([4, 5])]
DY = f([[1, 2, 3], [4, 5, 6]])
masks = lambda **given: {**{f"{m}_mask": 0 for m in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}, **given}
case("StridedSliceGrad", *X, i([1, 0]), i([3, 3]), i([1, 1]), DY, **masks())
case("StridedSliceGrad", *X, i([0, 0]), i([4, 5]), i([2, 2]), DY, **masks(), note="steps")
case("StridedSliceGrad", *X, i([3, 4]), i([0, 0]), i([-2, -2]), DY[:, :2], **masks(), note="backwards")
case("StridedSliceGrad", *X, i([0, 0]), i([0, 3]), i([1, 1]), f(np.arange(12).reshape(4, 3)), **masks(end_mask=1), note="an open end")
case("StridedSliceGrad", *X, i([-1, 1]), i([0, 4]), i([1, 1]), f([1, 2, 3]), **masks(shrink_axis_mask=1), note="an axis taken away")
case("StridedSliceGrad", *X, i([0, 0]), i([0, 3]), i([1, 1]), f(np.arange(12).reshape(4, 3)), **masks(ellipsis_mask=1), note="an ellipsis")
case("StridedSliceGrad", *X, i([0, 0, 1]), i([0, 0, 3]), i([1, 1, 1]), f(np.arange(8).reshape(4, 1, 2)), **masks(new_axis_mask=2, begin_mask=1, end_mask=1), note="a new axis")
case("StridedSliceGrad", *X, i([1]), i([3]), i([1]), i(np.arange(10).reshape(2, 5)), **masks(), note="int32, the first axis alone")
case("StridedSliceGrad", *X, i([2]), i([2]), i([1]), f(np.zeros([0, 5])), **masks(), note="nothing")
case("StridedSliceGrad", *X, i([1, 0]), i([3, 3]), i([1, 1]), DY[:1], **masks(), note="a gradient of wrong shape")
case("StridedSliceGrad", *X, i([1]), i([3]), i([0]), DY, **masks(), note="a step of 0")

case("UniqueWithCounts", i([5, 7, 5, 5, 9]))
case("UniqueWithCounts", f([1, -1, 1, 0.5]), note="numbers")
case("UniqueWithCounts", s(["b", "a", "b"]), note="strings")
case("UniqueWithCounts", i([]), note="nothing")
case("UniqueWithCounts", DI, note="a matrix")
case("UniqueWithCountsV2", i([[1, 2, 1], [1, 2, 1], [3, 4, 3]]), i([0]))
case("UniqueWithCountsV2", i([[1, 2, 1], [1, 2, 1], [3, 4, 3]]), i([1]), note="columns")
case("UniqueWithCountsV2", i([5, 7, 5]), i([]), note="no axis")
case("UniqueWithCountsV2", i([5, 7, 5]), i([1]), note="an axis that is not there")

# bool, wherever an op takes every type, and inputs with nothing in them.
FLAGS = b([True, False, False, True])
case("RaggedTensorToSparse", [i([0, 2, 2, 4])], FLAGS, note="bool")
case("RaggedGather", [i([0, 2, 2, 4])], FLAGS, i([2, 0]), OUTPUT_RAGGED_RANK=1, note="bool")
case("RaggedTensorToTensor", i(-1), FLAGS, b(True), [i([0, 2, 2, 4])], note="bool", **to_tensor)
case("SparseReorder", AT, FLAGS, i([3, 4]), note="bool")
case("SparseConcat", [AS, BS], [FLAGS, b([True, False])], [i([3, 4]), i([3, 2])], concat_dim=1, note="bool")
case("SparseSlice", AS, FLAGS, i([3, 4]), i([0, 1]), i([3, 3]), note="bool")
case("SparseSlice", AS[:0], f([]), i([3, 4]), i([0, 1]), i([3, 3]), note="nothing")
case("SparseSplit", i(1), AS, FLAGS, i([3, 4]), num_split=2, note="bool")
case("SparseSplit", i(1), AS[:0], f([]), i([3, 4]), num_split=2, note="nothing")
case("SparseFillEmptyRows", AS, FLAGS, i([5, 4]), b(True), note="bool")
case("SparseToDense", AS, i([3, 4]), FLAGS, b(True), note="bool")
case("RaggedFillEmptyRows", i([0, 0, 2, 3]), FLAGS, i(5), b(True), note="bool")
for op in ["DynamicStitch", "ParallelDynamicStitch"]:
    case(op, [i([0, 2]), i([1, 3])], [FLAGS[:2], FLAGS[2:]], note="bool")
case("StridedSliceGrad", i([4]), i([1]), i([3]), i([1]), FLAGS[:2], **masks(), note="bool")
case("UniqueWithCounts", FLAGS, note="bool")
case("UniqueWithCountsV2", FLAGS.reshape(2, 2), i([0]), note="rows of bool")
case("UniqueWithCountsV2", f([[1, -1], [0.5, 2], [1, -1]]), i([-2]), note="rows of numbers, a negative axis")
case("UniqueWithCountsV2", s([["a", "bc"], ["ab", "c"], ["a", "bc"]]), i([0]), note="rows of strings")
case("UniqueWithCountsV2", f(np.zeros([0, 2])), i([0]), note="nothing")

ROWS = f([[10, 20], [30, 40], [50, 60]])
case("ScatterNd", i([[2], [0], [2]]), ROWS, i([4, 2]), note="rows that meet add up")
case("ScatterNd", i([[1, 0], [0, 1]]), i([5, 7]), i([2, 2]), note="int32, numbers")
case("ScatterNd", i([[1], [1], [0]]), s(["a", "b", "c"]), i([3]), note="strings")
case("ScatterNd", i([[1], [1], [0]]), b([True, True, False]), i([3]), note="bool")
case("ScatterNd", i(np.zeros([0, 1])), f(np.zeros([0, 2])), i([3, 2]), note="nothing")
case("ScatterNd", i([[0], [3]]), ROWS[:2], i([3, 2]), note="an index that is too large")
case("ScatterNd", i([[0], [-1]]), ROWS[:2], i([3, 2]), note="a negative index")
case("ScatterNd", i([[0, 0, 0]]), f([1]), i([3, 2]), note="an index with too many numbers")
case("ScatterNd", i([[0], [1]]), ROWS, i([3, 2]), note="updates of another number")
for name in ["Update", "Add", "Sub", "Min", "Max"]:
    op = f"TensorScatter{name}"
    case(op, ROWS, i([[2], [0], [2]]), f([[1, 2], [15, 15], [99, 70]]), note="a row that comes twice")
    case(op, i([[1, 2], [3, 4]]), i([[1, 1], [0, 0]]), i([9, -9]), note="int32, numbers")
    case(op, ROWS, i(np.zeros([0, 1])), f(np.zeros([0, 2])), note="nothing")
    case(op, ROWS, i([[3]]), f([[1, 2]]), note="an index that is too large")
    case(op, ROWS, i([[0]]), f([[1]]), note="updates of another width")
case("TensorScatterUpdate", s(["a", "b", "c"]), i([[2], [0]]), s(["x", "y"]), note="strings")
case("TensorScatterUpdate", FLAGS, i([[2], [0]]), b([True, False]), note="bool")

case("ListDiff", i([1, 2, 3, 2, 5]), i([3, 1]))
case("ListDiff", s(["a", "b", "", "a"]), s(["b", "c"]), note="strings")
case("ListDiff", f([0.5, -1, 0.5]), f([]), note="numbers, nothing to leave out")
case("ListDiff", i([]), i([3]), note="nothing")
case("ListDiff", f([[1, 2]]), f([1]), note="a matrix")

STEPS = [[1, 2, 3], [4, 5, 6]]
case("ReverseSequence", f(STEPS), i([2, 3]), seq_dim=1, batch_dim=0)
case("ReverseSequence", i(STEPS), i([0, 2, 1]), note="along the rows", seq_dim=0, batch_dim=1)
case("ReverseSequence", s([["a", "b"], ["c", "d"]]), i([2, 1]), note="strings", seq_dim=1, batch_dim=0)
case("ReverseSequence", f([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]), i([1, 2]), note="rows of steps", seq_dim=1, batch_dim=0)
case("ReverseSequence", f(STEPS), i([2, 4]), note="more than there are", seq_dim=1, batch_dim=0)
case("ReverseSequence", f(STEPS), i([2, -1]), note="less than none", seq_dim=1, batch_dim=0)
case("ReverseSequence", f(STEPS), i([2]), note="too few lengths", seq_dim=1, batch_dim=0)
case("ReverseSequence", f(STEPS), i([2, 3]), note="one axis for both", seq_dim=0, batch_dim=0)
case("ReverseSequence", f(STEPS), i([2, 3]), note="an axis too many", seq_dim=2, batch_dim=0)

SIGNATURES = [signature(op) for op in dict.fromkeys(entry["op"] for entry in CASES)]
with open(os.path.join(HERE, "graph_ops.json"), "w") as file:
    json.dump({"tensorflow": tf.__version__, "signatures": SIGNATURES, "cases": CASES}, file, separators=(",", ":"))
    file.write("\n")
