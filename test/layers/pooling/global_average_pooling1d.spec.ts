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
          return layer.apply(isLast ? x : x.transpose<tf.Tensor3D>([0, 2, 1]), masks) as tf.Tensor;
        });
        const shape = keepdims === true ? (isLast ? [BATCH, 1, FEATURES] : [BATCH, FEATURES, 1]) : [BATCH, FEATURES];
        expect(result.shape).withContext(caseText(given)).toEqual(shape);
        expectClose(take(result), expected);
        layer.dispose();
      });
    }),
  );

  it('refuses other formats', () => {
    expectError(() => emb.layers.globalAveragePooling1d({ dataFormat: 'last' as never }), 'ValueError', 'dataFormat');
  });
});
