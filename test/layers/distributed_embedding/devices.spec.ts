import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { currentBackend } from '../../../src/backends/registry.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { SIZES, alone, idTensors, items, losses, modelOf, tablesOf, takeAll, valuesOf, type Size } from './layers.js';
import { expectClose, expectError, leakFree, useCpu } from '../setup.js';

type Wishes = emb.DistributedPlacementArgs;

const STRATEGIES: readonly emb.StrategyName[] = ['basic', 'memory_balanced', 'memory_optimized', 'cost_balanced'];

/** Weights after three epochs from the seed. */
async function trained(wishes: Wishes, sizes: readonly Size[] = SIZES, map?: number[]): Promise<number[][]> {
  const layer = emb.layers.distributedEmbedding({
    embeddings: items(sizes),
    seed: 5,
    inputTableMap: map,
    ...wishes,
  } as never);
  const used = (map ?? sizes.map((_, i) => i)).map((table) => sizes[table]!);
  const model = modelOf(layer, used.length);
  const optimizer = emb.train.adagrad({ learningRate: 0.1 });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  const x = idTensors(used);
  const y = tf.tensor2d([[1], [2], [3], [4], [5]]);
  const loss = await losses(model, x, y);
  const values = [...valuesOf(layer.getWeights()), loss];
  tf.dispose([...x, y]);
  model.dispose();
  optimizer.dispose();
  return values;
}

const layoutKinds = (layer: emb.DistributedEmbedding): string[] =>
  layer.weights.map((weight) => currentBackend().store.devices!.layoutOf(weight.read())!.kind);

