"""Writes model files of Keras 3 with Keras RS, and what the models compute: python gen_keras3.py FOLDER [NAME...]

With names only those models are written anew, and what is told of the others stays.
"""
import json
import os
import shutil
import sys

import h5py
import keras
import keras_rs
import numpy as np

FOLDER = sys.argv[1]
ONLY = sys.argv[2:]
LIST = os.path.join(FOLDER, "keras3.json")
CASES = []
if ONLY:
    with open(LIST) as file:
        CASES = [case for case in json.load(file)["cases"] if case["file"].split(".")[0] not in ONLY]
K = keras.layers


def values(array):
    array = np.asarray(array)
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": array.ravel().tolist()}


def save(name, model, inputs, files=("keras",), fill=True):
    """`inputs`: by the names of the input layers; `fill`: whether weights get other values than those they have."""
    if ONLY and name not in ONLY:
        return
    rng = np.random.default_rng(7)
    for weight in model.weights:
        if fill and weight.dtype.startswith("float"):
            low = 0.5 if "variance" in weight.path else -0.5
            weight.assign(rng.uniform(low, 1.0, weight.shape).astype("float32"))
    given = inputs if len(inputs) > 1 else next(iter(inputs.values()))
    outputs = keras.tree.flatten(model(given, training=False))
    for extension in files:
        path = os.path.join(FOLDER, f"{name}.{extension}")
        model.save(path)
        CASES.append({
            "file": os.path.basename(path),
            "inputs": {key: values(value) for key, value in inputs.items()},
            "outputs": [values(keras.ops.convert_to_numpy(each)) for each in outputs],
        })


def ids(shape, rows, seed=3):
    return np.random.default_rng(seed).integers(0, rows, shape).astype("int32")


def embed_reduce():
    user = keras.Input((3,), dtype="int32", name="User_Ids")
    item = keras.Input((4,), dtype="int32", name="item_ids")
    weights = keras.Input((4,), dtype="float32", name="item_weights")
    a = keras_rs.layers.EmbedReduce(12, 5, combiner="sqrtn", name="User_Table")(user)
    b = keras_rs.layers.EmbedReduce(9, 3, combiner="sum", name="item_table")(item, weights)
    x = K.Concatenate(name="both")([a, b])
    return keras.Model([user, item, weights], K.Dense(2, activation="sigmoid", name="Head_1")(x), name="My_Model")


def distributed():
    kwargs = dict(initializer="random_uniform", placement="default_device")
    item = keras_rs.layers.TableConfig("itemTable", 30, 6, combiner="mean", **kwargs)
    user = keras_rs.layers.TableConfig("user_id", 20, 4, combiner="sum", **kwargs)
    feature = lambda name, table, dim: keras_rs.layers.FeatureConfig(name, table, (2, 3), (2, dim))
    layer = keras_rs.layers.DistributedEmbedding(
        {"user": feature("user", user, 4), "items": [feature("seen", item, 6), feature("next_item", item, 6)]},
        name="Tables_1")
    inputs = {"user": keras.Input((3,), 2, dtype="int32", name="user"),
              "items": [keras.Input((3,), 2, dtype="int32", name="seen"), keras.Input((3,), 2, dtype="int32", name="next_item")]}
    out = layer(inputs)
    x = K.Concatenate()([out["user"], out["items"][0], out["items"][1]])
    flat = [inputs["user"], *inputs["items"]]
    return keras.Model(flat, K.Dense(2)(x))


def distributed_tables():
    """Tables of unequal shapes, used in another order than they are named; the layer stands in a model of its own."""
    def feature(name, table, count):
        return keras_rs.layers.FeatureConfig(name, table, (2, count), (2, table.embedding_dim))

    kwargs = dict(initializer="random_uniform", placement="default_device")
    zoo = keras_rs.layers.TableConfig("zoo", 7, 3, combiner="sum", **kwargs)
    ant = keras_rs.layers.TableConfig("ant", 9, 2, combiner="mean", **kwargs)
    mid = keras_rs.layers.TableConfig("mid", 5, 4, combiner="sqrtn", **kwargs)
    features = {"b": feature("b", zoo, 2), "a": [feature("a0", mid, 3), feature("a1", zoo, 1)], "c": feature("c", ant, 2)}

    def joined(suffix):
        ids = lambda name, count: keras.Input((count,), 2, dtype="int32", name=name + suffix)
        inputs = {"b": ids("b", 2), "a": [ids("a0", 3), ids("a1", 1)], "c": ids("c", 2)}
        out = keras_rs.layers.DistributedEmbedding(features, name="tables" + suffix)(inputs)
        return [inputs["b"], *inputs["a"], inputs["c"]], K.Concatenate()([out["b"], *out["a"], out["c"]])

    given, x = joined("")
    inner_given, inner_x = joined("_inner")
    inner = keras.Model(inner_given, K.Dense(2, name="scores")(inner_x), name="inner")
    return keras.Model(given, K.Concatenate()([K.Dense(3, name="head")(x), inner(given)]))


