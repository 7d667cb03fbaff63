"""
Programs over objects of graphs (lookup tables, stacks, lists of tensors, ragged variants), run by real TensorFlow: steps
with their inputs, and what came out or which error.

    PYTHONPATH=<a folder with tensorflow 2.21> python3 test/goldens/gen_stateful_ops.py

Each program is one graph, whose steps run one after the other. An input is a tensor, or {"step", "output"}. Integers are
int32, as in tfjs, and widened where TensorFlow wants int64. Tables tell their pairs in no order: here in that of the keys.
"""
import json
import os
import re

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from golden_values import b, f, i, plain, s
from google.protobuf.json_format import MessageToDict
from tensorflow.python.framework import op_def_registry

v1 = tf.compat.v1
v1.disable_v2_behavior()
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = []
HANDLES = {tf.resource, tf.variant}


def attributes_of(operation):
    """As the converter writes them."""
    return {k: MessageToDict(v) for k, v in operation.node_def.attr.items() if not k.startswith("_")}


def unknown(tensor):
    """The same tensor with a shape that only the kernels see: they refuse it, not who builds the graph."""
    return v1.placeholder_with_default(tensor, None)


class Program:
    def __init__(self, name):
        self.name = name
        self.steps = []
        self.results = []
        self.dtypes = {}

    def __call__(self, op, *inputs, wide=(), **attributes):
        """Adds a step; `wide` are the inputs that TensorFlow gets as int64."""
        definition = op_def_registry.get(op)
        step = {"op": op, "inputs": []}
        given, at = {}, 0
        for argument in definition.input_arg:
            count = attributes.get(argument.number_attr, 1) if argument.number_attr else 1
            values = inputs[at : at + count]
            at += count
            tensors = []
            for place, value in enumerate(values):
                if isinstance(value, tuple):
                    step["inputs"].append({"step": value[0], "output": value[1]})
                    handle = self.results[value[0]][value[1]]
                    tensors.append(unknown(handle) if handle.dtype == tf.variant else handle)
                    continue
                step["inputs"].append(plain(value))
                is_wide = argument.type == tf.int64.as_datatype_enum or at - count + place in wide
                wanted = value.astype(np.int64) if is_wide else value
                tensors.append(unknown(tf.constant(wanted, tf.string if value.dtype == object else None)))
            given[argument.name] = tensors if argument.number_attr else tensors[0]
        inferred = {name for a in definition.input_arg for name in (a.number_attr, a.type_attr)}
        passed = {k: v for k, v in attributes.items() if k not in inferred}
        before = [self.last] if self.steps else []
        with tf.control_dependencies(before):
            result = getattr(tf.raw_ops, op)(**given, **passed)
        self.last = result if isinstance(result, tf.Operation) else tf.nest.flatten(result)[0].op
        self.results.append([] if isinstance(result, tf.Operation) else tf.nest.flatten(result))
        step["attributes"] = attributes_of(self.last)
        self.steps.append(step)
        return len(self.steps) - 1


def program(name, build):
    with tf.Graph().as_default(), v1.Session() as session:
        p = Program(name)
        entry = {"name": name, "steps": p.steps}
        try:
            build(p)
            wanted = [r for row in p.results for r in row if r.dtype.base_dtype not in HANDLES]
            values = iter(session.run([wanted, p.last])[0])
            for step, row in zip(p.steps, p.results):
                step["outputs"] = [None if r.dtype.base_dtype in HANDLES else plain(next(values)) for r in row]
                if step["op"].startswith("LookupTableExport"):
                    step["sorted"] = True
                    sort(step["outputs"])
        except (ValueError, tf.errors.OpError) as error:
            entry["error"] = type(error).__name__
            print("   ", " ".join(str(error).split("[[")[0].split())[-160:])
        PROGRAMS.append(entry)
        print(name, "|", entry.get("error") or [[o and o["values"] for o in st["outputs"]] for st in p.steps], flush=True)


def sort(outputs):
    keys, values = outputs
    order = sorted(range(len(keys["values"])), key=lambda at: keys["values"][at])
    width = len(values["values"]) // max(1, len(order))
    keys["values"] = [keys["values"][at] for at in order]
    values["values"] = [x for at in order for x in values["values"][at * width : (at + 1) * width]]


