"""Writes models whose layers are called with training=False (Keras 2), and whose outputs carry masks that a recurrent layer
with states or a Rescaling passes on (Keras 2 and 3), with what training makes of them: python gen_inference.py FOLDER
"""
import json
import os
import sys

import keras as keras3
import numpy as np
import tf_keras as keras2

FOLDER = sys.argv[1]
CASES = []
NUMBERS = np.random.default_rng(5).uniform(-1, 1, (6, 3)).astype("float32")
WORDS = np.array([[3, 1, 0, 0, 0], [2, 2, 5, 8, 1], [7, 1, 4, 0, 0], [4, 4, 1, 6, 0]], "int32")


def values(array):
    array = np.asarray(array)
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": [float(each) for each in array.ravel()]}


def save(name, keras, model, x):
    rng = np.random.default_rng(7)
    model.set_weights([rng.uniform(0.4, 1.0, w.shape) if "variance" in getattr(w, "path", w.name) else
                       rng.uniform(-0.5, 0.6, w.shape) for w in model.weights])
    model.save(os.path.join(FOLDER, f"{name}.keras"))
    y = rng.uniform(-1, 1, model.output_shape[:0] + (len(x),) + tuple(model.output_shape[1:])).astype("float32")
    model.compile(optimizer=keras.optimizers.SGD(0.2), loss="mean_squared_error")
    losses = [float(np.ravel(model.train_on_batch(x, y))[0]) for _ in range(3)]
    CASES.append({"name": name, "x": values(x), "y": values(y), "losses": losses, "after": values(model(x))})


K = keras2.layers


def called(layer, **settings):
    x = keras2.Input((3,))
    h = K.Dense(4)(x)
    return keras2.Model(x, K.Dense(1)(layer(h, **settings)))


save("k2_still_dropout", keras2, called(K.Dropout(0.6), training=False), NUMBERS)
save("k2_still_noise", keras2, called(K.GaussianNoise(3.0), training=False), NUMBERS)
save("k2_still_norm", keras2, called(K.BatchNormalization(), training=False), NUMBERS)
base_in = keras2.Input((4,))
base = keras2.Model(base_in, K.Dropout(0.5)(K.BatchNormalization()(K.Dense(4)(base_in))))
save("k2_still_base", keras2, called(base, training=False), NUMBERS)
base = keras2.Sequential([keras2.Input((4,)), K.BatchNormalization(), K.Dense(2), K.Dropout(0.9)])
save("k2_still_sequence", keras2, called(base, training=False), NUMBERS)
x = keras2.Input((5,), dtype="int32")
h = K.LSTM(3, dropout=0.7)(K.Embedding(9, 4)(x), training=False)
save("k2_still_loop", keras2, keras2.Model(x, K.Dense(1)(h)), WORDS)
for version, keras in ((2, keras2), (3, keras3)):
    K = keras.layers
    x = keras.Input((5,), dtype="int32")
    e = K.Embedding(9, 4, mask_zero=True)(x)
    _, h, c = K.LSTM(4, return_state=True)(e)
    save(f"k{version}_masked_states", keras, keras.Model(x, K.LSTM(4, return_sequences=True)(e, initial_state=[h, c])), WORDS)
    save(f"k{version}_masked_rescaling", keras, keras.Model(x, K.Rescaling(0.5, 0.25)(e)), WORDS)
    save(f"k{version}_masked_elu", keras, keras.Model(x, K.Dense(2)(K.ELU()(e))), WORDS)
    save(f"k{version}_masked_leaky", keras, keras.Model(x, K.LeakyReLU()(K.Dense(2)(e))), WORDS)
with open(os.path.join(FOLDER, "inference.json"), "w") as file:
    json.dump(CASES, file, indent=1)
    file.write("\n")
