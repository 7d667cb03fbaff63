/** Wrong arguments of `distributedEmbedding`, `TableConfig` and `FeatureConfig`, wrong inputs and wrong tables. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';
import {
  describeWrongArguments,
  disposedTensor,
  expectFacts,
  hostileValues,
  made,
  thrownBy,
  useCpu,
  type Wrong,
} from './wrong_arguments.js';

const NUMBER: readonly Wrong[] = [
  ['text', '3', 'TypeError'],
  ['-1', -1, 'ValueError'],
  ['NaN', NaN, 'ValueError'],
];
const BOOLEAN: readonly Wrong[] = [['1', 1, 'TypeError'], ['text', 'true', 'TypeError']]; // prettier-ignore
const embeddings = (): emb.DistributedItem[] => [
  { inputDim: 3, outputDim: 2, combiner: 'sum', name: 'first' },
  { inputDim: 4, outputDim: 2, combiner: 'mean' },
];

describe('DistributedEmbedding', () => {
  beforeAll(useCpu);

  describeWrongArguments('distributedEmbedding', {
    right: () => ({ embeddings: embeddings() }),
    call: (args) => emb.layers.distributedEmbedding(args as never),
    wrong: {
      embeddings: [
        ['nothing', undefined, 'TypeError'],
        ['an object', {}, 'TypeError'],
        ['an empty list', [], 'ValueError'],
        ['a list of numbers', [3], 'TypeError', 'embeddings[0]'],
        ['a dense layer', [tf.layers.dense({ units: 1 })], 'TypeError', 'embeddings[0]'],
        ['an item without rows', [{ outputDim: 2 }], 'TypeError', 'embeddings[0].inputDim'],
        ['an item without columns', [{ inputDim: 2, outputDim: 0 }], 'ValueError', 'embeddings[0].outputDim'],
        ['a misspelt field', [{ input_dim: 3, outputDim: 2 }], 'ValueError', 'embeddings[0].input_dim'],
        ['an unknown combiner', [{ inputDim: 2, outputDim: 2, combiner: 'product' }], 'ValueError', 'embeddings[0].combiner'], // prettier-ignore
        ['two tables of one name', [{ inputDim: 2, outputDim: 2, name: 'a' }, { inputDim: 2, outputDim: 2, name: 'a' }], 'ValueError', 'embeddings[1].name'], // prettier-ignore
        ['a table that is none', [{ table: {} }], 'TypeError', 'embeddings[0].table'],
        ['weights of another shape', [{ inputDim: 2, outputDim: 2, weights: [[[1, 2]]] }], 'ValueError', 'embeddings[0].weights'], // prettier-ignore
      ],
      inputTableMap: [
        ['text', '01', 'TypeError'],
        ['an empty list', [], 'ValueError'],
        ['no such table', [0, 2], 'ValueError', 'inputTableMap[1]'],
        ['a fraction', [0.5], 'ValueError', 'inputTableMap[0]'],
        ['text in the list', ['0'], 'TypeError', 'inputTableMap[0]'],
      ],
      strategy: [['an unknown one', 'best', 'ValueError'], ['a number', 3, 'TypeError']], // prettier-ignore
      columnSliceThreshold: NUMBER,
      rowSliceThreshold: NUMBER,
      dataParallelThreshold: NUMBER,
      deviceMemory: NUMBER,
      dpInput: BOOLEAN,
      rowFallback: BOOLEAN,
      trainable: BOOLEAN,
      rowSharding: [['an unknown one', 'div', 'ValueError']],
      hotness: [['too few', [1], 'ValueError'], ['text', [1, '1'], 'TypeError', 'hotness[1]'], ['-1', [1, -1], 'ValueError', 'hotness[1]']], // prettier-ignore
      batchSize: [['0', 0, 'ValueError'], ['text', '8', 'TypeError']], // prettier-ignore
      seed: [['text', '1', 'TypeError'], ['a fraction', 1.5, 'ValueError']], // prettier-ignore
      plan: [
        ['no JSON', '{', 'ValueError'],
        ['no plan', { ranks: [] }, 'ValueError'],
        ['a list', [], 'TypeError'],
        ['a plan of other tables', made(() => emb.planEmbedding({ tables: [{ inputDim: 3, outputDim: 2 }], worldSize: 2 })), 'ValueError'], // prettier-ignore
      ],
      weightedFeatures: [['a number', 1, 'TypeError'], ['no such feature', [2], 'ValueError']], // prettier-ignore
      name: [['a number', 3, 'TypeError'], ['a space', 'a b', 'ValueError']], // prettier-ignore
      dtype: [['float64', 'float64', 'TypeError']],
    },
    welcome: {
      dpInput: ['true'],
      rowFallback: ['true'],
      trainable: ['true'],
      plan: ['an object without prototype', 'an instance of a class'],
    },
  });

  const config = (args: object): emb.TableConfig =>
    new emb.TableConfig({ name: 't', vocabularySize: 3, embeddingDim: 2, ...args });

  const feature = (): emb.FeatureConfig =>
    new emb.FeatureConfig({ name: 'f', table: config({}), inputShape: [2, 3], outputShape: [2, 2] });

  describeWrongArguments('distributedEmbedding of features', {
    right: () => ({ features: [feature()] }),
    call: (args) => emb.layers.distributedEmbedding(args as never),
    wrong: {
      features: [
        ['nothing', undefined, 'TypeError', 'embeddings'],
        ['an empty list', [], 'ValueError'],
        ['a number within', { a: [3] }, 'TypeError', 'features.a[0]'],
        ['a table', { a: config({}) }, 'TypeError', 'features.a'],
        ['two tables of one name', [feature(), feature()], 'ValueError', 'table t.name'],
      ],
      inputTableMap: [['a list', [0], 'ValueError']],
    },
    welcome: { features: ['an object without prototype'], inputTableMap: hostileValues().map(([what]) => what) },
  });

  it('takes either embeddings or features, and no layer that was built', () => {
    const both = thrownBy(() =>
      emb.layers.distributedEmbedding({ embeddings: embeddings(), features: feature() } as never),
    );
    expectFacts(both, 'ValueError', 'embeddings', 'both');
    const layer = emb.layers.embedding({ inputDim: 3, outputDim: 2 });
    tf.dispose(layer.apply(tf.zeros([1], 'int32')) as tf.Tensor);
    const used = thrownBy(() => emb.layers.distributedEmbedding({ embeddings: [layer] }));
    expectFacts(used, 'ValueError', 'embeddings[0]', 'a layer that was built');
    layer.dispose();
  });

  describeWrongArguments('TableConfig', {
    right: () => ({ name: 't', vocabularySize: 3, embeddingDim: 2 }),
    call: (args) => void new emb.TableConfig(args as never),
    wrong: {
      name: [['nothing', undefined, 'TypeError'], ['empty', '', 'ValueError']], // prettier-ignore
      vocabularySize: [['0', 0, 'ValueError'], ['text', '3', 'TypeError'], ['nothing', undefined, 'TypeError']], // prettier-ignore
      embeddingDim: [['0', 0, 'ValueError'], ['2.5', 2.5, 'ValueError']], // prettier-ignore
      initializer: [['an unknown name', 'gaussian', 'ValueError']],
      optimizer: [
        ['an unknown name', 'nadam', 'ValueError'],
        ['a stock optimizer', made(() => tf.train.adagrad(0.1)), 'TypeError'],
        ['one of Keras that has no counterpart', { class_name: 'Nadam', config: {} }, 'ValueError'],
        ['averages', { class_name: 'SGD', config: { use_ema: true } }, 'ValueError', 'optimizer.useEma'],
        ['momentum', { class_name: 'SGD', config: { momentum: 2 } }, 'ValueError', 'momentum'],
        ['a clipped norm', { class_name: 'Adam', config: { clipnorm: 1 } }, 'ValueError', 'optimizer.clipnorm'],
      ],
      combiner: [['an unknown one', 'product', 'ValueError'], ['a number', 1, 'TypeError']], // prettier-ignore
      placement: [['an unknown one', 'tensorcore', 'ValueError'], ['a number', 1, 'TypeError']], // prettier-ignore
      maxIdsPerPartition: [['0', 0, 'ValueError'], ['text', '8', 'TypeError']], // prettier-ignore
      maxUniqueIdsPerPartition: [['0', 0, 'ValueError']],
    },
  });

  describeWrongArguments('FeatureConfig', {
    right: () => ({ name: 'f', table: config({}), inputShape: [2, 3], outputShape: [2, 2] }),
    call: (args) => void new emb.FeatureConfig(args as never),
    wrong: {
      name: [['a number', 3, 'TypeError'], ['empty', '', 'ValueError']], // prettier-ignore
      table: [['an object', {}, 'TypeError'], ['null', null, 'TypeError']], // prettier-ignore
      inputShape: [['a number', 3, 'TypeError'], ['no axis', [], 'ValueError'], ['-1', [-1], 'ValueError'], ['text', ['2'], 'TypeError']], // prettier-ignore
      outputShape: [['nothing', undefined, 'TypeError'], ['a fraction', [0.5], 'ValueError']], // prettier-ignore
    },
  });

  const ids = (): number[][] => [[0, 1]];
  const refused = (
    layer: emb.DistributedEmbedding,
    inputs: unknown,
    name: Wrong[2],
    at: string,
    kwargs?: object,
  ): void => {
    const tensors = tf.memory().numTensors;
    expectFacts(thrownBy(() => layer.apply(inputs, kwargs as never)), name, at, at); // prettier-ignore
    expect(tf.memory().numTensors).withContext(at).toBe(tensors);
  };

  it('refuses wrong inputs, naming the feature', () => {
    const layer = emb.layers.distributedEmbedding({ embeddings: [...embeddings(), { inputDim: 5, outputDim: 1 }] });
    layer.build();
    const one = tf.tensor2d([[1, 1]], [1, 2], 'int32');
    const weights = tf.ones([1, 2]);
    refused(layer, undefined, 'TypeError', 'inputs');
    refused(layer, [ids(), ids()], 'ValueError', 'inputs');
    refused(layer, [ids(), ids(), ids(), ids()], 'ValueError', 'inputs');
    refused(layer, [ids(), null, ids()], 'TypeError', 'inputs[1]');
    refused(layer, [ids(), 'text', ids()], 'TypeError', 'inputs[1]');
    refused(layer, [ids(), [[0.5]], ids()], 'ValueError', 'inputs[1]');
    refused(layer, [ids(), [1, 2], ids()], 'ValueError', 'inputs[1]');
    refused(layer, [ids(), ids(), { indices: [[0, 0]], values: [1], denseShape: [1, 1] }], 'ValueError', 'inputs[2]');
    refused(layer, [[one, weights], ids(), ids()], 'ValueError', 'inputs[0]');
    refused(layer, [one, weights, one, weights, one], 'ValueError', 'inputs');
    refused(layer, [ids(), ids(), ids()], 'ValueError', 'weights[2]', { weights: [null, null, [[1, 1]]] });
    refused(layer, [ids(), ids(), ids()], 'ValueError', 'weights[0]', { weights: [[[1]], null, null] });
    refused(layer, [ids(), ids(), ids()], 'ValueError', 'weights', { weights: [null] });
    refused(layer, [[[0, 3]], ids(), ids()], 'ValueError', 'inputs[0]');
    refused(layer, [ids(), [[2 ** 30, 0]], ids()], 'ValueError', 'inputs[1]');
    for (const [, value] of hostileValues()) {
      expect(thrownBy(() => layer.apply([ids(), value as never, ids()]))).toBeInstanceOf(TypeError);
      expect(thrownBy(() => layer.apply(value as never))).toBeInstanceOf(TypeError);
    }
    tf.dispose([one, weights]);
    layer.dispose();
  });

  it('refuses symbolic inputs that do not fit', () => {
    const layer = emb.layers.distributedEmbedding({ embeddings: embeddings() });
    const [a, b] = [1, 2].map(() => tf.input({ shape: [2], dtype: 'int32' }));
    const w = tf.input({ shape: [2] });
    refused(layer, [a, ids()], 'TypeError', 'inputs');
    const flat = tf.input({ batchShape: [null], dtype: 'int32' } as never);
    expectFacts(
      thrownBy(() => layer.apply([a, flat] as never)),
      'ValueError',
      'inputs[1]',
      'rank 1',
    );
    layer.apply([a, b] as never, { weights: [w, null] });
    expectFacts(
      thrownBy(() => layer.apply([a, b] as never)),
      'ValueError',
      'weights',
      'no weights any more',
    );
    layer.dispose();
  });

  it('refuses tables that do not fit, and writes none then', () => {
    const directory = mkdtempSync(join(tmpdir(), 'tables-'));
    const path = join(directory, 'table.npy');
    const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }`.padEnd(117) + '\n';
    const start = Buffer.concat([Buffer.from([0x93]), Buffer.from('NUMPY'), Buffer.from([1, 0, 118, 0])]);
    writeFileSync(path, Buffer.concat([start, Buffer.from(header), Buffer.from(new Float32Array(4).buffer)]));
    const layer = emb.layers.distributedEmbedding({ embeddings: embeddings() });
    const good = [[1, 2], [3, 4], [5, 6]]; // prettier-ignore
    const other = [...good, [7, 8]];
    const early = thrownBy(() => layer.setWeights([good, other]));
    expectFacts(early, 'RuntimeError', 'setWeights', 'before it was built');
    expectFacts(thrownBy(() => layer.getTables()), 'RuntimeError', 'getTables', 'before it was built'); // prettier-ignore
    expectFacts(thrownBy(() => layer.setTables({})), 'RuntimeError', 'setTables', 'before it was built'); // prettier-ignore
    // Weights of layers are watched from the first such table on; what a layer takes beside them passes.
    const packed = emb.layers.embedding({ inputDim: 2, outputDim: 2, combiner: 'sum', storage: 'float16' });
    tf.tidy(() => void packed.apply(tf.zeros([1, 1], 'int32')));
    packed.dispose();
    layer.build();
    layer.setWeights([good, other]);
    const state = (): number[][] => layer.getWeights().map((each) => Array.from(each.dataSync()));
    const before = state();
    const disposed = disposedTensor([4, 2])();
    const cases: [unknown, Wrong[2], string][] = [
      [good, 'ValueError', 'weights'],
      ['text', 'TypeError', 'weights'],
      [[other, good], 'ValueError', 'weights[0]'],
      [[[[0, 0], [0, 0], [0, 0]], good], 'ValueError', 'weights[1]'], // prettier-ignore
      [[[[0, 0], [0, 0], [0, 0]], null], 'TypeError', 'weights[1]'], // prettier-ignore
      [[[[0, 0], [0, 0], [0, 0]], disposed], 'ValueError', 'weights[1]'], // prettier-ignore
      [[[[0, 0], [0, 0], [0, 0]], path], 'ValueError', 'weights[1]'], // prettier-ignore
      [[[[0, 0], [0, 0], [0, 0]], join(directory, 'none.npy')], 'ValueError', 'weights[1]'], // prettier-ignore
    ];
    for (const [weights, name, argument] of cases) {
      expectFacts(thrownBy(() => layer.setWeights(weights as never)), name, argument, argument); // prettier-ignore
      expect(state()).toEqual(before);
    }
    const named = thrownBy(() => layer.setTables({ first: [[0, 0], [0, 0], [0, 0]], second: other })); // prettier-ignore
    expectFacts(named, 'ValueError', 'tables["second"]', 'an unknown name');
    const shape = thrownBy(() => layer.setTables({ table_1: [[0, 0]] }));
    expectFacts(shape, 'ValueError', 'tables["table_1"]', 'another shape');
    const chunk = thrownBy(() => layer.setWeights([good, other], { chunkElements: 0 }));
    expectFacts(chunk, 'ValueError', 'chunkElements', '0');
    expect(state()).toEqual(before);
    layer.dispose();
    rmSync(directory, { recursive: true });
  });

  it('reads tables from files, in pieces, on the host and on devices', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tables-'));
    const path = join(directory, 'table.npy');
    const values = Float32Array.from({ length: 60 }, (_, i) => i / 4);
    const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (20, 3), }`.padEnd(117) + '\n';
    const start = Buffer.concat([Buffer.from([0x93]), Buffer.from('NUMPY'), Buffer.from([1, 0, 118, 0])]);
    writeFileSync(path, Buffer.concat([start, Buffer.from(header), Buffer.from(values.buffer)]));
    const check = (): void => {
      const layer = emb.layers.distributedEmbedding({ embeddings: [{ inputDim: 20, outputDim: 3 }] });
      layer.build();
      layer.setWeights([path], { chunkElements: 7 });
      expect(layer.getWeights()[0]!.dataSync()).toEqual(values);
      layer.setWeights([values.slice().fill(2)], { chunkElements: 7 });
      expect(layer.getWeights()[0]!.dataSync()).toEqual(values.slice().fill(2));
      layer.dispose();
    };
    check();
    await withTpuEmulator({ chips: 3 }, check);
    rmSync(directory, { recursive: true });
  });
});