# Lookup tables.
COUNT = [0]


def table(p, op, keys, values, *inputs, **extra):
    COUNT[0] += 1
    known = {a.name for a in op_def_registry.get(op).attr}
    name = {"shared_name": f"{p.name} {COUNT[0]}"} if "shared_name" in known else {}
    return (p(op, *inputs, key_dtype=keys, value_dtype=values, **name, **extra), 0)


def static(keys, values, dtypes, finds, default, name):
    def build(p):
        t = table(p, "HashTableV2", *dtypes)
        p("InitializeTableV2", t, keys, values, wide=[k for k in (1, 2) if dtypes[k - 1] == tf.int64])
        p("LookupTableSizeV2", t)
        p("LookupTableFindV2", t, finds, default, wide=[k for k in (1, 2) if dtypes[k - 1] == tf.int64])

    program(name, build)


WORDS, MORE = s(["the", "cat", "sat"]), s([["cat", "dog"], ["the", "the"]])
static(WORDS, i([1, 2, 3]), (tf.string, tf.int64), MORE, i(-1), "HashTable of words to ids, a matrix of keys")
static(WORDS, f([1, 2.5, 3]), (tf.string, tf.float32), s([]), f(0), "HashTable of words to numbers, no keys")
static(i([7, 9, -3]), s(["a", "b", "c"]), (tf.int64, tf.string), i([9, 8, -3]), s("?"), "HashTable of ids to words")
static(i([7, 9, 11]), i([1, 2, 3]), (tf.int64, tf.int64), i(9), i(0), "HashTable of ids to ids, a scalar key")
static(WORDS, b([True, False, True]), (tf.string, tf.bool), MORE, b(False), "HashTable of words to bool")
static(WORDS, s(["x", "y", "z"]), (tf.string, tf.string), s(["", "sat"]), s("none"), "HashTable of words to words")
static(s([]), i([]), (tf.string, tf.int64), MORE, i(-1), "HashTable of nothing")
static(s(["a", "b", "a"]), i([1, 2, 1]), (tf.string, tf.int64), s(["a"]), i(0), "HashTable with one pair twice")
static(s(["a", "b", "a"]), i([1, 2, 3]), (tf.string, tf.int64), s(["a"]), i(0), "HashTable with two values for a key")
static(s([["a", "b"]]), i([[1, 2]]), (tf.string, tf.int64), s(["a"]), i(0), "HashTable of a matrix of keys")
static(s(["a", "b"]), i([1]), (tf.string, tf.int64), s(["a"]), i(0), "HashTable with too few values")
static(WORDS, i([1, 2, 3]), (tf.string, tf.int64), MORE, i([-1]), "HashTable with a default that is no scalar")


def uninitialized(p):
    p("LookupTableFindV2", table(p, "HashTableV2", tf.string, tf.int64), WORDS, i(0), wide=[2])


def uninitialized_size(p):
    p("LookupTableSizeV2", table(p, "HashTableV2", tf.string, tf.int64))


def twice(again):
    def build(p):
        t = table(p, "HashTableV2", tf.string, tf.int64)
        p("InitializeTableV2", t, WORDS, i([1, 2, 3]), wide=[2])
        p("InitializeTableV2", t, WORDS, i(again), wide=[2])
        p("LookupTableFindV2", t, WORDS, i(0), wide=[2])

    return build


def exported(p):
    t = table(p, "HashTableV2", tf.string, tf.int64)
    p("InitializeTableV2", t, WORDS, i([1, 2, 3]), wide=[2])
    p("LookupTableExportV2", t, Tkeys=tf.string, Tvalues=tf.int64)


def written(op, *inputs):
    def build(p):
        t = table(p, "HashTableV2", tf.string, tf.int64)
        p("InitializeTableV2", t, WORDS, i([1, 2, 3]), wide=[2])
        p(op, t, *inputs, wide=[2])

    return build


program("HashTable before it has its pairs", uninitialized)
program("HashTable before it has its pairs: its size", uninitialized_size)
program("HashTable given the same pairs twice", twice([1, 2, 3]))
program("HashTable given other pairs", twice([1, 2, 4]))
program("HashTable does not take more pairs", written("LookupTableInsertV2", WORDS, i([1, 2, 3])))
program("HashTable gives its pairs", exported)
program("HashTable does not forget keys", written("LookupTableRemoveV2", WORDS))
program("HashTable is not imported into", written("LookupTableImportV2", WORDS, i([1, 2, 3])))


