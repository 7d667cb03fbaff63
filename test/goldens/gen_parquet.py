"""Writes small parquet and Arrow files with pyarrow, and what they hold as JSON: `python gen_parquet.py`, pyarrow 25."""

import datetime
import decimal
import json
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = pathlib.Path(__file__).parent / 'parquet'
ROWS = 257


def table() -> pa.Table:
    rng = np.random.default_rng(7)

    def lists(low, high, nulls=False):
        rows = []
        for row in range(ROWS):
            count = int(rng.integers(0, 6)) if row != 100 else 300
            values = [int(v) for v in rng.integers(low, high, count)]
            if nulls and row % 11 == 3:
                values = values + [None]
            rows.append(None if nulls and row % 13 == 5 else values)
        return rows

    def some(values, step):
        return [None if i % step == 2 else v for i, v in enumerate(values)]

    ints = [int(v) for v in rng.integers(-1000, 1000, ROWS)]
    longs = [int(v) for v in rng.integers(-(2**31), 2**31, ROWS)]
    floats = [float(np.float32(v)) for v in rng.normal(size=ROWS)]
    words = [f'city {i % 9} é' if i % 5 else '' for i in range(ROWS)]
    days = [datetime.date(1965, 1, 1) + datetime.timedelta(days=int(v)) for v in rng.integers(0, 30000, ROWS)]
    times = [
        datetime.datetime(1990, 1, 1) + datetime.timedelta(milliseconds=int(v)) for v in rng.integers(0, 10**12, ROWS)
    ]
    return pa.table(
        {
            'int32': pa.array(ints, pa.int32()),
            'int32_null': pa.array(some(ints, 7), pa.int32()),
            'int64': pa.array(longs, pa.int64()),
            'int8': pa.array([v % 100 for v in ints], pa.int8()),
            'uint16': pa.array([v % 60000 for v in longs], pa.uint16()),
            'bool': pa.array([v % 3 == 0 for v in ints]),
            'float32': pa.array(floats, pa.float32()),
            'float64': pa.array(some(floats, 5), pa.float64()),
            'decimal': pa.array([decimal.Decimal(v).scaleb(-2) for v in ints], pa.decimal128(9, 2)),
            'string': pa.array(words),
            'string_null': pa.array(some(words, 6)),
            'date': pa.array(days, pa.date32()),
            'time_ms': pa.array(times, pa.timestamp('ms')),
            'time_us': pa.array(times, pa.timestamp('us')),
            'time_ns': pa.array(times, pa.timestamp('ns')),
            'ids': pa.array(lists(0, 1000), pa.list_(pa.int32())),
            'ids_null': pa.array(lists(0, 1000, nulls=True), pa.list_(pa.int32())),
            'ids64': pa.array(lists(0, 2**31), pa.list_(pa.int64())),
            'words': pa.array([[words[(i + j) % ROWS] for j in range(i % 4)] for i in range(ROWS)]),
            'vector': pa.array([[float(np.float32(v)) for v in row] for row in rng.normal(size=(ROWS, 3))], pa.list_(pa.float32(), 3)),
            'struct': pa.array([{'a': 1, 'b': 2}] * ROWS),
            'nested': pa.array([[[1], [2, 3]]] * ROWS),
        }
    )


def plain(value):
    if isinstance(value, datetime.datetime):
        return round((value - datetime.datetime(1970, 1, 1)) / datetime.timedelta(milliseconds=1))
    if isinstance(value, datetime.date):
        return (value - datetime.date(1970, 1, 1)).days * 86_400_000
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    data = table()
    expected = {name: [plain(v) for v in data[name].to_pylist()] for name in data.column_names if name not in ('struct', 'nested')}
    (FOLDER / 'expected.json').write_text(json.dumps(expected) + '\n')
    small = {'data_page_size': 256, 'write_batch_size': 8}
    files = {
        'snappy_dictionary': dict(compression='snappy'),
        'plain_small_pages': dict(compression='none', use_dictionary=False, **small),
        'plain_v2_small_pages': dict(compression='snappy', use_dictionary=False, data_page_version='2.0', **small),
        'gzip_dictionary_v2': dict(compression='gzip', data_page_version='2.0', row_group_size=100),
        'zstd_groups': dict(compression='zstd', row_group_size=64, use_dictionary=False),
        'brotli': dict(compression='brotli'),
        'lz4': dict(compression='lz4'),
    }
    for name, options in files.items():
        pq.write_table(data, FOLDER / f'{name}.parquet', **options)
    delta = {
        'column_encoding': {'int32': 'DELTA_BINARY_PACKED', 'int64': 'DELTA_BINARY_PACKED', 'string': 'DELTA_BYTE_ARRAY',
                            'string_null': 'DELTA_LENGTH_BYTE_ARRAY', 'float32': 'BYTE_STREAM_SPLIT'},
        'use_dictionary': False,
    }
    pq.write_table(data, FOLDER / 'delta_encodings.parquet', compression='snappy', **delta)
    pq.write_table(data.slice(0, 0), FOLDER / 'no_rows.parquet')
    arrow = data.drop_columns(['decimal'])
    with pa.ipc.new_file(str(FOLDER / 'table.arrow'), arrow.schema) as writer:
        writer.write_table(arrow, max_chunksize=100)
    with pa.ipc.new_stream(str(FOLDER / 'table.arrows'), arrow.schema) as writer:
        writer.write_table(arrow, max_chunksize=100)


main()
