"""Checks files of ONNX and runs them, and prints what they give, as one line of JSON.

Takes the path of a file of lines of JSON, each {file, inputs: {name: {dtype, shape, values}}}; int64 values are texts.
"""

import json
import sys

import numpy as np
import onnx
import onnxruntime


def tensor(entry):
    dtype = entry["dtype"]
    values = entry["values"]
    if dtype == "string":
        return np.array(values, dtype=object).reshape(entry["shape"])
    if dtype == "int64":
        values = [int(each) for each in values]
    return np.array(values, dtype=dtype).reshape(entry["shape"])


def run(case):
    onnx.checker.check_model(case["file"], full_check=True)
    given = {name: tensor(entry) for name, entry in case["inputs"].items()}
    results = []
    for threads in (1, 2):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(case["file"], options, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        for _ in range(10):
            outputs = session.run(names, given)
            results.append({name: value.ravel().tolist() for name, value in zip(names, outputs)})
    text = json.dumps(results[0])
    return {"outputs": results[0], "isSame": all(json.dumps(each) == text for each in results)}


def attempt(case):
    try:
        return run(case)
    except Exception as error:  # What it says is compared by the spec.
        return {"error": f"{type(error).__name__}: {error}"[:600]}


if __name__ == "__main__":
    with open(sys.argv[1]) as lines:
        print(json.dumps([attempt(json.loads(line)) for line in lines]))
