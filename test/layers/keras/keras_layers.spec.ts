/** Layers that are told by a description: what their settings may not be. What they compute is in formats/keras/drawn. */
import type * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { KERAS_LAYERS } from '../../../src/layers/keras/keras_layers.js';

type Config = Record<string, unknown>;

const classOf = (name: string): (typeof KERAS_LAYERS)[number] =>
  KERAS_LAYERS.find(({ kind }) => kind.className === name)!;

const REFUSED: readonly [name: string, args: Config, shape: tf.Shape, argument: string][] = [
  ['GroupNormalization', { groups: 7 }, [null, 4], 'groups'],
  ['EinsumDense', { equation: 'ab->b', outputShape: 3 }, [null, 4], 'equation'],
  ['UpSampling1D', { size: 1e12 }, [null, 4, 2], 'config'],
  ['Resizing', { height: -1, width: 2 }, [null, 4, 4, 2], 'config'],
  ['ZeroPadding1D', { padding: [1, 2, 3] }, [null, 4, 2], 'padding'],
  ['ZeroPadding1D', { padding: 1 }, [null, 4], 'inputs'],
  ['Cropping1D', { cropping: 9 }, [null, 4, 2], 'config'],
  ['CenterCrop', { height: 9, width: 9 }, [null, 4, 4, 2], 'inputs'],
];

describe('layers of Keras', () => {
  beforeAll(() => emb.ready());

  for (const [name, args, shape, argument] of REFUSED) {
    it(`refuse settings that give no result: ${name} ${JSON.stringify(args)}`, () => {
      const layer = new (classOf(name))(args);
      const run = (): void => {
        layer.computeOutputShape(shape);
        layer.build(shape);
      };
      let thrown: unknown;
      try {
        run();
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(emb.ValueError);
      expect((thrown as { argument?: string }).argument).toBe(argument);
    });
  }

  it('come back of their configs', () => {
    for (const cls of KERAS_LAYERS) {
      const layer = new cls({ name: 'here' });
      const config = layer.getConfig();
      const again = cls.fromConfig(cls as never, config) as tf.layers.Layer;
      expect(again.getConfig()).withContext(cls.kind.className).toEqual(config);
    }
  });
});
