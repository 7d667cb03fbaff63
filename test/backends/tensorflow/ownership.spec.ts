import * as tf from '@tensorflow/tfjs';
import { NEUTRAL_HYPER, packHyper } from '../../../src/rules/hyper.js';
import type { BagOptions } from '../../../src/backends/kernel_set.js';
import { currentBackend } from '../../../src/backends/registry.js';
import { Ownership } from '../../../src/backends/tensorflow/ownership.js';
import { describeTensorFlow, nodeBackend } from './tensorflow_backend.js';
import { stepVariable } from '../../helpers/kernel_calls.js';

const ROWS = 64;
const DIM = 16;
const OPTIONS: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
const HYPER = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });

function counting(): Float32Array {
  return Float32Array.from({ length: ROWS * DIM }, (_, i) => i);
}

/** Steps every row once, so that a shared buffer cannot go unnoticed. */
function step(table: tf.Variable, slots: tf.Variable[] = []): void {
  tf.tidy(() => {
    const values = tf.range(0, ROWS, 1, 'int32');
    const rowSplits = tf.range(0, ROWS + 1, 1, 'int32');
    const gradient = tf.ones<tf.Rank.R2>([ROWS, DIM]);
    const name = slots.length === 0 ? 'sgd' : 'adagrad';
    stepVariable(currentBackend(), name, table, slots, gradient, { values, rowSplits, weights: null }, OPTIONS, HYPER);
  });
}

function copies(): number {
  return Ownership.of(nodeBackend()).copies;
}

