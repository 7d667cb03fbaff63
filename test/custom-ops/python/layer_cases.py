"""The layer and the optimizers of the wheel, by themselves. Prints a line of JSON: which tests ran and which failed.

Usage: python3 layer_cases.py
"""

import json
import os
import tempfile
import unittest
import warnings

import keras
import numpy as np
import tensorflow as tf
from tfjs_embeddings_ops import EmbeddingBag, op_library_path, train
from tfjs_embeddings_ops.in_place import in_place
from tfjs_embeddings_ops.library import ops

TABLE = np.arange(12, dtype=np.float32).reshape(6, 2) / 8


def layer_of(table=TABLE, **options):
    """A layer with this table."""
    layer = EmbeddingBag(*table.shape, **options)
    layer.build()
    layer.set_weights([table])
    return layer


def address_of(variable):
    """Where the values of a variable lie."""
    return np.from_dlpack(variable.read_value()).__array_interface__["data"][0]


class Layer(unittest.TestCase):
    """What the layer gives."""

    def test_pools_ids_of_every_form(self):
        rows = [[1, 3], [], [2, 2, 5]]
        dense = tf.constant([[1, 3, -1], [-1, -1, -1], [2, 2, 5]])
        ragged = tf.ragged.constant(rows, dtype=tf.int64)
        indices = [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]]
        sparse = tf.SparseTensor(indices, [1, 3, 2, 2, 5], [3, 3])
        divisors = {"sum": lambda n: 1, "mean": lambda n: n, "sqrtn": np.sqrt}
        for combiner, divisor in divisors.items():
            layer = layer_of(combiner=combiner)
            want = [TABLE[row].sum(0) / divisor(max(len(row), 1)) for row in rows]
            for ids in (dense, ragged, sparse, tf.cast(dense, tf.float32), dense.numpy()):
                np.testing.assert_allclose(layer(ids), want, rtol=1e-6)
        largest = layer_of(combiner="max")
        for ids in (dense, ragged, sparse):
            np.testing.assert_array_equal(largest(ids), [TABLE[3], [0, 0], TABLE[5]])

    def test_weighs_ids(self):
        ids = tf.constant([[1, 3, -1], [2, -1, 5]])
        weights = tf.constant([[0.5, 2, 9], [1, 9, 3]], tf.float32)
        want = [(TABLE[1] / 2 + 2 * TABLE[3]) / 2.5, (TABLE[2] + 3 * TABLE[5]) / 4]
        layer = layer_of()
        np.testing.assert_allclose(layer(ids, weights=weights), want, rtol=1e-6)
        lengths = [2, 2]
        ragged = tf.RaggedTensor.from_row_lengths([1, 3, 2, 5], lengths)
        ragged_weights = tf.RaggedTensor.from_row_lengths([0.5, 2.0, 1.0, 3.0], lengths)
        np.testing.assert_allclose(layer(ragged, weights=ragged_weights), want, rtol=1e-6)
        places = [[0, 0], [0, 1], [1, 0], [1, 2]]
        sparse = [tf.SparseTensor(places, values, [2, 3]) for values in ([1, 3, 2, 5], [0.5, 2.0, 1.0, 3.0])]
        np.testing.assert_allclose(layer(sparse[0], weights=sparse[1]), want, rtol=1e-6)

    def test_keeps_leading_axes(self):
        ids = np.random.default_rng(1).integers(0, 6, (2, 3, 4))
        pooled = layer_of()(ids)
        self.assertEqual(pooled.shape, (2, 3, 2))
        np.testing.assert_allclose(pooled, TABLE[ids].mean(2), rtol=1e-6)
        self.assertEqual(layer_of()(keras.Input((3, 4), dtype="int32")).shape, (None, 3, 2))

    def test_leaves_out_zeros_and_what_is_out_of_range(self):
        ids = tf.constant([[0, 2, 7]])
        both = layer_of(mask_zero=True, out_of_range="zero")
        np.testing.assert_allclose(both(ids), [TABLE[2] / 2], rtol=1e-6)
        np.testing.assert_allclose(layer_of(out_of_range="zero")(ids), [(TABLE[0] + TABLE[2]) / 3], rtol=1e-6)
        far = tf.constant([[2**40, 2]], tf.int64)
        np.testing.assert_allclose(layer_of(out_of_range="zero")(far), [TABLE[2] / 2], rtol=1e-6)

    def test_has_the_gradients_of_stock_ops(self):
        random = np.random.default_rng(3)
        for combiner, max_norm in [("sum", None), ("mean", None), ("sqrtn", None), ("mean", 0.7), ("max", None)]:
            layer = layer_of(combiner=combiner, max_norm=max_norm)
            ids = tf.constant(random.integers(0, 6, (4, 3)))
            weights = None if combiner == "max" else tf.constant(random.uniform(0.5, 2, (4, 3)), tf.float32)
            factors = tf.constant(random.normal(size=(4, 2)), tf.float32)
            table = tf.Variable(TABLE)
            with tf.GradientTape(persistent=True) as tape:
                if weights is not None:
                    tape.watch(weights)
                own = tf.reduce_sum(layer(ids, weights=weights) * factors)
                rows = tf.gather(table, ids)
                if max_norm is not None:
                    rows = tf.clip_by_norm(rows, max_norm, axes=[2])
                if combiner == "max":
                    stock = tf.reduce_sum(tf.reduce_max(rows, 1) * factors)
                else:
                    total = tf.reduce_sum(rows * weights[:, :, None], 1)
                    power = {"sum": 0, "mean": 1, "sqrtn": 2}[combiner]
                    divisor = tf.reduce_sum(weights**power, 1, keepdims=True) ** (1 / max(power, 1))
                    stock = tf.reduce_sum((total / divisor if power else total) * factors)
            slices = tape.gradient(own, layer.trainable_variables[0])
            self.assertIsInstance(slices, tf.IndexedSlices)
            self.assertEqual(sorted(set(ids.numpy().ravel())), slices.indices.numpy().tolist())
            if combiner != "max":  # TensorFlow shares the gradient among equal values
                want = tf.convert_to_tensor(tape.gradient(stock, table))
                np.testing.assert_allclose(tf.convert_to_tensor(slices), want, rtol=2e-5, atol=1e-6)
                of_weights = [tape.gradient(each, weights) for each in (own, stock)]
                np.testing.assert_allclose(*of_weights, rtol=2e-4, atol=2e-6)

    def test_gives_the_gradient_of_max_to_the_first(self):
        layer = layer_of(np.ones((3, 2), np.float32), combiner="max")
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(tf.constant([[2, 1, -1], [-1, -1, -1]])))
        slices = tape.gradient(loss, layer.trainable_variables[0])
        np.testing.assert_array_equal(tf.convert_to_tensor(slices), [[0, 0], [0, 0], [1, 1]])

    def test_comes_back_from_its_config(self):
        layer = EmbeddingBag(6, 2, combiner="sqrtn", mask_zero=True, max_norm=2, out_of_range="zero", name="items")
        again = EmbeddingBag.from_config(json.loads(json.dumps(layer.get_config())))
        self.assertEqual(again.get_config(), layer.get_config())
        self.assertEqual(again.name, "items")

    def test_names_what_it_refuses(self):
        layer = layer_of()
        ids = np.array([[1, 2]])
        cases = [
            (TypeError, "input_dim: expected a whole number", lambda: EmbeddingBag(2.5, 2)),
            (ValueError, "output_dim: expected a whole number from 1", lambda: EmbeddingBag(2, 0)),
            (ValueError, "combiner: expected one of 'sum', .*received 'min'", lambda: EmbeddingBag(2, 2, "min")),
            (TypeError, "combiner: expected one of", lambda: EmbeddingBag(2, 2, 3)),
            (ValueError, "max_norm: expected a finite number > 0.*received -1", lambda: layer_of(max_norm=-1)),
            (TypeError, "mask_zero: expected True or False, received 1", lambda: layer_of(mask_zero=1)),
            (ValueError, "out_of_range: expected one of", lambda: layer_of(out_of_range="clip")),
            (ValueError, "dtype: expected a policy with float32", lambda: EmbeddingBag(2, 2, dtype="float16")),
            (ValueError, r"ids: expected ids in \[0, 6\), received 9 at position 1", lambda: layer(ids + [[0, 7]])),
            (ValueError, r"ids: expected ids in \[0, 6\), received -1", lambda: layer(tf.ragged.constant([[1, -1]]))),
            (ValueError, "received -1", lambda: layer_of(mask_zero=True)(tf.ragged.constant([[0, -1]]))),
            (ValueError, "ids: expected dense ids of rank 2", lambda: layer(np.array([1, 2]))),
            (TypeError, "ids: expected int32 or int64 ids.*float64", lambda: layer(ids * 1.0)),
            (ValueError, "ids: expected whole numbers.*1.5", lambda: layer(np.array([[1.5]], np.float32))),
            (ValueError, "weights: expected one per id", lambda: layer(ids, weights=np.ones((1, 3), np.float32))),
            (TypeError, "weights: expected float32", lambda: layer(ids, weights=np.ones((1, 2)))),
            (ValueError, "weights: expected no NaN", lambda: layer(ids, weights=np.array([[1, np.nan]], np.float32))),
            (
                TypeError,
                "weights: .*form of the ids",
                lambda: layer(tf.ragged.constant([[1]]), weights=np.ones((1, 1))),
            ),
            (ValueError, "weights: expected None", lambda: layer_of(combiner="max")(ids, weights=np.ones((1, 2)))),
        ]
        for kind, text, call in cases:
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()
        ragged = [
            tf.ragged.constant(rows, dtype=dtype) for rows, dtype in (([[1], [2]], "int32"), ([[], [1, 2]], "float32"))
        ]
        with self.assertRaisesRegex(ValueError, "weights: expected the row splits of the ids"):
            layer(ragged[0], weights=ragged[1])

    def test_ends_fit_where_an_id_is_out_of_range(self):
        model = keras.Sequential([keras.Input((2,), dtype="int32"), layer_of(), keras.layers.Dense(1)])
        model.compile(optimizer=train.sgd(learning_rate=0.1), loss="mse")
        bad = np.array([[1, 2], [3, 6]], np.int32)
        for call in (lambda: model.fit(bad, np.zeros((2, 1)), verbose=0), lambda: model.predict(bad, verbose=0)):
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, r"ids: expected ids in \[0, 6\)"):
                call()
        np.testing.assert_array_equal(model.layers[0].get_weights()[0], TABLE)

    def test_refuses_xla(self):
        model = keras.Sequential([keras.Input((2,), dtype="int32"), layer_of()])
        model.compile(optimizer="sgd", loss="mse")
        self.assertFalse(model.jit_compile)
        layer = layer_of()
        with self.assertRaisesRegex(RuntimeError, "jit_compile: expected False, as XLA has no kernels"):
            tf.function(layer, jit_compile=True)(tf.constant([[1, 2]]))


