"""Whole models of Keras."""
import tensorflow as tf

from .cases import case, f, i

K = tf.keras
L = K.layers


def model(build, *shapes):
    """A model with weights of this file's numbers."""
    def prepare(module):
        inputs = [K.Input(shape, dtype=dtype) for shape, dtype in shapes]
        module.model = K.Model(inputs, build(*inputs))
        weights = [f(*weight.shape) * 0.3 for weight in module.model.get_weights()]
        names = [weight.path for weight in module.model.weights]
        module.model.set_weights([abs(w) if name.endswith("variance") else w for w, name in zip(weights, names)])

    return prepare


def run(module, *given):
    return module.model(list(given) if len(given) > 1 else given[0], training=False)


IDS = ((5,), "int32")
embed = lambda x, **options: L.Embedding(12, 4, **options)(x)
BUILDS = {
    "embedding": lambda x: embed(x), "masked LSTM": lambda x: L.LSTM(3)(embed(x, mask_zero=True)), "LSTM": lambda x: L.LSTM(3, return_sequences=True)(embed(x)), "masked LSTM of sequences": lambda x: L.LSTM(3, return_sequences=True)(embed(x, mask_zero=True)),
    "masked GRU": lambda x: L.GRU(3)(embed(x, mask_zero=True)), "GRU before reset": lambda x: L.GRU(3, reset_after=False)(embed(x)), "SimpleRNN": lambda x: L.SimpleRNN(3)(embed(x, mask_zero=True)), "BiLSTM": lambda x: L.Bidirectional(L.LSTM(3))(embed(x)), "masked BiLSTM": lambda x: L.Bidirectional(L.LSTM(3))(embed(x, mask_zero=True)),
    "masked BiLSTM of sequences": lambda x: L.Bidirectional(L.LSTM(3, return_sequences=True))(embed(x, mask_zero=True)), "masked BiGRU, summed": lambda x: L.Bidirectional(L.GRU(3), merge_mode="sum")(embed(x, mask_zero=True)), "LSTM with dense": lambda x: L.Dense(2, "softmax")(L.LSTM(3)(embed(x, mask_zero=True))), "unrolled LSTM": lambda x: L.LSTM(3, unroll=True)(embed(x, mask_zero=True)), "LSTM backwards": lambda x: L.LSTM(3, go_backwards=True)(embed(x, mask_zero=True)),
    "two LSTMs": lambda x: L.LSTM(2)(L.LSTM(3, return_sequences=True)(embed(x, mask_zero=True))), "LSTM with states": lambda x: L.LSTM(3, return_state=True)(embed(x, mask_zero=True)), "pooled": lambda x: L.GlobalAveragePooling1D()(embed(x, mask_zero=True)), "largest": lambda x: L.GlobalMaxPooling1D()(embed(x)), "attention": lambda x: L.MultiHeadAttention(2, 2)(embed(x, mask_zero=True), embed(x, mask_zero=True)), "dot attention": lambda x: L.Attention()([embed(x), embed(x)]),
    "text CNN": lambda x: L.Dense(1, "sigmoid")(L.GlobalMaxPooling1D()(L.Conv1D(3, 2, activation="relu")(embed(x)))), "normalized": lambda x: L.LayerNormalization()(embed(x)), "batch normalized": lambda x: L.Dense(2, "relu")(L.BatchNormalization()(L.Flatten()(embed(x)))), "time distributed": lambda x: L.TimeDistributed(L.Dense(2, "tanh"))(embed(x)),
}
for name, build in BUILDS.items():
    case(f"{name}", run, i(0, 12, 3, 5), prepare=model(build, IDS))
for activation in ("relu", "elu", "selu", "gelu", "swish", "sigmoid", "tanh", "softmax", "hard_sigmoid", "relu6", "leaky_relu", "exponential", "softsign", "mish"):
    case(f"dense, {activation}", run, f(3, 4), prepare=model(lambda x: L.Dense(3, activation)(x), ((4,), "float32")))
case("wide and deep", run, i(0, 12, 3, 5), f(3, 4), prepare=model(lambda x, y: L.Dense(1, "sigmoid")(L.Concatenate()([L.Flatten()(embed(x)), L.Dense(3, "relu")(y)])), IDS, ((4,), "float32")))
case("two towers", run, i(0, 12, 3, 5), i(0, 12, 3, 5), prepare=model(lambda x, y: L.Dot(1)([L.GlobalAveragePooling1D()(embed(x, mask_zero=True)), L.LSTM(4)(embed(y, mask_zero=True))]), IDS, IDS))
case("PReLU", run, f(3, 4), prepare=model(lambda x: L.PReLU()(L.Dense(3)(x)), ((4,), "float32")))
case("image", run, f(2, 6, 6, 2), prepare=model(lambda x: L.Flatten()(L.MaxPooling2D()(L.BatchNormalization()(L.Conv2D(3, 3, activation="relu")(x)))), ((6, 6, 2), "float32")))
case("separable", run, f(2, 6, 6, 2), prepare=model(lambda x: L.SeparableConv2D(3, 3, activation="relu")(x), ((6, 6, 2), "float32")))
case("ConvLSTM", run, f(1, 3, 4, 4, 2), prepare=model(lambda x: L.ConvLSTM1D(2, 2)(L.Reshape((3, 4, 8))(x)), ((3, 4, 4, 2), "float32")))
case("masked features", run, f(3, 4, 2), prepare=model(lambda x: L.LSTM(2)(L.Masking(0.0)(x)), ((4, 2), "float32")))
