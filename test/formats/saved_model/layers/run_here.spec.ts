/** SavedModels of layers, run by the TensorFlow of tfjs-node beside the layers themselves: numbers and the shapes they tell. */
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { skipOrFail } from '../../../helpers/backends.js';
import { Exports, folderName, largestDifference, namesOf, scramble } from '../exports.js';
import { OPERATION_MODELS } from './operation_models.js';
import { OWN_MODELS } from '../own_models.js';
import { STOCK_MODELS } from '../stock_models.js';

/** |a - b| / (1 + |b|), for layers of a few hundred products at most. */
const TOLERANCE = 1e-5;

interface Shown {
  readonly model: tf.LayersModel;
  readonly inputs: tf.Tensor[];
  readonly right?: (model: tf.LayersModel, inputs: tf.Tensor[]) => tf.Tensor;
  readonly options?: emb.SavedModelOptions;
  readonly fed?: object;
  readonly call?: boolean;
}

const OPERATIONS = OPERATION_MODELS.map(([name, make]) => [`operation ${name}`, make] as const);
const ALL: readonly (readonly [string, () => Shown])[] = [...STOCK_MODELS, ...OWN_MODELS, ...OPERATIONS];

describe('a SavedModel of layers, run here', () => {
  let exports: Exports;
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    exports = new Exports();
  });
  afterAll(() => exports.remove());

  for (const [title, make] of ALL) {
    it(`gives what the layers give: ${title}`, async () => {
      tf.engine().startScope();
      const { model, inputs, right, options, fed, call } = make();
      if (fed === undefined && call !== true && options?.customOps !== true) {
        scramble(model);
        const expected = [right?.(model, inputs) ?? model.predict(inputs)].flat();
        const directory = join(exports.folder, folderName(title));
        await emb.savedModel.export(model, directory, options);
        const signature = 'serving_default';
        const loaded = await emb.savedModel.load(directory, { signature }).catch((error: Error) => error);
        if (loaded instanceof emb.RuntimeError) skipOrFail(loaded.message);
        else if (loaded instanceof Error) throw loaded;
        else {
          const run = loaded as emb.RunnableSavedModel;
          const names = namesOf(model.inputs);
          const outputs = ((): tf.NamedTensorMap | null => {
            try {
              return run.predict(Object.fromEntries(inputs.map((input, i) => [names[i]!, input])));
            } catch (error) {
              // TensorFlow has the op on processors for which it uses oneDNN alone.
              if (!/CPU implementation of Conv3D currently only supports dilated rates/.test(String(error)))
                throw error;
              return null;
            }
          })();
          if (outputs === null) {
            expect(title).toMatch(/^Conv3D, dilated/);
            run.dispose();
            tf.engine().endScope();
            return;
          }
          namesOf(model.outputs).forEach((name, i) => {
            const [found, wanted] = [outputs[name]!, expected[i]!];
            const difference = largestDifference([...found.dataSync()], [...wanted.dataSync()]);
            expect(difference).withContext(name).toBeLessThanOrEqual(TOLERANCE);
            const { shape } = run.signatures[signature]!.outputs[name]!;
            // Where tfjs itself is right.
            if (right !== undefined) return;
            expect(found.shape).withContext(name).toEqual(wanted.shape);
            // Sizes that are told are those that come.
            if (shape !== null) expect(shape.map((size, axis) => size ?? found.shape[axis])).toEqual(found.shape);
          });
          run.dispose();
        }
      } else expect(title).toBeDefined();
      model.dispose();
      tf.engine().endScope();
    });
  }
});
