"""
Graph models in test/fixtures/graph_models, written by the real converter, with inputs and what TensorFlow made of them.

    pip install --no-deps --target <folder> tensorflowjs==4.22.0
    PYTHONPATH=<a folder with tensorflow 2.21>:<folder> python3 test/goldens/gen_graph_models.py [names]

Of what the converter imports for other formats, stand-ins are enough.
"""
import json
import os
import shutil
import sys
import tempfile
from unittest import mock

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
for absent in ["tf_keras", "tensorflow_hub", "tensorflow_decision_forests", "jax", "jax.experimental", "flax",
               "tensorflowjs.converters.jax_conversion"]:
    sys.modules[absent] = mock.MagicMock()

import numpy as np
import tensorflow as tf

from golden_values import plain
from tensorflowjs.converters import tf_saved_model_conversion_v2 as converter

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "fixtures", "graph_models")
WANTED = sys.argv[1:]
random = np.random.default_rng(7)
TABLE = random.standard_normal([60, 8]).astype(np.float32)
VALUES = np.array([3, 59, 3, 0, 7, 7, 7, 12, 30], np.int32)
SPLITS = np.array([0, 2, 2, 3, 8, 9], np.int32)
WEIGHTS = np.array([0.5, 2.0, 1.0, 0.25, 1.5, 3.0, 0.75, 1.0, 2.0], np.float32)
X = random.standard_normal([5, 3]).astype(np.float32)


def keep(name, folder, inputs, outputs):
    """Puts a converted model into the fixtures, with its case."""
    target = os.path.join(MODELS, name)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    with open(os.path.join(target, "model.json")) as file:
        topology = json.load(file)["modelTopology"]
    nodes = topology["node"] + [n for f in topology.get("library", {}).get("function", []) for n in f["nodeDef"]]
    case = {
        "case": name,
        "tensorflow": tf.__version__,
        "ops": sorted({node["op"] for node in nodes}),
        "inputs": {key: plain(value) for key, value in inputs.items()},
        "outputs": {key: plain(value) for key, value in outputs.items()},
    }
    with open(os.path.join(target, "case.json"), "w") as file:
        json.dump(case, file)
        file.write("\n")
    print(name, case["ops"], flush=True)


def saved(name, run, control_flow_v2=False, prepare=lambda module: None, **inputs):
    """Converts a function of TensorFlow 2 through a SavedModel."""
    if WANTED and name not in WANTED:
        return
    specs = {key: tf.TensorSpec([None] + list(value.shape[1:]), value.dtype, key) for key, value in inputs.items()}
    module = tf.Module()
    module.table = tf.Variable(TABLE)
    prepare(module)
    module.run = tf.function(lambda **given: run(module, **given), input_signature=None)
    concrete = module.run.get_concrete_function(**specs)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder + "/saved", signatures=concrete)
        converter.convert_tf_saved_model(
            folder + "/saved", folder + "/out", skip_op_check=True, control_flow_v2=control_flow_v2
        )
        outputs = module.run(**{key: tf.constant(value) for key, value in inputs.items()})
        # The converter forgets the names of outputs that look alike; their nodes are numbered in the order of the names.
        nodes = {key: f"Identity_{i}" if i > 0 else "Identity" for i, key in enumerate(sorted(outputs))}
        keep(name, folder + "/out", inputs, {nodes[key]: outputs[key].numpy() for key in sorted(outputs)})


def frozen(name, build, **inputs):
    """Converts a graph of TensorFlow 1: the only kind with TensorArrayGrad."""
    if WANTED and name not in WANTED:
        return
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        graph.as_default()
        given = {key: v1.placeholder(value.dtype, value.shape, key) for key, value in inputs.items()}
        outputs = {key: tf.identity(value, key) for key, value in build(**given).items()}
        values = session.run(outputs, {given[key]: value for key, value in inputs.items()})
        definition = graph.as_graph_def()
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/frozen.pb", "wb") as file:
            file.write(definition.SerializeToString())
        os.mkdir(folder + "/out")
        converter.convert_tf_frozen_model(
            folder + "/frozen.pb", ",".join(outputs), folder + "/out", skip_op_check=True
        )
        keep(name, folder + "/out", inputs, values)


