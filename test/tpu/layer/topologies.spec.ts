/** The layer on one machine, and its weights on another. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError } from '../../helpers/errors.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator, type EmulatedMachine } from '../../helpers/tpu_emulator.js';
import { fit, predictions, sequenceModel, tpuLayerOf, weightsOf } from './models.js';

describe('tpuEmbedding on another machine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'topologies-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const saved = new Map<number, { weights: number[][]; predicted: number[] }>();
  const load = (version: number): Promise<tf.LayersModel> => {
    return tf.loadLayersModel(`file://${folder}/${version}/model.json`);
  };

  beforeAll(async () => {
    await tf.setBackend('cpu');
    for (const version of [1, 2]) {
      await withTpuEmulator({ chips: 8 }, async () => {
        const { layer, model } = sequenceModel({ version });
        const optimizer = tf.train.sgd(0.1);
        await fit(model, optimizer);
        // Nobody has looked at the tables before.
        await model.save(`file://${folder}/${version}`);
        saved.set(version, { weights: weightsOf(layer), predicted: predictions(model) });
        model.dispose();
        optimizer.dispose();
      });
    }
  });

  const machines: EmulatedMachine[] = [...[1, 2, 3, 4, 8].map((chips) => ({ chips })), { chips: 2, coresPerChip: 4 }];
  for (const version of [1, 2]) {
    for (const machine of machines) {
      it(`has the same bits: version ${version}, 8 cores, then ${JSON.stringify(machine)}`, async () => {
        await withTpuEmulator(machine, async () => {
          const model = await load(version);
          const layer = tpuLayerOf(model);
          expect([layer.version, weightsOf(layer)]).toEqual([version as 1, saved.get(version)!.weights]);
          expect(predictions(model)).toEqual(saved.get(version)!.predicted);
          expect(weightsOf(layer)).toEqual(saved.get(version)!.weights);
          model.dispose();
        });
      });
    }

    for (const after of ['removed', 'made anew with other cores']) {
      it(`takes weights after its machine was ${after}: version ${version}`, async () => {
        const { weights, predicted } = saved.get(version)!;
        const optimizer = tf.train.sgd(0.1);
        let [model, layer] = [null, null] as [tf.LayersModel | null, emb.tpu.TPUEmbeddingLayer | null];
        // Nothing of the model can be read: its values went with the machine.
        const take = (): void => {
          const given = model!.weights.map((weight) => {
            const [place, shape] = [layer!.weights.indexOf(weight), weight.shape as number[]];
            return place < 0 ? tf.fill(shape, 0.25) : tf.tensor(weights[place]!, shape);
          });
          model!.setWeights(given);
          tf.dispose(given);
          expect(weightsOf(layer!)).toEqual(weights);
        };
        await withTpuEmulator({ chips: 4 }, async () => {
          ({ model, layer } = sequenceModel({ version }));
          await fit(model, optimizer);
        });
        if (after === 'removed') {
          take();
          const dense = await load(version);
          model!.layers.at(-1)!.setWeights(dense.layers.at(-1)!.getWeights());
          expect(predictions(model!)).toEqual(predicted);
          dense.dispose();
          model!.dispose();
        } else {
          await withTpuEmulator({ chips: 2 }, async () => {
            take();
            await fit(model!, optimizer);
            expect(weightsOf(layer!)).not.toEqual(weights);
            take();
            model!.dispose();
          });
        }
        optimizer.dispose();
      });
    }

    it(`has the same bits without devices: version ${version}`, () =>
      expectNoLeakAsync(async () => {
        const model = await load(version);
        expect(weightsOf(tpuLayerOf(model))).toEqual(saved.get(version)!.weights);
        expect(predictions(model)).toEqual(saved.get(version)!.predicted);
        model.dispose();
      }));

    it(`gives its weights to a layer of the other version, slots included: version ${version}`, async () => {
      await withTpuEmulator({ chips: 4 }, async () => {
        const other = sequenceModel({ version: 3 - version });
        const model = await load(version);
        other.model.setWeights(model.getWeights());
        expect(weightsOf(other.layer)).toEqual(saved.get(version)!.weights);
        expect(predictions(other.model)).toEqual(saved.get(version)!.predicted);
        for (const each of [model, other.model]) each.dispose();
      });
    });

    it(`trains on to the same tables as without a pause: version ${version}`, async () => {
      const trained: number[][][] = [];
      for (const pauses of [false, true]) {
        await withTpuEmulator({ chips: 2 }, async () => {
          const { layer, model } = sequenceModel({ version });
          for (let i = 0; i < 2; i++) {
            const optimizer = tf.train.sgd(0.1);
            await fit(model, optimizer);
            optimizer.dispose();
            if (!pauses || i === 1) continue;
            await tf.setBackend('cpu');
            const elsewhere = predictions(model);
            await tf.setBackend('tpu-emulator');
            expect(predictions(model)).toEqual(elsewhere);
          }
          trained.push(weightsOf(layer));
          model.dispose();
        });
      }
      expect(trained[1]).toEqual(trained[0]!);
    });
  }

  it('of version 2 trains on a power of two of cores alone', async () => {
    await withTpuEmulator({ chips: 3 }, async () => {
      const { model } = sequenceModel({ version: 2 });
      const optimizer = tf.train.sgd(0.1);
      await expectAsync(fit(model, optimizer)).toBeRejectedWithError(emb.ValueError, /`chips`.*power of two.*3, 3 x 1/);
      model.dispose();
    });
  });

  it('of version 2 tells of steps that were lost with their machine, until its weights are set', async () => {
    let trained = null as unknown as ReturnType<typeof sequenceModel>;
    await withTpuEmulator({ chips: 2 }, async () => {
      trained = sequenceModel({ version: 2 });
      const optimizer = tf.train.sgd(0.1);
      await fit(trained.model, optimizer);
      optimizer.dispose();
    });
    const { layer, model } = trained;
    expectError(() => layer.getWeights(), 'RuntimeError', 'weights', 'lost with the machine');
    expectError(() => predictions(model), 'RuntimeError', 'weights');
    const weights = saved.get(2)!.weights.map((values, i) => tf.tensor(values, layer.weights[i]!.shape as number[]));
    layer.setWeights(weights);
    expect(weightsOf(layer)).toEqual(saved.get(2)!.weights);
    await withTpuEmulator({ chips: 4 }, () => expect(predictions(model).length).toBe(5));
    tf.dispose(weights);
    model.dispose();
  });
});
