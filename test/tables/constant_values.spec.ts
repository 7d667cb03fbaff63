/** The initializer of given numbers. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { ConstantValues } from '../../src/tables/constant_values.js';

describe('ConstantValues', () => {
  const rows = [
    [1, 2],
    [3, 4],
    [5, 6],
  ];

  it('begins a table with the numbers, and repeats them along axes that they have not', () => {
    tf.tidy(() => {
      expect(new ConstantValues({ value: rows }).apply([3, 2]).arraySync()).toEqual(rows);
      expect(new ConstantValues({ value: [7, 8] }).apply([2, 2]).arraySync()).toEqual([
        [7, 8],
        [7, 8],
      ]);
    });
  });

  it('is made of a Constant of Keras whose value is an array, by layers that are saved with it', async () => {
    const array = { class_name: '__numpy__', config: { value: rows, dtype: 'float32' } };
    for (const value of [rows, array, { ...array, class_name: '__tensor__' }]) {
      const embeddingsInitializer = { className: 'Constant', config: { value } };
      const layer = emb.layers.embedding({ inputDim: 3, outputDim: 2, embeddingsInitializer, inputShape: [1] });
      const model = tf.sequential({ layers: [layer] });
      expect(await layer.getWeights()[0]!.array()).toEqual(rows);
      const text = model.toJSON(null, false) as object;
      const again = await tf.models.modelFromJSON({ modelTopology: text } as never);
      expect(await again.getWeights()[0]!.array()).toEqual(rows);
      model.dispose();
      again.dispose();
    }
  });

  it('refuses values that are no numbers, uneven ones and weights of other shapes', () => {
    expect(() => new ConstantValues({ value: 'a' as never })).toThrowError(TypeError, /`value`/);
    expect(() => new ConstantValues({ value: [[1], [1, 2]] })).toThrowError(emb.ValueError, /nested evenly/);
    expect(() => new ConstantValues({ value: rows }).apply([2, 2])).toThrowError(
      emb.ValueError,
      /broadcasts to \[2, 2\]/,
    );
  });
});
