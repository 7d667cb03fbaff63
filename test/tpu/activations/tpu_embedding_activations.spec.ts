import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';
import { expectNoLeak } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { readGoldens, type GoldenError } from '../goldens.js';

const { tpu } = emb;

interface Case {
  readonly case: string;
  readonly result?: {
    output_shape: number[];
    grad_embedding_variable_shape: number[];
    grad_sliced_activations_shape: number[];
    collection: ({ shape: number[] } | null)[];
  };
  readonly error?: GoldenError;
}
const { activations_and_enqueue: cases } = readGoldens<{ activations_and_enqueue: Case[] }>('activations_and_shapes');

/** The golden case whose name begins so. */
function golden(start: string): Case {
  return cases.find((each) => each.case.startsWith(start))!;
}

/** What TensorFlow's generator does: a sum of doubled activations is differentiated for both inputs. */
function gradients(lookupId: number, slots: number, shape = [2, 3]): NonNullable<Case['result']> {
  tpu.createGradientCollection(0, slots);
  const [variable, activations] = [tf.zeros([1]), tf.ones(shape)];
  try {
    let found: Case['result'];
    tf.tidy(() => {
      let outputShape: number[] = [];
      const f = tf.grads((v: tf.Tensor, s: tf.Tensor) => {
        const out = tpu.tpuEmbeddingActivations(v, s, { tableId: 0, lookupId });
        outputShape = out.shape;
        return out.mul(2).sum();
      });
      const [dv, ds] = f([variable, activations]) as [tf.Tensor, tf.Tensor];
      expect([...dv.dataSync(), ...ds.dataSync()].every((value) => value === 0)).toBeTrue();
      const collection = tpu.gradientCollection(0);
      for (const each of collection) {
        if (each !== null) expect([...each.dataSync()].every((value) => value === 2)).toBeTrue();
      }
      found = {
        output_shape: outputShape,
        grad_embedding_variable_shape: dv.shape,
        grad_sliced_activations_shape: ds.shape,
        collection: collection.map((each) => (each === null ? null : { shape: each.shape })),
      };
    });
    return found!;
  } finally {
    tf.dispose([variable, activations]);
  }
}

function expectLike({ result }: Case, found: NonNullable<Case['result']>): void {
  const collection = result!.collection.map((each) => (each === null ? null : { shape: each.shape }));
  expect(found).toEqual({ ...result!, collection });
}

function suite(): void {
  it('passes activations of any shape on and collects their gradient, as TensorFlow does', () => {
    expectNoLeak(() => {
      expectLike(golden('gradient is stored'), gradients(0, 1));
      expectLike(golden('two lookups'), gradients(1, 2));
      for (const shape of [[], [0], [3], [2, 1, 4]]) {
        const values = tf.randomNormal(shape);
        const variable = tf.zeros([2, 2]);
        const out = tpu.tpuEmbeddingActivations(variable, values, { tableId: 3, lookupId: 7 });
        expect(out.shape).toEqual(shape);
        expect([...out.dataSync()]).toEqual([...values.dataSync()]);
        tf.dispose([values, variable, out]);
      }
      tpu.createGradientCollection(0, 0);
    });
  });

  // tfjs itself leaves behind what a tape has saved where a backward pass fails.
  it('refuses gradients without a place, as TensorFlow does', () => {
    expect(golden('no collection').error!.type).toBe('RuntimeError');
    expectError(() => gradients(0, 0), 'RuntimeError', 'tableId', 'inference');
    expect(golden('lookup_id outside').error!.type).toBe('RuntimeError');
    expectError(() => gradients(2, 2), 'RuntimeError', 'lookupId', 'lookup 2');
    expect(golden('second').error!.type).toBe('RuntimeError');
    const [variable, activations] = [tf.zeros([1]), tf.ones([2, 3])];
    tpu.createGradientCollection(0, 1);
    const twice = (): unknown =>
      tf.tidy(() => {
        const op = (v: tf.Tensor): tf.Tensor =>
          tpu.tpuEmbeddingActivations(v, activations, { tableId: 0, lookupId: 0 });
        return [tf.grad(op)(variable), tf.grad(op)(variable)];
      });
    expectError(twice, 'RuntimeError', 'lookupId', 'duplicate');
    tpu.createGradientCollection(0, 0);
    tf.dispose([variable, activations]);
  });
}

describeForBackends('tpu.tpuEmbeddingActivations', suite);

describe('tpu.tpuEmbeddingActivations', () => {
  it('has a kernel on every backend of tfjs', () => {
    for (const backend of ['cpu', 'wasm', 'webgl', 'webgpu', 'tensorflow']) {
      expect(tf.getKernel('TPUEmbeddingActivations', backend)).withContext(backend).toBeDefined();
    }
  });

  it('runs on the emulator', async () => {
    await withTpuEmulator({ chips: 2 }, () => {
      expectLike(golden('gradient is stored'), gradients(0, 1));
      tpu.createGradientCollection(0, 0);
    });
  });

  it('lets any optimizer find it, and leaves the variable as it is', () => {
    expectNoLeak(() => {
      const start = tf.zeros([1]);
      const variable = tf.variable(start);
      const activations = tf.ones([2, 2]);
      const optimizer = tf.train.adam(0.1);
      tpu.createGradientCollection(1, 1);
      const loss = (): tf.Scalar =>
        tpu.tpuEmbeddingActivations(variable, activations, { tableId: 1, lookupId: 0 }).square().mean();
      optimizer.minimize(loss, false, [variable]);
      expect([...variable.dataSync()]).toEqual([0]);
      expect(tpu.gradientCollection(1)[0]!.arraySync()).toEqual([
        [0.5, 0.5],
        [0.5, 0.5],
      ]);
      tpu.createGradientCollection(1, 0);
      optimizer.dispose();
      tf.dispose([start, variable, activations]);
    });
  });

  it('refuses ids below 0, as TensorFlow does, and what are no tensors', () => {
    expect(golden('table_id attr').error!.type).toBe('ValueError');
    const [variable, values, ints] = [tf.zeros([1]), tf.zeros([1, 1]), tf.zeros([1], 'int32')];
    const call =
      (options: unknown, v: unknown = variable, s: unknown = values) =>
      () =>
        tpu.tpuEmbeddingActivations(v as tf.Tensor, s as tf.Tensor, options as never);
    expectError(call({ tableId: -1, lookupId: 0 }), 'ValueError', 'tableId', '-1');
    expectError(call({ tableId: 0, lookupId: -1 }), 'ValueError', 'lookupId', '-1');
    expectError(call({ tableId: 0, lookupId: 0.5 }), 'ValueError', 'lookupId');
    expectError(call({ tableId: 0 }), 'ValueError', 'lookupId');
    expectError(call({ tableId: 0, lookupId: 0 }, 3), 'TypeError', 'embeddingVariable');
    expectError(call({ tableId: 0, lookupId: 0 }, variable, ints), 'TypeError', 'slicedActivations');
    tf.dispose([variable, values, ints]);
    expectError(call({ tableId: 0, lookupId: 0 }), 'ValueError', 'embeddingVariable', 'disposed');
    expectError(() => tpu.createGradientCollection(-1, 1), 'ValueError', 'tableId');
    expectError(() => tpu.createGradientCollection(0, -1), 'ValueError', 'lookups');
    expectError(() => tpu.gradientCollection(-1), 'ValueError', 'tableId');
  });
});
