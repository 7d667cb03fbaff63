"""The kernels of tfjs-embeddings for Python: a layer of Keras 3 and row-sparse optimizers."""

from . import train
from .embedding_bag import EmbeddingBag
from .library import op_library_path
from .model_weights import load_weights, save_weights

__all__ = ["EmbeddingBag", "load_weights", "op_library_path", "save_weights", "train"]
