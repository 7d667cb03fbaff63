"""Writes models of Keras 3 with attention and operations, what they compute, and what one step and three of training make
of that: python gen_attention.py FOLDER [NAME...]

With names only those models are written anew, and what is told of the others stays.
"""
import json
import os
import sys

import keras
import numpy as np
import tensorflow as tf
from keras import ops

FOLDER = sys.argv[1]
ONLY = sys.argv[2:]
LIST = os.path.join(FOLDER, "attention.json")
CASES = []
if ONLY:
    with open(LIST) as file:
        CASES = [case for case in json.load(file)["cases"] if case["file"].split(".")[0] not in ONLY]
K = keras.layers


def values(array):
    array = np.asarray(array)
    return {"dtype": str(array.dtype), "shape": list(array.shape),
            "values": [round(float(each), 7) for each in array.ravel()]}


def fill(model):
    rng = np.random.default_rng(7)
    for weight in model.weights:
        if weight.dtype.startswith("float"):
            weight.assign(rng.uniform(-0.5, 1.0, weight.shape).astype("float32"))


class Adam(keras.optimizers.Adam):
    """On TensorFlow Keras sums the squares of the gradients of an id that comes several times; elsewhere it squares the sum."""

    def update_step(self, gradient, variable, learning_rate):
        super().update_step(tf.convert_to_tensor(gradient), variable, learning_rate)


OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.05),
    "adam": lambda: Adam(0.01, epsilon=1e-7),
}


def save(name, model, inputs, files=("keras",), trains=True):
    """Outputs have no masks, which Keras would apply to the losses: operations end them."""
    if ONLY and name not in ONLY:
        return
    keras.utils.set_random_seed(1)
    fill(model)
    given = inputs if len(inputs) > 1 else next(iter(inputs.values()))
    compute = lambda: [keras.ops.convert_to_numpy(each) for each in keras.tree.flatten(model(given, training=False))]
    outputs = compute()
    for extension in files:
        model.save(os.path.join(FOLDER, f"{name}.{extension}"))
    steps = {}
    rng = np.random.default_rng(11)
    targets = [rng.uniform(-1, 1, each.shape).astype("float32") for each in outputs]
    start = model.get_weights()
    for kind, make in OPTIMIZERS.items() if trains else ():
        model.set_weights(start)
        model.compile(optimizer=make(), loss=["mse"] * len(outputs) if len(outputs) > 1 else "mse")
        told = targets if len(targets) > 1 else targets[0]
        first = [np.ravel(model.train_on_batch(given, told))[0]]
        after = compute()
        losses = first + [np.ravel(model.train_on_batch(given, told))[0] for _ in range(2)]
        steps[kind] = {"after": [values(each) for each in after], "losses": [float(each) for each in losses]}
    model.set_weights(start)
    for extension in files:
        CASES.append({
            "file": f"{name}.{extension}",
            "inputs": {key: values(value) for key, value in inputs.items()},
            "outputs": [values(each) for each in outputs],
            **({"targets": [values(each) for each in targets], "steps": steps} if trains else {}),
        })


def ids(shape, rows, seed=3, least=0):
    return np.random.default_rng(seed).integers(least, rows, shape).astype("int32")


def padded(shape, rows, lengths):
    given = ids(shape, rows, least=1)
    for row, length in zip(given, lengths):
        row[length:] = 0
    return given


def floats(shape, seed=5):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("float32")


def flat(x):
    """TensorFlow.js adds losses of outputs of one rank alone."""
    return ops.reshape(x, (-1, int(np.prod(x.shape[1:]))))


def block(x, dim, heads, hidden, number):
    """The block of the text classification of keras.io."""
    attended = K.MultiHeadAttention(num_heads=heads, key_dim=dim, name=f"attention_{number}")(x, x)
    x = K.LayerNormalization(epsilon=1e-6)(x + K.Dropout(0.0)(attended))
    feed = keras.Sequential([K.Dense(hidden, activation="relu"), K.Dense(dim)], name=f"feed_{number}")
    return K.LayerNormalization(epsilon=1e-6)(x + K.Dropout(0.0)(feed(x)))


