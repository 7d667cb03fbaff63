/** What a folder gets of a model, beside what tfjs gives to other handlers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { partsOfModel } from '../../../src/io/models/file_handler.js';
import { artifactsOf, leakFree, useCpu } from '../../layers/setup.js';
import { watchDisk } from './watched_disk.js';

async function joined(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const piece of pieces) copies.push(Buffer.from(piece));
  return Buffer.concat(copies);
}

describe('a model on its way into a folder', () => {
  beforeAll(useCpu);

  function make(): { model: tf.LayersModel; dispose: () => void } {
    const table = emb.layers.embedding({
      inputDim: 9,
      outputDim: 3,
      combiner: 'sum',
      inputShape: [2],
      trainable: false,
    });
    const model = tf.sequential({ layers: [table, tf.layers.dense({ units: 1 }), tf.layers.dense({ units: 2 })] });
    const optimizer = emb.train.adagrad({ learningRate: 0.1 });
    model.compile({ optimizer, loss: 'meanSquaredError', metrics: ['accuracy'] });
    model.setUserDefinedMetadata({ note: 'ä' });
    const dispose = (): void => {
      optimizer.dispose();
      model.dispose();
    };
    return { model, dispose };
  }

  async function train(model: tf.LayersModel): Promise<void> {
    const [x, y] = [tf.tensor2d([1, 2, 3, 8], [2, 2], 'int32'), tf.ones([2, 2])];
    await model.trainOnBatch(x, y);
    tf.dispose([x, y]);
  }

  for (const config of [undefined, { includeOptimizer: true }, { trainableOnly: true }]) {
    it(
      `is what tfjs makes of it, with ${JSON.stringify(config) ?? 'no options'}`,
      leakFree(async () => {
        const { model, dispose } = make();
        await train(model);
        const { weightData, ...expected } = await artifactsOf(model, config);
        const { artifacts, pieces } = await partsOfModel(model, config);
        expect(JSON.parse(JSON.stringify(artifacts))).toEqual(JSON.parse(JSON.stringify(expected)));
        expect(artifacts.format).toBe('layers-model');
        expect((await joined(pieces)).equals(Buffer.from(weightData as ArrayBuffer))).toBeTrue();
        dispose();
      }),
    );
  }

  it('takes texts as tfjs does', async () => {
    const named = [{ name: 'note', tensor: tf.tensor1d(['', 'größe', 'x'], 'string') }];
    const model = { getNamedWeights: () => named, toJSON: () => ({}), getUserDefinedMetadata: () => undefined };
    const { artifacts, pieces } = await partsOfModel(model as unknown as tf.LayersModel);
    const { data, specs } = await tf.io.encodeWeights(named);
    expect(artifacts.weightSpecs).toEqual(specs);
    expect((await joined(pieces)).equals(Buffer.from(data))).toBeTrue();
    tf.dispose(named[0]!.tensor);
  });

  it('goes to disk weight by weight, unless another handler takes it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'saved-weights-'));
    const { model, dispose } = make();
    let writes = 0;
    const count = (): Promise<unknown> => {
      writes = 0;
      return watchDisk(
        ({ name }) => void (writes += name === 'write' ? 1 : 0),
        () => model.save(`file://${folder}`),
      );
    };
    await count();
    expect(writes).toBe(model.weights.length);
    await expectAsync(model.save({} as tf.io.IOHandler)).toBeRejectedWithError(/`save` attribute/);
    await expectAsync(model.save(null as unknown as tf.io.IOHandler)).toBeRejectedWithError(TypeError);
    dispose();
    rmSync(folder, { recursive: true });
  });
});
