"""Writes arrays as NumPy and safetensors do, and their values: python gen_arrays.py FOLDER (needs numpy, ml_dtypes, safetensors)"""
import json
import os
import sys

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

FOLDER = sys.argv[1]
rng = np.random.default_rng(1)
arrays = {
    "user_emb.weight": rng.normal(size=(5, 3)).astype("float32"),
    "half": np.array([1.5, -0.0, 6e-8, 65504, np.inf], "float16"),
    "double": rng.normal(size=(2, 2)),
    "long": np.array([1, -2, 2**31 - 1], "int64"),
    "byte": np.array([[1], [255]], "uint8"),
    "mask": np.array([True, False, True]),
    "scalar": np.array(2.5, "float32"),
    "none": np.zeros((0, 4), "float32"),
}
np.savez(os.path.join(FOLDER, "stored.npz"), **arrays)
np.savez_compressed(os.path.join(FOLDER, "packed.npz"), **arrays, big_endian=arrays["double"].astype(">f8"))
np.save(os.path.join(FOLDER, "single.npy"), arrays["user_emb.weight"])
save_file({**arrays, "brain": np.array([1.0, -3.25, 1e30], ml_dtypes.bfloat16)}, os.path.join(FOLDER, "all.safetensors"))
save_file({"tables.0": np.ones((2, 3), "float32")}, os.path.join(FOLDER, "one.safetensors"), metadata={"format": "np"})
plain = {**arrays, "big_endian": arrays["double"], "brain": np.array([1.0, -3.25, 1e30], ml_dtypes.bfloat16)}
values = {key: {"shape": list(each.shape), "values": [str(x) for x in each.astype("float64").ravel()]} for key, each in plain.items()}
with open(os.path.join(FOLDER, "values.json"), "w") as file:
    json.dump(values, file)