/** Ways to look at a table, each giving tensors that must never change. */
const SNAPSHOTS: Record<string, (table: tf.Tensor2D) => tf.Tensor | tf.Tensor[]> = {
  clone: (t) => t.clone(),
  'reshape to a vector': (t) => t.reshape([-1]),
  'reshape to the same shape': (t) => t.reshape([ROWS, DIM]),
  'slice of everything': (t) => t.slice([0, 0]),
  'slice of whole rows': (t) => t.slice([3, 0], [10, DIM]),
  'slice of columns': (t) => t.slice([0, 2], [ROWS, 3]),
  'stridedSlice of whole rows': (t) => t.stridedSlice([8, 0], [40, DIM], [1, 1]),
  expandDims: (t) => t.expandDims(0),
  'squeeze after expandDims': (t) => t.expandDims(0).squeeze([0]),
  split: (t) => tf.split(t, 4),
  'split in one': (t) => tf.split(t, 1),
  unstack: (t) => tf.unstack(t),
  'identity transpose': (t) => tf.transpose(t, [0, 1]),
  transpose: (t) => t.transpose(),
  'transpose of the expanded': (t) => t.expandDims(2).transpose([2, 0, 1]),
  'tile by 1': (t) => t.tile([1, 1]),
  'pad by 0': (t) =>
    t.pad([
      [0, 0],
      [0, 0],
    ]),
  'stack of one': (t) => tf.stack([t]),
  'concat of one': (t) => tf.concat([t]),
  'concat with nothing': (t) => tf.concat([t, tf.zeros([0, DIM])]),
  'cast to the same type': (t) => t.cast('float32'),
  'dropout of nothing': (t) => tf.dropout(t, 0),
  'broadcastTo the same shape': (t) => tf.broadcastTo(t, [ROWS, DIM]),
  'sum over an axis of one': (t) => t.expandDims(0).sum(0),
  'mean over no axis of many': (t) => t.reshape([ROWS, 1, DIM]).mean(1),
  'max over an axis of one': (t) => t.expandDims(2).max(2),
  'addN of one': (t) => tf.addN([t]),
  'where with one condition': (t) => tf.where(tf.scalar(true).broadcastTo([ROWS, DIM]), t, tf.zerosLike(t)),
  'reverse of an axis of one': (t) => t.expandDims(0).reverse(0),
  'reverse of no axis': (t) => t.reverse([]),
  'gather of all rows': (t) => t.gather(tf.range(0, ROWS, 1, 'int32')),
  'gather of a prefix in order': (t) => t.gather(tf.tensor1d([0], 'int32')),
  gatherND: (t) => tf.gatherND(t, tf.tensor2d([[1], [2]], [2, 1], 'int32')),
  'batchToSpaceND of nothing': (t) =>
    t.reshape([1, ROWS, DIM, 1]).batchToSpaceND(
      [1, 1],
      [
        [0, 0],
        [0, 0],
      ],
    ),
  depthToSpace: (t) => tf.depthToSpace(t.reshape([1, ROWS, 4, 4]) as tf.Tensor4D, 2),
  'cumsum over an axis of one': (t) => t.expandDims(0).cumsum(0),
  'resize to the same size': (t) => tf.image.resizeBilinear(t.reshape([1, ROWS, DIM, 1]) as tf.Tensor4D, [ROWS, DIM]),
  'average pool of one': (t) => tf.avgPool(t.reshape([1, ROWS, DIM, 1]) as tf.Tensor4D, 1, 1, 'valid'),
  'max pool of one': (t) => tf.maxPool(t.reshape([1, ROWS, DIM, 1]) as tf.Tensor4D, 1, 1, 'valid'),
  'scatter over the whole': (t) => tf.tensorScatterUpdate(t, tf.tensor2d([[0]], [1, 1], 'int32'), tf.zeros([1, DIM])),
  'mirrorPad by 0': (t) =>
    tf.mirrorPad(
      t,
      [
        [0, 0],
        [0, 0],
      ],
      'reflect',
    ),
  'complex and back': (t) => tf.real(tf.complex(t, tf.zerosLike(t))),
  // Ops that are taken to copy always: with a neutral second input where there is one.
  'add 0': (t) => t.add(0),
  'sub 0': (t) => t.sub(0),
  'mul 1': (t) => t.mul(1),
  'div 1': (t) => t.div(1),
  'divNoNan 1': (t) => tf.divNoNan(t, tf.scalar(1)),
  'pow 1': (t) => t.pow(1),
  'maximum and minimum': (t) => [t.maximum(-1), t.minimum(1e9)],
  squaredDifference: (t) => tf.squaredDifference(t, tf.scalar(0)),
  'matMul with the identity': (t) => [t.matMul(tf.eye(DIM)), tf.matMul(tf.eye(ROWS), t), t.matMul(t, false, true)],
  unary: (t) => [
    ...[t.neg(), t.abs(), t.sign(), t.square(), t.sqrt(), t.rsqrt(), t.reciprocal(), t.exp(), t.expm1(), t.log()],
    ...[t.log1p(), t.sigmoid(), t.tanh(), t.relu(), t.relu6(), t.elu(), t.selu(), t.leakyRelu(0.2), t.softplus()],
  ],
  comparisons: (t) => [
    ...[t.equal(0), t.notEqual(0), t.greater(0), t.greaterEqual(0), t.less(0), t.lessEqual(0)],
    ...[t.isNaN(), t.isInf(), t.isFinite()],
  ],
  unsortedSegmentSum: (t) => tf.unsortedSegmentSum(t, tf.range(0, ROWS, 1, 'int32'), ROWS),
  'what our own lookup gives': (t) =>
    tf.engine().runKernel(
      'EmbeddingBag',
      {
        table: t,
        values: tf.range(0, ROWS, 1, 'int32'),
        rowSplits: tf.range(0, ROWS + 1, 1, 'int32'),
      } as unknown as tf.NamedTensorMap,
      { ...OPTIONS } as never,
    ) as tf.Tensor,
};

