"""Sums and their like by segments."""
import numpy as np
import tensorflow as tf

from .cases import case, f, i, ints, wide

IDS = ints(0, 0, 2, 2, 2, 4)
for name in "sum mean max min prod".split():
    run = getattr(tf.math, f"segment_{name}")
    for kind, make in {"float": f, "int": lambda *shape: i(-9, 10, *shape)}.items():
        case(f"segment_{name} of {kind}", lambda x, at: run(x, at), make(6, 2), IDS)
        case(f"segment_{name} of {kind}, 64 bits", lambda x, at: run(x, at), make(6), IDS.astype(np.int64))
    case(f"segment_{name} of nothing", lambda x, at: run(x, at), f(0, 2), i(0, 1, 0))
    case(f"segment_{name} out of order", lambda x, at: run(x, at), f(3), ints(0, 2, 1))
for name in "sum mean max min prod sqrt_n".split():
    run = getattr(tf.math, f"unsorted_segment_{name}")
    kinds = {"float": f} if name in ("mean", "sqrt_n") else {"float": f, "int": lambda *shape: i(-9, 10, *shape)}
    for kind, make in kinds.items():
        case(f"unsorted_segment_{name} of {kind}", lambda x, at: run(x, at, 4), make(6, 2), i(-1, 4, 6))
        case(f"unsorted_segment_{name} of {kind} over two axes", lambda x, at: run(x, at, 4), make(3, 2, 2), i(-1, 4, 3, 2))
        case(f"unsorted_segment_{name} of {kind} to an open number", lambda x, at, n: run(x, at, n), make(6), i(0, 3, 6), i(3, 5))
    case(f"unsorted_segment_{name} of nothing", lambda x, at: run(x, at, 3), f(0, 2), i(0, 1, 0))
    case(f"unsorted_segment_{name} past the end", lambda x, at: run(x, at, 2), f(3), ints(0, 2, 1))
for name in "sum mean sqrt_n".split():
    run = getattr(tf.sparse, f"segment_{name}")
    case(f"sparse segment_{name}", lambda x, at, ids: run(x, at, ids), f(7, 3), i(0, 7, 6), IDS)
    case(f"sparse segment_{name}, 64 bits", lambda x, at, ids: run(x, at, ids), f(7, 3), wide(0, 7, 6), IDS.astype(np.int64))
    case(f"sparse segment_{name}, counted", lambda x, at, ids: run(x, at, ids, num_segments=8), f(7, 3), i(0, 7, 6), IDS)
    case(f"sparse segment_{name} of nothing", lambda x, at, ids: run(x, at, ids, num_segments=2), f(7, 3), i(0, 7, 0), i(0, 1, 0))
    case(f"sparse segment_{name} past the end", lambda x, at, ids: run(x, at, ids), f(3, 2), ints(0, 5), ints(0, 1))
    case(f"sparse segment_{name} out of order", lambda x, at, ids: run(x, at, ids), f(3, 2), ints(0, 1), ints(1, 0))
    case(f"sparse segment_{name}, too few segments", lambda x, at, ids: run(x, at, ids, num_segments=1), f(3, 2), ints(0, 1), ints(0, 1))