def settings():
    """What predictions show, and what they do not: activations, frozen layers, regularizers."""
    regularizers = keras.regularizers
    words = keras.Input((3,), dtype="int32", name="words")
    rows = K.Embedding(6, 4, name="frozen", trainable=False)(words)
    pooled = keras_rs.layers.EmbedReduce(6, 4, combiner="mean", name="pooled", embeddings_regularizer=regularizers.L1(0.5))(words)
    x = K.Dense(5, activation="hard_sigmoid", name="l1", kernel_regularizer=regularizers.L1(0.02))(K.Flatten()(rows))
    x = K.Dense(4, activation="hard_sigmoid", name="l2", bias_regularizer=regularizers.L2(0.03))(x)
    both = K.Dense(3, name="l1_l2", kernel_regularizer=regularizers.L1L2(0.04, 0.05))(K.Concatenate()([x, pooled]))
    return keras.Model(words, K.Activation("hard_sigmoid", name="last")(K.Rescaling(4.0, -1.0)(both)))


def split_lists(name, of):
    """Keras splits lists of names that are too long for one attribute; here they are split after each second name."""
    if ONLY and name not in ONLY:
        return
    into = os.path.join(FOLDER, f"{name}.h5")
    shutil.copyfile(os.path.join(FOLDER, f"{of}.h5"), into)
    with h5py.File(into, "a") as file:
        groups = [file["model_weights"]]
        file["model_weights"].visititems(lambda _, each: groups.append(each) if isinstance(each, h5py.Group) else None)
        for group in groups:
            for key in ("layer_names", "weight_names"):
                if key not in group.attrs:
                    continue
                names = list(group.attrs[key])
                del group.attrs[key]
                for i in range(0, max(1, len(names)), 2):
                    group.attrs[f"{key}{i // 2}"] = np.array(names[i:i + 2], dtype="S")
    case = next(each for each in CASES if each["file"] == f"{of}.h5")
    for mine, theirs in zip(keras.models.load_model(into).weights, keras.models.load_model(os.path.join(FOLDER, f"{of}.h5")).weights):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())
    CASES.append({**case, "file": f"{name}.h5"})


def nested():
    inner_in = keras.Input((6,), name="inner_in")
    inner = keras.Model(inner_in, K.Dense(4, activation="tanh", name="dense")(inner_in), name="inner")
    tower = keras.Sequential([keras.Input((4,)), K.Dense(3, name="dense"), K.LeakyReLU(negative_slope=0.2)], name="tower")
    a, b = keras.Input((6,), name="first"), keras.Input((6,), name="second")
    norm = K.BatchNormalization(name="norm")
    x, y = inner(norm(a)), inner(norm(b))
    z = K.Multiply()([tower(x), tower(y)])
    return keras.Model({"first": a, "second": b}, [K.Add()([z, tower(y)]), K.Dense(1, name="dense")(z)])


def recurrent():
    words = keras.Input((5,), dtype="int32", name="words")
    x = K.Embedding(8, 4, mask_zero=True, name="words_table")(words)
    x = K.Bidirectional(K.LSTM(3, return_sequences=True), name="both_ways")(x)
    x = K.TimeDistributed(K.Dense(4, activation="relu"))(x)
    x = K.LayerNormalization()(x)
    x = K.GRU(2, reset_after=False)(x)
    return keras.Model(words, K.Dropout(0.5)(x))


def sequential():
    # Inputs of Keras are float32 unless told otherwise.
    return keras.Sequential([keras.Input((3,)), K.Embedding(7, 4), K.Flatten(), K.Dense(2, kernel_regularizer="l2")])


def image():
    return keras.Sequential([
        keras.Input((6, 6, 2)), K.Rescaling(0.5, offset=1.0), K.Conv2D(3, 3, padding="same", activation="silu"),
        K.MaxPooling2D(), K.DepthwiseConv2D(2), K.PReLU(), K.SeparableConv2D(4, 2), K.GlobalAveragePooling2D(), K.Softmax()])


def interactions():
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    dots = keras_rs.layers.DotInteraction(self_interaction=True)([a, b])
    cross = keras_rs.layers.FeatureCross(projection_dim=2, name="cross")(a)
    return keras.Model([a, b], K.Concatenate()([dots, cross]))