def ragged(values, row_splits):
    return tf.RaggedTensor.from_row_splits(values, row_splits, validate=False)


def lookup(combiner, has_weights, is_sparse):
    def run(module, values, row_splits, weights=None):
        ids = ragged(values, row_splits)
        per_id = ragged(weights, row_splits) if has_weights else None
        if is_sparse:
            ids, per_id = ids.to_sparse(), per_id.to_sparse() if has_weights else None
        out = tf.nn.safe_embedding_lookup_sparse(module.table, ids, per_id, combiner)
        return {"out": out}

    return run


for combiner in ["sum", "mean", "sqrtn"]:
    for has_weights in [False, True]:
        name = f"lookup_{combiner}" + ("_weights" if has_weights else "")
        extra = {"weights": WEIGHTS} if has_weights else {}
        saved(name, lookup(combiner, has_weights, True), values=VALUES, row_splits=SPLITS, **extra)
saved("lookup_plain_sqrtn", lambda module, values, row_splits: {
    "out": tf.nn.embedding_lookup_sparse(module.table, ragged(values, row_splits).to_sparse(), None, "sqrtn")
}, values=VALUES, row_splits=SPLITS)
saved("lookup_default_id", lambda module, values, row_splits: {
    "out": tf.nn.safe_embedding_lookup_sparse(
        module.table, ragged(values, row_splits).to_sparse(), None, "mean", default_id=5
    )
}, values=VALUES, row_splits=SPLITS)
saved("lookup_max_norm", lambda module, values, row_splits: {
    "out": tf.nn.safe_embedding_lookup_sparse(
        module.table, ragged(values, row_splits).to_sparse(), None, "sum", max_norm=1.5
    )
}, values=VALUES, row_splits=SPLITS)


def lookup_gradients(module, values, row_splits):
    with tf.GradientTape() as tape:
        table = tf.identity(module.table)
        tape.watch(table)
        out = tf.nn.safe_embedding_lookup_sparse(table, ragged(values, row_splits).to_sparse(), None, "mean")
        loss = tf.reduce_sum(out * out)
    return {"out": out, "gradient": tf.convert_to_tensor(tape.gradient(loss, table))}


saved("lookup_gradients", lookup_gradients, values=VALUES, row_splits=SPLITS)


def reductions(module, values, row_splits):
    rows = tf.gather(module.table, ragged(values, row_splits))
    return {
        "sum": tf.reduce_sum(rows, 1),
        "mean": tf.math.divide_no_nan(tf.reduce_sum(rows, 1), tf.cast(rows.row_lengths()[:, None], tf.float32)),
        "prod": tf.reduce_prod(rows, 1),
        "max": tf.maximum(tf.reduce_max(rows, 1), -100.0),
        "min": tf.minimum(tf.reduce_min(rows, 1), 100.0),
        "all": tf.reduce_sum(rows, [0, 1]),
    }


saved("ragged_reductions", reductions, values=VALUES, row_splits=SPLITS)


def ragged_slices(module, values, row_splits):
    rows = ragged(values, row_splits)
    doubled = tf.concat([rows, rows], axis=1)
    return {
        "gathered": tf.gather(rows, [3, 0, 3]).to_tensor(-1),
        "flat": tf.gather(rows, [3, 0]).flat_values,
        "head": rows[:, :2].to_tensor(-1),
        "doubled": doubled.to_tensor(-1),
        "ranges": tf.ragged.range(rows.row_lengths()).to_tensor(-1),
        "ids": rows.value_rowids(),
        "sparse": tf.sparse.to_dense(rows.to_sparse(), -1),
        "batch": tf.ragged.stack([rows, rows]).to_tensor(-1),
    }


saved("ragged_slices", ragged_slices, values=VALUES, row_splits=SPLITS)


