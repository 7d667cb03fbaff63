"""EmbeddingBag of PyTorch: lookups, and steps with its sparse optimizers."""

import sys

from bag_files import table_values
from protocol import Lacks, serve
from torch_peer import TorchPeer


class TorchBags(TorchPeer):
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
        self.read_batches(folder, batch, self.dim)
        self.combiner = combiner
        if combiner != "sum" and self.weights[0] is not None:
            raise Lacks("weights with sum only")

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

    def train(self, n):
        self.optimizer.zero_grad(set_to_none=True)
        self.pooled(n).backward(self.gradient)
        self.optimizer.step()

    def table_out(self):
        return self.weight.detach().numpy()

    def close(self):
        self.weight = self.optimizer = self.ids = self.splits = self.weights = None


serve(lambda: TorchBags(int(sys.argv[1])))
