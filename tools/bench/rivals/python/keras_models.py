"""The models in Keras on TensorFlow, trained by `fit`."""

import os
import sys
import time

import numpy as np
from model_files import ModelFiles
from protocol import Lacks, serve

PENALTY = 1e-3


def build(tf, keras, keras_rs, files):
    layers, spec = keras.layers, files.spec
    inputs = [keras.Input((each["hot"],), dtype="int32") for each in spec["inputs"]]
    pools, combiner = spec.get("hasPoolingLayer"), "mean" if files.kind in ("text", "next_item") else "sum"
    tables = [
        layers.Embedding(t["rows"], t["dim"])
        if pools
        else keras_rs.layers.EmbedReduce(t["rows"], t["dim"], combiner=combiner)
        for t in files.tables
    ]
    for each in tables:
        each.build()

    class TouchedRows(layers.Layer):
        """Adds the penalty on the rows that a batch touches."""

        def __init__(self, table):
            super().__init__()
            self.table = table

        def call(self, ids):
            rows, _ = tf.unique(tf.reshape(ids, [-1]))
            self.add_loss(PENALTY * tf.reduce_sum(tf.square(tf.gather(self.table.embeddings, rows))))
            return ids

    def chain(x, sizes, last):
        found = []
        for i, size in enumerate(sizes):
            found.append(layers.Dense(size, "relu" if i + 1 < len(sizes) else last))
            x = found[-1](x)
        return x, found

    dense = []
    if files.kind == "ragged":
        raise Lacks("no ragged ids")
    if files.kind == "wide_and_deep":
        deep, wide = tables[0::2], tables[1::2]
        vectors = [layers.Dropout(spec["dropout"])(t(TouchedRows(t)(x))) for t, x in zip(deep, inputs)]
        logit, dense = chain(layers.Concatenate()(vectors), [32, 1], None)
        output = layers.Activation("sigmoid")(layers.Add()([t(x) for t, x in zip(wide, inputs)] + [logit]))
    elif files.kind == "dlrm":
        numbers = keras.Input((13,))
        x, bottom = chain(numbers, [512, 256, files.tables[0]["dim"]], "relu")
        products = keras_rs.layers.DotInteraction()([x] + [t(i) for t, i in zip(tables, inputs)])
        output, top = chain(layers.Concatenate()([x, products]), [512, 256, 1], "sigmoid")
        dense, inputs = bottom + top, [numbers] + inputs
    elif files.kind in ("text", "next_item"):
        x = tables[0](inputs[0])
        if pools:
            x = layers.GlobalAveragePooling1D()(x)
        output, dense = chain(x, [64, 1], "sigmoid") if files.kind == "text" else chain(x, [spec["classes"]], "softmax")
    elif files.kind == "matrix_factorization":
        user, item, user_bias, item_bias = tables
        dot = layers.Dot(axes=1)([user(inputs[0]), item(inputs[1])])
        output = layers.Activation("sigmoid")(layers.Add()([dot, user_bias(inputs[0]), item_bias(inputs[1])]))
    else:
        users, items = tables
        better = layers.Subtract()([items(inputs[1]), items(inputs[2])])
        output = layers.Activation("sigmoid")(layers.Dot(axes=1)([users(inputs[0]), better]))
    return keras.Model(inputs, output), [t.embeddings for t in tables] + [w for d in dense for w in d.weights]


class KerasModels:
    def __init__(self, threads):
        os.environ.update({"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "KERAS_BACKEND": "tensorflow"})
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        import keras
        import keras_rs

        self.tf, self.keras, self.keras_rs = tf, keras, keras_rs
        self.version = f"Keras {keras.__version__}, Keras RS {keras_rs.__version__}, TensorFlow {tf.__version__}"

    def open(self, folder):
        self.keras.utils.set_random_seed(0)
        files = self.files = ModelFiles(folder)
        spec = files.spec
        self.model, weights = build(self.tf, self.keras, self.keras_rs, files)
        for variable, values in zip(weights, files.weights([tuple(w.shape) for w in weights])):
            variable.assign(values)
        optimizers, rate = self.keras.optimizers, spec["learningRate"]
        kind = {"sgd": optimizers.SGD, "adam": optimizers.Adam, "adagrad": optimizers.Adagrad}[spec["optimizer"]]
        optimizer = kind(rate) if spec["optimizer"] == "sgd" else kind(rate, epsilon=spec["epsilon"])
        several = "sparse_categorical_crossentropy" if spec.get("isSparse") else "categorical_crossentropy"
        self.model.compile(optimizer, several if "classes" in spec else "binary_crossentropy")
        self.x = ([files.numbers] if files.kind == "dlrm" else []) + files.ids
        self.y = files.labels
        if "classes" in spec and not spec.get("isSparse"):
            self.y = self.keras.utils.to_categorical(self.y[:, 0], spec["classes"])

    def losses(self):
        batch = self.files.batch
        return {
            "losses": [
                self.loss_of([x[at : at + batch] for x in self.x], self.y[at : at + batch])
                for at in range(0, len(self.y), batch)
            ]
        }

    def loss_of(self, x, y):
        self.model.reset_metrics()  # train_on_batch tells the mean since then
        return float(np.asarray(self.model.train_on_batch(x, y)).reshape(-1)[0])

    def run(self, steps):
        start = time.perf_counter()
        self.model.fit(self.x, self.y, batch_size=self.files.batch, epochs=steps, verbose=0)
        return {"ms": 1000 * (time.perf_counter() - start) / steps / (len(self.y) // self.files.batch)}

    def close(self):
        self.model = self.x = self.y = self.files = None
        self.keras.backend.clear_session()


serve(lambda: KerasModels(int(sys.argv[1])))
