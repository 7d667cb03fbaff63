"""Writes early_masks/: recurrent layers of Keras 2 and 3 that begin with states and with masked steps, and layers behind an
attention whose operands are masked: python gen_early_masks.py FOLDER

Needs tf_keras 2.21, Keras 3.15 and tensorflow 2.21.
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras as keras3
import numpy as np
import tf_keras as keras2

FOLDER = sys.argv[1]
CASES = []
STEPS = np.random.default_rng(1).uniform(-1, 1, (5, 4, 2)).astype("float32")
# Masked steps at the beginning, at the end, in the middle, everywhere and nowhere.
for row, masked in enumerate([[0, 1], [3], [0, 2], [0, 1, 2, 3], []]):
    STEPS[row, masked] = 0
STATES = np.random.default_rng(2).uniform(0.2, 1, (5, 3)).astype("float32")
KINDS = {"SimpleRNN": 1, "GRU": 1, "LSTM": 2}


def recurrent(keras, kind, told=False, **settings):
    K = keras.layers
    x, state = keras.Input((4, 2), name="steps"), keras.Input((3,), name="state")
    mask = K.Masking(name="masking")
    masked = mask(x)
    states = [state] + [K.Dense(3, name="second")(state)] * (KINDS[kind] - 1)
    more = {"mask": mask.compute_mask(x, None)} if told else {}
    layer = getattr(K, kind)(3, name="loop", return_state=True, **settings)
    outputs = layer(masked, initial_state=states if len(states) > 1 else states[0], **more)
    return keras.Model([x, state], list(outputs)), {"steps": STEPS, "state": STATES}


def values(array):
    dtype = "int32" if np.asarray(array).dtype == np.int32 else "float32"
    return {"dtype": dtype, "shape": list(array.shape), "values": np.asarray(array, "float64").ravel().tolist()}


def add(name, model, inputs):
    rng = np.random.default_rng(7)
    model.set_weights([rng.uniform(-0.8, 0.8, weight.shape) for weight in model.weights])
    outputs = model([inputs[each.name.split(":")[0]] for each in model.inputs])
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    model.save(os.path.join(FOLDER, f"{name}.keras"))
    CASES.append({"file": f"{name}.keras", "inputs": {key: values(value) for key, value in inputs.items()},
                  "outputs": [values(np.asarray(each)) for each in outputs]})


for version, keras in [("k2", keras2), ("k3", keras3)]:
    for kind in KINDS:
        for wanted in ["all", "last"]:
            settings = {"return_sequences": wanted == "all"}
            add(f"{version}_{kind}_{wanted}", *recurrent(keras, kind, **settings))
            if version == "k3":
                add(f"{version}_{kind}_{wanted}_told", *recurrent(keras, kind, told=True, **settings))
        back = {"return_sequences": True, "go_backwards": True}
        add(f"{version}_{kind}_backwards", *recurrent(keras, kind, told=version == "k3", **back))
WORDS = np.array([[3, 1, 0, 0], [0, 4, 0, 2], [5, 6, 2, 1]], "int32")
K = keras3.layers


def words():
    x = keras3.Input((4,), dtype="int32", name="words")
    return x, K.Embedding(7, 4, mask_zero=True, name="table")(x)


def residual():
    x, e = words()
    y = K.LayerNormalization(name="norm")(K.Add(name="sum")([e, K.MultiHeadAttention(2, 3, name="heads")(e, e)]))
    return keras3.Model(x, K.Dense(2, name="score")(y))


def twice():
    """The second one has no mask of its query: which is the second, the graph tells."""
    x, e = words()
    one, two = K.MultiHeadAttention(2, 3, name="one")(e, e), K.MultiHeadAttention(2, 3, name="two")(e, e)
    joined = K.Concatenate(name="both")([two, K.Dense(4, name="between")(one)])
    return keras3.Model(x, K.Dense(2, name="score")(joined))


def product():
    x, e = words()
    y = K.MultiHeadAttention(2, 3, name="heads")(e, e)
    return keras3.Model(x, K.Dense(2, name="score")(K.Maximum(name="most")([K.Multiply(name="product")([e, y]), e])))


def before():
    """What runs before the attention sees the mask."""
    x, e = words()
    far = K.Dense(4, name="far")(K.Multiply(name="early")([e, e]))
    y = K.MultiHeadAttention(2, 3, name="heads")(far, e)
    return keras3.Model(x, K.Dense(2, name="score")(K.Multiply(name="late")([y, e])))


def plain():
    """An output that an attention was given."""
    x, e = words()
    pooled = K.GlobalAveragePooling1D(name="pool")(e)
    y = K.MultiHeadAttention(2, 3, name="heads")(e, e)
    return keras3.Model(x, [K.Dense(2, name="score")(y), K.Dense(2, name="own")(e), K.Dense(2, name="pooled")(K.RepeatVector(4, name="spread")(pooled))])


def nested():
    inside = keras3.Input((4, 4), name="inside")
    z = K.Add(name="sum")([inside, K.MultiHeadAttention(2, 3, name="heads")(inside, inside)])
    block = keras3.Model(inside, z, name="block")
    x, e = words()
    y = block(e)
    return keras3.Model(x, [K.Dense(2, name="score")(y), K.Dense(2, name="own")(K.Multiply(name="late")([y, e]))])


def three():
    """Merges of three, of which one has no mask, and stands at each place once."""
    x, e = words()
    other = K.Embedding(7, 4, mask_zero=True, name="other")(x)
    plain = K.Embedding(7, 4, name="plain")(x)
    back = K.Embedding(7, 4, mask_zero=True, name="third")(keras3.ops.flip(x, axis=1))
    merged = [K.Maximum(name="most")([e, plain, back]), K.Minimum(name="least")([plain, back, e]),
              K.Maximum(name="last")([back, e, plain]), K.Multiply(name="product")([e, back, plain]), K.Maximum(name="all")([e, back, other])]
    return keras3.Model(x, [K.Dense(2, name=f"score_{i}")(each) for i, each in enumerate(merged)])


def add_trained(name, model):
    add(name, model, {"words": WORDS})
    rng = np.random.default_rng(11)
    targets = [rng.uniform(-1, 1, (3,) + each.shape[1:]).astype("float32") for each in model.outputs]
    model.compile(keras3.optimizers.SGD(0.3), ["mse"] * len(targets))
    loss = np.ravel(model.train_on_batch(WORDS, targets))[0]
    after = model(WORDS)
    after = after if isinstance(after, (list, tuple)) else [after]
    CASES[-1].update({"targets": [values(each) for each in targets], "loss": float(loss), "after": [values(np.asarray(each)) for each in after]})


for make in [three, residual, twice, product, before, plain, nested]:
    add_trained(f"k3_attention_{make.__name__}", make())
with open(os.path.join(FOLDER, "cases.json"), "w") as file:
    json.dump(CASES, file)
    file.write("\n")
