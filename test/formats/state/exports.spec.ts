/**
 * What predictions do not show of models that were written and read again: which layers train, what a step makes of the
 * weights, and weights that are set. Of every model that other specs export.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { OWN_SETTINGS_OF_KERAS, STOCK_SETTINGS_OF_KERAS } from '../keras/export_settings.js';
import { scramble } from '../saved_model/exports.js';
import { maskLosses } from '../../../src/tfjs/training/masked_losses.js';
import { OWN_MODELS } from '../saved_model/own_models.js';
import { STOCK_MODELS } from '../saved_model/stock_models.js';

const MODELS = [...STOCK_MODELS, ...STOCK_SETTINGS_OF_KERAS, ...OWN_MODELS, ...OWN_SETTINGS_OF_KERAS];
/** |a - b| / (1 + |b|). */
const TOLERANCE = 1e-5;
/** What differs from step to step. */
const RANDOM = /dropout|gaussian|random/i;

type State = Map<string, { readonly isTrained: boolean; readonly shape: number[]; values: number[] }[]>;

/** Weights by the names of their layers, those of models within the model too. */
function stateOf(model: tf.LayersModel): State {
  const found: State = new Map();
  const trained = new Set(model.trainableWeights.map(({ id }) => id));
  const visit = (layers: readonly tf.layers.Layer[], path: string): void => {
    for (const layer of layers) {
      const at = `${path}${layer.name}`;
      if (layer instanceof tf.LayersModel) visit(layer.layers, `${at}/`);
      else if (layer.weights.length > 0) {
        found.set(
          at,
          layer.weights.map((weight) => {
            const values = tf.tidy(() => Array.from((weight.read() as tf.Tensor).dataSync()));
            return { isTrained: trained.has(weight.id), shape: weight.shape as number[], values };
          }),
        );
      }
    }
  };
  visit(model.layers, '');
  return found;
}

function shapesOf(model: tf.LayersModel, inputs: tf.Tensor[]): Pick<tf.Tensor, 'shape' | 'dtype'>[] | string {
  try {
    return tf.tidy(() => [model.predict(inputs)].flat().map(({ shape, dtype }) => ({ shape, dtype })));
  } catch (error) {
    // Some are what Keras computes and tfjs does not.
    return (error as Error).message.slice(0, 60);
  }
}

/** The state after one step towards ones; null where the model has nothing to train, or nothing that is a number. */
async function stepped(model: tf.LayersModel, inputs: tf.Tensor[]): Promise<State | string> {
  if (model.trainableWeights.length === 0) return 'nothing to train';
  const results = shapesOf(model, inputs);
  if (typeof results === 'string') return results;
  if (results.some(({ dtype }) => dtype !== 'float32')) return 'ids';
  const targets = results.map(({ shape }) => tf.ones(shape));
  const optimizer = tf.train.sgd(0.05);
  try {
    // The loss of tfjs itself takes outputs of one rank.
    if (new Set(results.map(({ shape }) => shape.length)).size > 1) return 'outputs of several ranks';
    model.compile({ optimizer, loss: results.map(() => 'meanSquaredError') });
    await model.trainOnBatch(inputs, targets);
    return stateOf(model);
  } catch (error) {
    return (error as Error).message.slice(0, 60);
  } finally {
    tf.dispose(targets);
    optimizer.dispose();
  }
}

function difference(found: State, wanted: State): string | null {
  for (const [layer, weights] of wanted) {
    const own = found.get(layer);
    if (own === undefined) return `${layer} is gone`;
    for (const [i, { isTrained, shape, values }] of weights.entries()) {
      const other = own[i];
      if (other === undefined || String(other.shape) !== String(shape)) return `${layer}, weight ${i}: another shape`;
      if (other.isTrained !== isTrained) return `${layer}, weight ${i}: trained ${other.isTrained}, not ${isTrained}`;
      const place = values.findIndex((value, at) => {
        return !(Math.abs(other.values[at]! - value) <= TOLERANCE * (1 + Math.abs(value)));
      });
      if (place >= 0) return `${layer}, weight ${i} at ${place}: ${other.values[place]}, not ${values[place]}`;
    }
  }
  return null;
}

function free(model: tf.LayersModel): void {
  const weights = model.weights.map((weight) => weight.read() as tf.Tensor);
  model.dispose();
  tf.dispose(weights);
}

describe('The state of written models', () => {
  let folder: string;
  let [tried, compared] = [0, 0];

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'state '));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
    // Most of them can be written, and train.
    expect(compared).toBeGreaterThan(tried);
  });

  const FORMATS: Readonly<Record<string, (model: tf.LayersModel, path: string) => Promise<tf.LayersModel>>> = {
    keras: async (model, path) => {
      await emb.exportKeras(model, `${path}.keras`);
      return emb.loadKerasModel(`${path}.keras`);
    },
    savedModel: async (model, path) => {
      await emb.savedModel.export(model, path);
      return (await emb.savedModel.load(path)) as tf.LayersModel;
    },
  };

  MODELS.forEach(([title, make], number) => {
    it(`is the same: ${title}`, async () => {
      tried++;
      const { model, inputs } = make();
      scramble(model);
      // As models that come from Keras.
      maskLosses(model);
      // Every second layer does not train.
      model.layers.filter((layer) => layer.weights.length > 0).forEach((layer, i) => (layer.trainable = i % 2 === 0));
      const before = stateOf(model);
      const copies: [string, tf.LayersModel][] = [];
      for (const [name, write] of Object.entries(FORMATS)) {
        const again = await write(model, join(folder, `${name}${number}`)).catch((error: Error) => error);
        // Other specs say what is refused.
        if (again instanceof Error) continue;
        maskLosses(again);
        copies.push([name, again]);
      }
      const wanted = RANDOM.test(title) ? 'random' : await stepped(model, inputs);
      for (const [name, copy] of copies) {
        expect(difference(stateOf(copy), before))
          .withContext(name)
          .toBeNull();
        copy.setWeights(copy.getWeights());
        expect(difference(stateOf(copy), before))
          .withContext(`${name}, weights set`)
          .toBeNull();
        if (typeof wanted !== 'string') {
          const found = await stepped(copy, inputs);
          expect(typeof found)
            .withContext(`${name}: ${String(found)}`)
            .not.toBe('string');
          if (typeof found !== 'string')
            expect(difference(found, wanted)).withContext(`${name}, after a step`).toBeNull();
        }
        compared++;
        free(copy);
      }
      free(model);
      tf.dispose(inputs);
    });
  });
});
