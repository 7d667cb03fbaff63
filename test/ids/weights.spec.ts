/** What is said of weights that do not fit their ids. */
import * as tf from '@tensorflow/tfjs';
import { parseIds } from '../../src/ids/parse_ids.js';
import { RaggedTensor } from '../../src/ids/ragged_tensor.js';
import { expectError } from '../helpers/errors.js';

const RAGGED = [[1, 2], [3], [4, 5, 6]];
const DENSE = [[1, 2], [3, 4]]; // prettier-ignore

function read(ids: unknown, weights: unknown): unknown {
  return parseIds(ids as never, weights as never).weights;
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing thrown';
}

describe('weights of other rows', () => {
  const note = (weights: number[][]): string =>
    messageOf(() => read(RaggedTensor.fromRows(RAGGED), RaggedTensor.fromRows(weights))).split('received others. ')[1]!;

  it('name the first row that has another length', () => {
    expect(note([[1], [2, 3], [4, 5, 6]])).toBe('Row 0 has 2 ids and 1 weights.');
    expect(note([[1, 2], [3, 4], [5, 6]])).toBe('Row 1 has 1 ids and 2 weights.'); // prettier-ignore
    expect(note([[1, 2], [3], [4, 5], [6]])).toBe('Row 2 has 3 ids and 2 weights.');
    expect(note([[1, 2], [3, 4, 5, 6]])).toBe('Row 1 has 1 ids and 4 weights.'); // prettier-ignore
  });

  it('name the number of rows where the rows that both have are alike', () => {
    expect(note([[1, 2], [3], [4, 5, 6], []])).toBe('3 rows of ids, 4 of weights.');
    expect(note([[1, 2], [3]])).toBe('3 rows of ids, 2 of weights.');
    const empty = messageOf(() => read(RaggedTensor.fromRows([]), RaggedTensor.fromRows([[]])));
    expect(empty).toContain('0 rows of ids, 1 of weights.');
  });

  it('name nothing more where only outer rows differ', () => {
    const ids = RaggedTensor.fromRows([[[1], [2]], [[3]]]);
    const weights = RaggedTensor.fromRows([[[1]], [[2], [3]]]);
    expect(messageOf(() => read(ids, weights))).toBe('`weights`: expected the row splits of `ids`, received others.');
  });

  it('are refused wherever the difference is', () => {
    const ids = RaggedTensor.fromRows([[[1], [2]], [[3]]]);
    for (const rows of [
      [[[1]], [[2], [3]]],
      [[[1, 2]], [[3]]],
      [[1], [2], [3]],
    ]) {
      expectError(() => read(ids, RaggedTensor.fromRows(rows as never)), 'ValueError', 'weights', 'others');
    }
  });
});

describe('weights of another shape', () => {
  it('are told which ones would do', () => {
    const expected = (ids: unknown, weights: unknown): string => {
      const message = messageOf(() => read(ids, weights));
      return message.slice(message.indexOf('expected ') + 9, message.indexOf(', received'));
    };
    expect(expected(DENSE, [1, 2, 3])).toBe('the shape of `ids` [2, 2], or one weight per id (4)');
    expect(expected(RaggedTensor.fromRows(RAGGED), [1, 2, 3])).toBe('one weight per id (6)');
    tf.tidy(() => {
      expect(expected(RaggedTensor.fromRows(RAGGED), tf.ones([2, 3]))).toBe('one weight per id (6)');
    });
  });

  it('are told what came', () => {
    expectError(() => read(DENSE, [[1, 2, 3]]), 'ValueError', 'weights', /^shape \[1, 3\]$/);
    expectError(() => read(DENSE, [[1], [2, 3]]), 'ValueError', 'weights', /^uneven rows$/);
    expectError(() => read(DENSE, [1, 2, 3]), 'ValueError', 'weights', /^3 weights$/);
    expectError(() => read(DENSE, 1), 'ValueError', 'weights', /^shape \[\]$/);
    tf.tidy(() => {
      for (const shape of [[3], [5], [1, 4], [4, 1]]) {
        expectError(() => read(DENSE, tf.ones(shape)), 'ValueError', 'weights', `[${shape.join(', ')}]`);
      }
      expectError(() => read(RaggedTensor.fromRows(RAGGED), tf.ones([5])), 'ValueError', 'weights', '[5]');
    });
  });

  it('are refused where they have inner axes', () => {
    const inner = RaggedTensor.fromRowSplits([1, 2, 3, 4, 5, 6], [0, 2, 3], [2]);
    expectError(() => read(RaggedTensor.fromRows([[1, 2], [3]]), inner), 'ValueError', 'weights', 'RaggedTensor');
  });

  it('are refused as tensors beside row splits', () => {
    tf.tidy(() => {
      const rowSplits = [0, 2];
      const ids = { values: [1, 2], rowSplits };
      expectError(() => read(ids, { values: tf.ones([1, 2]), rowSplits }), 'ValueError', 'weights.values');
    });
  });
});

describe('weights that are tensors', () => {
  it('are read to refuse NaN, except where a read waits for a GPU', () => {
    const engine = tf.engine();
    const before = engine.backendName;
    tf.tidy(() => {
      const weights = tf.tensor2d([[1, NaN], [3, 4]]); // prettier-ignore
      expectError(() => read(DENSE, weights), 'ValueError', 'weights', 'NaN at [0, 1]');
      try {
        engine.backendName = 'webgpu';
        expect(read(DENSE, weights)).toBe(weights);
      } finally {
        engine.backendName = before;
      }
    });
  });
});

describe('flat weights', () => {
  for (const [title, ids, count] of [
    ['dense ids', DENSE, 4],
    ['ragged ids', RaggedTensor.fromRows(RAGGED), 6],
    ['sparse ids', { indices: [[0, 0], [1, 1]], values: [1, 2], denseShape: [2, 2] }, 2], // prettier-ignore
  ] as const) {
    it(`are one per id, neither fewer nor more: ${title}`, () => {
      expect(read(ids, new Float32Array(count))).toEqual(new Float32Array(count));
      for (const other of [count - 1, count + 1]) {
        const plain = new Array<number>(other).fill(1);
        for (const weights of [plain, Float32Array.from(plain), Float64Array.from(plain)]) {
          expectError(() => read(ids, weights), 'ValueError', 'weights', `${other} weights`);
        }
        tf.tidy(() => expectError(() => read(ids, tf.ones([other])), 'ValueError', 'weights', `[${other}]`));
      }
    });
  }
});