def segments(module, values, ids, unsorted):
    rows = tf.gather(module.table, values)
    return {
        **{f"segment_{r}": getattr(tf.math, f"segment_{r}")(rows, ids) for r in ["sum", "mean", "max", "min", "prod"]},
        **{
            f"unsorted_{r}": getattr(tf.math, f"unsorted_segment_{r}")(rows, unsorted, 4)
            for r in ["sum", "mean", "max", "min", "prod", "sqrt_n"]
        },
        **{
            f"sparse_{r}": getattr(tf.sparse, f"segment_{r}")(module.table, values, ids)
            for r in ["sum", "mean", "sqrt_n"]
        },
        **{
            f"counted_{r}": getattr(tf.sparse, f"segment_{r}")(module.table, values, ids, num_segments=8)
            for r in ["sum", "mean", "sqrt_n"]
        },
    }


saved("segments", segments, values=VALUES, ids=np.array([0, 0, 1, 1, 1, 3, 3, 4, 4], np.int32),
      unsorted=np.array([3, 0, 0, 1, 3, 1, 0, 3, 3], np.int32))


def sparse_ops(module, values, weights):
    at = tf.constant([[0, 1], [0, 3], [1, 0], [2, 2], [2, 3], [3, 0], [3, 1], [4, 2], [4, 3]], tf.int64)
    a = tf.SparseTensor(at, weights, [5, 4])
    b = tf.SparseTensor(at, tf.cast(values, tf.float32), [5, 4])
    joined = tf.sparse.concat(1, [a, b])
    flipped = tf.sparse.reorder(tf.SparseTensor(tf.reverse(at, [0]), tf.reverse(weights, [0]), [5, 4]))
    first, second = tf.sparse.split(sp_input=a, num_split=2, axis=1)
    return {
        "joined": tf.sparse.to_dense(joined),
        "slice": tf.sparse.to_dense(tf.sparse.slice(a, [1, 1], [3, 3])),
        "flipped": flipped.values,
        "second": tf.sparse.to_dense(second),
        "first": first.values,
        "reshaped": tf.sparse.to_dense(tf.sparse.reshape(a, [2, -1])),
        "rows": tf.sparse.to_dense(tf.sparse.fill_empty_rows(a, 9.0)[0]),
    }


saved("sparse_ops", sparse_ops, values=VALUES, weights=WEIGHTS)


def routed(module, values):
    owner = values % 3
    parts = tf.dynamic_partition(values, owner, 3)
    places = tf.dynamic_partition(tf.range(tf.size(values)), owner, 3)
    rows = [tf.gather(module.table, part) * (i + 1.0) for i, part in enumerate(parts)]
    y, idx, count = tf.unique_with_counts(values)
    return {
        "rows": tf.dynamic_stitch(places, rows),
        "parallel": tf.raw_ops.ParallelDynamicStitch(indices=places, data=rows),
        "y": y, "idx": idx, "count": count,
    }


saved("routed", routed, values=VALUES)



def ragged_lookup(combiner, has_weights):
    def run(module, values, row_splits, weights=None):
        splits = tf.cast(row_splits, tf.int64)
        ids, per_id = ragged(values, splits), ragged(weights, splits) if has_weights else None
        out = tf.nn.safe_embedding_lookup_sparse(module.table, ids, per_id, combiner)
        plain = tf.nn.embedding_lookup_sparse(module.table, ids, per_id, combiner)
        return {"out": out, "plain": plain}

    return run


for combiner in ["sum", "mean", "sqrtn"]:
    for has_weights in [False, True]:
        extra = {"weights": WEIGHTS} if has_weights else {}
        name = f"ragged_lookup_{combiner}" + ("_weights" if has_weights else "")
        saved(name, ragged_lookup(combiner, has_weights), values=VALUES, row_splits=SPLITS, **extra)


def by_table(module, values, row_splits):
    ids = module.ids.lookup(tf.cast(values, tf.int64))
    return {
        "ids": tf.cast(ids, tf.int32),
        "rates": module.rates.lookup(tf.cast(values[:, None], tf.int64)),
        "rows": tf.nn.safe_embedding_lookup_sparse(module.table, ragged(ids, row_splits).to_sparse(), None, "mean"),
        "size": tf.cast(module.ids.size(), tf.int32),
    }


