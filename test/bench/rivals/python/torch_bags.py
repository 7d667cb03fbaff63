"""EmbeddingBag of PyTorch: lookups, and steps with its sparse optimizers."""

import sys

from bag_files import Bags, table_values, write
from protocol import Lacks, serve, timed


class TorchBags:
    def __init__(self, threads):
        import torch

        self.torch = torch
        torch.set_num_threads(threads)
        self.version = f"torch {torch.__version__.split('+')[0]}"

    def open(self, rows, dim, table, optimizer, learningRate):
        torch = self.torch
        make = {
            None: lambda p: None,
            "sgd": lambda p: torch.optim.SGD(p, lr=learningRate),
            "adagrad": lambda p: torch.optim.Adagrad(p, lr=learningRate, initial_accumulator_value=0.1),
            "adam": lambda p: torch.optim.SparseAdam(p, lr=learningRate),
        }
        if optimizer not in make:
            raise Lacks(f"no sparse {optimizer}")
        self.weight = torch.nn.Parameter(torch.from_numpy(table_values(table, rows, dim)))
        self.optimizer = make[optimizer]([self.weight])
        self.dim = dim

    def bags(self, folder, batch, combiner):
        torch = self.torch
        files = Bags(folder, batch, self.dim)
        if combiner != "sum" and files.weights is not None:
            raise Lacks("weights with sum only")
        self.folder, self.combiner, self.n = folder, combiner, 0
        self.splits = [torch.from_numpy(s.astype("int64")) for s in files.splits]
        self.ids = [torch.from_numpy(i.astype("int64")) for i in files.ids]
        self.weights = [None] * files.count if files.weights is None else [torch.from_numpy(w) for w in files.weights]
        self.gradient = torch.from_numpy(files.gradient)

    def pooled(self, n):
        return self.torch.nn.functional.embedding_bag(
            self.ids[n],
            self.weight,
            self.splits[n],
            mode=self.combiner,
            sparse=True,
            per_sample_weights=self.weights[n],
            include_last_offset=True,
        )

    def step(self):
        n = self.n = (self.n + 1) % len(self.ids)
        if self.optimizer is None:
            with self.torch.no_grad():
                self.pooled(n)
            return
        self.optimizer.zero_grad(set_to_none=True)
        self.pooled(n).backward(self.gradient)
        self.optimizer.step()

    def run(self, steps):
        return timed(self.step, steps)

    def outputs(self, steps):
        """Pooled rows of the first batch, then the table after steps over the batches from the first on."""
        pooled = self.pooled(0).detach().numpy()
        self.n = -1
        for _ in range(steps):
            self.step()
        write(self.folder, pooled=pooled, table_out=self.weight.detach().numpy())

    def close(self):
        self.weight = self.optimizer = self.ids = self.splits = self.weights = None


serve(lambda: TorchBags(int(sys.argv[1])))
