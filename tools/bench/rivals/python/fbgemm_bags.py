"""
FBGEMM's table-batched embeddings on the CPU, whose optimizers are fused into the backward pass.

The published wheels bind `cpuinfo_isa` to a copy that nobody fills, so that FBGEMM runs its scalar reference kernels.
libc10 is therefore loaded first, for all to see; the version printed says `scalar` where that did not help.
"""

import ctypes
import importlib.util
import logging
import os
import sys

from bag_files import table_values
from protocol import Lacks, serve
from torch_peer import TorchPeer

NAMES = {None: "EXACT_SGD", "sgd": "EXACT_SGD", "adagrad": "EXACT_ADAGRAD", "rowWiseAdagrad": "EXACT_ROWWISE_ADAGRAD"}


class FbgemmBags(TorchPeer):
    def __init__(self, threads):
        torch_home = importlib.util.find_spec("torch")
        if torch_home is None:
            raise ImportError("No module named 'torch'")
        libraries = os.path.join(os.path.dirname(torch_home.origin), "lib")
        ctypes.CDLL(os.path.join(libraries, "libc10.so"), mode=ctypes.RTLD_GLOBAL)
        logging.disable(logging.WARNING)
        import torch
        import fbgemm_gpu
        from fbgemm_gpu.split_embedding_configs import EmbOptimType
        from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation, PoolingMode
        from fbgemm_gpu.split_table_batched_embeddings_ops_training import (
            ComputeDevice,
            SplitTableBatchedEmbeddingBagsCodegen,
        )

        self.torch, self.optimizers, self.modes = torch, EmbOptimType, PoolingMode
        self.make = SplitTableBatchedEmbeddingBagsCodegen
        self.where = (EmbeddingLocation.HOST, ComputeDevice.CPU)
        torch.set_num_threads(threads)
        library = ctypes.CDLL(os.path.join(os.path.dirname(fbgemm_gpu.__file__), "fbgemm.so"))
        found = library._ZN6fbgemm20fbgemmInstructionSetEv
        found.restype = ctypes.c_int
        name = f"fbgemm {fbgemm_gpu.__version__}"
        self.version = (name if found() else f"{name} scalar") + f" on torch {torch.__version__.split('+')[0]}"

    def open(self, rows, dim, table, optimizer, learningRate):
        if optimizer not in NAMES:
            raise Lacks(f"no {optimizer} on the CPU")
        self.rows, self.dim, self.optimizer, self.rate = rows, dim, optimizer, learningRate
        self.path, self.module, self.combiner = table, None, None

    def bags(self, folder, batch, combiner):
        torch = self.torch
        self.read_batches(folder, batch, self.dim)
        if combiner != self.combiner:
            self.module = None  # of the old one's memory, before the new one is made
            self.module = self.make(
                [(self.rows, self.dim, *self.where)],
                optimizer=getattr(self.optimizers, NAMES[self.optimizer]),
                learning_rate=self.rate,
                eps=1e-10,
                pooling_mode=self.modes[combiner.upper()],
            )
            self.module.split_embedding_weights()[0].data.copy_(
                torch.from_numpy(table_values(self.path, self.rows, self.dim))
            )
            for states in self.module.split_optimizer_states():
                for state in states:
                    state.data.fill_(0.1)
        self.combiner = combiner

    def pooled(self, n):
        return self.module(self.ids[n], self.splits[n], self.weights[n])

    def train(self, n):
        self.pooled(n).backward(self.gradient)

    def table_out(self):
        return self.module.split_embedding_weights()[0].detach().numpy()

    def close(self):
        self.module = self.combiner = self.ids = self.splits = self.weights = None


serve(lambda: FbgemmBags(int(sys.argv[1])))
