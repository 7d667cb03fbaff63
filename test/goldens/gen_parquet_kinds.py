"""
Writes small parquet files with kinds of values that are easily taken for others, in every compression, and what they hold
as JSON: `python gen_parquet_kinds.py`, pyarrow 26.
"""

import json
import pathlib
import uuid

import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = pathlib.Path(__file__).parent / "parquet_kinds"
ROWS = 24
ids = [uuid.UUID(int=i * 0x123456789ABCDEF0123456789) for i in range(ROWS)]
wide = [2**53 + i // 2 * 2 + 1 if i % 2 else -(2**62) - i for i in range(ROWS)]
texts = ["\ufeff" + "x" * (i % 3) if i % 2 else f"a\ufeffb{i}" for i in range(ROWS)]
documents = [json.dumps({"i": i, "x": [1.5, None]}) for i in range(ROWS)]
columns = {
    "id": pa.array([each.bytes for each in ids], pa.uuid()),
    "wide": pa.array(wide, pa.int64()),
    "wide_null": pa.array([None if i % 5 == 2 else v for i, v in enumerate(wide)], pa.int64()),
    "text": pa.array(texts),
    "json": pa.array(documents, pa.json_()),
    "none": pa.array([None] * ROWS, pa.int32()),
    "none_text": pa.array([None] * ROWS, pa.string()),
    "bag": pa.array([[]] * ROWS, pa.list_(pa.int32())),
    "date": pa.array(list(range(ROWS)), pa.date32()),
}
held = {name: column.to_pylist() for name, column in columns.items()}
held["id"] = [str(each) for each in ids]
held["wide"] = [str(each) for each in wide]
held["wide_null"] = [None if each is None else str(each) for each in held["wide_null"]]
held["date"] = list(range(ROWS))
FOLDER.mkdir(exist_ok=True)
(FOLDER / "expected.json").write_text(json.dumps(held) + "\n")
for codec in ["none", "snappy", "gzip", "lz4", "zstd", "brotli"]:
    for version in ["1.0", "2.0"]:
        pq.write_table(
            pa.table(columns),
            FOLDER / f"{codec}_v{version[0]}.parquet",
            compression=codec,
            data_page_version=version,
            row_group_size=9,
            use_dictionary=["text", "wide", "none_text"],
            store_schema=False,
        )