def static_tables(module):
    pairs = lambda keys, values: tf.lookup.KeyValueTensorInitializer(tf.constant(keys, tf.int64), tf.constant(values))
    module.ids = tf.lookup.StaticHashTable(pairs([3, 0, 12, 59], tf.constant([4, 5, 6, 7], tf.int64)), 1)
    module.rates = tf.lookup.StaticHashTable(pairs([7, 30], [0.5, 2.0]), -1.0)


saved("static_tables", by_table, prepare=static_tables, values=VALUES, row_splits=SPLITS)


def matrices(module, values, weights):
    at = tf.constant([[0, 1], [0, 3], [1, 0], [2, 2], [2, 3], [3, 0], [3, 1], [4, 2], [4, 3]], tf.int64)
    a = tf.SparseTensor(at, weights, [5, 4])
    return {
        "product": tf.sparse.sparse_dense_matmul(a, module.table[:4]),
        "transposed": tf.sparse.sparse_dense_matmul(a, module.table[:5], adjoint_a=True),
        "sums": tf.math.unsorted_segment_sum(module.table[:9], values, 60)[:8],
    }


saved("sparse_matrices", matrices, values=VALUES, weights=WEIGHTS)


def variants(module, values, row_splits):
    rows = ragged(values, row_splits)
    each = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[rows.row_splits], rt_dense_values=rows.values, batched_input=True)
    picked = tf.gather(tf.stack([each, each], axis=1), [3, 0])
    back = tf.raw_ops.RaggedTensorFromVariant(
        encoded_ragged=picked, input_ragged_rank=0, output_ragged_rank=2, Tvalues=tf.int32, Tsplits=tf.int32
    )
    outer, inner = back.output_nested_splits
    return {"outer": outer, "inner": inner, "values": back.output_dense_values}


saved("ragged_rows_as_variants", variants, values=VALUES, row_splits=SPLITS)


def partitions(strategy, combiner):
    def run(module, values, row_splits, weights=None):
        tables = [module.table[i::3] for i in range(3)] if strategy == "mod" else tf.split(module.table, 3)
        ids = ragged(values, row_splits).to_sparse()
        per_id = None if weights is None else ragged(weights, row_splits).to_sparse()
        lookup_in = tf.compat.v1.nn.safe_embedding_lookup_sparse
        return {"out": lookup_in(tables, ids, per_id, combiner=combiner, partition_strategy=strategy)}

    return run


WIDE_VALUES, WIDE_SPLITS = VALUES.astype(np.int64), SPLITS.astype(np.int64)
saved("lookup_partitions_mod", partitions("mod", "mean"), values=VALUES, row_splits=SPLITS)
saved("lookup_partitions_div_sqrtn_weights", partitions("div", "sqrtn"), values=WIDE_VALUES, row_splits=WIDE_SPLITS,
      weights=WEIGHTS)


def gradients_of(combiner, is_sparse):
    """Gradients of the table and of the weights."""
    def run(module, values, row_splits, weights):
        table, given = tf.identity(module.table), tf.identity(weights)
        with tf.GradientTape() as tape:
            tape.watch([table, given])
            ids, per_id = ragged(values, row_splits), ragged(given, row_splits)
            if is_sparse:
                ids, per_id = ids.to_sparse(), per_id.to_sparse()
            out = tf.nn.embedding_lookup_sparse(table, ids, per_id, combiner)
            loss = tf.reduce_sum(out * out)
        of_table, of_weights = tape.gradient(loss, [table, given])
        return {"out": out, "of_table": tf.convert_to_tensor(of_table)[:31], "of_weights": of_weights}

    return run


wide = {"values": WIDE_VALUES, "row_splits": WIDE_SPLITS, "weights": WEIGHTS}
saved("lookup_gradients_sqrtn_weights", gradients_of("sqrtn", True), **wide)
saved("ragged_lookup_gradients_mean_weights", gradients_of("mean", False), **wide)


