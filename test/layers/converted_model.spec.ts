import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../helpers/errors.js';
import { expectClose, ids, leakFree, take, useCpu } from './setup.js';

/** A sequential model of a class that users derive. */
class Own extends tf.Sequential {
  static override readonly className: string = 'OwnSequential';
}

/** One whose config makes another layer than it has. */
class Renamed extends tf.Sequential {
  static override readonly className: string = 'RenamedSequential';
  override getConfig(): tf.serialization.ConfigDict {
    const text = JSON.stringify(super.getConfig());
    return JSON.parse(text.replaceAll('"words"', '"others"')) as tf.serialization.ConfigDict;
  }
}

function layersOf(inputShape: { inputShape?: number[] } = {}): tf.layers.Layer[] {
  return [
    emb.layers.embedding({ inputDim: 6, outputDim: 4, combiner: 'sum', name: 'words', ...inputShape }),
    tf.layers.dense({ units: 2, name: 'dense' }),
  ];
}

describe('models made again with tables of another storage', () => {
  beforeAll(useCpu);

  it(
    'may begin with an input, or with a layer that knows its own shape',
    leakFree(() => {
      const first = tf.layers.inputLayer({ batchInputShape: [null, 3], dtype: 'int32' } as never) as tf.layers.Layer;
      const model = tf.sequential({ layers: [first, ...layersOf()] });
      const input = ids([[1, 5, 2], [3, 0, 0]]); // prettier-ignore
      const half = emb.quantize(model, { dtype: 'float16' });
      expect(half.inputs[0]!.shape).toEqual([null, 3]);
      expectClose(take(half.predict(input)), take(model.predict(input)), 1e-2);
      for (const each of [input, half, model]) each.dispose();
    }),
  );

  it(
    'are of the class that users registered; another one is refused',
    leakFree(() => {
      const model = new Own({ layers: layersOf({ inputShape: [3] }) });
      expectError(() => emb.quantize(model, { dtype: 'int8' }), 'ValueError', 'model', 'OwnSequential');
      tf.serialization.registerClass(Own);
      const small = emb.quantize(model, { dtype: 'int8' });
      expect(small).toBeInstanceOf(Own);
      expect(small.layers[0]!.trainable).toBeFalse();
      expect(small.layers[1]!.trainable).toBeTrue();
      small.dispose();
      model.dispose();
    }),
  );

  it(
    'are refused where their config makes other weights, and leave nothing behind',
    leakFree(() => {
      tf.serialization.registerClass(Renamed);
      const model = new Renamed({ layers: layersOf({ inputShape: [3] }) });
      expectError(() => emb.quantize(model, { dtype: 'int8' }), 'ValueError', 'model', 'none for others/embeddings');
      model.dispose();
    }),
  );
});
