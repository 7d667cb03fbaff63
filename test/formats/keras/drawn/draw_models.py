"""Draws models of Keras, trains them for an epoch and writes both down: python draw_models.py FOLDER KERAS SEED COUNT

KERAS is 2 or 3. Each case is a file of the model as it was before the training, and a line of JSON on standard output:
inputs, targets, what the model computes, the losses of the epoch and what the model computes after it. A case depends on
its number alone, so one that fails can be drawn again: SEED is the number of the first one. Cases that Keras itself
cannot build, save, load or train are left out, and told by a line with `skipped`.
"""
import base64
import json
import os
import random
import sys
import warnings

# With oneDNN the gradient of a transposed convolution whose window is shorter than its step differs from run to run.
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402

FOLDER, VERSION, SEED, COUNT = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
if VERSION == 2:
    import tf_keras as keras  # noqa: E402
else:
    import keras  # noqa: E402
import tensorflow as tf  # noqa: E402

L = keras.layers
BATCH, ROWS = 4, 8
THREE = VERSION == 3


def packed(array):
    array = np.asarray(array)
    dtype = "bool" if array.dtype == bool else "int32" if np.issubdtype(array.dtype, np.integer) else "float32"
    stored = np.ascontiguousarray(array.astype("uint8" if dtype == "bool" else dtype))
    return {"dtype": dtype, "shape": list(array.shape), "values": base64.b64encode(stored.tobytes()).decode()}


ACTIVATIONS = ["elu", "exponential", "gelu", "hard_sigmoid", "linear", "relu", "selu", "sigmoid", "softmax", "softplus",
               "softsign", "swish", "tanh", "mish"]
if THREE:
    ACTIVATIONS += ["silu", "relu6", "log_softmax", "leaky_relu", "hard_silu", "hard_tanh", "celu", "glu", "log_sigmoid",
                    "hard_shrink", "soft_shrink", "tanh_shrink", "squareplus", "sparse_plus", "threshold", "sparsemax"]