def segment_gradients(module, values, ids, unsorted):
    rows, outputs = tf.gather(module.table, values), {}

    def add(name, of, run):
        given = tf.identity(of)
        with tf.GradientTape() as tape:
            tape.watch(given)
            pooled = run(given)
            loss = tf.reduce_sum(tf.where(tf.abs(pooled) < 1e3, pooled * pooled, 0.0))
        outputs[name] = tf.convert_to_tensor(tape.gradient(loss, given))[:13]

    for r in ["sum", "mean", "max", "min"]:
        add(f"segment_{r}", rows, lambda x: getattr(tf.math, f"segment_{r}")(x, ids))
    for r in ["sum", "mean", "max", "min", "prod", "sqrt_n"]:
        add(f"unsorted_{r}", rows, lambda x: getattr(tf.math, f"unsorted_segment_{r}")(x, unsorted, 4))
    for r in ["sum", "mean", "sqrt_n"]:
        add(f"sparse_{r}", module.table, lambda x: getattr(tf.sparse, f"segment_{r}")(x, values, ids))
        add(f"counted_{r}", module.table, lambda x: getattr(tf.sparse, f"segment_{r}")(x, values, ids, num_segments=7))
    return outputs


saved("segment_gradients", segment_gradients, values=WIDE_VALUES, ids=np.array([0, 0, 1, 1, 1, 3, 3, 4, 4], np.int64),
      unsorted=np.array([3, 0, 0, 1, 3, 1, -1, 3, 3], np.int64))


def ragged_statistics(module, values, row_splits, weights):
    rows, ids = ragged(weights, row_splits), ragged(values, row_splits)
    filled = rows[2:]
    return {
        "mean": tf.reduce_mean(filled, 1), "variance": tf.math.reduce_variance(filled, 1),
        "deviation": tf.math.reduce_std(filled, 1), "columns": tf.reduce_sum(rows, 0), "most": tf.reduce_max(ids, 0),
        "sum": (rows + rows * 2.0).to_tensor(),
        "masked": tf.ragged.boolean_mask(rows, ids > 3).to_tensor(-1),
    }


saved("ragged_statistics", ragged_statistics, **wide)


def ragged_two_axes(module, values, row_splits):
    ids = tf.RaggedTensor.from_row_splits(ragged(values, row_splits), tf.constant([0, 2, 2, 5], tf.int64), validate=False)
    numbers = tf.cast(ids, tf.float32)
    return {
        "rows": tf.reduce_sum(tf.gather(module.table, ids), 2).to_tensor(), "columns": tf.reduce_sum(numbers, 1).to_tensor(),
        "all": tf.reduce_max(ids), "both": tf.reduce_sum(ids, [1, 2]), "padded": ids.to_tensor(-1),
        "merged": ids.merge_dims(0, 1).to_tensor(-2), "lengths": ids.row_lengths(2).to_tensor(),
        "any": tf.reduce_any(ids > 7, 2).to_tensor(), "every": tf.reduce_all(ids > 2, 1).to_tensor(),
    }


saved("ragged_two_axes", ragged_two_axes, values=WIDE_VALUES, row_splits=WIDE_SPLITS)


def ragged_gradients(module, values, row_splits, weights):
    outputs = {}

    def add(name, run):
        given = tf.identity(weights)
        with tf.GradientTape() as tape:
            tape.watch(given)
            loss = tf.reduce_sum(tf.square(run(ragged(given, row_splits))))
        outputs[name] = tf.convert_to_tensor(tape.gradient(loss, given))

    add("padded", lambda rows: rows.to_tensor())
    add("sum", lambda rows: tf.reduce_sum(rows, 1))
    add("mean", lambda rows: tf.reduce_mean(rows[2:], 1))
    add("max", lambda rows: tf.reduce_max(rows[2:], 1))
    add("gathered", lambda rows: tf.gather(rows, [3, 0, 3]).values)
    add("slice", lambda rows: rows[:, :2].values)
    add("joined", lambda rows: tf.concat([rows, rows * 2.0], 1).values)
    return outputs


saved("ragged_gradients", ragged_gradients, **wide)
# A loop, as the converter writes it by default: the table enters as a constant.
saved("map_of_rows", lambda module, values: {
    "out": tf.map_fn(lambda id: tf.gather(module.table, id) * 2.0, values, fn_output_signature=tf.float32)
}, values=WIDE_VALUES)