class Optimizers(unittest.TestCase):
    """What the optimizers do beside their numbers, which another program compares."""

    def trained(self, run_eagerly, optimizer, layer=None, epochs=2):
        """A model that was fitted, and its layer."""
        layer = layer or layer_of(name="items")
        dense = keras.layers.Dense(1, kernel_initializer="ones", name="scores")
        model = keras.Sequential([keras.Input((2,), dtype="int32"), layer, dense])
        model.compile(optimizer=optimizer, loss="mse", run_eagerly=run_eagerly)
        ids = np.array([[1, 2], [4, -1], [1, 5], [2, 2]], np.int32)
        targets = np.arange(4, dtype=np.float32)[:, None]
        model.fit(ids, targets, batch_size=2, epochs=epochs, shuffle=False, verbose=0)
        return model, layer

    def test_fits_alike_in_functions_and_eagerly(self):
        for name in train.__all__:
            make = getattr(train, name)
            weights = [self.trained(eager, make(learning_rate=0.05))[0].get_weights() for eager in (False, True)]
            for a, b in zip(*weights):
                np.testing.assert_array_equal(a, b, name)
            changed = np.abs(weights[0][0] - TABLE).max(1) > 0
            self.assertEqual(changed.tolist(), [False, True, True, False, True, True], name)

    def test_steps_several_times_in_one_call(self):
        plain, _ = self.trained(False, train.adam(learning_rate=0.05), epochs=3)
        layer = layer_of(name="items")
        dense = keras.layers.Dense(1, kernel_initializer="ones")
        model = keras.Sequential([keras.Input((2,), dtype="int32"), layer, dense])
        model.compile(optimizer=train.adam(learning_rate=0.05), loss="mse", steps_per_execution=2)
        ids = np.array([[1, 2], [4, -1], [1, 5], [2, 2]], np.int32)
        model.fit(ids, np.arange(4, dtype=np.float32)[:, None], batch_size=2, epochs=3, shuffle=False, verbose=0)
        for a, b in zip(plain.get_weights(), model.get_weights()):
            np.testing.assert_array_equal(a, b)

    def test_trains_as_keras_does(self):
        pairs = [
            (train.adagrad(learning_rate=0.1), keras.optimizers.Adagrad(0.1)),
            (train.sgd(learning_rate=0.1, momentum=0.9, lazy=False), keras.optimizers.SGD(0.1, 0.9)),
            (train.adam_w(learning_rate=0.01, lazy=False), keras.optimizers.AdamW(0.01)),
            (train.rmsprop(learning_rate=0.01, lazy=False), keras.optimizers.RMSprop(0.01)),
        ]
        for own, stock in pairs:
            models = [self.trained(False, optimizer, epochs=5)[0] for optimizer in (own, stock)]
            for a, b in zip(*(model.get_weights() for model in models)):
                np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6, err_msg=own.name)

    def test_leaves_alone_what_others_hold(self):
        for traced in (False, True):
            given = TABLE.copy()
            table = tf.Variable(given)
            other = tf.Variable(table.read_value())
            held = table.read_value()
            add = lambda buffers: ops.embedding_dense_apply_sgd(
                variables=buffers, gradients=[tf.ones([6, 2])], hyper=tf.constant([1.0] + [0.0] * 7)
            )
            step = lambda: in_place([table], [], add)
            (tf.function(step) if traced else step)()
            np.testing.assert_array_equal(table, TABLE - 1)
            for untouched in (given, other.numpy(), held.numpy()):
                np.testing.assert_array_equal(untouched, TABLE)

    def test_is_done_before_the_variable_is_read_again(self):
        table = tf.Variable(TABLE)

        def gradient():
            return np.ones_like(TABLE)

        @tf.function
        def step():
            # Python takes long enough for reads that do not wait.
            late = tf.ensure_shape(tf.numpy_function(gradient, [], tf.float32), TABLE.shape)
            hyper = tf.constant([1.0] + [0.0] * 7)
            in_place(
                [table],
                [],
                lambda buffers: ops.embedding_dense_apply_sgd(variables=buffers, gradients=[late], hyper=hyper),
            )
            return table.read_value() * 2

        for taken in range(1, 4):
            np.testing.assert_array_equal(step(), 2 * (TABLE - taken))

    def test_steps_tables_where_they_lie(self):
        for eager in (False, True):
            model, layer = self.trained(eager, train.adagrad_momentum(learning_rate=0.1))
            state = [layer.embeddings, *model.optimizer.slots_of(layer.embeddings).values()]
            before = [address_of(variable.value) for variable in state]
            values = layer.get_weights()[0]
            model.fit(np.array([[1, 2], [3, 3]], np.int32), np.ones((2, 1)), epochs=3, verbose=0)
            self.assertEqual([address_of(variable.value) for variable in state], before)
            self.assertGreater(np.abs(layer.get_weights()[0] - values).max(), 0)

    def test_is_saved_with_its_state(self):
        schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
        for optimizer in (train.adam(learning_rate=schedule, clip_value=[-1, None]), train.ftrl(learning_rate=0.1)):
            model, _ = self.trained(False, optimizer)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model.keras")
                model.save(path)
                again = keras.saving.load_model(path)
            self.assertEqual(again.optimizer.get_config(), model.optimizer.get_config())
            ids, targets = np.array([[1, 3]], np.int32), np.ones((1, 1))
            for each in (model, again):
                each.fit(ids, targets, epochs=2, verbose=0)
            for a, b in zip(model.get_weights(), again.get_weights()):
                np.testing.assert_array_equal(a, b)

    def test_hands_dense_variables_on(self):
        own, _ = self.trained(False, train.adagrad(learning_rate=0.1, dense=keras.optimizers.SGD(0.0)))
        np.testing.assert_array_equal(own.get_weights()[1], np.ones((2, 1)))
        config = train.adagrad.from_config(own.optimizer.get_config())
        self.assertIsInstance(config.dense, keras.optimizers.SGD)

    def test_takes_gradients_of_other_forms(self):
        layer = layer_of()
        optimizer = train.sgd(learning_rate=1.0)
        slices = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 1], tf.int64))
        optimizer.apply_gradients([(slices, layer.embeddings)])
        optimizer.apply_gradients([(tf.ones([6, 2]), layer.embeddings)])
        want = TABLE - 1
        want[1] -= 2
        np.testing.assert_array_equal(layer.get_weights()[0], want)
        stock = keras.layers.Embedding(4, 2, embeddings_initializer="zeros")
        stock.build()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            train.sgd(learning_rate=1.0).apply_gradients([(slices, stock.embeddings)])
        self.assertIn("is no table of EmbeddingBag", str(told[0].message))
        np.testing.assert_array_equal(stock.get_weights()[0], [[0, 0], [-2, -2], [0, 0], [0, 0]])

    def test_names_what_it_refuses(self):
        cases = [
            (TypeError, "learning_rate: expected a finite number.*received '1'", lambda: train.sgd(learning_rate="1")),
            (ValueError, "learning_rate: expected.*received -1", lambda: train.sgd(learning_rate=-1)),
            (TypeError, "rho: expected the fields of train.adagrad.*train.rmsprop", lambda: train.adagrad(rho=0.5)),
            (ValueError, r"beta1: expected a number in \[0, 1\).*received 1", lambda: train.adam(beta1=1)),
            (ValueError, "epsilon: .*in float32 too, received 1e-60", lambda: train.adam(epsilon=1e-60)),
            (TypeError, "lazy: expected True or False, received 0", lambda: train.adam(lazy=0)),
            (ValueError, "clip_value: expected", lambda: train.sgd(clip_value=[2, 1])),
            (TypeError, "clip_value: expected", lambda: train.sgd(clip_value="1")),
            (ValueError, "clip_weight_min: expected a number <= clip_weight_max", self.crossed),
            (TypeError, "dense: expected an optimizer of Keras", lambda: train.sgd(dense="sgd")),
        ]
        for kind, text, call in cases:
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()

    @staticmethod
    def crossed():
        """Limits that nothing can keep."""
        return train.sgd(clip_weight_min=2, clip_weight_max=1)

    def test_refuses_xla_and_replicas(self):
        layer, optimizer = layer_of(), train.sgd(learning_rate=1.0)
        optimizer.build([layer.embeddings])
        step = lambda: optimizer.apply([tf.ones([6, 2])])
        with self.assertRaisesRegex(RuntimeError, "jit_compile: expected False"):
            tf.function(step, jit_compile=True)()
        strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        with strategy.scope(), self.assertRaisesRegex(RuntimeError, "strategy: expected one replica, received 2"):
            step()


