"""
Writes arrays of unusual types, layouts and names as NumPy and PyTorch do, what they become as tensors of tfjs, and files that hold what tfjs has no tensor for.

    python gen_python_arrays.py    (needs numpy, ml_dtypes, torch, safetensors)
"""
import json
import os

import ml_dtypes
import numpy as np
import torch
from safetensors.numpy import save_file as save_numpy
from safetensors.torch import save_file as save_torch

FOLDER = os.path.dirname(os.path.abspath(__file__))
REFUSED = os.path.join(FOLDER, "refused")
LONG_NAME = "encoder." * 40 + "weight"
DOUBLES = [0.1, -0.0, 1e300, -1e300, 1e-300, 1.0000000596046448]
HALVES = [1.5, -0.0, 6e-8, -65504, np.inf, -np.inf, np.nan]
LONGS = [[1, -2], [2**31 - 1, -(2**31)]]


def told(array):
    """As a tensor of tfjs: values in text, since JSON has no infinity and no -0."""
    dtype = {"f": "float32", "i": "int32", "u": "int32", "b": "bool"}[array.dtype.kind]
    with np.errstate(over="ignore"):
        values = array.astype(dtype).ravel().tolist()
    return {"dtype": dtype, "shape": list(array.shape), "values": [repr(float(x)) for x in values]}


def numpy_arrays():
    matrix = np.arange(12, dtype="float32").reshape(3, 4) / 8
    return {
        "half": np.array(HALVES, "float16"),
        "half_big": np.array(HALVES, ">f2"),
        "float_big": matrix.astype(">f4"),
        "double": np.array(DOUBLES),
        "double_big": np.array(DOUBLES, ">f8"),
        "short_big": np.array([-2, 258], ">i2"),
        "int_big": np.array([-2, 16909060], ">i4"),
        "long": np.array(LONGS, "int64"),
        "long_big": np.array(LONGS, ">i8"),
        "unsigned_big": np.array([0, 2**31 - 1], ">u4"),
        "mask": np.array([[True], [False]]),
        "scalar": np.array(-2.5),
        "scalar_long": np.array(7, "int64"),
        "scalar_mask": np.array(True),
        "none": np.zeros(0, "float16"),
        "no_rows_column_major": np.zeros((0, 4), order="F"),
        "no_middle": np.zeros((2, 0, 3), "int64"),
        "vector_column_major": np.asfortranarray([1.0, 2.0]),
        "column_column_major": np.asfortranarray([[1.0], [2.0]]),
        "every_other": matrix[:, ::2],
        "backwards": matrix[::-1],
        LONG_NAME: matrix,
        "größe/表.0": np.array([1.0]),
        "ends.npy": np.array([2.0]),
        "old.npy/rows": np.array([6.0]),
        "": np.array([3.0]),
        "__proto__": np.array([4.0]),
        "constructor": np.array([5.0]),
    }


def torch_arrays():
    matrix = torch.arange(12, dtype=torch.float32).reshape(3, 4) / 8
    return {
        "half": torch.tensor(HALVES, dtype=torch.float16),
        "brain": torch.tensor([1.0, -3.25, 1e30, 1e-40, -0.0, np.inf, np.nan], dtype=torch.bfloat16),
        "double": torch.tensor(DOUBLES, dtype=torch.float64),
        "long": torch.tensor(LONGS),
        "short": torch.tensor([-2, 258], dtype=torch.int16),
        "small": torch.tensor([-128, 127], dtype=torch.int8),
        "byte": torch.tensor([0, 255], dtype=torch.uint8),
        "mask": torch.tensor([[True], [False]]),
        "scalar": torch.tensor(-2.5, dtype=torch.float16),
        "scalar_long": torch.tensor(7),
        "none": torch.zeros(0, dtype=torch.bfloat16),
        "no_rows": torch.zeros(0, 4),
        "transposed": matrix.T.contiguous(),
        LONG_NAME: matrix,
        "größe/表.0": torch.ones(1),
        "": torch.ones(2),
        "__proto__": torch.ones(3),
        "constructor": torch.ones(4),
    }


def write_refused():
    objects = np.array([{"a": 1}, None], object)
    arrays = {
        "column_major": np.asfortranarray([[1.0, 2.0], [3.0, 4.0]], "float32"),
        "transposed_view": np.arange(6.0).reshape(2, 3).T,
        "complex": np.array([1 + 2j], "complex64"),
        "objects": objects,
        "text": np.array(["ab", "c"]),
        "time": np.array(["2026-01-01"], "datetime64[D]"),
        "records": np.array([(1, 2.0)], [("id", "<i4"), ("größe", "<f4")]),
        "long_double": np.array([1.0], np.longdouble),
        "brain": np.array([1.0], ml_dtypes.bfloat16),
        "beyond_int32": np.array([0, 2**31], "int64"),
    }
    for name, array in arrays.items():
        np.save(os.path.join(REFUSED, name + ".npy"), array)
    np.savez(os.path.join(REFUSED, "objects.npz"), fine=np.ones(1), objects=objects)
    tensors = {
        "float8": torch.ones(2, dtype=torch.float8_e4m3fn),
        "complex": torch.ones(1, dtype=torch.complex64),
        "beyond_int32": torch.tensor([0, -(2**31) - 1]),
    }
    for name, tensor in tensors.items():
        save_torch({name: tensor}, os.path.join(REFUSED, name + ".safetensors"))


def write_model():
    """Mean-pooled rows in bfloat16 and a dense layer in float16, computed in float32."""
    torch.manual_seed(1)
    bag, head = torch.nn.EmbeddingBag(6, 4, mode="mean"), torch.nn.Linear(4, 2)
    bag.to(torch.bfloat16), head.half()
    # A dense layer of tfjs keeps its kernel the other way round.
    kernel = head.weight.detach().T.contiguous()
    state = {"user_emb.weight": bag.weight.detach(), "head.kernel": kernel, "head.bias": head.bias.detach()}
    save_torch(state, os.path.join(FOLDER, "bag.safetensors"))
    ids = [[0, 5, 5], [3, 1, 2]]
    return {"ids": ids, "outputs": head.float()(bag.float()(torch.tensor(ids))).tolist()}


def main():
    os.makedirs(REFUSED, exist_ok=True)
    of_numpy, of_torch = numpy_arrays(), torch_arrays()
    np.savez(os.path.join(FOLDER, "numpy.npz"), **of_numpy)
    np.savez_compressed(os.path.join(FOLDER, "numpy_packed.npz"), **of_numpy)
    np.save(os.path.join(FOLDER, "numpy_scalar.npy"), of_numpy["scalar"])
    save_torch(of_torch, os.path.join(FOLDER, "torch.safetensors"), metadata={"format": "pt"})
    save_numpy({"half": of_numpy["half"], "long": of_numpy["long"]}, os.path.join(FOLDER, "numpy.safetensors"))
    write_refused()
    values = {
        "numpy": {name: told(each) for name, each in of_numpy.items()},
        # NumPy has no bfloat16.
        "torch": {name: told((each.float() if each.is_floating_point() else each).numpy()) for name, each in of_torch.items()},
        "model": write_model(),
    }
    with open(os.path.join(FOLDER, "python_values.json"), "w") as file:
        json.dump(values, file, ensure_ascii=False, indent=1)
        file.write("\n")


main()