def transformer():
    """Text classification with a transformer, keras.io, with positions as operations."""
    words = keras.Input((7,), dtype="int32", name="words")
    positions = ops.zeros_like(words) + ops.arange(7)
    x = K.Embedding(20, 4, name="tokens")(words) + K.Embedding(7, 4, name="positions")(positions)
    x = block(x, 4, 2, 6, 0)
    x = K.GlobalAveragePooling1D()(x)
    x = K.Dense(5, activation="relu")(K.Dropout(0.0)(x))
    return keras.Model(words, K.Dense(2, activation="softmax")(K.Dropout(0.0)(x)), name="transformer")


def masked_transformer():
    """Masks of an embedding through layers: attention, normalization, sums, the mean."""
    words = keras.Input((6,), dtype="int32", name="words")
    x = K.Embedding(12, 4, mask_zero=True)(words)
    for number in range(2):
        normal = K.LayerNormalization(epsilon=1e-6)(x)
        x = K.Add()([x, K.MultiHeadAttention(2, 3, name=f"attention_{number}")(normal, normal)])
        hidden = K.Dense(5, activation="gelu")(K.LayerNormalization(epsilon=1e-6)(x))
        x = K.Add()([x, K.Dense(4)(hidden)])
    return keras.Model(words, K.Dense(3)(K.GlobalAveragePooling1D()(x)), name="masked")


def sasrec():
    """Self-attentive sequential recommendation: scores of the next items and of others."""
    seen, nxt, other = [keras.Input((5,), dtype="int32", name=name) for name in ("seen", "next", "other")]
    items = K.Embedding(11, 4, mask_zero=True, name="items")
    positions = K.Embedding(5, 4, name="positions")(ops.cumsum(ops.ones_like(seen), axis=1) - 1)
    counts = ops.expand_dims(ops.cast(ops.not_equal(seen, 0), "float32"), -1)
    x = (items(seen) * 2.0 + positions) * counts
    for number in range(2):
        query = K.LayerNormalization(epsilon=1e-8)(x)
        attended = K.MultiHeadAttention(1, 4, dropout=0.0, name=f"heads_{number}")(query, x, use_causal_mask=True)
        x = query + attended
        y = K.LayerNormalization(epsilon=1e-8)(x)
        fed = K.Conv1D(4, 1)(K.Conv1D(4, 1, activation="relu")(y))
        x = (y + fed) * counts
    x = K.LayerNormalization(epsilon=1e-8, name="last")(x)
    scores = [ops.sum(x * items(each), axis=-1) for each in (nxt, other)]
    return keras.Model([seen, nxt, other], scores, name="sasrec")


def attentions():
    a = keras.Input((4,), dtype="int32", name="a")
    b = keras.Input((3, 5), name="b")
    rows = K.Embedding(9, 5, mask_zero=True)(a)
    plain = K.Attention(name="plain")([rows, b])
    scaled, scores = K.Attention(use_scale=True, dropout=0.0, name="scaled")([b, rows], return_attention_scores=True)
    joined = K.Attention(score_mode="concat", use_scale=True, name="joined")([b, rows, rows])
    causal = K.Attention(name="causal")([rows, rows], use_causal_mask=True)
    added = K.AdditiveAttention(name="added")([rows, b])
    unscaled = K.AdditiveAttention(use_scale=False, name="unscaled")([b, rows])
    unit = K.UnitNormalization(axis=[1, 2])(added)
    means = [K.GlobalAveragePooling1D(keepdims=True)(each) for each in (plain, causal, K.UnitNormalization()(joined))]
    return keras.Model([a, b], [flat(each) for each in (*means, scaled, scores, unscaled, unit)], name="attentions")


def heads():
    x = keras.Input((4, 6), name="x")
    y = keras.Input((5, 3), name="y")
    z = keras.Input((2, 3, 4), name="z")
    near = ops.greater(ops.matmul(x, ops.ones((6, 5), "float32")), 0.0)
    cross = K.MultiHeadAttention(2, 3, value_dim=5, output_shape=7, name="cross")(x, y, y, attention_mask=near)
    told = np.tril(np.ones((4, 4), "bool"))
    fixed = K.MultiHeadAttention(1, 2, use_bias=False, name="fixed")(query=x, value=x, attention_mask=ops.convert_to_tensor(told))
    weighed, weights = K.MultiHeadAttention(3, 2, name="weighed")(x, x, use_causal_mask=True, return_attention_scores=True)
    gated = K.MultiHeadAttention(2, 2, use_gate=True, sliding_window=2, name="gated")(x, x)
    wide = K.MultiHeadAttention(2, 2, attention_axes=(1, 2), name="wide")(z, z)
    rows = K.MultiHeadAttention(2, 2, attention_axes=2, output_shape=(2, 3), name="rows")(z, z)
    return keras.Model([x, y, z], [flat(each) for each in (cross, fixed, weighed, weights, gated, wide, rows)], name="heads")