def map_of_ragged(module, values, row_splits):
    """Each row of a ragged tensor is one element of a list of variants."""
    rows = tf.map_fn(lambda row: row * 2 - 1, ragged(values, row_splits),
                     fn_output_signature=tf.RaggedTensorSpec([None], tf.int32, ragged_rank=0))
    return {"splits": rows.row_splits, "values": rows.values}


def map_of_ragged_rows(module, values, row_splits):
    rows = tf.map_fn(lambda row: tf.gather(module.table, row), ragged(values, row_splits),
                     fn_output_signature=tf.RaggedTensorSpec([None, 8], tf.float32, ragged_rank=0))
    return {"splits": rows.row_splits, "values": rows.values}


def list_of_pieces(module, x):
    """A loop writes more rows each time; a list is split, read and joined."""
    def write(i, array):
        return i + 1, array.write(i, x[:i] * tf.cast(i, tf.float32))

    array = tf.TensorArray(tf.float32, 4, infer_shape=False, element_shape=[None, 3])
    _, array = tf.while_loop(lambda i, _: i < 4, write, [0, array])
    pieces = tf.TensorArray(tf.float32, 3, infer_shape=False, element_shape=[None, 3]).split(x, [1, 4, 0])
    return {"again": pieces.concat(), "joined": array.concat(), "piece": pieces.read(1)}


saved("map_of_ragged_rows", map_of_ragged_rows, values=VALUES, row_splits=SPLITS)
saved("map_of_ragged_functions", map_of_ragged, control_flow_v2=True, values=VALUES, row_splits=SPLITS)
saved("list_of_pieces", list_of_pieces, x=X)
saved("list_of_pieces_functions", list_of_pieces, control_flow_v2=True, x=X)

v1 = tf.compat.v1
Array = tf.compat.v1.TensorArray
# With it a TensorArray becomes a TensorList.
v1.disable_control_flow_v2()


def mutable_table(values, weights):
    keys = tf.cast(values, tf.int64)
    table = tf.raw_ops.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.float32, shared_name="seen")
    done = tf.raw_ops.LookupTableInsertV2(table_handle=table, keys=keys[:4] * 100, values=weights[:4])
    with tf.control_dependencies([done]):
        found = tf.raw_ops.LookupTableFindV2(table_handle=table, keys=keys * 100, default_value=tf.constant(-1.0))
        size = tf.raw_ops.LookupTableSizeV2(table_handle=table)
    return {"found": found, "size": tf.cast(size, tf.int32)}


frozen("mutable_table", mutable_table, values=VALUES, weights=WEIGHTS)


def two_sources(x):
    array = Array(tf.float32, 5, clear_after_read=False).unstack(x)
    y = 2.0 * array.read(0) * array.read(2) + array.read(4)
    z = tf.reduce_sum(array.gather([1, 1, 3]) ** 2.0)
    return {"y": y, "z": z, "dy": v1.gradients(y, x)[0], "dz": v1.gradients(z, x)[0]}


def gathers_of_two(x):
    array = Array(tf.float32, 5, clear_after_read=False).scatter([4, 2, 0, 1, 3], x)
    y = tf.reduce_sum(array.gather([3, 0, 3]) ** 2.0)
    z = tf.reduce_sum(array.gather([0, 1]) * array.stack()[2:4])
    both = v1.gradients([y, z], x)[0]
    return {"y": y, "z": z, "dy": v1.gradients(y, x)[0], "dz": v1.gradients(z, x)[0], "both": both}


def gathers(x):
    array = Array(tf.float32, 5, clear_after_read=False).scatter([4, 2, 0, 1, 3], x)
    y = array.gather([3, 0, 3]) * tf.constant([[1.0], [10.0], [100.0]]) + array.read(3)
    return {"y": y, "dx": v1.gradients(y, x)[0]}


def splits(x):
    array = Array(tf.float32, 3, infer_shape=False).split(x, [2, 0, 3])
    y = array.concat() * tf.constant([[1.0], [2.0], [3.0], [4.0], [5.0]])
    return {"y": y, "dx": v1.gradients(y, x)[0]}


