"""EmbedReduce of Keras RS on TensorFlow, with the optimizers of Keras."""

import os
import sys

import numpy as np
from bag_files import Bags, table_values
from bag_peer import BagPeer
from protocol import Lacks, serve


class KerasBags(BagPeer):
    def __init__(self, threads):
        os.environ.update({"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "KERAS_BACKEND": "tensorflow"})
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        import keras
        import keras_rs

        self.tf, self.keras, self.layer_of = tf, keras, keras_rs.layers.EmbedReduce
        self.version = f"Keras RS {keras_rs.__version__}, Keras {keras.__version__}, TensorFlow {tf.__version__}"

    def open(self, rows, dim, table, optimizer, learningRate):
        optimizers = self.keras.optimizers
        make = {
            None: lambda: None,
            "sgd": lambda: optimizers.SGD(learningRate),
            "adagrad": lambda: optimizers.Adagrad(learningRate, initial_accumulator_value=0.1, epsilon=1e-10),
            "adam": lambda: optimizers.Adam(learningRate, epsilon=1e-8),
            "ftrl": lambda: optimizers.Ftrl(learningRate),
        }
        if optimizer not in make:
            raise Lacks(f"no {optimizer}")
        self.layer = self.layer_of(rows, dim, combiner="sum")
        self.layer.build()
        self.layer.embeddings.assign(table_values(table, rows, dim))
        self.optimizer = make[optimizer]()
        if self.optimizer is not None:
            self.optimizer.build([self.layer.embeddings])
        self.dim = dim

    def bags(self, folder, batch, combiner):
        tf = self.tf
        files = Bags(folder, batch, self.dim)
        hot = files.hotness()
        self.layer.combiner = combiner

        def tensor(values, splits):
            if hot is not None:
                return tf.constant(values.reshape(batch, hot))
            return tf.RaggedTensor.from_row_splits(values, splits.astype(np.int64), validate=False)

        self.ids = [tensor(i, s) for i, s in zip(files.ids, files.splits)]
        self.weights = None if files.weights is None else [tensor(w, s) for w, s in zip(files.weights, files.splits)]
        self.folder, self.n = folder, 0
        gradient, layer, optimizer = tf.constant(files.gradient), self.layer, self.optimizer

        @tf.function(reduce_retracing=True)
        def pooled(*inputs):
            return layer(*inputs)

        @tf.function(reduce_retracing=True)
        def step(*inputs):
            with tf.GradientTape() as tape:
                rows = layer(*inputs)
            variable = layer.embeddings
            optimizer.apply(tape.gradient(rows, [variable.value], output_gradients=gradient), [variable])

        self.pooled, self.stepped = pooled, step

    def inputs(self, n):
        return (self.ids[n],) if self.weights is None else (self.ids[n], self.weights[n])

    def look_up(self, n):
        self.pooled(*self.inputs(n))

    def train(self, n):
        self.stepped(*self.inputs(n))

    def pooled_values(self):
        return self.pooled(*self.inputs(0)).numpy()

    def table_out(self):
        return np.array(self.layer.embeddings)

    def close(self):
        self.layer = self.optimizer = self.ids = self.weights = self.pooled = self.stepped = None


serve(lambda: KerasBags(int(sys.argv[1])))