class Drawer:
    """One model."""

    def __init__(self, seed):
        self.rng = random.Random(f"{VERSION} {seed}")
        self.numbers = np.random.default_rng(seed)
        self.seed = seed
        self.count = 0
        self.told = []
        self.shared = []

    # Small decisions.
    def one(self, *values):
        return self.rng.choice(values)

    def chance(self, share):
        return self.rng.random() < share

    def name(self, prefix):
        self.count += 1
        plain = f"{prefix.lower()}_{self.count}"
        return self.one(plain, plain, plain, plain, plain, plain, f"{prefix}{self.count}", f"a.{plain}")

    def activation(self):
        return self.one(None, "relu", "tanh", self.rng.choice(ACTIVATIONS))

    def initializer(self):
        I = keras.initializers
        return self.one(lambda: "glorot_uniform", lambda: "he_normal", lambda: I.RandomNormal(stddev=0.3, seed=1),
                        lambda: I.VarianceScaling(2.0, "fan_avg", "uniform", seed=2), lambda: I.Orthogonal(seed=3),
                        lambda: I.TruncatedNormal(stddev=0.2, seed=4))()

    def regularizer(self, share=0.12):
        R = keras.regularizers
        if not self.chance(share):
            return None
        return self.one(lambda: "l2", lambda: R.L1(0.02), lambda: R.L2(0.03), lambda: R.L1L2(0.01, 0.02))()

    def constraint(self, share=0.05):
        C = keras.constraints
        if not self.chance(share):
            return None
        return self.one(lambda: C.NonNeg(), lambda: C.MaxNorm(0.8), lambda: C.UnitNorm(),
                        lambda: C.MinMaxNorm(0.2, 0.9, rate=0.7))()

    def frozen(self):
        return {"trainable": False} if self.chance(0.1) else {}

    def weighted(self, *names):
        """Arguments of a layer with these weights."""
        args = {"use_bias": self.chance(0.8)}
        for each in (*names, "bias"):
            if self.chance(0.3) and each != "bias":
                args[f"{each}_initializer"] = self.initializer()
            for kind, draw in (("regularizer", self.regularizer), ("constraint", self.constraint)):
                value = draw()
                if value is not None:
                    args[f"{each}_{kind}"] = value
        if self.chance(0.05):
            args["activity_regularizer"] = self.regularizer(1)
        return {**args, **self.frozen()}

    def layer(self, cls, *args, **kwargs):
        kwargs.setdefault("name", self.name(cls))
        self.told.append(cls)
        made = getattr(L, cls)(*args, **kwargs)
        return made

    # Layers by the rank of what they take.
    def conv(self, rank, x):
        n = rank - 2
        shape = x.shape[1:-1]
        small = min(s or 3 for s in shape)
        sizes = tuple(self.rng.randint(1, min(3, small)) for _ in range(n))
        kind = self.one("Conv", "Conv", "Conv", "Transpose", "Separable", "Depthwise")
        args = {"kernel_size": sizes, "activation": self.activation(), "padding": self.one("same", "valid")}
        if self.chance(0.4):
            args["strides"] = self.one(1, 2)
        elif self.chance(0.3):
            args["dilation_rate"] = 2
        if n == 1 and kind == "Conv" and self.chance(0.3):
            args["padding"] = "causal"
        channels = int(x.shape[-1])
        if kind == "Conv" and self.chance(0.15) and channels > 1:
            return self.layer(f"Conv{n}D", channels * 2, groups=channels, **args, **self.weighted("kernel"))
        if kind == "Separable" and n < 3:
            return self.layer(f"SeparableConv{n}D", self.rng.randint(1, 3), depth_multiplier=self.one(1, 2), **args,
                              **self.weighted("depthwise", "pointwise"))
        if kind == "Depthwise" and n < 3:
            return self.layer(f"DepthwiseConv{n}D", depth_multiplier=self.one(1, 2), **args, **self.weighted("depthwise"))
        name = f"Conv{n}DTranspose" if kind == "Transpose" else f"Conv{n}D"
        return self.layer(name, self.rng.randint(1, 3), **args, **self.weighted("kernel"))

    def pool(self, rank, x):
        n = rank - 2
        small = min(s or 2 for s in x.shape[1:-1])
        if self.chance(0.4):
            args = {"keepdims": True} if self.chance(0.3) else {}
            return self.layer(f"Global{self.one('Max', 'Average')}Pooling{n}D", **args)
        return self.layer(f"{self.one('Max', 'Average')}Pooling{n}D", pool_size=min(2, small),
                          strides=self.one(None, 1, 2), padding=self.one("same", "valid"))

    def loop(self, x):
        kind = self.one("SimpleRNN", "LSTM", "GRU")
        args = {"return_sequences": self.chance(0.6), "go_backwards": self.chance(0.15), "unroll": self.chance(0.1),
                "activation": self.one("tanh", "tanh", self.activation()), **self.weighted("kernel", "recurrent")}
        if kind != "SimpleRNN":
            args["recurrent_activation"] = self.one("sigmoid", "sigmoid", "hard_sigmoid")
        if kind == "GRU":
            args["reset_after"] = self.chance(0.6)
        if kind == "LSTM":
            args["unit_forget_bias"] = self.chance(0.7)
        units = self.rng.randint(1, 3)
        if self.chance(0.25):
            inner_trainable = {k: args.pop(k) for k in ["trainable"] if k in args}
            inner = getattr(L, kind)(units, **args)
            self.told.append(kind)
            return self.layer("Bidirectional", inner, merge_mode=self.one("concat", "sum", "mul", "ave"),
                              **inner_trainable)
        return self.layer(kind, units, **args)

    def normalization(self, x):
        rank = len(x.shape)
        kind = self.one("BatchNormalization", "BatchNormalization", "LayerNormalization", "UnitNormalization",
                        *(["RMSNormalization", "GroupNormalization"] if THREE else ["GroupNormalization"]))
        common = {"epsilon": self.one(1e-3, 1e-2)}
        if kind == "UnitNormalization":
            return self.layer(kind)
        if kind == "RMSNormalization":
            return self.layer(kind, **common)
        ends = {"center": self.chance(0.75), "scale": self.chance(0.75)}
        for each in ("beta", "gamma"):
            value = self.regularizer(0.06)
            if value is not None:
                ends[f"{each}_regularizer"] = value
        if kind == "GroupNormalization":
            channels = int(x.shape[-1])
            return self.layer(kind, groups=self.one(1, channels, -1), **common, **ends)
        if kind == "LayerNormalization":
            axis = self.one(-1, -1, rank - 1, [rank - 2, rank - 1] if rank > 2 and None not in x.shape[1:] else -1)
            return self.layer(kind, axis=axis, **common, **ends)
        axis = -1 if self.chance(0.85) else 1
        return self.layer(kind, axis=axis, momentum=self.one(0.9, 0.99), **common, **ends, **self.frozen())

    def simple(self, x):
        """Layers of any rank."""
        rank = len(x.shape)
        kinds = ["Activation", "Activation", "ReLU", "LeakyReLU", "PReLU", "ELU", "Softmax", "Dropout", "Rescaling",
                 "Flatten", "Dense", "Dense", "Dense", "norm", "norm", "Reshape", "Permute", "ActivityRegularization",
                 "Masking", "GaussianNoise", "TimeDistributed", "EinsumDense"]
        if THREE:
            kinds += ["Identity", "Dense", "Dense"]
        kind = self.rng.choice(kinds)
        if kind == "norm":
            return self.normalization(x)
        if kind == "Activation":
            return self.layer(kind, self.rng.choice(ACTIVATIONS))
        if kind == "ReLU":
            return self.layer(kind, max_value=self.one(None, 0.7, 6.0), negative_slope=self.one(0.0, 0.1),
                              threshold=self.one(0.0, 0.2))
        if kind == "LeakyReLU":
            return self.layer(kind, 0.15)
        if kind == "PReLU":
            axes = [1] if rank > 2 and self.chance(0.5) else None
            if None in x.shape[1:]:
                axes = list(range(1, rank - 1)) or None
            return self.layer(kind, alpha_initializer=keras.initializers.Constant(0.2), shared_axes=axes)
        if kind == "ELU":
            return self.layer(kind, alpha=self.one(1.0, 0.4))
        if kind == "Softmax":
            return self.layer(kind, axis=self.one(-1, -1, 1, rank - 1))
        if kind == "Dropout":
            return self.layer(kind, 0.0)
        if kind == "GaussianNoise":
            return self.layer(kind, 0.0)
        if kind == "Rescaling":
            return self.layer(kind, 0.5, offset=self.one(0.0, 0.3))
        if kind == "Dense":
            return self.layer(kind, self.rng.randint(1, 4), activation=self.activation(), **self.weighted("kernel"))
        if kind == "EinsumDense" and rank in (2, 3):
            if rank == 2:
                return self.layer(kind, "ab,bc->ac", output_shape=3, bias_axes=self.one(None, "c"))
            equation, shape, axes = self.one(("abc,cd->abd", (None, 3), "d"), ("abc,cde->abde", (None, 2, 3), "de"),
                                             ("...x,xy->...y", 2, "y"))
            return self.layer(kind, equation, output_shape=shape, bias_axes=self.one(None, axes),
                              activation=self.activation())
        if kind == "Reshape" and None not in x.shape[1:]:
            size = int(np.prod(x.shape[1:]))
            divisor = self.rng.choice([d for d in range(1, size + 1) if size % d == 0])
            return self.layer(kind, self.one((divisor, size // divisor), (-1, divisor), (size,)))
        if kind == "Permute" and rank > 2:
            order = list(range(1, rank))
            self.rng.shuffle(order)
            return self.layer(kind, tuple(order))
        if kind == "ActivityRegularization":
            return self.layer(kind, l1=0.01, l2=0.02)
        if kind == "TimeDistributed" and rank > 2 and x.shape[1] is not None:
            inner = self.one(lambda: L.Dense(2, activation="tanh"), lambda: L.LayerNormalization(),
                             lambda: L.Dense(3, kernel_regularizer="l2"), lambda: L.BatchNormalization(),
                             lambda: L.Flatten())()
            return self.layer(kind, inner)
        return self.layer("Flatten") if kind in ("Flatten", "Reshape") else self.layer("Activation", "tanh")

    def merge(self, pool):
        """Layers of several tensors; None where none fit."""
        kind = self.one("Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract", "Concatenate", "Concatenate", "Dot",
                        "Attention", "AdditiveAttention", "MultiHeadAttention", "op")
        a = self.rng.choice(pool)
        alike = [x for x in pool if tuple(x.shape) == tuple(a.shape) and x is not a]
        rank = len(a.shape)
        if kind == "Concatenate":
            near = [x for x in pool if len(x.shape) == rank and tuple(x.shape[:-1]) == tuple(a.shape[:-1])]
            many = [a, self.rng.choice(near)] + ([self.rng.choice(near)] if self.chance(0.3) else [])
            if self.chance(0.2) and rank > 2 and alike:
                return self.layer(kind, axis=1)([a, self.rng.choice(alike)])
            return self.layer(kind, axis=self.one(-1, rank - 1))(many)
        if kind == "Dot":
            pairs = [x for x in pool if len(x.shape) == rank and x.shape[-1] == a.shape[-1] and rank in (2, 3)]
            if not pairs:
                return None
            return self.layer(kind, axes=self.one(-1, rank - 1), normalize=self.chance(0.4))([a, self.rng.choice(pairs)])
        if "Attention" in kind:
            if rank != 3:
                return None
            near = [x for x in pool if len(x.shape) == 3 and x.shape[-1] == a.shape[-1]]
            other = self.rng.choice(near)
            if kind == "MultiHeadAttention":
                layer = self.layer(kind, num_heads=self.one(1, 2), key_dim=self.one(2, 3))
                return layer(a, other, use_causal_mask=self.chance(0.2))
            layer = self.layer(kind, use_scale=self.chance(0.5))
            return layer([a, other], use_causal_mask=self.chance(0.2))
        if kind == "op":
            return self.operation(a, self.rng.choice(alike) if alike else a)
        if not alike:
            return None
        many = [a, self.rng.choice(alike)]
        if kind not in ("Subtract",) and self.chance(0.2):
            many.append(self.rng.choice(alike))
        return self.layer(kind)(many)

    def operation(self, a, b):
        """Functions between layers."""
        rank = len(a.shape)
        self.told.append("operation")
        if not THREE:
            return self.one(lambda: a + b, lambda: a * b, lambda: a - 0.5 * b, lambda: tf.reduce_mean(a, axis=-1),
                            lambda: tf.reduce_max(a, axis=1), lambda: tf.nn.relu(a), lambda: tf.concat([a, b], -1),
                            lambda: a[:, 0], lambda: tf.expand_dims(a, 1), lambda: a / (tf.abs(b) + 1.0),
                            lambda: tf.maximum(a, b), lambda: tf.nn.softmax(a))()
        ops = keras.ops
        return self.one(lambda: a + b, lambda: a * b, lambda: a - 0.5 * b, lambda: ops.mean(a, axis=-1),
                        lambda: ops.max(a, axis=1), lambda: ops.relu(a), lambda: ops.concatenate([a, b], -1),
                        lambda: a[:, 0], lambda: ops.expand_dims(a, 1), lambda: a / (ops.abs(b) + 1.0),
                        lambda: ops.maximum(a, b), lambda: ops.softmax(a), lambda: a[..., ::-1], lambda: a[:, -1:],
                        lambda: ops.sum(a, axis=1, keepdims=True), lambda: ops.where(a > b, a, b * 2.0),
                        lambda: ops.clip(a, -0.5, 0.5), lambda: ops.min(a, axis=-1, keepdims=True),
                        lambda: ops.std(a, axis=-1), lambda: ops.logsumexp(a, axis=-1), lambda: ops.square(a),
                        lambda: ops.sqrt(ops.abs(a) + 0.1), lambda: ops.transpose(a, (0, *reversed(range(1, rank)))),
                        lambda: ops.tanh(a) + ops.sigmoid(b), lambda: ops.stack([a, b], axis=1),
                        lambda: ops.matmul(a, ops.swapaxes(b, -1, -2)) if rank > 2 else a @ ops.transpose(b),
                        lambda: a[:, None], lambda: ops.norm(a, axis=-1) if rank > 1 else a,
                        lambda: ops.cumsum(a, axis=1), lambda: ops.flip(a, axis=1), lambda: ops.var(a, axis=1),
                        lambda: ops.roll(a, 1, axis=-1), lambda: ops.argmax(a, axis=-1), lambda: ops.mean(a))()

    def step(self, x):
        """One layer behind a tensor."""
        rank = len(x.shape)
        if rank < 2:
            return x * 1.0
        if self.shared and self.chance(0.15):
            shape, layer = self.rng.choice(self.shared)
            if shape == tuple(x.shape):
                self.told.append("shared")
                return layer(x)
        layer = None
        known = None not in x.shape[1:]
        if rank == 3:
            kind = self.one("any", "any", "loop", "loop", "conv", "pool", "special")
            if kind == "loop":
                layer = self.loop(x)
            elif kind == "conv" and known:
                layer = self.conv(3, x)
            elif kind == "pool" and known:
                layer = self.pool(3, x)
            elif kind == "special" and known:
                length = int(x.shape[1])
                layer = self.one(lambda: self.layer("ZeroPadding1D", self.one(1, (0, 2))),
                                 lambda: self.layer("Cropping1D", self.one(0, (1, 0)) if length > 1 else 0),
                                 lambda: self.layer("UpSampling1D", 2), lambda: self.layer("SpatialDropout1D", 0.0))()
        elif rank == 4 and known:
            kind = self.one("any", "conv", "conv", "pool", "special")
            if kind == "conv":
                layer = self.conv(4, x)
            elif kind == "pool":
                layer = self.pool(4, x)
            elif kind == "special":
                layer = self.one(
                    lambda: self.layer("ZeroPadding2D", self.one(1, (0, 1), ((1, 0), (0, 2)))),
                    lambda: self.layer("Cropping2D", ((0, 1), (0, 0)) if x.shape[1] > 1 else 0),
                    lambda: self.layer("UpSampling2D", self.one(2, (1, 2)), interpolation=self.one("nearest", "bilinear")),
                    lambda: self.layer("Resizing", 5, 4), lambda: self.layer("SpatialDropout2D", 0.0),
                    lambda: self.layer("CenterCrop", 2, 2))()
        elif rank == 5 and known and self.chance(0.6):
            layer = self.one(lambda: self.conv(5, x), lambda: self.pool(5, x), lambda: self.layer("ZeroPadding3D", 1),
                             lambda: self.layer("UpSampling3D", 2), lambda: self.layer("Cropping3D", 0))()
        elif rank == 2 and self.chance(0.1):
            layer = self.layer("RepeatVector", self.rng.randint(1, 3))
        if layer is None:
            layer = self.simple(x)
        self.shared.append((tuple(x.shape), layer))
        return layer(x)

    def input(self):
        """An input with what feeds it, and the tensor with which the model goes on."""
        kind = self.one("vector", "vector", "sequence", "sequence", "image", "image", "ids", "ids", "volume", "category")
        if kind in ("ids", "category"):
            length, size = self.rng.randint(3, 5), self.rng.randint(4, 8)
            ids = self.numbers.integers(1, size, (ROWS, length))
            for row in range(ROWS):
                ids[row, self.numbers.integers(1, length + 1):] = 0
            x = keras.Input((length if self.chance(0.7) else None,), dtype="int32", name=self.name("ids"))
            if kind == "category":
                mode = self.one("multi_hot", "count")
                return x, ids.astype("int32"), self.layer("CategoryEncoding", num_tokens=size, output_mode=mode)(x)
            layer = self.layer("Embedding", size, self.rng.randint(2, 4), mask_zero=self.chance(0.6), **self.frozen())
            return x, ids.astype("int32"), layer(x)
        shape = {"vector": (self.rng.randint(1, 5),), "sequence": (self.rng.randint(2, 5), self.rng.randint(1, 4)),
                 "image": (self.rng.randint(3, 6), self.rng.randint(3, 6), self.rng.randint(1, 3)),
                 "volume": (3, 4, 3, 2)}[kind]
        values = self.numbers.normal(size=(ROWS, *shape)).astype("float32")
        if self.chance(0.2):
            # Equal numbers, of which several are the largest.
            values = np.round(values)
        return keras.Input(shape, name=self.name("x")), values, None

    def nested(self, x):
        """A model within the model, perhaps called twice, perhaps frozen."""
        inner = keras.Input(x.shape[1:], name=self.name("inner"))
        out = inner
        for _ in range(self.rng.randint(1, 3)):
            out = self.step(out)
        self.told.append("nested")
        model = keras.Model(inner, out, name=self.name("model"))
        if self.chance(0.25):
            model.trainable = False
            self.told.append("frozen model")
        result = model(x)
        if self.chance(0.3) and tuple(result.shape) == tuple(x.shape):
            self.told.append("twice")
            result = model(result)
        return result

    def draw(self):
        inputs, values, pool = [], [], []
        for _ in range(self.one(1, 1, 1, 2, 3)):
            x, value, start = self.input()
            inputs.append(x)
            values.append(value)
            pool.append(x if start is None else start)
        for _ in range(self.one(1, 1, 2, 2, 3, 4, 5, 6, 8)):
            try:
                if self.chance(0.25) or len(pool) > 4:
                    made = self.merge(pool)
                elif self.chance(0.08):
                    made = self.nested(self.rng.choice(pool))
                else:
                    made = self.step(pool[-1] if self.chance(0.7) else self.rng.choice(pool))
            except (ValueError, TypeError, IndexError, ZeroDivisionError, tf.errors.InvalidArgumentError):
                continue
            if made is not None:
                pool.extend(made if isinstance(made, list) else [made])
        outputs = [pool[-1]]
        for _ in range(self.one(0, 0, 0, 1, 1, 2)):
            outputs.append(self.rng.choice(pool))
        if self.chance(0.5) and len(outputs[0].shape) == 2:
            outputs[0] = self.layer("Dense", self.rng.randint(1, 3), activation=self.one(None, "sigmoid", "softmax"))(outputs[0])
        outputs = outputs if len(outputs) > 1 or self.chance(0.1) else outputs[0]
        return keras.Model(inputs, outputs, name=self.name("whole")), values


def numbered(model, numbers):
    """Weights that differ: those at their initial values hide what is mixed up."""
    for layer in model._flatten_layers() if hasattr(model, "_flatten_layers") else model.submodules:
        if isinstance(layer, (L.BatchNormalization,)):
            layer.set_weights([np.abs(w + numbers.uniform(0.1, 0.4, w.shape)).astype("float32") for w in layer.get_weights()])
    for weight in model.weights:
        if "bias" in weight.name or "beta" in weight.name:
            weight.assign(np.asarray(weight) + numbers.uniform(-0.3, 0.3, weight.shape))


def train(model, values, targets):
    optimizer = keras.optimizers.SGD(0.05)
    losses = {"loss": "mse"} if len(targets) == 1 else {"loss": ["mse"] * len(targets)}
    model.compile(optimizer, **losses, run_eagerly=True, **({"jit_compile": False} if THREE else {}))
    x = values if len(values) > 1 else values[0]
    y = targets if len(targets) > 1 else targets[0]
    return model.fit(x, y, batch_size=BATCH, epochs=1, shuffle=False, verbose=0).history["loss"]


def computed(model, values):
    given = [tf.constant(each) for each in values]
    found = model(given if len(given) > 1 else given[0], training=False)
    return [np.asarray(each) for each in tf.nest.flatten(found)]


def case(seed):
    keras.utils.set_random_seed(seed)
    keras.backend.clear_session()
    drawer = Drawer(seed)
    model, values = drawer.draw()
    numbered(model, drawer.numbers)
    file = os.path.join(FOLDER, f"k{VERSION}_{seed}{drawer.one('.keras', '.keras', '.h5')}")
    model.save(file)
    before = computed(model, values)
    if not all(np.all(np.isfinite(each)) for each in before):
        raise ValueError("not finite")
    targets = [drawer.numbers.uniform(0, 1, each.shape).astype("float32") for each in before]
    told = {"seed": seed, "keras": VERSION, "file": file, "layers": drawer.told, "inputs": [packed(v) for v in values],
            "names": [x.name for x in model.inputs], "targets": [packed(t) for t in targets],
            "outputs": [packed(b) for b in before]}
    # What Keras itself does not read is no case.
    again = keras.models.load_model(file, compile=False)
    try:
        if not again.trainable_weights:
            raise ValueError("nothing to train")
        told["losses"] = train(again, values, targets)
        after = computed(again, values)
        if not all(np.all(np.isfinite(each)) for each in after):
            raise ValueError("not finite after training")
        told["after"] = [packed(each) for each in after]
    except Exception as error:
        told["untrained"] = f"{type(error).__name__}: {error}"[:300]
    return told


for number in range(SEED, SEED + COUNT):
    try:
        print(json.dumps(case(number)), flush=True)
    except Exception as error:
        print(json.dumps({"seed": number, "keras": VERSION, "skipped": f"{type(error).__name__}: {error}"[:300]}), flush=True)
