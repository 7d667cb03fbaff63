/** Unit norms of very short vectors, as Keras computes them: x / max(|x|, 1e-12). */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

describe('unitNormalization', () => {
  it('leaves vectors short that are shorter than 1e-12, and makes all others of length 1', () => {
    tf.tidy(() => {
      const lengths = [0, 1e-24, 1e-13, 9.9e-13, 1.1e-12, 1e-7, 1e-3, 1, 1e6];
      const directions = [[0.6, 0.8], [1, 0], [-0.28, 0.96]]; // prettier-ignore
      for (const direction of directions) {
        const vectors = lengths.map((length) => direction.map((each) => each * length));
        const found = (emb.layers.unitNormalization().apply(tf.tensor2d(vectors)) as tf.Tensor2D).arraySync();
        lengths.forEach((length, row) => {
          const scale = Math.min(length / 1e-12, 1);
          found[row]!.forEach((value, i) => {
            const wanted = direction[i]! * scale;
            expect(Math.abs(value - wanted)).withContext(`${length}, ${i}`).toBeLessThanOrEqual(1e-5 * Math.abs(wanted) + 1e-18); // prettier-ignore
          });
        });
      }
    });
  });
});
