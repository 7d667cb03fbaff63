"""Writes models of layers that TensorFlow.js trains otherwise than Keras: python gen_trained_layers.py

Each is a file in trained_layers/ and an entry of trained_layers.json, in the form of test/formats/keras/drawn/draw_models.py.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "trained_layers")
sys.path.insert(0, os.path.join(HERE, "..", "..", "formats", "keras", "drawn"))
sys.argv = ["gen", OUT, "3", "0", "0"]
from draw_models import computed, keras, np, packed, train  # noqa: E402

L = keras.layers
NUMBERS = np.random.default_rng(7)


def vector(*shape):
    return keras.Input(shape), NUMBERS.normal(size=(8, *shape)).astype("float32")


def ids():
    values = NUMBERS.integers(1, 5, (8, 4)).astype("int32")
    values[:, 2:] *= NUMBERS.integers(0, 2, (8, 2))
    return keras.Input((4,), dtype="int32"), values


def frozen_normalization():
    x, v = vector(3)
    return [x], [v], L.Dense(2)(L.BatchNormalization(trainable=False)(L.Dense(4)(x)))


def frozen_base():
    a = keras.Input((3,))
    base = keras.Model(a, L.BatchNormalization()(L.Dense(4, activation="tanh", kernel_regularizer="l2")(a)))
    base.trainable = False
    x, v = vector(3)
    return [x], [v], L.Dense(2)(base(x))


def no_scale():
    x, v = vector(4, 4, 2)
    y = L.BatchNormalization(scale=False)(x)
    return [x], [v], L.Dense(2)(L.Flatten()(L.LayerNormalization(center=False)(L.Conv2D(3, 2)(y))))


def masked_normalization():
    x, v = ids()
    return [x], [v], L.GRU(2)(L.BatchNormalization()(L.Embedding(5, 3, mask_zero=True)(x)))


def recurrent_penalties():
    x, v = vector(3, 2)
    y = L.LSTM(2, return_sequences=True, kernel_regularizer="l2", recurrent_regularizer="l1")(x)
    return [x], [v], L.Bidirectional(L.SimpleRNN(2, kernel_regularizer="l2", bias_regularizer="l2"))(y)


def shared_penalty():
    x, v = vector(3)
    y, w = vector(3)
    dense = L.Dense(2, kernel_regularizer=keras.regularizers.L2(0.1), activity_regularizer="l2")
    return [x, y], [v, w], L.Dense(1)(L.Add()([dense(x), dense(y)]))


def constrained():
    x, v = vector(3)
    C = keras.constraints
    y = L.Dense(4, kernel_constraint=C.NonNeg(), bias_constraint=C.MaxNorm(0.5))(x)
    return [x], [v], L.Dense(2, kernel_constraint=C.UnitNorm(), kernel_regularizer="l1")(y)


def equal_maxima():
    x, v = vector(4, 2)
    y = L.Dense(3, kernel_initializer="ones")(x)
    return [x], [np.round(v)], [L.GlobalMaxPooling1D()(y), keras.ops.max(y, axis=-1)]


def unequal_outputs():
    x, v = vector(4, 2)
    y = L.Dense(3)(x)
    return [x], [v], [y, L.Dense(2)(L.Flatten()(y)), keras.ops.mean(y, axis=(1, 2)), y]


def whole_and_float():
    x, v = ids()
    y, w = vector(4)
    return [x, y], [v, w], L.Dense(2)(L.Concatenate()([x, y]))


def averages_of_padded():
    x, v = vector(5, 2)
    return [x], [v], L.AveragePooling1D(2, padding="same")(L.Conv1D(3, 2, padding="causal", dilation_rate=2)(x))


def products():
    x, v = vector(2, 1, 1)
    y, w = vector(2, 1, 3)
    return [x, y], [v, w], L.Dense(2)(keras.ops.matmul(keras.ops.transpose(L.Dense(2)(x), (0, 1, 3, 2)), y))


CASES = [frozen_normalization, frozen_base, no_scale, masked_normalization, recurrent_penalties, shared_penalty, constrained,
         equal_maxima, unequal_outputs, whole_and_float, averages_of_padded, products]
os.makedirs(OUT, exist_ok=True)
WRITTEN = []
for number, build in enumerate(CASES):
    keras.utils.set_random_seed(number)
    keras.backend.clear_session()
    inputs, values, outputs = build()
    file = os.path.join(OUT, f"{build.__name__}.keras")
    keras.Model(inputs, outputs).save(file)
    model = keras.models.load_model(file, compile=False)
    before = computed(model, values)
    targets = [NUMBERS.uniform(0, 1, each.shape).astype("float32") for each in before]
    losses = train(model, values, targets)
    WRITTEN.append({"seed": number, "keras": 3, "file": os.path.basename(file), "layers": [build.__name__], "losses": losses,
                    "inputs": [packed(v) for v in values], "targets": [packed(t) for t in targets],
                    "outputs": [packed(b) for b in before], "after": [packed(a) for a in computed(model, values)]})
with open(os.path.join(HERE, "trained_layers.json"), "w") as out:
    json.dump({"cases": WRITTEN}, out, indent=1)
