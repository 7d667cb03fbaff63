"""
Names of TensorFlow's ops of the ragged, sparse, segment, lookup, data-flow and embedding families, from its registry.

    PYTHONPATH=<a folder with tensorflow 2.21> python3 test/goldens/gen_op_families.py
"""
import json
import os
import re

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

HERE = os.path.dirname(os.path.abspath(__file__))
# The first family that fits.
FAMILIES = {
    "ragged": r"Ragged",
    "segment": r"Segment(Sum|Mean|Max|Min|Prod|SqrtN)",
    "embedding": r"Embedding|XlaSparse(Core|DenseMatmul)|^SparseCore|COO|CsrInput|SparseCoreCsr|MinibatchesInCsr|"
    r"MinibatchSplits|MinibatchStatistics|^Resource(Gather|Scatter|SparseApply)|^(VarHandleOp|ReadVariableOp|"
    r"AssignVariableOp|VarIsInitializedOp)$|CandidateSampler",
    "lookup": r"LookupTable|HashTable|InitializeTable",
    "sparse": r"^Sparse|^SerializeSparse|^SerializeManySparse|^DeserializeSparse|^DeserializeManySparse|"
    r"^AddSparseToTensorsMap|^AddManySparse|^TakeManySparse|SparseTo|^DenseTo.*Sparse|^SetSize$|^Bincount$|"
    r"^DenseBincount$|^DenseCountSparseOutput$",
    "data flow": r"^Dynamic(Partition|Stitch)|^ParallelDynamicStitch|^TensorArray|^TensorList|^EmptyTensorList|^Stack|"
    r"^Unique|Queue|^Barrier|Accumulator|^GetSession|^DeleteSessionTensor|Stage|^Map(Peek|Size|Clear|Incomplete)|"
    r"^OrderedMap|^RecordInput|^StridedSliceGrad$|^BroadcastGradientArgs$|^Assert$|^(Switch|Merge|Enter|Exit|"
    r"NextIteration|LoopCond)$|^Fake",
}
LEFT_OUT = r"^Fake(Quant)|^StackTrace|Dataset|^_|^Batch|SparseMatrix|SparseCross.*|Summary|Experimental"


def family_of(name):
    return next((family for family, pattern in FAMILIES.items() if re.search(pattern, name)), None)


names = sorted(op_def_registry.get_registered_ops()) if hasattr(op_def_registry, "get_registered_ops") else sorted(
    name for name in dir(tf.raw_ops) if not name.startswith("_")
)
families = {family: [] for family in FAMILIES}
for name in names:
    family = family_of(name)
    if family and (not re.search(LEFT_OUT, name) or name.startswith("SparseCross")):
        families[family].append(name)
with open(os.path.join(HERE, "op_families.json"), "w") as file:
    json.dump({"tensorflow": tf.__version__, "families": families}, file, indent=1)
    file.write("\n")
print({family: len(ops) for family, ops in families.items()})
