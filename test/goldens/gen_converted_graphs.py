"""
Small functions of TensorFlow as graph models that the real converter wrote, with inputs and what TensorFlow made of them.

    pip install --no-deps --target <folder> tensorflowjs==4.22.0
    PYTHONPATH=<a folder with tensorflow 2.21>:<folder> python3 test/goldens/gen_converted_graphs.py OUT [--every] [--seed N] [TEXT...]

OUT is a file of JSON lines, zipped where its name ends with .gz: a case each, with the values of the seed. Of some rooms a
SAMPLE is made, with `--every` all. TEXT: only cases whose names hold one of these. Cases with loops and branches are converted both ways that the converter has. What TensorFlow
refuses is a case too: the graph must fail then. Of what the converter imports for other formats, stand-ins are enough.
"""
import argparse
import base64
import gzip
import importlib
import json
import os
import sys
import tempfile
import zlib
from unittest import mock

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
for absent in ["tf_keras", "tensorflow_hub", "tensorflow_decision_forests", "jax", "jax.experimental", "flax",
               "tensorflowjs.converters.jax_conversion"]:
    sys.modules[absent] = mock.MagicMock()

import numpy as np
import tensorflow as tf
from tensorflowjs.converters import tf_saved_model_conversion_v2 as converter

import converted.cases as cases
from golden_values import plain

ROOMS = ["arrays", "asserts", "flow", "gradients", "lookups", "maths", "models", "ragged", "segments", "sparse", "tables",
         "texts", "types", "writes"]
# By room: cases whose names hold one of these.
SAMPLE = {
    "arrays": ["of text", "past the end", "before the start", "casts", "scatter_nd", "scatter add", "setdiff1d", "range", "shape_n",
               "ensure_shape", "one_hot of", "where alone", "roll of int", "in_top_k"],
    "models": ["models: embedding", "models: masked BiLSTM of"],
    "segments": ["sparse segment_sum", "sparse segment_mean past", "sparse segment_mean out", "unsorted_segment_max"],
    "sparse": ["to_dense", "of text", "reduce_sum"],
    "tables": ["in a loop", "mutable table", "vocabulary", "empty key"],
}
FLOW = {"Switch", "While", "StatelessWhile", "If", "StatelessIf"}


def number(value):
    """Numbers that JSON lacks are texts."""
    return value if isinstance(value, str) or np.isfinite(value) else str(value).replace("inf", "Infinity").replace("nan", "NaN")


def told(value):
    value = np.asarray(value)
    if value.dtype.kind == "u":
        value = value.astype(np.int64)
    known = plain(value)
    return {**known, "values": [number(each) for each in known["values"]]}


def flat(nest):
    return {f"out{at:02}": tf.identity(each) for at, each in enumerate(tf.nest.flatten(nest, expand_composites=True))}


def converted(folder):
    """The converter's files as one record."""
    with open(folder + "/model.json") as file:
        model = json.load(file)
    manifest = model.pop("weightsManifest")
    data = b"".join(open(f"{folder}/{path}", "rb").read() for group in manifest for path in group["paths"])
    kept = {key: model[key] for key in ["modelTopology", "signature", "modelInitializer", "initializerSignature"] if model.get(key)}
    specs = [weight for group in manifest for weight in group["weights"]]
    return {**kept, "weightSpecs": specs, "weights": base64.b64encode(data).decode()}


def ops_of(model):
    graphs = [model["modelTopology"], model.get("modelInitializer", {})]
    nodes = [n for g in graphs for n in g.get("node", [])]
    return {n["op"] for n in nodes + [n for g in graphs for f in g.get("library", {}).get("function", []) for n in f.get("nodeDef", [])]}


def outcome(run):
    """What a run gives, or the class and text of its error."""
    try:
        return {"outputs": [told(value) for value in run()]}
    except (tf.errors.OpError, ValueError) as error:
        return {"error": type(error).__name__, "message": " ".join(str(error).split())[:200]}


def of_saved_model(case):
    """A function of TensorFlow 2, through a SavedModel."""
    names = [f"x{at}" for at in range(len(case.inputs))]
    specs = [
        tf.TensorSpec(x.shape if case.static else [None, *x.shape[1:]] if x.ndim > 0 else [], tf.string if x.dtype == object else x.dtype, name)
        for name, x in zip(names, case.inputs)
    ]
    module = tf.Module()
    if case.prepare is not None:
        case.prepare(module)
        run = lambda *given: case.run(module, *given)
    else:
        run = case.run
    module.run = tf.function(lambda *given: flat(run(*given)), input_signature=specs, reduce_retracing=True)
    with tempfile.TemporaryDirectory() as folder:
        concrete = module.run.get_concrete_function()
        tf.saved_model.save(module, folder + "/saved", signatures=concrete)
        result = outcome(lambda: (lambda made: [made[key].numpy() for key in sorted(made)])(module.run(*map(tf.constant, case.inputs))))
        for is_v2 in [False, True]:
            target = f"{folder}/out{is_v2}"
            converter.convert_tf_saved_model(folder + "/saved", target, skip_op_check=True, control_flow_v2=is_v2)
            model = converted(target)
            yield (" as functions" if is_v2 else ""), model, [f"Identity_{at}" if at > 0 else "Identity" for at in range(len(concrete.structured_outputs))], result
            if not ops_of(model) & FLOW:
                return


def of_graph(case):
    """A graph of TensorFlow 1."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v1.disable_control_flow_v2()
        try:
            given = [
                v1.placeholder(tf.string if x.dtype == object else x.dtype, x.shape if case.static else [None] * x.ndim, f"x{at}")
                for at, x in enumerate(case.inputs)
            ]
            outputs = [tf.identity(each, f"out{at:02}") for at, each in enumerate(tf.nest.flatten(case.run(*given), expand_composites=True))]
            result = outcome(lambda: session.run(outputs, dict(zip(given, case.inputs))))
            definition = graph.as_graph_def()
        finally:
            v1.enable_control_flow_v2()
    names = [each.op.name for each in outputs]
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/frozen.pb", "wb") as file:
            file.write(definition.SerializeToString())
        os.mkdir(folder + "/out")
        converter.convert_tf_frozen_model(folder + "/frozen.pb", ",".join(names), folder + "/out", skip_op_check=True)
        yield "", converted(folder + "/out"), names, result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("texts", nargs="*")
    wanted = parser.parse_args()
    for room in ROOMS:
        cases.room = room
        cases.random = np.random.default_rng([wanted.seed, zlib.crc32(room.encode())])
        importlib.import_module(f"converted.{room}")
    made, lost = 0, 0
    file = open(wanted.out, "wb")
    out = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) if wanted.out.endswith(".gz") else file
    for case in cases.CASES:
        if not wanted.every and not any(text in case.name for text in SAMPLE.get(case.name.split(":")[0], [""])):
            continue
        if wanted.texts and not any(text in case.name for text in wanted.texts):
            continue
        try:
            for suffix, model, names, result in (of_graph if case.style == "v1" else of_saved_model)(case):
                inputs = {f"x{at}": told(x) for at, x in enumerate(case.inputs)}
                record = {"name": case.name + suffix, "inputs": inputs, "outputNames": names, **result, "model": model}
                out.write((json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n").encode())
                made += 1
        except Exception as error:
            lost += 1
            print("not converted:", case.name, type(error).__name__, " ".join(str(error).split())[:300], flush=True)
    out.close()
    file.close()
    print(f"{made} graphs, {lost} not converted")


main()
