"""
Writes small Arrow files and streams by pyarrow 26 and polars 2.1, packed and not, and what they hold as JSON:
`python gen_arrow.py`.
"""

import json
import pathlib

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc

FOLDER = pathlib.Path(__file__).parent / "arrow"
ROWS = 60
rng = np.random.default_rng(1)


def some(values, step):
    return [None if i % step == 2 else v for i, v in enumerate(values)]


ids = [int(v) for v in rng.integers(-1000, 1000, ROWS)]
words = [f"w{i % 7} é" if i % 3 else "x" * (i % 40) for i in range(ROWS)]
lists = [[int(v) for v in rng.integers(0, 100, int(n))] for n in rng.integers(0, 5, ROWS)]
columns = {
    "int": pa.array(ids, pa.int32()),
    "int_null": pa.array(some(ids, 5), pa.int32()),
    "int64": pa.array([2**40 + v for v in ids], pa.int64()),
    "float": pa.array([v / 4 for v in ids], pa.float64()),
    "text": pa.array(words),
    "large_text": pa.array(words, pa.large_string()),
    "text_view": pa.array(words, pa.string_view()),
    "text_null": pa.array(some(words, 4), pa.string_view()),
    "dictionary": pa.array(words).dictionary_encode(),
    "list": pa.array(lists, pa.list_(pa.int32())),
    "large_list": pa.array(lists, pa.large_list(pa.int32())),
    "large_words": pa.array([words[i : i + i % 3] for i in range(ROWS)], pa.large_list(pa.large_string())),
    "vector": pa.array([[i / 2, 2.0] for i in range(ROWS)], pa.list_(pa.float32(), 2)),
    "bool": pa.array([i % 3 == 0 for i in range(ROWS)]),
}
table = pa.table(columns)
held = {name: column.to_pylist() for name, column in columns.items()}
FOLDER.mkdir(exist_ok=True)
(FOLDER / "expected.json").write_text(json.dumps(held) + "\n")

for packing in [None, "lz4", "zstd"]:
    options = ipc.IpcWriteOptions(compression=packing)
    for kind, opened in [("arrow", ipc.new_file), ("arrows", ipc.new_stream)]:
        with opened(str(FOLDER / f"pyarrow_{packing or 'plain'}.{kind}"), table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=25)

frame = pl.DataFrame({name: held[name] for name in ["int", "float", "text", "text_null", "list", "bool"]})
for packing in ["uncompressed", "lz4", "zstd"]:
    frame.write_ipc(FOLDER / f"polars_{packing}.arrow", compression=packing)
frame.write_ipc_stream(FOLDER / "polars_lz4.arrows", compression="lz4")

# Blocks of LZ4 that lean on earlier ones: more than 64 kB.
long = pa.table({"row": pa.array(np.arange(40_000, dtype=np.int32) // 3)})
with ipc.new_file(str(FOLDER / "long_lz4.arrow"), long.schema, options=ipc.IpcWriteOptions(compression="lz4")) as writer:
    writer.write_table(long)


def batch(indices, values):
    array = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(values))
    return pa.record_batch({"word": array})


batches = [batch([0, 1, 0], ["a", "b"]), batch([0, 1, 2], ["c", "d", "a"]), batch([3, 1, 2], ["c", "d", "a", "e"])]
for name, deltas in [("replaced", False), ("deltas", True)]:
    options = ipc.IpcWriteOptions(emit_dictionary_deltas=deltas, compression="lz4")
    with ipc.new_stream(str(FOLDER / f"{name}.arrows"), batches[0].schema, options=options) as writer:
        for each in batches:
            writer.write_batch(each)