def mutable(op, *empty, **extra):
    def build(p):
        t = table(p, op, tf.string, tf.int64, *empty, **extra)
        p("LookupTableSizeV2", t)
        p("LookupTableInsertV2", t, WORDS, i([1, 2, 3]), wide=[2])
        p("LookupTableInsertV2", t, s(["cat", "cow"]), i([20, 4]), wide=[2])
        p("LookupTableFindV2", t, MORE, i(-1), wide=[2])
        p("LookupTableFindV2", t, MORE, i([[1, 2], [3, 4]]), wide=[2])
        p("LookupTableSizeV2", t)
        p("LookupTableRemoveV2", t, s(["cat", "nobody"]))
        p("LookupTableExportV2", t, Tkeys=tf.string, Tvalues=tf.int64)
        p("LookupTableImportV2", t, s(["new", "newer"]), i([5, 6]), wide=[2])
        p("LookupTableSizeV2", t)
        p("LookupTableFindV2", t, s("newer"), i(-1), wide=[2])
        p("LookupTableInsertV2", t, s([]), i([]), wide=[2])
        p("LookupTableFindV2", t, s([]), i(-1), wide=[2])

    return build


program("MutableHashTable", mutable("MutableHashTableV2"))
program("AnonymousMutableHashTable", mutable("AnonymousMutableHashTable"))


def of_tensors(op, *empty, keys=tf.int64, wide=(1,), **extra):
    def build(p):
        t = table(p, op, keys, tf.float32, *empty, value_shape=[2], **extra)
        p("LookupTableInsertV2", t, i([3, 1]), f([[1, 2], [3, 4]]), wide=wide)
        p("LookupTableFindV2", t, i([1, 9, 3]), f([-1, -2]), wide=wide)
        p("LookupTableFindV2", t, i([[1], [9]]), f([-1, -2]), wide=wide)
        p("LookupTableInsertV2", t, i([9]), f([[5, 6]]), wide=wide)
        p("LookupTableRemoveV2", t, i([3]), wide=wide)
        if not empty:  # Dense tables give what the memory of their empty places held.
            p("LookupTableExportV2", t, Tkeys=keys, Tvalues=tf.float32)
        p("LookupTableSizeV2", t)

    return build


program("MutableHashTableOfTensors", of_tensors("MutableHashTableOfTensorsV2"))
program("AnonymousMutableHashTableOfTensors", of_tensors("AnonymousMutableHashTableOfTensors"))
program("MutableDenseHashTable", of_tensors("MutableDenseHashTableV2", i(-1), i(-2), keys=tf.int32, wide=()))
program("AnonymousMutableDenseHashTable", of_tensors("AnonymousMutableDenseHashTable", i(-1), i(-2), keys=tf.int32, wide=()))


def bad(op, step, *inputs, keys=tf.string, values=tf.int64, empty=(), wide=(2,), **extra):
    def build(p):
        p(step, table(p, op, keys, values, *empty, **extra), *inputs, wide=wide)

    return build


program("MutableHashTable, too few values", bad("MutableHashTableV2", "LookupTableInsertV2", WORDS, i([1, 2])))
program("MutableHashTable, values of another shape", bad("MutableHashTableV2", "LookupTableInsertV2", WORDS, i([[1], [2], [3]])))
program("MutableHashTable, a default of another shape", bad("MutableHashTableV2", "LookupTableFindV2", WORDS, i([1, 2])))
program("MutableHashTable is given no first pairs", bad("MutableHashTableV2", "InitializeTableV2", WORDS, i([1, 2, 3])))
program("MutableHashTableOfTensors, a scalar as the default", bad("MutableHashTableOfTensorsV2", "LookupTableFindV2", i([1]), f(0), keys=tf.int64, values=tf.float32, wide=(1,), value_shape=[2]))
program("MutableHashTableOfTensors, rows of another length", bad("MutableHashTableOfTensorsV2", "LookupTableInsertV2", i([1]), f([[1, 2, 3]]), keys=tf.int64, values=tf.float32, wide=(1,), value_shape=[2]))
dense = dict(keys=tf.int32, values=tf.float32, empty=(i(-1), i(-2)), wide=(), value_shape=[])
program("MutableDenseHashTable, the empty key written", bad("MutableDenseHashTableV2", "LookupTableInsertV2", i([-1]), f([1]), **dense))
program("MutableDenseHashTable, the deleted key written", bad("MutableDenseHashTableV2", "LookupTableInsertV2", i([-2]), f([1]), **dense))
program("MutableDenseHashTable, the empty key sought", bad("MutableDenseHashTableV2", "LookupTableFindV2", i([-1]), f(1), **dense))
program("MutableDenseHashTable, the empty key removed", bad("MutableDenseHashTableV2", "LookupTableRemoveV2", i([-1]), **dense))
program("MutableDenseHashTable, one key for empty and deleted", bad("MutableDenseHashTableV2", "LookupTableFindV2", i([5]), f(1), **{**dense, "empty": (i(-1), i(-1))}))
program("MutableDenseHashTable, buckets that are no power of 2", bad("MutableDenseHashTableV2", "LookupTableFindV2", i([5]), f(1), initial_num_buckets=3, **dense))


