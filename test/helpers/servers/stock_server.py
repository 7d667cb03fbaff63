"""A server of TensorFlow in Python, as TF_CONFIG says, until its standard input ends.

Usage: TF_CONFIG=... python3 stock_server.py [path of the op library]
"""
import os
import sys
import threading

import tensorflow as tf

if len(sys.argv) > 1:
    tf.load_op_library(sys.argv[1])
cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver()
server = tf.distribute.Server(cluster.cluster_spec(), job_name=cluster.task_type, task_index=cluster.task_id)
print(f"ready {server.target}", flush=True)
# `server.join()` would wait for ever.
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=False).start()
