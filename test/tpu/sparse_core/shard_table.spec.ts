/** Rows on their way to shards and back, against TensorFlow's values. */
import * as tf from '@tensorflow/tfjs';
import { mapIndicesInShard, removePadding, shardTable, stackTables, unshuffle } from 'tfjs-embeddings/tpu';
import { expectError } from '../../helpers/errors.js';
import { layoutGoldens } from './goldens.js';

const { sharding } = layoutGoldens;

describe('shardTable', () => {
  it('deals rows out as TensorFlow does', () => {
    const { table, num_sparse_cores: numSparseCores, sharded } = sharding.shard_table;
    expect(shardTable({ table, numSparseCores })).toEqual(sharded);
  });

  it('gives a tensor for a tensor, and frees what it needs', () => {
    const { table, num_sparse_cores: numSparseCores, sharded } = sharding.shard_table;
    const before = tf.memory().numTensors;
    const given = tf.tensor2d(table);
    const result = shardTable({ table: given, numSparseCores });
    expect(result.arraySync()).toEqual(sharded);
    tf.dispose([given, result]);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('refuses rows that are not a multiple of the cores', () => {
    expectError(() => shardTable({ table: [[1], [2]], numSparseCores: 4 }), 'ValueError', 'table', '2 rows');
  });
});

describe('unshuffle', () => {
  sharding.unshuffle.forEach((golden, i) => {
    it(`finds a table in its stack as TensorFlow does (${i})`, () => {
      const { t, num_sparse_cores, offset_in_shard, size_in_shard, shard_rotation, out } = golden;
      const result = unshuffle({
        t,
        numSparseCores: num_sparse_cores,
        offsetInShard: offset_in_shard,
        sizeInShard: size_in_shard,
        shardRotation: shard_rotation,
      });
      expect(result).toEqual(out);
    });
  });

  it('turns shardTable back, for sizes of upstream tests', () => {
    for (const [rows, cores] of [
      [8, 4],
      [27, 3],
      [128, 4],
    ] as const) {
      const table = Array.from({ length: rows }, (_, row) => [row, -row]);
      const t = shardTable({ table, numSparseCores: cores });
      const place = { numSparseCores: cores, offsetInShard: 0, sizeInShard: rows / cores, shardRotation: 0 };
      expect(unshuffle({ t, ...place })).toEqual(table);
    }
  });

  it('turns a stack with rotation 2 back', () => {
    const [numSparseCores, offsetInShard, sizeInShard, shardRotation] = [4, 1, 2, 2];
    const rows = Array.from({ length: 8 }, (_, row) => row);
    const { shardIndex, positionInShard } = mapIndicesInShard({ numSparseCores, offsetInShard, shardRotation, rows });
    const t = Array.from({ length: 12 }, () => [-1]);
    rows.forEach((row) => (t[shardIndex[row]! * 3 + positionInShard[row]!] = [row]));
    const result = unshuffle({ t, numSparseCores, offsetInShard, sizeInShard, shardRotation });
    expect(result).toEqual(rows.map((row) => [row]));
  });

  it('refuses rows that are not a multiple of the cores, and shards that are too small', () => {
    const place = { offsetInShard: 0, sizeInShard: 1, shardRotation: 0 };
    const two = { t: [[1], [2]], numSparseCores: 4, ...place };
    expectError(() => unshuffle(two), 'ValueError', 't', '2 rows');
    const short = { t: [[1], [2]], numSparseCores: 2, ...place, offsetInShard: 1 };
    expectError(() => unshuffle(short), 'ValueError', 'sizeInShard', '1');
  });
});

describe('mapIndicesInShard', () => {
  sharding.map_indices_in_shard.forEach((golden, i) => {
    it(`finds shard and position as TensorFlow does (${i})`, () => {
      const { num_sparse_cores, offset_in_shard, shard_rotation, rows } = golden;
      const found = mapIndicesInShard({
        numSparseCores: num_sparse_cores,
        offsetInShard: offset_in_shard,
        shardRotation: shard_rotation,
        rows,
      });
      expect([...found.shardIndex]).toEqual(golden.shard_index);
      expect([...found.positionInShard]).toEqual(golden.position_in_shard);
    });
  });

  it('agrees with the layouts of stackTables: every row of a stack has a place of its own', () => {
    const layouts = stackTables({
      tables: [
        ['a', 100, 6, 'g', 16],
        ['b', 33, 8, 'g', 16],
        ['c', 257, 7, 'g', 16],
      ],
      numPartitions: 2,
      sparseCoresPerPartition: 4,
    });
    const seen = new Set<number>();
    for (const layout of layouts) {
      const [rows] = layout.unshardedPaddedShape;
      const found = mapIndicesInShard({
        numSparseCores: 8,
        offsetInShard: layout.sparseCoreShardRowOffset,
        shardRotation: layout.sparseCoreShardRotation,
        rows: Array.from({ length: rows }, (_, row) => row),
      });
      found.shardIndex.forEach((shard, i) => seen.add(shard * 64 + found.positionInShard[i]!));
    }
    expect(seen.size).toBe(64 * 8);
  });

  it('refuses negative rows', () => {
    const place = { numSparseCores: 2, offsetInShard: 0, shardRotation: 0 };
    expectError(() => mapIndicesInShard({ ...place, rows: [0, -1] }), 'ValueError', 'rows', '-1');
  });
});

describe('removePadding', () => {
  const stored = Array.from({ length: 8 }, (_, row) => Array.from({ length: 8 }, (__, column) => 8 * row + column));

  it('slices to the shape asked for', () => {
    const result = removePadding(stored, [5, 6]);
    expect(result).toEqual(stored.slice(0, 5).map((row) => row.slice(0, 6)));
  });

  it('leaves alone what is smaller on some axis', () => {
    const small = stored.slice(0, 4);
    expect(removePadding(small, [5, 6])).toEqual(small);
  });

  it('gives a tensor for a tensor', () => {
    const before = tf.memory().numTensors;
    const tensor = tf.tensor2d(stored);
    const [cut, whole] = [removePadding(tensor, [5, 6]), removePadding(tensor, [9, 6])];
    expect(cut.shape).toEqual([5, 6]);
    expect(whole.arraySync()).toEqual(stored);
    tf.dispose([tensor, cut, whole]);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('refuses another number of axes', () => {
    expectError(() => removePadding(stored, [5] as never), 'ValueError', 'shape', '[5]');
    expectError(() => removePadding(stored, [5, 6, 1] as never), 'ValueError', 'shape');
    expectError(() => removePadding(stored, [5, -1]), 'ValueError', 'shape[1]', '-1');
    expectError(() => removePadding(stored, [1.5, 6]), 'ValueError', 'shape[0]', '1.5');
    expectError(() => removePadding(stored, 5 as never), 'TypeError', 'shape', '5');
  });
});