def of_pairs(p):
    t = table(p, "MutableDenseHashTableV2", tf.int64, tf.float32, i([-1, -1]), i([-2, -2]), value_shape=[], wide=(0, 1))
    p("LookupTableInsertV2", t, i([[1, 2], [3, 4]]), f([5, 6]), wide=[1])
    p("LookupTableFindV2", t, i([[3, 4], [4, 3], [1, 2]]), f(0), wide=[1])
    p("LookupTableSizeV2", t)


program("MutableDenseHashTable with pairs of numbers as keys", of_pairs)


# Stacks.
def stacked(p):
    h = (p("StackV2", i(-1), elem_type=tf.float32, stack_name="s"), 0)
    p("StackPushV2", h, f([1, 2]))
    p("StackPushV2", h, f(3), swap_memory=True)
    p("StackPopV2", h, elem_type=tf.float32)
    p("StackPushV2", h, f([[4]]))
    p("StackPopV2", h, elem_type=tf.float32)
    p("StackPopV2", h, elem_type=tf.float32)
    p("StackCloseV2", h)


def popped(*values, size=-1, close=False, dtype=tf.float32, pop=None):
    def build(p):
        h = (p("StackV2", i(size), elem_type=dtype, stack_name="s"), 0)
        for value in values:
            p("StackPushV2", h, value)
        if close:
            p("StackCloseV2", h)
        p("StackPopV2", h, elem_type=pop or dtype)

    return build


program("Stack: the last one in is the first one out", stacked)
program("Stack of ids, of as many as it may hold", popped(i([1]), i([2, 3]), size=2, dtype=tf.int32))
program("Stack of strings", popped(s(["a", "b"]), dtype=tf.string))
program("Stack of bool", popped(b(True), dtype=tf.bool))
program("Stack with nothing in it", popped())
program("Stack with more than it may hold", popped(f(1), f(2), size=1))
program("Stack that is closed", popped(f(1), close=True))
program("Stack given another dtype", popped(i(1)))
program("Stack read as another dtype", popped(f(1), pop=tf.int32))


# Lists of tensors.
def listed(p, values=((1, 2), (3, 4), (5, 6)), dtype=tf.float32, shape=(2,)):
    make = {tf.float32: f, tf.int32: i}[dtype]
    return (p("TensorListFromTensor", make(values), i(list(shape)), element_dtype=dtype, shape_type=tf.int32), 0)


def stack(p, handle, shape=(2,), dtype=tf.float32):
    return p("TensorListStack", handle, i(list(shape)), element_dtype=dtype, num_elements=-1)


def element_shape(p):
    p("TensorListElementShape", listed(p), shape_type=tf.int32)
    reserved = (p("TensorListReserve", i([-1, 3]), i(2), element_dtype=tf.float32, shape_type=tf.int32), 0)
    p("TensorListElementShape", reserved, shape_type=tf.int32)


def scatter_into(indices, values=((7, 8), (9, 10))):
    def build(p):
        h = listed(p)
        h = (p("TensorListScatterIntoExistingList", h, f(values), i(indices), element_dtype=tf.float32), 0)
        stack(p, h)

    return build


