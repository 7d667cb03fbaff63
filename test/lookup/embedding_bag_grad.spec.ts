/** Gradients of tables by rows, and what tells how many rows a table has. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { describeForBackends } from '../helpers/backends.js';

describeForBackends('embeddingBagGrad', () => {
  it('takes the rows from the table, with their number beside it or without', () => {
    tf.tidy(() => {
      const table = tf.ones<tf.Rank.R2>([4, 2]);
      const of = (options: object): number[][] => {
        const common = { combiner: 'sum', maxNorm: 1, table } as const;
        const found = emb.ops.embeddingBagGrad(tf.ones([2, 2]), [0, 3, 0], [0, 2, 3], { ...common, ...options });
        return [found.uniqueIds, found.rowGradients].map((tensor) => Array.from(tensor.dataSync()));
      };
      const expected = of({});
      expect(expected[0]).toEqual([0, 3]);
      expect(of({ rows: 4 })).toEqual(expected);
      expect(of({ rows: null })).toEqual(expected);
      expect(of({ rows: undefined })).toEqual(expected);
      for (const rows of [3, 5]) expect(() => of({ rows })).toThrowError(/`rows`: expected 4, as table has/);
    });
  });
});
