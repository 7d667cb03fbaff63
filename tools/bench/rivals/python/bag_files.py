"""What the bench writes for a case of bags: ids, row splits, weights and the gradient of the pooled rows."""

import os

import numpy as np


class Bags:
    def __init__(self, folder, batch, dim):
        splits = np.fromfile(os.path.join(folder, "splits.i32"), np.int32).reshape(-1, batch + 1)
        ids = np.fromfile(os.path.join(folder, "ids.i32"), np.int32)
        weights = os.path.join(folder, "weights.f32")
        weights = np.fromfile(weights, np.float32) if os.path.exists(weights) else None
        ends = np.cumsum(splits[:, -1])[:-1]
        self.splits = list(splits)
        self.ids = np.split(ids, ends)
        self.weights = None if weights is None else np.split(weights, ends)
        self.gradient = np.fromfile(os.path.join(folder, "gradient.f32"), np.float32).reshape(batch, dim)
        self.count = len(self.splits)

    def hotness(self):
        """Ids of every bag where all have as many, else None."""
        lengths = np.unique(np.concatenate([np.diff(splits) for splits in self.splits]))
        return int(lengths[0]) if len(lengths) == 1 else None


def table_values(path, rows, dim):
    """The table that the bench wrote, or one that nobody looks at."""
    if path is None:
        return np.full((rows, dim), 0.01, np.float32)
    return np.fromfile(path, np.float32).reshape(rows, dim)


def write(folder, **arrays):
    for name, values in arrays.items():
        np.ascontiguousarray(values, np.float32).tofile(os.path.join(folder, name + ".f32"))