class WithKeras(unittest.TestCase):
    """What models of Keras do with the layer and its optimizers."""

    @staticmethod
    def fitted(inputs, outputs, given, **options):
        """A model that was fitted to ones."""
        model = keras.Model(inputs, outputs)
        model.compile(optimizer=train.adagrad(learning_rate=0.5), loss="mse")
        count = 2
        targets = np.ones((count, *outputs.shape[1:]))
        model.fit(given, targets, batch_size=count, epochs=2, verbose=0, **options)
        return model

    def test_inputs_are_ragged_sparse_and_weighted(self):
        rows = [[1, 3], [5]]
        want = [TABLE[row].mean(0) for row in rows]
        dense, weights = tf.constant([[1, 3], [5, -1]]), np.ones((2, 2), np.float32)
        ragged = keras.Input((None,), dtype="int32", ragged=True)
        sparse = keras.Input((2,), dtype="int32", sparse=True)
        weighted = [keras.Input((2,), dtype="int32"), keras.Input((2,))]
        cases = [
            (ragged, {}, tf.ragged.constant(rows, dtype=tf.int32)),
            (sparse, {}, tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 3, 5], [2, 2])),
            (weighted, {"weights": weighted[1]}, [dense, weights]),
        ]
        tables = []
        for inputs, options, given in cases:
            layer = layer_of()
            ids = inputs[0] if isinstance(inputs, list) else inputs
            outputs = layer(ids, **options)
            self.assertEqual(outputs.shape, (None, 2))
            np.testing.assert_allclose(keras.Model(inputs, outputs).predict(given, verbose=0), want, rtol=1e-6)
            self.fitted(inputs, outputs, given)
            tables.append(layer.get_weights()[0])
        self.assertGreater(np.abs(tables[0] - TABLE).max(), 0.1)
        for table in tables:
            np.testing.assert_array_equal(table, tables[0])

    def test_callbacks_set_the_rate_and_best_weights(self):
        inputs, layer = keras.Input((2,), dtype="int32"), layer_of()
        best = keras.callbacks.EarlyStopping("loss", mode="max", patience=0, restore_best_weights=True)
        halve = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
        ids = np.array([[1, 2], [3, 3]], np.int32)
        model = self.fitted(inputs, layer(inputs), ids, callbacks=[halve, best])
        self.assertEqual(float(model.optimizer.learning_rate), 0.125)
        kept = best.best_weights[0].copy()
        np.testing.assert_array_equal(layer.get_weights()[0], kept)
        model.fit(ids, np.zeros((2, 2)), verbose=0)
        np.testing.assert_array_equal(best.best_weights[0], kept)
        self.assertGreater(np.abs(layer.get_weights()[0] - kept).max(), 0)

    def test_mixed_precision_keeps_float32_tables(self):
        inputs, layer = keras.Input((2,), dtype="int32"), layer_of(dtype="mixed_float16")
        outputs = layer(inputs)
        self.assertEqual(outputs.dtype, "float16")
        self.fitted(inputs, outputs, np.array([[1, 2], [3, 3]], np.int32))
        table = layer.get_weights()[0]
        self.assertEqual(table.dtype, np.float32)
        self.assertEqual((np.abs(table - TABLE).max(1) > 0).tolist(), [False, True, True, True, False, False])

    def test_frozen_tables_stay(self):
        inputs, layer = keras.Input((2,), dtype="int32"), layer_of(trainable=False)
        self.fitted(inputs, keras.layers.Dense(1)(layer(inputs)), np.array([[1, 2], [3, 3]], np.int32))
        np.testing.assert_array_equal(layer.get_weights()[0], TABLE)

    def test_exports_run(self):
        model = keras.Sequential([keras.Input((2,), dtype="int32"), layer_of()])
        ids = np.array([[1, 2], [3, -1]], np.int32)
        with tempfile.TemporaryDirectory() as folder:
            model.export(folder, verbose=False)
            served = tf.saved_model.load(folder)
            np.testing.assert_array_equal(served.serve(ids), model(ids))


class Library(unittest.TestCase):
    """The op library."""

    def test_is_where_it_is_said_to_be(self):
        self.assertEqual(op_library_path(), os.environ["TFJS_EMBEDDINGS_LIBRARY"])
        self.assertTrue(os.path.isfile(op_library_path()))


if __name__ == "__main__":
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    result = unittest.main(exit=False, verbosity=0).result
    failed = [f"{test}: {text}" for test, text in result.failures + result.errors]
    print(json.dumps({"ran": result.testsRun, "failed": failed}))