describeTensorFlow('steps in place on tensorflow', () => {
  for (const [title, take] of Object.entries(SNAPSHOTS)) {
    it(`leave a snapshot alone: ${title}`, () => {
      const table = tf.tidy(() => tf.variable(tf.tensor2d(counting(), [ROWS, DIM])));
      const snapshots: tf.Tensor[] = [];
      const before: number[][] = [];
      // Before the first step, and when the buffer is already our own.
      for (let round = 0; round < 3; round++) {
        const taken = tf.tidy(() => take(table as unknown as tf.Tensor2D));
        for (const tensor of Array.isArray(taken) ? taken : [taken]) {
          snapshots.push(tensor);
          before.push([...tensor.dataSync()]);
        }
        for (let i = 0; i < 10; i++) step(table);
      }
      snapshots.forEach((tensor, i) => expect([...tensor.dataSync()]).toEqual(before[i]!));
      expect(table.dataSync()[0]).toBe(-30);
      tf.dispose([table, ...snapshots]);
    });
  }

  it('leave slots of a snapshot alone too', () => {
    const table = tf.tidy(() => tf.variable(tf.zeros([ROWS, DIM])));
    const slot = tf.tidy(() => tf.variable(tf.ones([ROWS, DIM])));
    step(table, [slot]);
    const flat = slot.reshape([-1]);
    const before = [...flat.dataSync()];
    for (let i = 0; i < 10; i++) step(table, [slot]);
    expect([...flat.dataSync()]).toEqual(before);
    expect(slot.dataSync()[0]).toBeCloseTo(12, 5);
    tf.dispose([table, slot, flat]);
  });

  it("never write into the user's own typed array", () => {
    // Whether TensorFlow shares a typed array is a matter of its alignment, so many are tried.
    for (let i = 0; i < 24; i++) {
      const own = counting();
      const tensor = tf.tensor2d(own, [ROWS, DIM]);
      const table = tf.variable(tensor);
      tensor.dispose();
      if (i % 2 === 0) tf.dispose(table.add(1)); // hands the array to TensorFlow
      for (let k = 0; k < 10; k++) step(table);
      expect([...own]).toEqual([...counting()]);
      table.dispose();
    }
  });

  it('leave what dataSync gave alone', () => {
    const table = tf.tidy(() => tf.variable(tf.tensor2d(counting(), [ROWS, DIM])));
    const first = table.dataSync();
    step(table);
    const second = table.dataSync();
    const secondBefore = [...second];
    for (let i = 0; i < 10; i++) step(table);
    expect([...first]).toEqual([...counting()]);
    expect([...second]).toEqual(secondBefore);
    table.dispose();
  });

  it('leave the source of an assignment alone', () => {
    const source = tf.tidy(() => tf.tensor2d(counting(), [ROWS, DIM]).add(0));
    const table = tf.tidy(() => tf.variable(tf.zeros([ROWS, DIM])));
    step(table);
    table.assign(source as tf.Tensor<never>);
    for (let i = 0; i < 10; i++) step(table);
    expect([...source.dataSync()]).toEqual([...counting()]);
    expect(table.dataSync()[1]).toBe(-9);
    tf.dispose([source, table]);
  });

  it('keep two variables apart that were made from one tensor', () => {
    const source = tf.tidy(() => tf.tensor2d(counting(), [ROWS, DIM]).add(0));
    const [a, b] = [tf.variable(source), tf.variable(source)];
    source.dispose();
    for (let i = 0; i < 10; i++) step(a);
    expect([...b.dataSync()]).toEqual([...counting()]);
    step(b);
    expect(a.dataSync()[0]).toBe(-10);
    expect(b.dataSync()[0]).toBe(-1);
    tf.dispose([a, b]);
  });

  it('leave the weights that a layer gave alone', () => {
    const layer = tf.layers.dense({ units: DIM, inputShape: [ROWS], useBias: false });
    const model = tf.sequential({ layers: [layer] });
    const table = layer.getWeights()[0] as tf.Variable;
    step(table);
    const kept = layer.getWeights()[0]!.clone();
    const before = [...kept.dataSync()];
    for (let i = 0; i < 10; i++) step(table);
    expect([...kept.dataSync()]).toEqual(before);
    kept.dispose();
    model.dispose();
  });

  it('leave a table alone that moved through another backend', async () => {
    const table = tf.tidy(() => tf.variable(tf.tensor2d(counting(), [ROWS, DIM])));
    step(table);
    await tf.setBackend('cpu');
    const live = tf.tidy(() => table.dataSync()); // the cpu backend hands out its own array
    tf.dispose(table.add(0));
    const onCpu = table.dataSync();
    const before = [...onCpu];
    await tf.setBackend('tensorflow');
    for (let i = 0; i < 10; i++) step(table);
    expect([...onCpu]).toEqual(before);
    expect([...live]).toEqual(before);
    expect(table.dataSync()[0]).toBe(-11);
    table.dispose();
  });

  it('copy once in a loop without reads, whatever its length', () => {
    const table = tf.tidy(() => tf.variable(tf.zeros([ROWS, DIM])));
    const slot = tf.tidy(() => tf.variable(tf.ones([ROWS, DIM])));
    const before = copies();
    for (let i = 0; i < 20; i++) step(table, [slot]);
    expect(copies() - before).toBe(2); // the table and its slot
    tf.dispose([table, slot]);
  });

  it('do not copy again when the table is only read, looked up or saved', async () => {
    const table = tf.tidy(() => tf.variable(tf.zeros([ROWS, DIM])));
    step(table);
    const before = copies();
    for (let i = 0; i < 5; i++) {
      table.dataSync();
      await table.data();
      tf.tidy(() => {
        table.gather(tf.tensor1d([1, 2], 'int32'));
        table.square().sum();
        table.matMul(tf.ones([DIM, 2]));
        tf.grad((x: tf.Tensor) => x.mul(2).sum() as tf.Scalar)(table);
      });
      await tf.io.encodeWeights({ table });
      step(table);
    }
    expect(copies() - before).toBe(0);
    table.dispose();
  });

  it('do not copy again when an op of this package takes the table', () => {
    const table = tf.tidy(() => tf.variable(tf.tensor2d(counting(), [ROWS, DIM])));
    step(table);
    const before = copies();
    const rows = table as unknown as tf.Tensor2D;
    const { pairDots, pairDotsGradient, softmaxGradient } = currentBackend().ops!;
    const gives: Record<string, () => tf.Tensor | tf.Tensor[]> = {
      EmbeddingReluGrad: () => nodeBackend().executeSingleOutput('EmbeddingReluGrad', [], [rows, rows]),
      EmbeddingPairDots: () => pairDots([rows, rows], true),
      EmbeddingPairDotsGrad: () => pairDotsGradient([rows, rows], false, tf.ones([ROWS, 1])),
      EmbeddingSoftmaxGrad: () => softmaxGradient(rows, rows),
      EmbeddingCategoricalLossSoftmaxGrad: () => {
        const inputs = [tf.ones([ROWS, DIM]), rows, tf.tensor1d([1e-7, 1 - 1e-7]), tf.ones([ROWS])];
        return nodeBackend().executeSingleOutput('EmbeddingCategoricalLossSoftmaxGrad', [], inputs);
      },
      EmbeddingSum: () =>
        nodeBackend().executeSingleOutput(
          'EmbeddingSum',
          [{ name: 'N', type: nodeBackend().binding.TF_ATTR_INT, value: 2 }],
          [rows, rows],
        ),
    };
    for (const [name, give] of Object.entries(gives)) {
      const given = tf.tidy(give);
      const values = [given].flat().map((each) => [...each.dataSync()]);
      step(table);
      expect(copies() - before)
        .withContext(name)
        .toBe(0);
      expect([given].flat().map((each) => [...each.dataSync()]))
        .withContext(name)
        .toEqual(values);
      tf.dispose(given);
    }
    table.dispose();
  });

  it('copy once per snapshot', () => {
    const table = tf.tidy(() => tf.variable(tf.zeros([ROWS, DIM])));
    step(table);
    const before = copies();
    const snapshot = table.reshape([-1]);
    for (let i = 0; i < 5; i++) step(table);
    expect(copies() - before).toBe(1);
    tf.dispose([table, snapshot]);
  });
});