def operations():
    """Each of the operations, on floats and on whole numbers."""
    x = keras.Input((4, 3), name="x")
    n = keras.Input((4,), dtype="int32", name="n")
    positive = ops.abs(x) + 0.5
    unary = [ops.negative(x), ops.square(x), ops.sqrt(positive), ops.rsqrt(positive), ops.reciprocal(positive), ops.exp(x),
             ops.expm1(x), ops.log(positive), ops.log1p(positive), ops.log2(positive), ops.log10(positive), ops.sin(x),
             ops.cos(x), ops.tan(x), ops.tanh(x), ops.sinh(x), ops.cosh(x), ops.arcsin(x), ops.arccos(x), ops.arctan(x),
             ops.erf(x), ops.floor(x), ops.ceil(x), ops.sign(x), ops.relu(x), ops.relu6(x * 8), ops.sigmoid(x),
             ops.log_sigmoid(x), ops.hard_sigmoid(x), ops.hard_silu(x), ops.softplus(x), ops.softsign(x), ops.silu(x),
             ops.selu(x), ops.elu(x), ops.leaky_relu(x), ops.gelu(x), ops.gelu(x, approximate=False), ops.clip(x, -0.5, 0.25)]
    two = [x + positive, x - positive, x * 2.5, 1.0 - x, x / positive, x // positive, ops.mod(x, positive), positive ** 1.5,
           ops.maximum(x, 0.1), ops.minimum(x, positive), ops.where(x > 0, x, positive * 3.0)]
    reduced = [ops.sum(x, axis=1, keepdims=True), ops.mean(x, axis=(1, 2), keepdims=True), ops.max(x, axis=-1, keepdims=True),
               ops.min(x, axis=1, keepdims=True), ops.prod(x, axis=1, keepdims=True), ops.var(x, axis=1, keepdims=True),
               ops.std(x, axis=2, keepdims=True), ops.logsumexp(x, axis=1, keepdims=True)]
    along = [ops.softmax(x, axis=1), ops.log_softmax(x), ops.cumsum(x, axis=1), ops.normalize(x, axis=-1)]
    floats_ = unary + two + along
    flags = [ops.logical_and(x > 0, ops.logical_not(x >= 0.5)), ops.logical_or(x < 0, ops.equal(n[:, :, None], 3)),
             ops.logical_xor(ops.isfinite(x), x <= 0)]
    whole = [n + 1, n * n - 2, n // 2, n % 3, ops.argmax(x, axis=1, keepdims=False)[:, :1] + n, ops.cumsum(n, axis=1),
             ops.sum(ops.cast(ops.any(x > 0.4, axis=-1), "int32"), axis=1, keepdims=True) + n, ops.argmin(x, axis=-1)]
    return keras.Model([x, n], [ops.stack(floats_, axis=1), ops.concatenate([ops.reshape(each, (-1, int(np.prod(each.shape[1:])))) for each in reduced], axis=-1),
                                ops.cast(ops.stack(flags, axis=-1), "float32"), ops.cast(ops.stack(whole, axis=1), "float32") / 2])


