"""Keras on TensorFlow's ParameterServerStrategy: two servers and a worker on loopback, asked in JSON lines."""

import multiprocessing
import os
import socket
import sys
import time

os.environ.update({"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "TF_USE_LEGACY_KERAS": "1"})
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rivals", "python"))
BATCHES = 4


def free_ports(count):
    found = [socket.socket() for _ in range(count)]
    for each in found:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in found]
    for each in found:
        each.close()
    return ports


def serve_task(cluster, job, index):
    """A server, until the process that started it ends."""
    os.dup2(2, 1)
    import tensorflow as tf

    tf.distribute.Server(tf.train.ClusterSpec(cluster), job_name=job, task_index=index).join()


class ParameterServers:
    def __init__(self):
        import tensorflow as tf
        import tf_keras

        self.tf, self.keras = tf, tf_keras
        self.version = f"TensorFlow {tf.__version__}, tf-keras {tf_keras.__version__}"

    def open(self, servers, tables, rows, columns, batch, ids):
        tf, keras = self.tf, self.keras
        ports = [f"127.0.0.1:{port}" for port in free_ports(servers + 1)]
        cluster = {"ps": ports[:servers], "worker": ports[servers:]}
        for job, addresses in cluster.items():
            for index in range(len(addresses)):
                multiprocessing.Process(target=serve_task, args=(cluster, job, index), daemon=True).start()
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(cluster), rpc_layer="grpc")
        strategy = tf.distribute.ParameterServerStrategy(resolver)
        self.coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        with strategy.scope():
            layers = [keras.layers.Embedding(rows, columns) for _ in range(tables)]
            for layer in layers:
                layer.build((None, ids))
            variables = [layer.trainable_variables[0] for layer in layers]
            optimizer = keras.optimizers.Adagrad(0.1)
            optimizer.build(variables)

        def data():
            shape = (BATCHES, batch, ids)
            draw = tuple(tf.random.stateless_uniform(shape, (1, t), 0, rows, tf.int32) for t in range(tables))
            return tf.data.Dataset.from_tensor_slices(draw).repeat()

        self.batches = iter(self.coordinator.create_per_worker_dataset(data))

        def total(batch):
            return tf.add_n([tf.reduce_sum(tf.reduce_mean(layer(one), 1)) for layer, one in zip(layers, batch)])

        def train(batch):
            with tf.GradientTape() as tape:
                loss = total(batch)
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        def on_worker(work):
            return tf.function(lambda batches: strategy.run(work, args=(next(batches),)))

        self.works = {"lookUp": on_worker(total), "step": on_worker(train)}

    def scheduled(self, work, steps):
        """All are scheduled at once, so that the worker never waits for the coordinator."""
        start = time.perf_counter()
        for _ in range(steps):
            self.coordinator.schedule(self.works[work], args=(self.batches,))
        self.coordinator.join()
        return {"ms": 1000 * (time.perf_counter() - start) / steps}

    def lookUp(self, steps):
        return self.scheduled("lookUp", steps)

    def step(self, steps):
        return self.scheduled("step", steps)


if __name__ == "__main__":
    from protocol import serve

    multiprocessing.set_start_method("spawn")
    serve(ParameterServers)
    sys.stdout.flush()
    for child in multiprocessing.active_children():
        child.kill()
    os._exit(0)  # the coordinator's threads would go on asking servers that are gone
