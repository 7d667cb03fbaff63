"""Trains items on visits; goes on with a model that TensorFlow.js trained, and hands it back.

Usage: python example.py [--load FOLDER] [--save FOLDER] [--epochs N]

FOLDER holds a layers model with a `raggedEmbedding` called `items` of 1,000 rows and 8 columns over visits of 3 places,
compiled with `emb.train.adagrad({learningRate: 0.1})` and the loss `meanSquaredError`, and saved with
`includeOptimizer: true`. Without --load the model starts here. Prints a line of JSON: the loss before and after.
"""

import argparse
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from tfjs_embeddings_ops import EmbeddingBag, load_weights, save_weights, train

ROWS, COLUMNS, VISITS, PLACES = 1000, 8, 512, 3


def visits() -> tuple[np.ndarray, np.ndarray]:
    """Ids of what was looked at, padded with -1, and the vector that each visit shall have."""
    place = np.arange(VISITS * PLACES)
    ids = np.where(place % 7 == 0, -1, place * 37 % ROWS).astype(np.int32).reshape(VISITS, PLACES)
    number = np.arange(VISITS * COLUMNS)
    return ids, (number % 17 / 16).astype(np.float32).reshape(VISITS, COLUMNS)


def main() -> None:
    """Trains, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--load", help="a model of TensorFlow.js to go on with")
    parser.add_argument("--save", help="where the model goes; takes --load")
    parser.add_argument("--epochs", type=int, default=3)
    given = parser.parse_args()
    model = keras.Sequential(
        [keras.Input((PLACES,), dtype="int32"), EmbeddingBag(ROWS, COLUMNS, combiner="mean", name="items")]
    )
    model.compile(optimizer=train.adagrad(learning_rate=0.1), loss="mse")
    if given.load:
        load_weights(model, given.load)
    ids, vectors = visits()
    before = model.evaluate(ids, vectors, verbose=0)
    model.fit(ids, vectors, batch_size=64, epochs=given.epochs, shuffle=False, verbose=0)
    if given.save:
        save_weights(model, given.save, source=given.load)
    after = model.evaluate(ids, vectors, verbose=0)
    print(json.dumps({"before": before, "after": after, "steps": int(model.optimizer.iterations)}))


if __name__ == "__main__":
    main()