def places():
    x = keras.Input((4, 3), name="x")
    n = keras.Input((4,), dtype="int32", name="n")
    y = ops.expand_dims(x, (1, -1))
    parts = ops.split(x, 2, axis=1)
    cut = ops.split(x, [1, 2], axis=2)
    first, *others = ops.unstack(x, axis=2)
    moved = [ops.transpose(x, (0, 2, 1)), ops.swapaxes(x, 1, 2), ops.moveaxis(x, 2, 1), x[:, ::-1, :].__getitem__((Ellipsis, 0))[:, None] * ops.ones((3, 1)),
             ops.squeeze(ops.transpose(y, (0, 1, 3, 2, 4)), (1, 4))]
    flat = [ops.reshape(each, (-1, 12)) for each in (*moved[:3], moved[4], y, ops.flip(x, axis=1), ops.concatenate(parts[::-1], axis=1),
                                                     ops.concatenate(cut[::-1], axis=-1), ops.stack([first, *others], axis=-1))]
    some = [x[:, -1], x[:, 0, 1:], x[..., 2], x[:, 1:4:2, 0], x[:, -3:-1, ::-2][:, 0], moved[3][:, 0]]
    more = [ops.repeat(x, 2, axis=1), ops.tile(x, (1, 2, 1)), ops.pad(x, ((0, 0), (1, 3), (0, 0))),
            ops.concatenate([ops.take(x, [3, 0, -1], axis=1), ops.take(x, [1, 1, 2, 0, 0], axis=1)], axis=1)]
    hot = ops.one_hot(ops.mod(n, 4), 4)
    products = [ops.matmul(hot, x), ops.einsum("btd,bsd->bts", x, x), ops.einsum("btd,dk->btk", x, np.arange(6, dtype="float32").reshape(3, 2)),
                ops.matmul(x, np.ones((3, 2), "float32"))]
    return keras.Model([x, n], [ops.stack(flat, axis=1), ops.concatenate(some, axis=-1), ops.stack(more, axis=1), ops.concatenate(products, axis=-1)])


def told_masks():
    """Masks that operations end, that are given, and that merging layers join of different ones."""
    a, b = [keras.Input((5,), dtype="int32", name=name) for name in "ab"]
    lengths = keras.Input((1,), dtype="int32", name="lengths")
    x = K.Embedding(7, 4, mask_zero=True)(a)
    y = K.Embedding(7, 4, mask_zero=True)(b)
    z = K.Embedding(7, 4)(b)
    within = ops.less(ops.arange(5), lengths)
    mean = lambda value, **kwargs: K.GlobalAveragePooling1D()(value, **kwargs)
    results = [mean(x), mean(x + z), mean(K.Add()([x, y])), mean(K.Add()([x, z])), mean(x * 2.0, mask=within),
               mean(K.Concatenate(axis=1)([x, y])), K.LSTM(4)(K.Multiply()([x, y])), K.GRU(4)(z, mask=within),
               mean(K.LeakyReLU()(x)), K.SimpleRNN(4)(K.Average()([x, z])),
               mean(K.MultiHeadAttention(1, 3)(K.Add()([x, y]), z + y)), mean(K.Maximum()([x, y])), mean(K.Minimum()([x, z])),
               mean(K.Attention()([x, y], mask=[within, ops.not_equal(b, 0)]))]
    return keras.Model([a, b, lengths], ops.stack(results, axis=1))


def merges():
    """What differences and products make of masks."""
    a, b = [keras.Input((5,), dtype="int32", name=name) for name in "ab"]
    x = K.Embedding(7, 4, mask_zero=True)(a)
    y = K.Embedding(7, 4, mask_zero=True)(b)
    z = K.Embedding(7, 4)(b)
    mean = lambda value: K.GlobalAveragePooling1D()(value)
    difference, half = K.Subtract(name="both")([x, y]), K.Subtract(name="half")([x, z])
    results = [mean(difference), mean(half), K.LSTM(4)(difference), mean(K.Add()([difference, x])),
               K.GRU(4)(K.Dot((2, 2), name="each")([x, y])), mean(K.Dot((1, 1))([x, y])), mean(K.Dense(4)(difference))]
    return keras.Model([a, b], ops.stack(results, axis=1))


def constants():
    """Weights that begin as arrays of NumPy, of TensorFlow, and lists."""
    words = keras.Input((5,), dtype="int32", name="words")
    constant = keras.initializers.Constant
    table = np.arange(28, dtype="float32").reshape(7, 4) / 10
    x = K.Embedding(7, 4, embeddings_initializer=constant(table), trainable=False)(words)
    y = K.Embedding(7, 4, embeddings_initializer=constant(tf.ones((7, 4)) * 0.5))(words)
    z = K.Dense(3, kernel_initializer=constant(np.eye(4, 3, dtype="float32")), bias_initializer=constant([0.1, 0.2, 0.3]))(x + y)
    return keras.Model(words, z)


