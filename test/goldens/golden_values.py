"""Values of graph ops: as programs write them, and as goldens keep them."""
import numpy as np


def f(value):
    return np.array(value, np.float32)


def i(value):
    return np.array(value, np.int32)


def s(value):
    return np.array(value, object)


def b(value):
    return np.array(value, bool)


def plain(value):
    """The type that tfjs has for it, its shape, and its numbers or texts in one list."""
    value = np.asarray(value)
    if value.dtype == object or value.dtype.kind == "S":
        flat = [x.decode() if isinstance(x, bytes) else x for x in value.reshape(-1).tolist()]
        return {"dtype": "string", "shape": list(value.shape), "values": flat}
    dtype = {"i": "int32", "f": "float32", "b": "bool"}[value.dtype.kind]
    return {"dtype": dtype, "shape": list(value.shape), "values": value.reshape(-1).astype(float).tolist()}