def lists_joined(dtype=tf.float32):
    def build(p):
        one, two = listed(p, [[1, 2]]), listed(p, [[3, 4], [5, 6]], dtype)
        h = (p("TensorListConcatLists", one, two, element_dtype=tf.float32), 0)
        stack(p, h)
        stack(p, one)

    return build


program("TensorListElementShape", element_shape)
program("TensorListScatterIntoExistingList", scatter_into([2, 0]))
program("TensorListScatterIntoExistingList of nothing", scatter_into([], np.zeros([0, 2])))
program("TensorListScatterIntoExistingList beyond the end", scatter_into([0, 3]))
# A negative index ends the process of TensorFlow 2.21.
program("TensorListScatterIntoExistingList with too few indices", scatter_into([0]))
program("TensorListConcatLists", lists_joined())
program("TensorListConcatLists of two dtypes", lists_joined(tf.int32))


def written_list(p, shape, *elements, count=None):
    """A list of `count` elements, of which some are written: (place, values) each."""
    size = len(elements) if count is None else count
    h = (p("TensorListReserve", i(shape), i(size), element_dtype=tf.float32, shape_type=tf.int32), 0)
    for place, values in elements:
        h = (p("TensorListSetItem", h, i(place), f(values)), 0)
    return h


ROWS = [(0, [[1, 2]]), (1, np.zeros([0, 2])), (2, [[3, 4], [5, 6], [7, 8]])]


def partly(shape=(-1,), given=(3,), places=(0, 3), size=5, reads=("stack", "gather", "read")):
    """A list of which some elements are written, read in several ways."""

    def build(p):
        h = written_list(p, list(shape) if shape != -1 else -1, *[(at, [at + 1, 2, 3]) for at in places], count=size)
        wanted = i(list(given) if given != -1 else -1)
        if "length" in reads:
            p("TensorListLength", h)
        if "stack" in reads:
            p("TensorListStack", h, wanted, element_dtype=tf.float32, num_elements=-1)
        if "counted" in reads:
            p("TensorListStack", h, wanted, element_dtype=tf.float32, num_elements=size + 1)
        if "gather" in reads:
            p("TensorListGather", h, i([4, 0, 1, 0]), wanted, element_dtype=tf.float32)
        if "none" in reads:
            p("TensorListGather", h, i([]), wanted, element_dtype=tf.float32)
        if "beyond" in reads:
            p("TensorListGather", h, i([0, size]), wanted, element_dtype=tf.float32)
        if "read" in reads:
            p("TensorListGetItem", h, i(4), wanted, element_dtype=tf.float32)
        if "write" in reads:
            p("TensorListSetItem", h, i(size), f([1, 2, 3]))

    return build


def one_list_twice(p):
    """What changes a list leaves the list as it was."""
    h = (p("EmptyTensorList", i([]), i(-1), element_dtype=tf.float32, shape_type=tf.int32), 0)
    one = (p("TensorListPushBack", h, f(1)), 0)
    other = (p("TensorListPushBack", h, f(2)), 0)
    both = (p("TensorListPushBack", one, f(3)), 0)
    written = (p("TensorListSetItem", both, i(0), f(4)), 0)
    for each in (h, one, other, both, written):
        stack(p, each, ())
    popped = p("TensorListPopBack", both, i([]), element_dtype=tf.float32)
    p("TensorListLength", (popped, 0))
    stack(p, both, ())


def popped_off(count, pops, shape=(2,)):
    def build(p):
        h = written_list(p, list(shape), *[(0, [1, 2])][:count], count=count)
        for _ in range(pops):
            h = (p("TensorListPopBack", h, i(list(shape)), element_dtype=tf.float32), 0)

    return build


def resized(*sizes):
    def build(p):
        h = listed(p)
        for size in sizes:
            h = (p("TensorListResize", h, i(size)), 0)
            p("TensorListLength", h)
            stack(p, h)

    return build


def scattered_list(indices, count=None, values=((7, 8), (9, 10))):
    def build(p):
        more = () if count is None else (i(count),)
        op = "TensorListScatter" if count is None else "TensorListScatterV2"
        h = (p(op, f(values), i(indices), i([2]), *more, element_dtype=tf.float32, shape_type=tf.int32), 0)
        p("TensorListLength", h)
        stack(p, h)

    return build


