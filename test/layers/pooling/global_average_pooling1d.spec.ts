/** Means over the steps that count, in every form, beside a plain mean. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { caseText, pairCases } from '../../helpers/pairs/covering.js';
import { Random } from '../../helpers/random.js';
import { expectClose, expectError, leakFree, take, useCpu } from '../setup.js';

const [BATCH, STEPS, FEATURES] = [3, 4, 2];

const { legal } = pairCases({
  dataFormat: ['channelsLast', 'channelsFirst', 'channels_first'],
  keepdims: [undefined, false, true],
  mask: ['none', 'some', 'all'],
});

describe('globalAveragePooling1d', () => {
  beforeAll(useCpu);

  it(
    'is the mean over the steps that count',
    leakFree(() => {
      legal.forEach((given, seed) => {
        const random = new Random(seed);
        const { dataFormat, keepdims, mask } = given;
        const isLast = dataFormat === 'channelsLast';
        const rows = Array.from({ length: BATCH }, () =>
          Array.from({ length: STEPS }, () => Array.from(random.floats(FEATURES))),
        );
        const counts = rows.map((row) => row.map((_, step) => mask !== 'some' || step === 0 || random.chance(0.5)));
        const expected = rows.flatMap((row, b) => {
          const kept = row.filter((_, step) => counts[b]![step]);
          return Array.from(
            { length: FEATURES },
            (_, c) => kept.reduce((sum, step) => sum + step[c]!, 0) / kept.length,
          );
        });
        const layer = emb.layers.globalAveragePooling1d({ dataFormat: dataFormat as 'channelsFirst', keepdims });
        const result = tf.tidy(() => {
          const x = tf.tensor3d(rows);
          const masks = mask === 'none' ? {} : { mask: tf.tensor2d(counts.map((row) => row.map(Number)), [BATCH, STEPS], 'bool') }; // prettier-ignore
          const input = isLast ? x : x.transpose<tf.Tensor3D>([0, 2, 1]);
          const mean = layer.apply(input, masks) as tf.Tensor;
          expect(layer.computeOutputShape(input.shape)).toEqual(mean.shape);
          return mean;
        });
        const shape = keepdims === true ? (isLast ? [BATCH, 1, FEATURES] : [BATCH, FEATURES, 1]) : [BATCH, FEATURES];
        expect(result.shape).withContext(caseText(given)).toEqual(shape);
        expectClose(take(result), expected);
        layer.dispose();
      });
    }),
  );

  it(
    'is NaN where no step counts',
    leakFree(() => {
      const mask = tf.tensor2d([0, 0, 0, 1], [2, 2], 'bool');
      const rows = tf.tensor3d([1, 2, 3, 4], [2, 2, 1]);
      const mean = tf.tidy(() => emb.layers.globalAveragePooling1d().apply(rows, { mask }) as tf.Tensor);
      expect(Array.from(take(mean))).toEqual([NaN, 4]);
      tf.dispose([mask, rows]);
    }),
  );

  it('refuses other formats', () => {
    expectError(() => emb.layers.globalAveragePooling1d({ dataFormat: 'last' as never }), 'ValueError', 'dataFormat');
  });
});