describe('DistributedEmbedding on devices', () => {
  beforeAll(useCpu);

  it('trains equally to the bit under every strategy that cuts no rows', async () => {
    const here = await trained({});
    for (const chips of [3, 8]) {
      for (const strategy of STRATEGIES) {
        await withTpuEmulator({ chips }, async () => {
          const values = await trained({ strategy, columnSliceThreshold: 45, rowFallback: true });
          values.forEach((each, i) => expectClose(each, here[i]!, 1e-5));
        });
      }
    }
    const placed = await withTpuEmulator({ chips: 3 }, () => trained({ strategy: 'memory_balanced' }));
    expect(placed.slice(0, -1)).toEqual(here.slice(0, -1));
  });

  it('trains alike with rows, copies, columns and offload, shared inputs included', async () => {
    const map = [2, 0, 1, 3, 0, 2, 2];
    const here = await trained({}, SIZES, map);
    const wishes: Wishes[] = [
      { rowSliceThreshold: 1 },
      { rowSliceThreshold: 1, rowSharding: 'modulo' },
      { dataParallelThreshold: 100000 },
      { dataParallelThreshold: 40, columnSliceThreshold: 30, rowSliceThreshold: 200, strategy: 'memory_balanced' },
      { deviceMemory: 0, columnSliceThreshold: 20 },
    ];
    await withTpuEmulator({ chips: 3 }, async () => {
      for (const wish of wishes) {
        const values = await trained(wish, SIZES, map);
        values.forEach((each, i) => expectClose(each, here[i]!, 1e-5));
      }
    });
  });

  it('writes and reads tables whose merged slices are uneven', async () => {
    // Upstream cuts the columns of table 1 evenly and fails.
    const sizes: Size[] = [[3, 4, 'sum'], [5, 5, 'sum']]; // prettier-ignore
    await withTpuEmulator(
      { chips: 3 },
      leakFree(() => {
        const layer = emb.layers.distributedEmbedding({
          embeddings: items(sizes),
          strategy: 'memory_balanced',
          columnSliceThreshold: 10,
        });
        layer.build();
        const widths = layer
          .plan!.ranks.flatMap(({ tableParallel }) => tableParallel!.shards)
          .filter(({ table }) => table === 1)
          .map(({ columns: [from, to] }) => to - from);
        expect([...widths].sort()).toEqual([2, 3]);
        layer.setWeights(tablesOf(sizes));
        expect(valuesOf(layer.getWeights())).toEqual(tablesOf(sizes).map((table) => Array.from(table)));
        const ids = [[[1, 2]], [[3, 4]]];
        expect(takeAll(layer.apply(ids))).toEqual(alone(sizes, tablesOf(sizes), ids));
        layer.dispose();
      }),
    );
  });

  it('joins outputs of shared tables whose slices were merged', async () => {
    // Upstream mistakes inputs for tables here.
    const sizes: Size[] = [[100, 8, 'sum'], [5, 8, 'sum'], [10, 8, 'sum'], [25, 4, 'sum']]; // prettier-ignore
    const map = [3, 0, 1, 3, 2, 3];
    await withTpuEmulator(
      { chips: 4 },
      leakFree(() => {
        const layer = emb.layers.distributedEmbedding({
          embeddings: items(sizes),
          inputTableMap: map,
          strategy: 'memory_balanced',
          columnSliceThreshold: 45,
        });
        layer.build();
        layer.setWeights(tablesOf(sizes));
        const used = map.map((table) => sizes[table]!);
        const tables = map.map((table) => tablesOf(sizes)[table]!);
        const x = idTensors(used);
        const given = takeAll(layer.apply(x));
        expect(given).toEqual(alone(used, tables, x));
        tf.dispose(x);
        layer.dispose();
      }),
    );
  });

  it('serves a single narrow table on many devices', async () => {
    await withTpuEmulator(
      { chips: 8 },
      leakFree(() => {
        const make = (rowFallback: boolean): emb.DistributedEmbedding =>
          emb.layers.distributedEmbedding({ embeddings: items([[40, 2, 'sum']]), rowFallback });
        const layer = make(true);
        layer.build();
        expect(layoutKinds(layer)).toEqual(['rows']);
        layer.dispose();
        expectError(() => make(false).build(), 'ValueError', 'columnSliceThreshold');
      }),
    );
  });

  it('takes inputs by device, with batches that do not divide', async () => {
    await withTpuEmulator(
      { chips: 3 },
      leakFree(() => {
        const args = {
          embeddings: items(),
          columnSliceThreshold: 60,
          strategy: 'memory_balanced',
          dpInput: false,
        } as const;
        const layer = emb.layers.distributedEmbedding(args);
        layer.build();
        layer.setWeights(tablesOf());
        const x = idTensors();
        const byDevice = layer.plan!.ranks.map(({ tableParallel }) => tableParallel!.inputIdsGlobal);
        expect(byDevice.flat().length).toBeGreaterThan(SIZES.length);
        emb.tpuEmulator().resetCounters();
        const given = takeAll(layer.apply(byDevice.map((inputs) => inputs.map((input) => x[input]!))));
        const sent = emb.tpuEmulator().counters().links.ids.flat();
        expect(sent.every((ids) => ids === 0)).toBeTrue();
        expect(given).toEqual(alone(SIZES, tablesOf(), x));
        expect(layer.splitByDevice(x)).toEqual(byDevice.map((inputs) => inputs.map((input) => x[input]!)));
        expect(takeAll(layer.apply(layer.splitByDevice(x) as never))).toEqual(given);
        expectError(() => layer.splitByDevice(x.slice(1)), 'ValueError', 'inputs');
        expectError(() => layer.splitByDevice(null), 'TypeError', 'inputs');
        // So do pairs, which are compared by what they hold.
        const pairs = byDevice.map((inputs) =>
          inputs.map((input) => {
            const [batch, length] = x[input]!.shape as [number, number];
            const rowSplits = Int32Array.from({ length: batch + 1 }, (_, row) => row * length);
            return { values: x[input]!.flatten(), rowSplits };
          }),
        );
        expect(takeAll(layer.apply(pairs))).toEqual(given);
        tf.dispose(pairs);
        // A later device repeats a feature that an earlier one has; its ids must be the same.
        const before = new Set([...byDevice[0]!, ...byDevice[1]!]);
        const place = byDevice[2]!.findIndex((input) => before.has(input));
        const repeated = `inputs[2][${place}]`;
        expect(place).toBeGreaterThanOrEqual(0);
        const wrong = byDevice.map((inputs, device) => inputs.map((input) => (device === 2 ? [[0, 0]] : x[input]!)));
        expectError(() => layer.apply(wrong), 'ValueError', repeated, 'other ids');
        const wrongPair = byDevice.map((inputs, device) => {
          return inputs.map((input) => (device === 2 ? { values: [0], rowSplits: [0, 1] } : x[input]!));
        });
        expectError(() => layer.apply(wrongPair), 'ValueError', repeated, 'other ids');
        // An id outside its table is told where the first device that takes it has it.
        const last = byDevice[0]!.at(-1)!;
        const far = x[last]!.add(10000);
        const stray = byDevice.map((inputs) => inputs.map((input) => (input === last ? far : x[input]!)));
        const firstPlace = `inputs[0][${byDevice[0]!.length - 1}]`;
        expectError(() => layer.apply(stray), 'ValueError', firstPlace, /^100\d\d at \[0, 0\] \(layer /);
        far.dispose();
        expectError(() => layer.apply(x), 'ValueError', 'inputs');
        expectError(() => layer.apply([[x[0]], [], []]), 'ValueError', 'inputs[0]');
        tf.dispose(x);
        layer.dispose();
      }),
    );
  });

  it('names the feature whose ids are missing on a device', async () => {
    await withTpuEmulator(
      { chips: 2 },
      leakFree(() => {
        const layer = emb.layers.distributedEmbedding({ embeddings: items(), dpInput: false });
        layer.build();
        const inputs = layer.plan!.ranks.map(({ tableParallel }) =>
          (tableParallel?.inputIdsGlobal ?? []).map((): unknown => [[0], [0]]),
        );
        for (const missing of [null, undefined]) {
          const given = inputs.map((features) => [...features]);
          given[1]![0] = missing;
          expectError(() => layer.apply(given as never), 'TypeError', 'inputs[1][0]');
        }
        layer.dispose();
      }),
    );
  });

  it('follows a plan made by hand, and refuses one that does not fit', async () => {
    const tables = items().map(({ inputDim, outputDim, combiner }, i) => {
      return { name: `table_${i}`, inputDim: inputDim!, outputDim: outputDim!, combiner: combiner! };
    });
    const plan = emb.planEmbedding({ tables, worldSize: 3, rowSliceThreshold: 1 });
    await withTpuEmulator({ chips: 3 }, () => {
      const layer = emb.layers.distributedEmbedding({ embeddings: items(), plan: JSON.stringify(plan) });
      layer.build();
      expect(layer.plan!.toJSON()).toEqual(plan.toJSON());
      expect(layoutKinds(layer)).toEqual(['rows', 'rows', 'rows', 'rows']);
      layer.dispose();
      const changed = plan.toJSON();
      changed.ranks[0]!.rowSlice!.pop();
      expectError(
        () => emb.layers.distributedEmbedding({ embeddings: items(), plan: changed }),
        'ValueError',
        'plan',
        /table 3/,
      );
      const other = { embeddings: items(), inputTableMap: [1, 0, 2, 3], plan };
      expectError(() => emb.layers.distributedEmbedding(other), 'ValueError', 'plan', /input 0 has table 1/);
      const four = emb.planEmbedding({ tables, worldSize: 4, rowSliceThreshold: 1 });
      expectError(
        () => emb.layers.distributedEmbedding({ embeddings: items(), plan: four }).build(),
        'ValueError',
        'plan',
        /4/,
      );
    });
  });

  it('trains equally where a plan has ranges of rows out of the order of devices', async () => {
    const tables = items().map(({ inputDim, outputDim, combiner }, i) => {
      return { name: `table_${i}`, inputDim: inputDim!, outputDim: outputDim!, combiner: combiner! };
    });
    const plan = emb.planEmbedding({ tables, worldSize: 3, rowSliceThreshold: 1 }).toJSON();
    const swapped = emb.planEmbedding({ tables, worldSize: 3, rowSliceThreshold: 1 }).toJSON();
    const [first, , last] = swapped.ranks;
    [first!.rowSlice, last!.rowSlice] = [last!.rowSlice!, first!.rowSlice!];
    await withTpuEmulator({ chips: 3 }, async () => {
      const [wanted, found] = [await trained({ plan }), await trained({ plan: swapped })];
      expect(found).toEqual(wanted);
    });
  });

  it('moves tables when the backend or its devices change', async () => {
    const x = idTensors();
    const layer = emb.layers.distributedEmbedding({ embeddings: items(), seed: 9, rowSliceThreshold: 100 });
    const optimizer = emb.train.adagrad({ learningRate: 0.1 });
    const step = (): number[] => {
      optimizer.minimize(
        () => tf.addN((layer.apply(x) as tf.Tensor[]).map((each) => each.square().sum())) as tf.Scalar,
      );
      return takeAll(layer.apply(x)).flat();
    };
    const first = step();
    expect(layer.plan!.ranks.length).toBe(1);
    let second: number[] = [];
    let third: number[] = [];
    for (const chips of [3, 8]) {
      await withTpuEmulator({ chips }, async () => {
        if (chips === 3) second = step();
        else third = step();
        expect(layer.plan!.ranks.length).toBe(chips);
        expect(layoutKinds(layer)[3]).toBe('rows');
        // Back to the host before the devices end.
        await tf.setBackend('cpu');
        takeAll(layer.apply(x));
        optimizer.minimize(
          () => tf.addN((layer.apply(x) as tf.Tensor[]).map((each) => each.mul(0).sum())) as tf.Scalar,
        );
      });
    }
    const again = emb.layers.distributedEmbedding({ embeddings: items(), seed: 9 });
    const other = emb.train.adagrad({ learningRate: 0.1 });
    const reference = (): number[] => {
      other.minimize(() => tf.addN((again.apply(x) as tf.Tensor[]).map((each) => each.square().sum())) as tf.Scalar);
      return takeAll(again.apply(x)).flat();
    };
    for (const values of [first, second, third]) expectClose(values, reference(), 1e-5);
    tf.dispose(x);
    for (const each of [layer, again]) each.dispose();
    for (const each of [optimizer, other]) each.dispose();
  });

  it('makes tables on the devices, from any initializer, as on the host', async () => {
    const kinds = [
      tf.initializers.randomNormal({ seed: 3 }),
      tf.initializers.varianceScaling({ scale: 2, mode: 'fanIn', distribution: 'normal' }),
      'ones',
      tf.initializers.orthogonal({ gain: 1, seed: 4 }),
      'orthogonal',
    ];
    const make = (): number[][] => {
      const layer = emb.layers.distributedEmbedding({
        embeddings: kinds.map((embeddingsInitializer) => {
          return { inputDim: 9, outputDim: 6, combiner: 'sum', embeddingsInitializer } as never;
        }),
        columnSliceThreshold: 20,
        seed: 1,
      });
      layer.build();
      const values = valuesOf(layer.getWeights());
      layer.dispose();
      return values;
    };
    const here = make();
    await withTpuEmulator(
      { chips: 3 },
      leakFree(() => expect(make()).toEqual(here)),
    );
  });

  it('frees the devices of a table whose initializer fails', async () => {
    const embeddingsInitializer = tf.initializers.identity({});
    const table = { inputDim: 10, outputDim: 4, combiner: 'sum' } as const;
    await withTpuEmulator(
      { chips: 2 },
      leakFree(() => {
        const held = (): number[] =>
          (tf.memory() as unknown as { devices: { tables: number }[] }).devices.map(({ tables }) => tables);
        const layer = emb.layers.distributedEmbedding({ embeddings: [table, { ...table, embeddingsInitializer }] });
        for (let attempt = 0; attempt < 2; attempt++) {
          expectError(() => layer.build(), 'ValueError', 'embeddingsInitializer');
          expect(held()).toEqual([0, 0]);
        }
      }),
    );
  });

  it('keeps whole rows together where the optimizer, a norm or a constraint needs them', async () => {
    await withTpuEmulator({ chips: 2 }, () => {
      const table = { inputDim: 9, outputDim: 6, combiner: 'sum' } as const;
      const layer = emb.layers.distributedEmbedding({
        columnSliceThreshold: 10,
        embeddings: [
          { ...table, optimizer: emb.train.rowWiseAdagrad() },
          { ...table, maxNorm: 1 },
          { ...table, embeddingsConstraint: tf.constraints.unitNorm({ axis: 1 }) },
          { ...table, optimizer: emb.train.sgd({ clipNorm: 1 }) },
          table,
        ],
      });
      layer.build();
      expect(layer.weights.map((weight) => currentBackend().store.devices!.layoutOf(weight.read())!.shards.length)).toEqual([1, 1, 1, 1, 2]); // prettier-ignore
      layer.dispose();
    });
  });

  it('says which device lacks memory, leaves nothing, and can be built on another machine', async () => {
    // Whole, as the threshold says.
    const layer = emb.layers.distributedEmbedding({ embeddings: items(), columnSliceThreshold: 1e6 });
    await withTpuEmulator(
      { chips: 2, hbmBytesPerChip: 1000 },
      leakFree(() => {
        expectError(() => layer.build(), 'ValueError', `${layer.name}/table_3/embeddings`, /1200 bytes/);
      }),
    );
    await withTpuEmulator({ chips: 2 }, () => {
      layer.build();
      expect(layer.plan!.ranks.length).toBe(2);
      layer.dispose();
    });
  });

  it('is planned so that it fits where anything does', async () => {
    const bytes = items().reduce((sum, { inputDim, outputDim }) => sum + 4 * inputDim! * outputDim!, 0);
    for (const [chips, part] of [
      [2, 0.75],
      [4, 0.4],
    ] as const) {
      const room = Math.ceil(part * bytes);
      await withTpuEmulator({ chips, hbmBytesPerChip: room }, () => {
        const layer = emb.layers.distributedEmbedding({ embeddings: items() });
        layer.build();
        for (const { memory } of emb.tpuEmulator().counters().devices) expect(memory.tables).toBeLessThanOrEqual(room);
        layer.dispose();
      });
    }
  });

  it('shows its plan in the report until it is disposed', async () => {
    await withTpuEmulator({ chips: 2 }, () => {
      const layer = emb.layers.distributedEmbedding({ embeddings: items(), name: 'shown' });
      layer.build();
      expect(JSON.stringify(emb.tpuEmulator().report())).toContain('shown');
      layer.dispose();
      expect(JSON.stringify(emb.tpuEmulator().report())).not.toContain('shown');
    });
  });

  it('insists on devices for the placement sparsecore', async () => {
    const table = new emb.TableConfig({ name: 't', vocabularySize: 4, embeddingDim: 2, placement: 'sparsecore' });
    const features = new emb.FeatureConfig({ name: 'f', table, inputShape: [2, 1], outputShape: [2, 2] });
    const layer = emb.layers.distributedEmbedding({ features });
    expectError(() => layer.build(), 'ValueError', 'placement', /cpu/);
    await withTpuEmulator({ chips: 2 }, () => {
      const [pooled] = takeAll([layer.apply([[1], [2]])]);
      expect(pooled!.length).toBe(4);
      layer.dispose();
    });
  });
});