def adapted():
    """Means and variances that adapt found, and those that are given, over one axis, several and none."""
    prices, grid = keras.Input((3,), name="prices"), keras.Input((2, 3), name="grid")
    found = K.Normalization(name="found")
    found.adapt(floats(20, 3) * 3 + 2)
    cells = K.Normalization(axis=(1, 2), name="cells")
    cells.adapt(floats(20, 2, 3))
    whole = K.Normalization(axis=None, name="whole")
    whole.adapt(floats(20, 3) - 4)
    given = K.Normalization(mean=[1.5, -2.0, 0.25], variance=[4.0, 0.0, 2.0], name="given")
    columns = K.Normalization(axis=(2, 1), mean=[0.5, 1.0, 2.0], variance=[0.5, 1.0, 2.0], name="columns")
    rows = K.Normalization(axis=1, mean=[0.5, 1.0], variance=[0.5, 3.0], invert=True, name="rows")
    same = K.Normalization(mean=3.0, variance=2.0, name="same")
    x = K.Dense(2, name="head")(K.Concatenate()([found(prices), same(prices)]))
    return keras.Model([prices, grid], [x, found(prices), cells(grid), whole(prices), given(prices), columns(grid),
                                        rows(grid), same(grid)])


def preprocessing():
    """Numbers to bins, ids and vectors, in each mode."""
    age, small = keras.Input((4,), name="age"), keras.Input((3,), dtype="int32", name="small")
    raw, one = keras.Input((3,), dtype="int64", name="raw"), keras.Input((1,), name="one")
    bounds = [-0.7, 0.1, 0.3, 1.0]
    quantiles = K.Discretization(num_bins=5, output_mode="count", name="quantiles")
    quantiles.adapt(floats(200))
    bins = K.Discretization(bounds, name="bins")(age)
    lookup = K.IntegerLookup(vocabulary=[12, 36, 7], name="lookup")(raw)
    masked = K.IntegerLookup(vocabulary=[12, 36, 7], mask_token=0, num_oov_indices=3, max_tokens=9, name="masked")(raw)
    outputs = [
        K.Embedding(5, 2, name="bin_table")(bins), bins, quantiles(age),
        K.Discretization(bounds, output_mode="multi_hot")(age), K.Discretization(bounds, output_mode="one_hot")(age),
        K.Discretization([0.0, 2.0, 5.0], name="of_integers")(small),
        *(K.CategoryEncoding(6, output_mode=mode)(small) for mode in ("multi_hot", "one_hot", "count")),
        K.CategoryEncoding(3, output_mode="one_hot")(one), K.CategoryEncoding(3)(one),
        lookup, masked, K.Embedding(4, 2, name="id_table")(lookup),
        K.Hashing(11, name="plain")(raw), K.Hashing(11, mask_value=7, name="masking")(raw),
        K.Hashing(5, salt=[133, 137], name="salted")(raw), K.CategoryEncoding(11)(K.Hashing(11, salt=3)(raw)),
    ]
    return keras.Model([age, small, raw, one], outputs)


def lookups():
    """IntegerLookup and Hashing in each mode of output, and vocabularies that adapt found."""
    raw, one = keras.Input((3,), dtype="int64", name="raw"), keras.Input((1,), dtype="int64", name="one")
    found = K.IntegerLookup(num_oov_indices=2, name="found")
    found.adapt(np.array([[7, 7, 36], [7, 12, 36], [-4, 7, 7]], "int64"))
    counted = K.IntegerLookup(max_tokens=4, output_mode="count", name="counted")
    counted.adapt(np.array([[7, 7, 36], [7, 12, 36], [-4, 7, 7]], "int64"))
    words = lambda mode, **given: K.IntegerLookup(vocabulary=[12, 36, 7], output_mode=mode, **given)
    outputs = [
        *(words(mode)(raw) for mode in ("multi_hot", "one_hot", "count")), words("one_hot")(one), words("multi_hot")(one),
        words("multi_hot", num_oov_indices=2, name="two_oov")(raw),
        words("count", max_tokens=9, pad_to_max_tokens=True, name="padded")(raw),
        *(K.Hashing(5, output_mode=mode)(raw) for mode in ("multi_hot", "one_hot", "count")),
        K.Hashing(5, output_mode="one_hot", mask_value=7, name="masking")(raw),
        found(raw), counted(raw), K.Embedding(6, 2, name="found_table")(found(raw)),
    ]
    return keras.Model([raw, one], outputs)