def partial(x):
    array = Array(tf.float32, 3, clear_after_read=False, element_shape=[3]).write(0, x[0] * 2.0).write(1, x[1] * x[2])
    array = array.write(2, x[3])
    y = array.read(1) + array.stack()[0]
    return {"y": y, "dx": v1.gradients(y, x, grad_ys=tf.ones([3]))[0]}


def dynamic(x):
    array = Array(tf.float32, 0, dynamic_size=True, clear_after_read=False, element_shape=[3])
    state = tf.ones([3])
    for i in range(5):
        state = state * x[i]
        array = array.write(i, state)
    y = array.stack()
    return {"y": y, "dx": v1.gradients(y, x)[0]}


def with_shape(x):
    handle, flow = tf.raw_ops.TensorArrayV3(size=2, dtype=tf.float32, element_shape=[3])
    flow = tf.raw_ops.TensorArrayWriteV3(handle=handle, index=0, value=x[0], flow_in=flow)
    grad, out = tf.raw_ops.TensorArrayGradWithShape(
        handle=handle, flow_in=flow, shape_to_prepend=tf.constant([2]), source="gradients"
    )
    out = tf.raw_ops.TensorArrayWriteV3(handle=grad, index=0, value=x[:2], flow_in=out)
    out = tf.raw_ops.TensorArrayWriteV3(handle=grad, index=0, value=x[2:4], flow_in=out)
    read = lambda i: tf.raw_ops.TensorArrayReadV3(handle=grad, index=i, flow_in=out, dtype=tf.float32)
    return {"sum": read(0), "zeros": read(1)}


for name, build in [("two_sources", two_sources), ("gathers", gathers), ("gathers_of_two", gathers_of_two), ("splits", splits), ("partial", partial),
                    ("dynamic", dynamic), ("with_shape", with_shape)]:
    frozen(f"tensor_array_{name}", build, x=X)


def loops(x):
    def body(i, state, array):
        state = state + x[i]
        return i + 1, state, array.write(i, state)

    array = Array(tf.float32, 5)
    _, state, array = v1.while_loop(lambda i, *_: i < 5, body, [0, tf.zeros([3]), array])
    return {"state": state, "all": array.stack()}


frozen("tensor_array_loop", loops, x=X)


def loop_gradients(x):
    """Gradients through the loop that writes the array."""
    def body(i, state, array):
        state = tf.tanh(state * 0.5 + x[i])
        return i + 1, state, array.write(i, state)

    array = Array(tf.float32, 5, clear_after_read=False)
    _, state, array = v1.while_loop(lambda i, *_: i < 5, body, [0, tf.zeros([3]), array])
    y = array.stack()
    gradients = {"of_y": y * y, "of_state": state, "of_gather": array.gather([4, 0])}
    return {"y": y, **{name: v1.gradients(value, x)[0] for name, value in gradients.items()}}


def two_loops(x):
    """One loop writes a dynamic array, another one reads it."""
    write = lambda i, array: (i + 1, array.write(i, x[i] * tf.cast(i + 1, tf.float32)))
    array = Array(tf.float32, 0, dynamic_size=True, clear_after_read=False)
    _, array = v1.while_loop(lambda i, _: i < 4, write, [0, array])
    read = lambda i, state: (i + 1, state * array.read(i) + 1.0)
    _, state = v1.while_loop(lambda i, _: i < 4, read, [0, tf.ones([3])])
    return {"state": state, "dx": v1.gradients(state, x)[0]}


def mixed_sources(x):
    """Three gradients of one array; two of them read what the others do."""
    array = Array(tf.float32, 5, clear_after_read=False).unstack(x)
    y, z = tf.reduce_sum(array.gather([0, 4, 0]) ** 3.0), array.read(2) * array.read(0)
    w = tf.reduce_sum(array.stack()[1:3])
    dy, dz, both = (v1.gradients(of, x)[0] for of in [y, z, [y, w]])
    return {"y": y, "z": z, "dy": dy, "dz": dz, "both": both, "total": dy + dz}


for name, build in [("loop_gradients", loop_gradients), ("two_loops", two_loops), ("mixed_sources", mixed_sources)]:
    frozen(f"tensor_array_{name}", build, x=X)
