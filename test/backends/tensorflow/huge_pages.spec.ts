/** Large tables move to huge pages, where the system has them: what they hold stays the same. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeTensorFlow, nodeBackend } from './tensorflow_backend.js';

/** More than twice the size from which tables move; not a whole number of huge pages. */
const [ROWS, DIM] = [160_001, 16];
const IDS = 40_000;

/** The number in each column of a row. */
function tableOfRows(): tf.Tensor2D {
  return tf.tidy(() => tf.range(0, ROWS).expandDims(1).tile([1, DIM]) as tf.Tensor2D);
}

function isRight(rows: tf.Tensor): boolean {
  return tf.tidy(() => tf.sub(rows, tableOfRows()).abs().max().dataSync()[0] === 0);
}

describeTensorFlow('tables on huge pages', () => {
  it('a copy holds what its source holds, in memory that was used before', () => {
    for (let round = 0; round < 4; round++) {
      tf.tidy(() => {
        const source = tableOfRows();
        const copy = nodeBackend().executeSingleOutput('EmbeddingCopy', [], [source]);
        expect(isRight(copy)).withContext(`copy ${round}`).toBe(true);
        expect(isRight(source)).withContext(`source ${round}`).toBe(true);
      });
    }
  });

  it('lookups find the same rows before a table moves, meanwhile and afterwards', () => {
    const table = tableOfRows();
    const splits = tf.range(0, IDS + 1, 1, 'int32');
    // Every row, one piece after the other: after four lookups the table begins to move, after eight it lies there.
    for (let first = 0, n = 0; n < 16; n++, first = (first + IDS) % (ROWS - IDS)) {
      tf.tidy(() => {
        const ids = tf.range(first, first + IDS, 1, 'int32');
        const [one] = [emb.ops.embeddingBag(table, ids as tf.Tensor1D, splits as tf.Tensor1D, { combiner: 'sum' })];
        const wrong = tf.sub(one, ids.toFloat().expandDims(1)).abs().max().dataSync()[0];
        expect(wrong).withContext(`lookup ${n}`).toBe(0);
      });
    }
    expect(isRight(table)).toBe(true);
    tf.dispose([table, splits]);
  });

  it('a variable keeps its values when its first step moves it', () => {
    const table = tf.tidy(() => tf.variable(tableOfRows()));
    tf.tidy(() => {
      const gradient = tf.ones([1, DIM]) as tf.Tensor2D;
      const ids = { values: [ROWS - 1], rowSplits: [0, 1] };
      emb.ops.sparseApply('sgd', { table, gradient, ...ids, combiner: 'sum', learningRate: 1 });
      const stepped = tf.sub(tableOfRows(), table).sum(1).dataSync();
      expect(stepped.findIndex((sum) => sum !== 0)).toBe(ROWS - 1);
      expect(stepped[ROWS - 1]).toBe(DIM);
    });
    table.dispose();
  });
});
