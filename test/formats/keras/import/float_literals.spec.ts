/** Numbers of Python in calls: whole ones and floats are told apart, as Keras does. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { parseMarked, withFloats } from '../../../../src/formats/keras/import/float_literals.js';
import { describeForBackends } from '../../../helpers/backends.js';
import { expectClose } from '../../../helpers/tensors.js';

interface Golden {
  readonly name: string;
  readonly values: number[];
  readonly shape: number[];
  readonly outputs: number[];
  readonly type: string;
}

const path = (name: string): string =>
  fileURLToPath(new URL(`../../../goldens/keras_files/numbers/${name}`, import.meta.url));
const GOLDENS = JSON.parse(readFileSync(path('numbers.json'), 'utf8')) as Golden[];

describeForBackends(
  'numbers that whole numbers meet',
  () => {
    for (const { name, values, shape, outputs, type } of GOLDENS) {
      for (const file of [`${name}.keras`, `${name}.h5`].filter((each) => existsSync(path(each)))) {
        it(`give what Keras gives: ${file}`, async () => {
          const before = tf.memory().numTensors;
          const model = await emb.loadKerasModel(path(file));
          const x = tf.tensor(values, shape, 'int32');
          const y = model.predict(x) as tf.Tensor;
          expect(y.dtype).toBe(type as tf.DataType);
          const magnitude = outputs.map(Math.abs);
          if (type === 'int32') expect(Array.from(y.dataSync())).toEqual(outputs);
          else expectClose(y.dataSync(), outputs, magnitude, file);
          tf.dispose([x, y]);
          model.dispose();
          expect(tf.memory().numTensors).toBe(before);
        });
      }
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describe('float literals', () => {
  it('are marked in calls alone, and not within texts', () => {
    const text = '{"rate": 1.0, "name": "a 2.0 \\" 3.0", "inbound_nodes": [{"args": [1.0, 2, 0.5, 1e6, "4.0"]}]}';
    const read = parseMarked(text) as Record<string, unknown>;
    expect(read['rate']).toBe(1);
    expect(read['name']).toBe('a 2.0 " 3.0');
    const float = (value: number): object => ({ class_name: '__tensor__', config: { value, dtype: 'float32' } });
    expect(withFloats(read['inbound_nodes'], true)).toEqual([{ args: [float(1), 2, 0.5, float(1e6), '4.0'] }]);
    expect(withFloats(read['inbound_nodes'], false)).toEqual([{ args: [1, 2, 0.5, 1e6, '4.0'] }]);
  });

  it('within tensors that are written whole are theirs', () => {
    const written = '{"class_name": "__tensor__", "config": {"value": [1.0, 2.5], "dtype": "float32"}}';
    const read = parseMarked(`{"inbound_nodes": [${written}]}`) as { inbound_nodes: unknown };
    expect(withFloats(read.inbound_nodes, true)).toEqual([JSON.parse(written)]);
  });

  it('of a file nested too deep are left alone', () => {
    const deep = `{"inbound_nodes": ${'['.repeat(50_000)}1.0${']'.repeat(50_000)}}`;
    expect(() => parseMarked(deep)).not.toThrow();
  });
});
