"""The op library, loaded once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import tensorflow as tf

_OF_TENSORFLOW = "2.21."


def op_library_path() -> str:
    """Returns the path of the op library: that of this package, or TFJS_EMBEDDINGS_LIBRARY where it is set.

    `tf.load_op_library` takes it, for the ops themselves. The file need not exist.

    Example:
        >>> ops = tf.load_op_library(tfjs_embeddings_ops.op_library_path())
    """
    own = Path(__file__).parent / "tfjs_embeddings.so"
    return os.environ.get("TFJS_EMBEDDINGS_LIBRARY") or str(own)


def _load() -> Any:
    if not tf.__version__.startswith(_OF_TENSORFLOW):
        raise RuntimeError(f"tensorflow: expected version {_OF_TENSORFLOW}*, received {tf.__version__}")
    path = op_library_path()
    try:
        loaded = tf.load_op_library(path)
    except tf.errors.NotFoundError as error:
        raise RuntimeError(f"op library: expected one that can be loaded at {path}, received {error.message}") from None
    # TensorFlow makes functions of those ops alone that this file was the first to register.
    if not hasattr(loaded, "embedding_bag"):
        raise RuntimeError(
            f"op library: expected {path} to be the first in this process, received ops of another copy; import "
            "tfjs_embeddings_ops before tf.load_op_library, or set TFJS_EMBEDDINGS_LIBRARY to that copy"
        )
    return loaded


ops = _load()
