"""What the bench writes for a model: its spec, the weights to begin with, and the data."""

import json
import os

import numpy as np


class ModelFiles:
    def __init__(self, folder):
        with open(os.path.join(folder, "spec.json")) as file:
            self.spec = json.load(file)
        count = self.spec["batch"] * self.spec["batches"]
        self.kind, self.tables, self.batch = self.spec["kind"], self.spec["tables"], self.spec["batch"]
        self.splits = None
        numbered = [(i, each["hot"]) for i, each in enumerate(self.spec["inputs"])]
        self.ids = [np.fromfile(os.path.join(folder, f"ids_{i}.i32"), np.int32) for i, _ in numbered]
        if self.kind == "ragged":
            self.splits = [np.fromfile(os.path.join(folder, f"splits_{i}.i32"), np.int32) for i, _ in numbered]
        else:
            self.ids = [ids.reshape(count, hot) for ids, (_, hot) in zip(self.ids, numbered)]
        self.numbers = np.fromfile(os.path.join(folder, "numbers.f32"), np.float32).reshape(count, -1)
        self.labels = np.fromfile(os.path.join(folder, "labels.f32"), np.float32).reshape(count, 1)
        self.all_weights = np.fromfile(os.path.join(folder, "weights.f32"), np.float32)

    def weights(self, shapes):
        """The weights one after the other: tables, then kernels [in, out] and biases."""
        at = 0
        for shape in shapes:
            size = int(np.prod(shape))
            yield self.all_weights[at : at + size].reshape(shape)
            at += size
        if at != len(self.all_weights):
            raise ValueError(f"{at} weights, the bench wrote {len(self.all_weights)}")