def taken_from(values, shape, dtype=tf.float32):
    def build(p):
        h = (p("TensorListFromTensor", values, i(shape), element_dtype=dtype, shape_type=tf.int32), 0)
        p("TensorListLength", h)
        p("TensorListStack", h, i(shape), element_dtype=dtype, num_elements=-1)

    return build


program("TensorListStack of a list written in part", partly(reads=("stack", "length")))
program("TensorListStack of a list of which nothing is written", partly(places=(), reads=("stack",)))
program("TensorListStack of elements whose shape only others tell", partly(shape=-1, given=-1, reads=("stack", "gather", "read")))
program("TensorListStack of elements whose shape nobody tells", partly(shape=-1, given=-1, places=(), reads=("stack",)))
program("TensorListStack of no elements", partly(places=(), size=0, reads=("stack", "none")))
program("TensorListStack of no elements of unknown shape", partly(given=(-1,), places=(), size=0, reads=("stack",)))
program("TensorListStack of another number of elements", partly(reads=("counted",)))
program("TensorListGather of a list written in part", partly(reads=("gather", "none")))
program("TensorListGather beyond the end", partly(reads=("beyond",)))
program("TensorListSetItem beyond the end", partly(reads=("write",)))
program("TensorListReserve of a negative number", partly(size=-1, places=(), reads=("length",)))
program("TensorListPushBack to one list twice", one_list_twice)
program("TensorListPopBack of an element never written", popped_off(3, 2))
program("TensorListPopBack of the last one", popped_off(1, 1))
program("TensorListPopBack of an empty list", popped_off(1, 2))
program("TensorListResize", resized(5, 2, 0))
program("TensorListResize to a negative size", resized(-1))
program("TensorListScatter with places between", scattered_list([3, 1]))
program("TensorListScatterV2 into more places", scattered_list([3, 1], 6))
program("TensorListScatterV2 of any number", scattered_list([2, 0], -1))
program("TensorListScatterV2 beyond its number", scattered_list([3, 1], 3))
program("TensorListScatterV2 to a place twice", scattered_list([1, 1], 2))
program("TensorListFromTensor of int32", taken_from(i([[1, 2], [3, 4]]), [2], tf.int32))
program("TensorListFromTensor of strings", taken_from(s(["a", "b", "c"]), [], tf.string))
program("TensorListFromTensor of no rows", taken_from(f(np.zeros([0, 2])), [2]))
program("TensorListFromTensor of a scalar", taken_from(f(1), -1))
program("TensorListFromTensor of another shape", taken_from(f([[1, 2]]), [3]))


def rows_joined(shape, *elements, given=(-1, 2), leading=(), op="TensorListConcatV2", dtype=tf.float32, **options):
    def build(p):
        h = written_list(p, shape, *elements, **options)
        if op == "TensorListConcatV2":
            p(op, h, i(given), i(leading), element_dtype=dtype)
        else:
            p(op, h, element_dtype=dtype, element_shape=given)

    return build


program("TensorListConcatV2 of elements of unequal lengths", rows_joined([-1, 2], *ROWS))
program("TensorListConcatV2 of elements whose shape nobody tells", rows_joined(-1, *ROWS, given=-1))
program("TensorListConcatV2 of vectors", rows_joined([-1], (0, [1, 2]), (1, [3]), given=[-1]))
program("TensorListConcatV2 of an element never written", rows_joined([-1, 2], (0, [[1, 2]]), (2, [[3, 4]]), leading=[1, 2, 1], count=3))
program("TensorListConcatV2 of an element never written, of known shape", rows_joined([2, 2], (1, [[1, 2], [3, 4]]), given=[2, 2], count=2))
program("TensorListConcatV2 of an element never written, of unknown length", rows_joined([-1, 2], (0, [[1, 2]]), (2, [[3, 4]]), count=3))
program("TensorListConcatV2 of nothing", rows_joined([-1, 2]))
program("TensorListConcatV2 of nothing, whose rows are unknown", rows_joined([-1, -1], given=[-1, -1]))
program("TensorListConcatV2 of rows of two sizes", rows_joined(-1, (0, [[1, 2]]), (1, [[1, 2, 3]]), given=-1))
program("TensorListConcatV2 of scalars", rows_joined([], (0, 1.0), (1, 2.0), given=[]))
program("TensorListConcatV2 of scalars, by their values", rows_joined(-1, (0, 1.0), (1, 2.0), given=-1))
program("TensorListConcatV2 of another dtype", rows_joined([-1, 2], *ROWS, dtype=tf.int32))
program("TensorListConcatV2 of another shape", rows_joined([-1, 2], *ROWS, given=[-1, 3]))
program("TensorListConcat of elements of unequal lengths", rows_joined([-1, 2], *ROWS, op="TensorListConcat", given=[None, 2]))
program("TensorListConcat of an element never written", rows_joined([1, 2], (1, [[3, 4]]), op="TensorListConcat", given=[1, 2], count=2))