def normalized():
    first = K.Normalization(name="Normal_1")
    first.adapt(floats(9, 3) + 5)
    return keras.Sequential([keras.Input((3,)), first, K.Dense(2), K.Normalization(mean=0.5, variance=0.0)])


def masked():
    """Masks that end at a layer, and branches without one beside branches with one."""
    words, plain = keras.Input((5,), dtype="int32", name="words"), keras.Input((5, 4), name="plain")
    rows = K.Embedding(8, 4, mask_zero=True, name="table")(words)
    last = K.LSTM(2, name="of_mask")(rows)
    beside = K.LSTM(2, name="without_mask")(K.Dense(3)(plain))
    ended = K.LSTM(2, name="after_convolution")(K.Conv1D(3, 2, padding="same")(rows))
    reshaped = K.SimpleRNN(2, name="after_reshape")(K.Reshape((4, 5))(rows))
    return keras.Model([words, plain], [last, beside, ended, reshaped, K.Concatenate(axis=-2)([rows, plain])])


def gated():
    """GRU as it is by default: over masked steps, backwards, both ways, and with its state."""
    words, plain = keras.Input((5,), dtype="int32", name="words"), keras.Input((5, 4), name="plain")
    rows = K.Embedding(8, 4, mask_zero=True, name="table")(words)
    steps = K.GRU(3, return_sequences=True, name="steps")(rows)
    both = K.Bidirectional(K.GRU(2, return_sequences=True), merge_mode="sum", name="both_ways")(plain)
    last, state = K.GRU(3, return_state=True, activation="relu", use_bias=False, name="with_state")(plain)
    back = K.GRU(2, go_backwards=True, return_sequences=True, recurrent_activation="tanh", unroll=True, name="back")(plain)
    return keras.Model([words, plain], [K.GRU(2, name="of_mask")(steps), both, last, state, back])


def single_ids():
    """One id per sample, of each dtype, beside ids in a row."""
    user, item = keras.Input((), dtype="int32", name="user"), keras.Input((), dtype="int64", name="item")
    plain, seen = keras.Input(shape=(), name="plain"), keras.Input((2,), dtype="int32", name="seen")
    table = K.Embedding(9, 4, name="table")
    rows = [table(user), table(item), K.Embedding(5, 3, name="small")(plain), K.Flatten()(table(seen))]
    return keras.Model([user, item, plain, seen], K.Dense(2, name="head")(K.Concatenate()(rows)))


def single_sequential():
    return keras.Sequential([keras.Input(shape=(), dtype="int32"), K.Embedding(7, 3), K.Dense(2)])


def states():
    """Sequences with masks and initial states: Keras passes on no mask by itself where a call has states."""
    words, target = keras.Input((5,), dtype="int32", name="words"), keras.Input((5,), dtype="int32", name="target")
    start = keras.Input((3,), name="start")
    table = K.Embedding(8, 4, mask_zero=True, name="table")
    rows, wanted = table(words), table(target)
    encoded, *state = K.LSTM(3, return_state=True, name="encoder")(rows)
    decoded = K.LSTM(3, return_sequences=True, name="decoder")(wanted, initial_state=state)
    told = K.GRU(3, name="told")(rows, initial_state=start, mask=keras.ops.not_equal(words, 0))
    both = K.Bidirectional(K.GRU(3), merge_mode="concat", name="both_ways")(rows, initial_state=[start, start])
    shared = K.GRU(3, return_sequences=True, name="shared")
    outputs = [encoded, decoded, told, both, K.SimpleRNN(3, name="simple")(wanted, initial_state=start),
               shared(rows), shared(rows, initial_state=start), shared(wanted, initial_state=start)]
    return keras.Model([words, target, start], outputs)


def masking():
    """Masking in a graph, of one number and another, before layers that pass the mask on."""
    plain = keras.Input((5, 4), name="plain")
    zeros, halves = K.Masking(name="zeros")(plain), K.Masking(0.5, name="halves")(plain)
    later = K.GRU(2, return_sequences=True, name="later")(K.Dropout(0.5)(K.Dense(3)(halves)))
    return keras.Model(plain, [K.GRU(2, name="of_zeros")(zeros), K.LSTM(2, name="of_halves")(halves),
                               K.SimpleRNN(2, name="last")(later), K.GRU(2, name="ended")(K.Reshape((5, 4))(zeros))])


