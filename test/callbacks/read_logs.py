"""Reads what lies below a folder by TensorBoard's own readers; prints it as JSON: `read_logs.py LOGDIR`."""

import json
import os
import sys

from google.protobuf import text_format
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.projector import projector_config_pb2, projector_plugin


def run_of(folder):
    # 0: all records are kept.
    accumulator = EventAccumulator(folder, size_guidance={"scalars": 0, "histograms": 0})
    accumulator.Reload()
    tags = accumulator.Tags()
    return {
        "version": accumulator.file_version,
        "scalars": {tag: [[e.step, e.value] for e in accumulator.Scalars(tag)] for tag in tags["scalars"]},
        "histograms": {
            tag: [
                {
                    "step": e.step,
                    "num": e.histogram_value.num,
                    "min": e.histogram_value.min,
                    "max": e.histogram_value.max,
                    "sum": e.histogram_value.sum,
                    "limits": list(e.histogram_value.bucket_limit),
                    "buckets": list(e.histogram_value.bucket),
                }
                for e in accumulator.Histograms(tag)
            ]
            for tag in tags["histograms"]
        },
    }


def projector_of(folder):
    config = projector_config_pb2.ProjectorConfig()
    with open(os.path.join(folder, "projector_config.pbtxt"), encoding="utf-8") as file:
        text_format.Parse(file.read(), config)
    found = []
    for embedding in config.embeddings:
        rows = projector_plugin._read_tensor_tsv_file(os.path.join(folder, embedding.tensor_path))
        with open(os.path.join(folder, embedding.metadata_path), encoding="utf-8") as file:
            labels = file.read().splitlines()
        found.append(
            {
                "name": embedding.tensor_name,
                "shape": list(embedding.tensor_shape),
                "rows": rows.tolist(),
                "labels": labels,
            }
        )
    return found


def main(folder):
    runs = {run: run_of(os.path.join(folder, run)) for run in ("train", "validation")}
    json.dump({"runs": runs, "projector": projector_of(folder)}, sys.stdout)


main(sys.argv[1])