def steps():
    """Layers for each step of sequences of sequences."""
    words = keras.Input((3, 5), dtype="int32", name="words")
    each = lambda layer, value: K.TimeDistributed(layer)(value)
    x = each(K.Embedding(9, 4, mask_zero=True), words)
    x = each(K.UnitNormalization(), x)
    x = each(K.UnitNormalization(axis=1), each(K.Dense(4), x))
    x = each(K.Normalization(mean=[0.1, 0.2, 0.3, 0.4], variance=[1.0, 2.0, 3.0, 4.0]), x)
    mean, kept = each(K.GlobalAveragePooling1D(), x), each(K.GlobalAveragePooling1D(keepdims=True), x)
    hashed = each(K.Hashing(4), words)
    rows = each(K.Embedding(4, 3), hashed)
    return keras.Model(words, [flat(mean), flat(kept), flat(each(K.LSTM(3), x)), flat(rows)])


def positions():
    """Positions as Keras Hub learns them."""
    import keras_hub

    hub = keras_hub.layers
    words = keras.Input((5,), dtype="int32", name="words")
    x = K.Embedding(9, 4, mask_zero=True)(words)
    first = K.Add()([x, hub.PositionEmbedding(6)(x)])
    later = hub.PositionEmbedding(8)(x, start_index=3)
    told = hub.PositionEmbedding(9)(x, positions=words)
    both = hub.TokenAndPositionEmbedding(9, 7, 4, mask_zero=True)(words)
    plain = hub.TokenAndPositionEmbedding(9, 5, 4)(words)
    results = [K.GlobalAveragePooling1D()(each) for each in (first, later, told, both, plain)]
    return keras.Model(words, ops.stack(results, axis=1))


def softmaxes():
    """Along other axes than the last, along several, and with masks."""
    x = keras.Input((4, 3), name="x")
    mask, row = keras.Input((4, 3), dtype="bool", name="mask"), keras.Input((1, 3), name="row")
    y = K.Dense(3)(x)
    results = [K.Softmax(axis=1)(y), K.Softmax(axis=[1])(y), K.Softmax(axis=[1, 2])(y), K.Softmax(axis=(-1, -2))(y), K.Softmax()(y, mask=mask),
               K.Softmax(axis=[1, 2])(y, mask=mask), K.Softmax(axis=1)(y, mask=row)]
    return keras.Model([x, mask, row], ops.stack(results, axis=1))


X = floats((3, 4, 3))
save("k3_transformer", transformer(), {"words": ids((3, 7), 20)}, files=("keras", "h5"))
save("k3_masked_transformer", masked_transformer(), {"words": padded((4, 6), 12, [6, 3, 1, 5])}, files=("keras", "h5"))
save("k3_sasrec", sasrec(), {"seen": padded((3, 5), 11, [5, 2, 4]), "next": ids((3, 5), 11, 4), "other": ids((3, 5), 11, 6)})
save("k3_attentions", attentions(), {"a": padded((3, 4), 9, [4, 2, 1]), "b": floats((3, 3, 5))})
save("k3_heads", heads(), {"x": floats((2, 4, 6)), "y": floats((2, 5, 3), 8), "z": floats((2, 2, 3, 4), 9)})
save("k3_operations", operations(), {"x": X, "n": ids((3, 4), 9)}, trains=False)
save("k3_places", places(), {"x": X, "n": ids((3, 4), 9)}, trains=False)
save("k3_told_masks", told_masks(), {"a": padded((3, 5), 7, [5, 2, 3]), "b": padded((3, 5), 7, [1, 4, 2]), "lengths": np.array([[2], [5], [1]], "int32")})
save("k3_merges", merges(), {"a": padded((3, 5), 7, [5, 2, 3]), "b": padded((3, 5), 7, [1, 4, 2])})
save("k3_constants", constants(), {"words": ids((3, 5), 7)}, files=("keras", "h5"))
save("k3_steps", steps(), {"words": ids((2, 3, 5), 9)})
save("k3_positions", positions(), {"words": padded((3, 5), 9, [5, 2, 3])})
save("k3_softmaxes", softmaxes(), {"x": X, "mask": floats((3, 4, 3), 6) > -0.2, "row": floats((3, 1, 3), 8) + 0.5})
with open(LIST, "w") as file:
    json.dump({"cases": CASES}, file)
