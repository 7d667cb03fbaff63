"""The models in PyTorch: sparse embeddings where only rows of the batch are stepped, dense ones elsewhere."""

import functools
import sys
import time

from model_files import ModelFiles
from protocol import serve

PENALTY = 1e-3


def build(torch, files):
    nn, spec = torch.nn, files.spec
    sparse = not spec["everyRow"]

    def table(rows, dim):
        return nn.Embedding(rows, dim, sparse=sparse)

    class WideAndDeep(nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = nn.ModuleList([table(t["rows"], t["dim"]) for t in files.tables])
            self.deep, self.wide = self.tables[0::2], self.tables[1::2]
            self.dropout = nn.Dropout(spec["dropout"])
            self.dense = nn.ModuleList([nn.Linear(8 * len(self.deep), 32), nn.Linear(32, 1)])

        def forward(self, ids, numbers):
            vectors = [self.dropout(each(ids[i][:, 0])) for i, each in enumerate(self.deep)]
            hidden = torch.relu(self.dense[0](torch.cat(vectors, 1)))
            wide = sum(each(ids[i][:, 0]) for i, each in enumerate(self.wide))
            return torch.sigmoid(self.dense[1](hidden) + wide)

        def penalty(self, ids):
            rows = (each.weight[torch.unique(ids[i])] for i, each in enumerate(self.deep))
            return PENALTY * sum(each.square().sum() for each in rows)

    class Dlrm(nn.Module):
        def __init__(self):
            super().__init__()
            dim, count = files.tables[0]["dim"], len(files.tables) + 1
            self.tables = nn.ModuleList(
                [nn.EmbeddingBag(t["rows"], t["dim"], mode="sum", sparse=sparse) for t in files.tables]
            )
            sizes = [13, 512, 256, dim], [dim + count * (count - 1) // 2, 512, 256, 1]
            chains = [[nn.Linear(a, b) for a, b in zip(chain, chain[1:])] for chain in sizes]
            self.bottom = len(chains[0])
            self.dense = nn.ModuleList(chains[0] + chains[1])
            self.pairs = torch.tril_indices(count, count, -1)

        def forward(self, ids, numbers):
            x = numbers
            for layer in self.dense[: self.bottom]:
                x = torch.relu(layer(x))
            rows = torch.stack([x] + [each(ids[i]) for i, each in enumerate(self.tables)], 1)
            products = torch.bmm(rows, rows.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
            y = torch.cat([x, products], 1)
            for layer in self.dense[self.bottom : -1]:
                y = torch.relu(layer(y))
            return torch.sigmoid(self.dense[-1](y))

    class MatrixFactorization(nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = nn.ModuleList([table(t["rows"], t["dim"]) for t in files.tables])
            self.dense = nn.ModuleList()

        def forward(self, ids, numbers):
            user, item, user_bias, item_bias = self.tables
            u, i = ids[0][:, 0], ids[1][:, 0]
            return torch.sigmoid((user(u) * item(i)).sum(1, keepdim=True) + user_bias(u) + item_bias(i))

    class TwoTowers(nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = nn.ModuleList([table(t["rows"], t["dim"]) for t in files.tables])
            self.dense = nn.ModuleList()

        def forward(self, ids, numbers):
            users, items = self.tables
            better = items(ids[1][:, 0]) - items(ids[2][:, 0])
            return torch.sigmoid((users(ids[0][:, 0]) * better).sum(1, keepdim=True))

    class Text(nn.Module):
        def __init__(self):
            super().__init__()
            t = files.tables[0]
            self.pools = spec.get("hasPoolingLayer", False)
            make = nn.Embedding if self.pools else functools.partial(nn.EmbeddingBag, mode="mean")
            self.tables = nn.ModuleList([make(t["rows"], t["dim"], sparse=sparse)])
            self.dense = nn.ModuleList([nn.Linear(t["dim"], 64), nn.Linear(64, 1)])

        def forward(self, ids, numbers):
            rows = self.tables[0](ids[0])
            hidden = torch.relu(self.dense[0](rows.mean(1) if self.pools else rows))
            return torch.sigmoid(self.dense[1](hidden))

    class NextItem(nn.Module):
        def __init__(self):
            super().__init__()
            t = files.tables[0]
            self.tables = nn.ModuleList([nn.EmbeddingBag(t["rows"], t["dim"], mode="mean", sparse=sparse)])
            self.dense = nn.ModuleList([nn.Linear(t["dim"], spec["classes"])])

        def forward(self, ids, numbers):
            return self.dense[0](self.tables[0](ids[0]))

    class Ragged(nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = nn.ModuleList(
                [nn.EmbeddingBag(t["rows"], t["dim"], mode="mean", sparse=sparse) for t in files.tables]
            )
            dim = sum(t["dim"] for t in files.tables)
            self.dense = nn.ModuleList([nn.Linear(dim, 64), nn.Linear(64, 1)])

        def forward(self, ids, numbers):
            rows = torch.cat([each(*ids[i]) for i, each in enumerate(self.tables)], 1)
            return torch.sigmoid(self.dense[1](torch.relu(self.dense[0](rows))))

    kinds = {
        "ragged": Ragged,
        "text": Text,
        "next_item": NextItem,
        "wide_and_deep": WideAndDeep,
        "dlrm": Dlrm,
        "matrix_factorization": MatrixFactorization,
        "two_towers": TwoTowers,
    }
    return kinds[files.kind]()


class TorchModels:
    def __init__(self, threads):
        import torch

        self.torch = torch
        torch.set_num_threads(threads)
        self.version = f"torch {torch.__version__.split('+')[0]}"

    def open(self, folder):
        torch = self.torch
        torch.manual_seed(0)
        files = self.files = ModelFiles(folder)
        spec = files.spec
        model = self.model = build(torch, files)
        targets = [(each.weight, False) for each in model.tables]
        for layer in model.dense:
            targets += [(layer.weight, True), (layer.bias, False)]
        shapes = [tuple(reversed(w.shape)) if turned else tuple(w.shape) for w, turned in targets]
        with torch.no_grad():
            for (weight, turned), values in zip(targets, files.weights(shapes)):
                weight.copy_(torch.from_numpy(values.T.copy() if turned else values.copy()))
        tables = [each.weight for each in model.tables]
        dense = list(model.dense.parameters())
        rate = spec["learningRate"]
        if spec["optimizer"] == "sgd":
            self.optimizers = [torch.optim.SGD(tables + dense, lr=rate)]
        elif spec["optimizer"] == "adagrad":
            start = {"initial_accumulator_value": 0.1, "eps": spec["epsilon"]}
            self.optimizers = [torch.optim.Adagrad(tables + dense, lr=rate, **start)]
        elif spec["everyRow"]:
            self.optimizers = [torch.optim.Adam(tables + dense, lr=rate, eps=spec["epsilon"])]
        else:
            self.optimizers = [torch.optim.SparseAdam(tables, lr=rate, eps=spec["epsilon"])]
            if dense:
                self.optimizers.append(torch.optim.Adam(dense, lr=rate, eps=spec["epsilon"]))
        self.ids = [torch.from_numpy(each.astype("int64")) for each in files.ids]
        if files.splits is not None:
            self.splits = [torch.from_numpy(each.astype("int64")) for each in files.splits]
        self.numbers, self.labels = torch.from_numpy(files.numbers), torch.from_numpy(files.labels)
        # Of probabilities; PyTorch takes the logits of classes, and their numbers.
        self.loss = torch.nn.functional.binary_cross_entropy
        if "classes" in spec:
            self.loss, self.labels = torch.nn.functional.cross_entropy, self.labels[:, 0].long()

    def bags(self, ids, splits, rows):
        """The ids of these rows one after the other, and where each row begins."""
        torch = self.torch
        if isinstance(rows, slice):
            first, end = splits[rows.start], splits[rows.stop]
            return ids[first:end], splits[rows.start : rows.stop] - first
        starts = splits[rows]
        lengths = splits[rows + 1] - starts
        offsets = torch.cumsum(lengths, 0) - lengths
        places = torch.arange(int(lengths.sum())) + torch.repeat_interleave(starts - offsets, lengths)
        return ids[places], offsets

    def step(self, rows):
        if self.files.splits is None:
            ids = [each[rows] for each in self.ids]
        else:
            ids = [self.bags(each, splits, rows) for each, splits in zip(self.ids, self.splits)]
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.model(ids, self.numbers[rows]), self.labels[rows])
        if hasattr(self.model, "penalty"):
            loss = loss + self.model.penalty(ids)
        loss.backward()
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.item()

    def losses(self):
        """Of one epoch in the order of the samples."""
        batch = self.files.batch
        return {"losses": [self.step(slice(at, at + batch)) for at in range(0, len(self.labels), batch)]}

    def run(self, steps):
        """So many epochs over shuffled samples, as `fit` does; milliseconds of a step."""
        batch, count = self.files.batch, len(self.labels)
        start = time.perf_counter()
        for _ in range(steps):
            order = self.torch.randperm(count)
            for at in range(0, count, batch):
                self.step(order[at : at + batch])
        return {"ms": 1000 * (time.perf_counter() - start) / steps / (count // batch)}

    def close(self):
        self.model = self.optimizers = self.ids = self.numbers = self.labels = self.files = None


serve(lambda: TorchModels(int(sys.argv[1])))