def split(lengths, values=((1, 2), (3, 4), (5, 6)), shape=(-1, 2), read=(0, 1)):
    def build(p):
        h = (p("TensorListSplit", f(values), i(shape), i(lengths)), 0)
        for place in read:
            p("TensorListGetItem", h, i(place), i(shape), element_dtype=tf.float32)
        p("TensorListConcatV2", h, i(shape), i([]), element_dtype=tf.float32)

    return build


program("TensorListSplit into unequal lengths", split([1, 2]))
program("TensorListSplit with nothing in the middle", split([1, 0, 2], read=(0, 1, 2)))
program("TensorListSplit of a vector", split([2, 1], [7, 8, 9], [-1]))
program("TensorListSplit into elements whose shape nobody tells", split([1, 2], shape=-1))
program("TensorListSplit of nothing", split([], np.zeros([0, 2]), read=()))
program("TensorListSplit into too few rows", split([1, 1]))
program("TensorListSplit into too many rows", split([1, 3]))
program("TensorListSplit of a scalar", split([1], 1.0, -1, read=()))
program("TensorListSplit with a negative length", split([4, -1]))
program("TensorListSplit with a matrix of lengths", split([[1], [2]]))
program("TensorListSplit into elements of another shape", split([1, 2], shape=[-1, 3]))


def elements_read(p):
    h = written_list(p, [-1, 2], *ROWS)
    for place in (2, 0, 1):
        p("TensorListGetItem", h, i(place), i([-1, 2]), element_dtype=tf.float32)
    h = (p("TensorListSetItem", h, i(0), f([[9, 9], [8, 8]])), 0)
    p("TensorListGetItem", h, i(0), i(-1), element_dtype=tf.float32)


def elements_pushed(p):
    h = (p("EmptyTensorList", i([-1]), i(3), element_dtype=tf.float32, shape_type=tf.int32), 0)
    for values in ([1, 2], [], [3]):
        h = (p("TensorListPushBack", h, f(values)), 0)
    p("TensorListGetItem", h, i(0), i([-1]), element_dtype=tf.float32)
    p("TensorListConcatV2", h, i([-1]), i([]), element_dtype=tf.float32)


def one_too_many(p):
    h = (p("EmptyTensorList", i([]), i(1), element_dtype=tf.float32, shape_type=tf.int32), 0)
    for value in (1, 2):
        h = (p("TensorListPushBack", h, f(value)), 0)


def element_read(place, shape=(-1, 2), own=(-1, 2), dtype=tf.float32):
    def build(p):
        h = written_list(p, own, *ROWS[:1], (2, [[3, 4]]), count=3)
        p("TensorListGetItem", h, i(place), i(shape), element_dtype=dtype)

    return build


def element_set(place, values, own=(-1, 2)):
    return lambda p: written_list(p, own, (place, values), count=2)


program("TensorListGetItem of elements of unequal lengths", elements_read)
program("TensorListGetItem of an element never written", element_read(1, [1, 2]))
program("TensorListGetItem of an element never written, of unknown shape", element_read(1))
program("TensorListGetItem of a negative index", element_read(-1))
program("TensorListGetItem of another dtype", element_read(0, dtype=tf.int32))
program("TensorListGetItem of another shape", element_read(0, [2, 2]))
program("TensorListSetItem of a negative index", element_set(-1, [[1, 2]]))
program("TensorListSetItem of another shape", element_set(0, [[1, 2, 3]]))
program("TensorListPushBack of elements of unequal lengths", elements_pushed)
program("TensorListPushBack into a full list", one_too_many)


# Ragged tensors as variants.
SPLITS = i([0, 2, 2, 3, 5])
DEEP = i([0, 2, 2, 4])


