/** Models without a layer or an input of this package are tfjs's own, in every method; `emb.mendTfjs` alone changes that. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { isOwnModel } from '../../../src/tfjs/models/own_models.js';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { lastJson } from '../../../tools/frozen/programs.js';
import { expectError, expectRejection } from '../../helpers/errors.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';

const PROGRAM = fileURLToPath(new URL('compared_methods.mjs', import.meta.url));

interface Compared {
  readonly classes: readonly string[];
  readonly instances: readonly string[];
  readonly compared: number;
}

function stock(): tf.LayersModel {
  const input = tf.input({ shape: [2] });
  return tf.model({ inputs: input, outputs: tf.layers.dense({ units: 1 }).apply(input) as tf.SymbolicTensor });
}

describe('models of tfjs alone', () => {
  beforeAll(() => tf.setBackend('cpu'));

  for (const [what, args] of [
    ['before models of this package are made', []],
    ['while there are some', ['own']],
  ] as const) {
    it(`have the methods of tfjs: ${what}`, async () => {
      const found = await lastJson<Compared>(spawn(process.execPath, [...WITH_SOURCES, PROGRAM, ...args]), 'methods');
      expect(found).toEqual({ classes: [], instances: [], compared: found.compared });
      expect(found.compared).toBeGreaterThan(200);
    });
  }

  it('are mended by mendTfjs', async () => {
    const found = await lastJson<Compared>(spawn(process.execPath, [...WITH_SOURCES, PROGRAM, 'mended']), 'methods');
    expect(found.classes).toEqual(['Layer.apply', 'Layer.setMaskMetadata', 'Container.call']);
  });

  it('are told from models of this package', () => {
    const ofInput = (
      input: tf.SymbolicTensor,
      layer: tf.layers.Layer = tf.layers.dense({ units: 1 }),
    ): tf.LayersModel => tf.model({ inputs: input, outputs: layer.apply(input) as tf.SymbolicTensor });
    const within = (inner: tf.LayersModel): tf.LayersModel => ofInput(tf.input({ shape: [2] }), inner);
    const embedding = emb.layers.embedding({ inputDim: 3, outputDim: 2, inputShape: [2] });
    const steps = tf.layers.timeDistributed({ layer: emb.layers.unitNormalization(), inputShape: [2, 2] });
    const models = {
      stock: [stock(), within(stock()), tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] })],
      ours: [
        ofInput(emb.input({ shape: [2] })),
        within(ofInput(emb.input({ shape: [2] }))),
        tf.sequential({ layers: [embedding] }),
        tf.sequential({ layers: [steps] }),
      ],
    };
    for (const model of models.stock) expect(isOwnModel(model)).toBeFalse();
    for (const model of models.ours) expect(isOwnModel(model)).toBeTrue();
    for (const model of [...models.stock, ...models.ours]) if (model.built) model.dispose();
    tf.dispose([embedding.weights, steps.weights].flat().map((weight) => weight.read()));
  });

  it('become models of this package where they are loaded as such', async () => {
    const model = stock();
    let saved: tf.io.ModelArtifacts | undefined;
    await model.save(
      tf.io.withSaveHandler(async (artifacts) => {
        saved = artifacts;
        return { modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } };
      }),
    );
    const [theirs, ours] = [
      await tf.loadLayersModel(tf.io.fromMemory(saved!)),
      await emb.loadLayersModel(tf.io.fromMemory(saved!)),
    ];
    expect([theirs, ours].map(isOwnModel)).toEqual([false, true]);
    const after = stock();
    expect(isOwnModel(after)).toBeFalse();
    for (const each of [model, theirs, ours, after]) each.dispose();
  });

  it('refuse ragged rows, and say what takes them', () =>
    expectNoLeakAsync(async () => {
      const model = stock();
      model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
      const y = tf.ones([2, 1]);
      const ragged = emb.RaggedTensor.fromRows([[1], [2, 3]]);
      for (const x of [ragged, [ragged]] as never[]) {
        expectError(() => model.predict(x), 'ValueError', 'x', 'ragged rows');
        expectError(() => model.evaluate(x, y), 'ValueError', 'x', 'ragged rows');
        await expectRejection(() => model.fit(x, y, { verbose: 0 }), 'ValueError', 'x', 'ragged rows');
        await expectRejection(() => model.trainOnBatch(x, y), 'ValueError', 'x', 'ragged rows');
      }
      model.dispose();
      y.dispose();
    }));

  it('refuse data sets of this package with weights of rows, or ragged columns', () =>
    expectNoLeakAsync(async () => {
      const model = stock();
      model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
      const y = [0, 1];
      const sets = {
        weights: emb.data.fromArrays(
          {
            x: [
              [1, 2],
              [3, 4],
            ],
            y,
            w: [1, 0.5],
          },
          { label: 'y', weight: 'w', columns: { x: { list: 'float', length: 2 } } } as never,
        ),
        ragged: emb.data.fromArrays({ x: [[1], [2, 3]], y }, { label: 'y', columns: { x: { list: 'int' } } } as never),
      };
      for (const set of Object.values(sets)) {
        const fit = (): Promise<unknown> => model.fitDataset(set.batch(2), { epochs: 1, verbose: 0 });
        await expectRejection(fit, 'ValueError', 'dataset', 'read by another');
        await expectRejection(
          () => model.evaluateDataset(set.batch(2)) as Promise<unknown>,
          'ValueError',
          'dataset',
          'read by another',
        );
      }
      model.dispose();
    }));
});