def concatenated():
    """Masks joined by Concatenate, over features and over steps, with inputs that have none."""
    words, target = keras.Input((5,), dtype="int32", name="words"), keras.Input((5,), dtype="int32", name="target")
    plain = keras.Input((5, 4), name="plain")
    table, other = K.Embedding(8, 4, mask_zero=True, name="table"), K.Embedding(8, 4, mask_zero=True, name="other")
    a, b, c = table(words), table(target), other(target)
    features = K.Concatenate(name="features")
    twice = K.Concatenate(name="twice")([features([a, b]), c])
    masked = K.Concatenate(name="with_masking")([a, K.Masking(0.5)(plain)])
    return keras.Model([words, target, plain], [
        K.GRU(2, name="of_features")(features([a, b])), K.LSTM(2, name="of_tables")(K.Concatenate()([a, c])),
        K.GRU(2, name="of_steps")(K.Concatenate(axis=1)([a, b])), K.GRU(2, name="of_plain")(K.Concatenate()([a, plain])),
        K.GRU(2, name="of_twice")(twice), K.GRU(2, name="of_masking")(masked)])


floats = lambda *shape: np.random.default_rng(5).normal(size=shape).astype("float32")
both = ("keras", "h5")
save("k3_embed_reduce", embed_reduce(),
     {"User_Ids": ids((2, 3), 12), "item_ids": ids((2, 4), 9), "item_weights": floats(2, 4)}, both)
save("k3_distributed", distributed(),
     {"user": ids((2, 3), 20, 1), "seen": ids((2, 3), 30, 2), "next_item": ids((2, 3), 30, 4)})
save("k3_distributed_tables", distributed_tables(),
     {"b": ids((2, 2), 7), "a0": ids((2, 3), 5), "a1": ids((2, 1), 7, 4), "c": ids((2, 2), 9, 5)}, both)
save("k3_settings", settings(), {"words": ids((4, 3), 6)}, both)
save("k3_nested", nested(), {"first": floats(3, 6), "second": -floats(3, 6)}, both)
save("k3_recurrent", recurrent(), {"words": np.array([[1, 2, 0, 0, 0], [3, 7, 1, 1, 0]], "int32")}, both)
save("k3_sequential", sequential(), {"input": ids((2, 3), 7).astype("float32")}, both)
save("k3_image", image(), {"input": floats(1, 6, 6, 2)}, both)
save("k3_interactions", interactions(), {"a": floats(2, 4), "b": -floats(2, 4)})
save("k3_adapted", adapted(), {"prices": floats(4, 3), "grid": floats(2, 2, 3).repeat(2, 0)}, both, fill=False)
save("k3_normalized", normalized(), {"input": floats(2, 3)}, both, fill=False)
save("k3_preprocessing", preprocessing(), {
    "age": np.array([[-0.7, 0.1, 0.3, 1.0], [-9, 0.29, 0.30000001, 99]], "float32"),
    "small": np.array([[0, 5, 5], [2, 1, 2]], "int32"), "raw": np.array([[12, 0, 7], [-5, 36, 1000003]], "int32"),
    "one": np.array([[2], [0]], "float32")}, both)
save("k3_lookups", lookups(), {"raw": np.array([[12, 0, 7], [-5, 36, 1000003]], "int32"),
                               "one": np.array([[36], [5]], "int32")})
save("k3_masked", masked(), {"words": np.array([[1, 2, 0, 0, 0], [3, 0, 1, 1, 0]], "int32"), "plain": floats(2, 5, 4)}, both)
save("k3_gated", gated(), {"words": np.array([[1, 2, 0, 0, 0], [3, 0, 1, 1, 0]], "int32"), "plain": floats(2, 5, 4)}, both)
save("k3_single_ids", single_ids(), {"user": ids((5,), 9), "item": ids((5,), 9, 4),
                                     "plain": ids((5,), 5).astype("float32"), "seen": ids((5, 2), 9, 6)}, both)
save("k3_single_sequential", single_sequential(), {"input": ids((4,), 7)})
split_lists("k3_split_names", "k3_nested")
WORDS = np.array([[1, 2, 0, 0, 0], [3, 0, 1, 1, 0]], "int32")
TARGET = np.array([[0, 5, 7, 0, 0], [2, 2, 4, 0, 6]], "int32")
STEPS = floats(2, 5, 4)
STEPS[0, 3:], STEPS[1, 1], STEPS[1, 4] = 0.0, 0.5, 0.0
save("k3_states", states(), {"words": WORDS, "target": TARGET, "start": floats(2, 3)}, both)
save("k3_masking", masking(), {"plain": STEPS}, both)
save("k3_concatenated", concatenated(), {"words": WORDS, "target": TARGET, "plain": STEPS}, both)
with open(LIST, "w") as file:
    json.dump({"keras": keras.__version__, "keras_rs": keras_rs.__version__, "cases": CASES}, file)