def batched(*inputs, rank, gather=None, dtype=tf.float32, out=None, known=None):
    def build(p):
        at = p("RaggedTensorToVariant", *inputs, batched_input=True, RAGGED_RANK=rank)
        handle = (at, 0)
        if gather is not None:
            handle = (p("GatherV2", handle, gather, i(0)), 0)
        wanted = out if out is not None else rank
        p("RaggedTensorFromVariant", handle, output_ragged_rank=wanted, Tvalues=dtype, Tsplits=tf.int32,
          input_ragged_rank=known if known is not None else -1)

    return build


D = f([[1, 2], [3, -4], [5, 6], [-7, 8], [9, 10]])
program("Rows of a ragged tensor as variants, and back", batched(SPLITS, f([1, 2, 3, 4, 5]), rank=1))
program("Rows as variants in another order", batched(SPLITS, f([1, 2, 3, 4, 5]), rank=1, gather=i([3, 0, 0])))
program("Rows of numbers as variants in another order", batched(SPLITS, D, rank=1, gather=i([3, 1, 2])))
program("Rows of strings as variants", batched(SPLITS, s(list("abcde")), rank=1, gather=i([2, 3]), dtype=tf.string))
program("Rows of two ragged axes as variants", batched(DEEP, SPLITS, i([1, 2, 3, 4, 5]), rank=2, gather=i([2, 1, 0]), dtype=tf.int32))
program("A matrix of variants", batched(SPLITS, f([1, 2, 3, 4, 5]), rank=1, gather=i([[3, 0], [2, 2]]), out=2))
program("No rows as variants", batched(i([0]), f([]), rank=1))
program("Rows as variants, read with the wrong rank", batched(SPLITS, f([1, 2, 3, 4, 5]), rank=1, out=2))
program("Rows as variants, read as another dtype", batched(SPLITS, f([1, 2, 3, 4, 5]), rank=1, dtype=tf.int32))
program("A dense tensor's rows as variants", batched(D, rank=0, out=1))
program("Variants of another rank than said", batched(SPLITS, f([1, 2, 3, 4, 5]), rank=1, known=1))
program("Splits that fall, as variants", batched(i([0, 3, 2, 5]), f([1, 2, 3, 4, 5]), rank=1))
program("Splits beyond the values, as variants", batched(i([0, 3, 7]), f([1, 2, 3, 4, 5]), rank=1))


def gradient_of_values(values, splits, shape, is_batched=True):
    def build(p):
        inputs = (splits, values) if is_batched else (values,)
        handle = (p("RaggedTensorToVariant", *inputs, batched_input=is_batched, RAGGED_RANK=int(is_batched)), 0)
        p("RaggedTensorToVariantGradient", handle, splits if is_batched else i([]), shape, Tvalues=tf.as_dtype(values.dtype))

    return build


program("Gradients of rows that were variants", gradient_of_values(D, SPLITS, i([5, 2])))
program("Gradients of rows that were variants, of int32", gradient_of_values(i([1, 2, 3, 4, 5]), SPLITS, i([5])))
program("A gradient of a tensor that was one variant", gradient_of_values(D, SPLITS, i([5, 2]), is_batched=False))



def signature(op):
    definition = op_def_registry.get(op)

    def arguments(args):
        return [
            {
                "name": a.name,
                "type": a.type_attr or tf.dtypes.DType(a.type).name.replace("_ref", ""),
                "count": a.number_attr or None,
            }
            for a in args
        ]

    return {"name": op, "inputs": arguments(definition.input_arg), "outputs": arguments(definition.output_arg)}


KINDS = r"^(Anonymous.*HashTable|.*HashTable(OfTensors)?(V2)?|LookupTable|InitializeTable(V2)?$|Stack|Ragged.*Variant(Gradient)?$)|" \
    r"^(EmptyTensorList|TensorList.*)$"
ops = [op for op in sorted(dir(tf.raw_ops)) if re.match(KINDS, op)]
with open(os.path.join(HERE, "stateful_ops.json"), "w") as file:
    signatures = [signature(op) for op in ops]
    json.dump({"tensorflow": tf.__version__, "signatures": signatures, "programs": PROGRAMS}, file, separators=(",", ":"))
    file.write("\n")
