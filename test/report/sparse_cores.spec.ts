/** What a report tells of SparseCores. */
import { SPARSE_CORE_NOTE, STACK_HEAD, STEP_HEAD, stackCells, stepCells } from '../../src/report/sparse_cores.js';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import * as tpu from 'tfjs-embeddings/tpu';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';
import { sparseCoreData, sparseCoreLoads } from '../../src/report/sparse_cores.js';
import { GENERATIONS } from '../../src/report/generations.js';
import { exchangeSeconds, torusOf } from '../../src/report/torus.js';
import { makeReport } from '../../src/report/report.js';
import { sourceOf } from './report_sources.js';

const REQUEST = { tables: [{ inputDim: 8, outputDim: 4 }], worldSize: 2 };

describe('SparseCores in a report', () => {
  it('are absent where nothing was looked up on them', () => {
    const report = makeReport(sourceOf(REQUEST));
    expect(report.sparseCores).toBeNull();
    expect(String(report)).not.toContain('SparseCores, ');
  });

  it('tell means by lookup, and times that follow from bytes and bandwidth', () => {
    const stack = {
      name: 'a_b',
      columns: 8,
      lookUps: 2,
      samples: 32,
      ids: 30,
      droppedIds: 10,
      slots: 512,
      slotsUsed: 128,
      minibatches: 2,
      // Core 0 asks shard 1 for 6 rows in all, and shard 1 has 4 of its own.
      rows: [
        [0, 6],
        [0, 4],
      ],
    };
    const data = sparseCoreData({ ...sourceOf(REQUEST), chips: 2, coresPerChip: 1, sparseCores: [stack] })!;
    expect(data.stacks).toEqual([
      {
        name: 'a_b',
        lookUps: 2,
        samples: 16,
        ids: 15,
        rows: 5,
        droppedIds: 10,
        droppedShare: 0.25,
        fill: 0.25,
        minibatches: 1,
      },
    ]);
    const v4 = data.predictions.find(({ generation }) => generation === 'v4')!;
    expect(v4.sparseCores).toBe(4);
    // Shard 1 reads 5 rows of 8 columns and their ids in a lookup; 1200 GB/s.
    expect(v4.lookupSeconds).toBeCloseTo((5 * 9 * 4) / 1200e9, 15);
    expect(v4.updateSeconds).toBeCloseTo((2 * 5 * 9 * 4) / 1200e9, 15);
    // 3 ids go from core 0 to shard 1, 3 rows come back, and their gradients go again.
    const { links, linkBandwidth } = GENERATIONS['v4']!;
    const send = (bytes: number): number =>
      exchangeSeconds(torusOf(2, links.value!), linkBandwidth.value!, bytes / 2, bytes);
    expect(v4.exchangeSeconds! / (send(3 * 4) + 2 * send(3 * 8 * 4))).toBeCloseTo(1, 9);
    expect(v4.stepSeconds).toBeCloseTo(v4.lookupSeconds! + v4.updateSeconds! + v4.exchangeSeconds!, 15);
  });

  it('load the shards that are read: ids go to them, rows go out of them', () => {
    const none = { ids: 0, droppedIds: 0, slots: 0, slotsUsed: 0, minibatches: 0 };
    // In a lookup core 0 asks shard 1 for 3 rows and shard 0 for 1, core 1 asks shard 0 for 2.
    const rows = [
      [2, 6],
      [4, 0],
    ];
    const loads = sparseCoreLoads([{ name: 'a', columns: 8, lookUps: 2, samples: 4, rows, ...none }], 2);
    const told = loads.map(({ lookups, idsOut, idsIn, pooledOut, pooledIn }) => {
      return { lookups, idsOut, idsIn, pooledOut, pooledIn };
    });
    expect(told).toEqual([
      { lookups: 3, idsOut: 4 * 3, idsIn: 4 * 2, pooledOut: 4 * 2 * 8, pooledIn: 4 * 3 * 8 },
      { lookups: 3, idsOut: 4 * 2, idsIn: 4 * 3, pooledOut: 4 * 3 * 8, pooledIn: 4 * 2 * 8 },
    ]);
  });

  it('come from what TPUEmbeddingV2 looked up, in text and page too', async () => {
    await withTpuEmulator({ chips: 1, coresPerChip: 2 }, () => {
      const table = new tpu.TableConfig({ vocabularySize: 8, dim: 2, combiner: 'sum', name: 'words' });
      const featureConfig = new tpu.FeatureConfig({ table, outputShape: [4] });
      const sparseCoreEmbeddingConfig = new tpu.SparseCoreEmbeddingConfig({
        maxIdsPerChipPerSample: 8,
        maxIdsPerTable: { words: 8 },
        maxUniqueIdsPerTable: { words: 8 },
        allowIdDropping: true,
      });
      const embedding = new tpu.TPUEmbeddingV2({ featureConfig, optimizer: new tpu.SGD(), sparseCoreEmbeddingConfig });
      const [activations] = embedding.embeddingLookup([1, 2, 3, 3]);
      tf.dispose(activations as tf.Tensor);
      const report = emb.tpuEmulator().report();
      const [stack] = report.sparseCores!.stacks;
      expect(stack).toEqual(
        jasmine.objectContaining({
          name: 'words',
          lookUps: 1,
          samples: 4,
          ids: 4,
          rows: 3,
          droppedIds: 0,
          minibatches: 1,
        }),
      );
      // Three buckets of 8 slots, of 8 for each of 4 samples.
      expect(stack!.fill).toBe(24 / 32);
      expect(report.sparseCores!.predictions.length).toBe(7);
      expect(String(report)).toContain('SparseCores, 1 stack:');
      expect(report.toHTML()).toContain('<h2>SparseCores</h2>');
      emb.tpuEmulator().resetCounters();
      expect(emb.tpuEmulator().report().sparseCores).toBeNull();
      embedding.dispose();
    });
  });
});

describe('Cells of SparseCores', () => {
  const stack = {
    ...{ name: 'a_b', lookUps: 3, samples: 4096.4, ids: 20000.6, rows: 12.2, droppedIds: 0, droppedShare: 0 },
    ...{ fill: 0.125, minibatches: 2 },
  };
  const step = {
    ...{ generation: 'v5p', sparseCores: 4, lookupSeconds: 1, exchangeSeconds: 2, updateSeconds: 3, stepSeconds: null },
  };

  it('stand under their titles', () => {
    expect(STACK_HEAD).toEqual(['stack', 'lookups', 'samples', 'ids', 'rows', 'dropped', 'fill', 'minibatches']);
    expect(STEP_HEAD).toEqual(['TPU', 'SparseCores', 'lookup', 'exchange', 'update', 'step at least']);
    expect(SPARSE_CORE_NOTE).toMatch(/those of a lookup in the mean; times are bytes over bandwidth/);
    const cells = stackCells(stack as never);
    expect([cells[0], cells[1], cells[5], cells[6], cells[7]]).toEqual(['a_b', '3', 'none', '12.5 %', '2']);
    expect(cells.slice(2, 5).map((cell) => cell.replace(/\D/g, ''))).toEqual(['4096', '20001', '12']);
    expect(stackCells({ ...stack, droppedIds: 5, droppedShare: 0.25 } as never)[5]).toBe('5 (25.0 %)');
    const [generation, cores, ...times] = stepCells(step as never);
    expect([generation, cores, times[3]]).toEqual(['v5p', '4 a chip', 'unknown']);
    expect(new Set(times).size).toBe(4);
    expect(stepCells({ ...step, sparseCores: null } as never)[1]).toBe('unknown');
  });
});
