/** Integers beyond int32: an error, never another number. */
import * as tf from '@tensorflow/tfjs';
import { operationNamed } from '../../../src/formats/graph_models/operations.js';
import { runOperation } from '../../../src/formats/graph_models/run_operation.js';
import { describeForBackends } from '../../helpers/backends.js';
import { FLOAT, INT32, execute, loadGraph, placeholder } from './small_graph.js';
import { expectError } from '../../helpers/errors.js';
import * as emb from '../../../src/node.js';
import { expectNoLeak, expectNoLeakAsync } from '../../helpers/tensors.js';

const vector = (...values: number[]): tf.Tensor => tf.tensor1d(values, 'int32');

describeForBackends(
  'integers of graphs',
  () => {
    const run = (op: string, inputs: tf.Tensor[], attributes = {}): tf.Tensor[] =>
      runOperation(operationNamed(op), inputs, attributes);
    const tidily = (body: () => void) => (): void => expectNoLeak(() => tf.tidy(body));
    /** Fails with a ValueError, whichever argument is to blame. */
    const expectTooLarge = (body: () => unknown): void => {
      expect(body).toThrowMatching((error: Error) => error.name === 'ValueError' && error.message.includes('int32'));
    };

    it(
      'SparseReshape to one axis of more than 2^31 places',
      tidily(() => {
        const at = tf.tensor2d([[99_999, 99_999]], [1, 2], 'int32');
        const shape = vector(100_000, 100_000);
        expectTooLarge(() => run('SparseReshape', [at, shape, vector(-1)]));
      }),
    );

    it(
      'SparseConcat of shapes whose sum is beyond',
      tidily(() => {
        const [at, values, shape] = [tf.zeros([1, 1], 'int32'), tf.ones([1]), vector(2_000_000_000)];
        const inputs = [at, at, values, values, shape, shape];
        expectTooLarge(() => run('SparseConcat', inputs, { N: 2, concat_dim: 0 }));
      }),
    );

    it(
      'segment ids as float32: whole ones are read, others and those above 2^24 are refused',
      tidily(() => {
        const data = tf.tensor1d([1, 2, 4]);
        const [sums] = run('SegmentSum', [data, tf.tensor1d([0, 0, 1])]);
        expect(Array.from(sums!.dataSync())).toEqual([3, 4]);
        const wrong = tf.tensor1d([0, 0.5, 1]);
        expectError(() => run('SegmentSum', [data, wrong]), 'ValueError', 'segment_ids', '0.5');
        const beyond = tf.tensor1d([0, 0, 16777218]);
        expectError(() => run('SegmentSum', [data, beyond]), 'ValueError', 'segment_ids', '16777218');
      }),
    );

    it(
      'dtypes that an op does not take are a TypeError',
      tidily(() => {
        const ids = vector(0, 0);
        expectError(() => run('SegmentSum', [tf.tensor1d([true, false], 'bool'), ids]), 'TypeError', 'data');
        expectError(() => run('SegmentSum', [tf.tensor1d(['a', 'b']), ids]), 'TypeError', 'data');
        expectError(() => run('SparseSegmentMean', [vector(1, 2), ids, ids]), 'TypeError', 'data');
        expectError(
          () => run('SegmentSum', [tf.ones([2]), tf.tensor1d([true, false], 'bool')]),
          'TypeError',
          'segment_ids',
        );
        const mixed = [ids, ids, tf.ones([2]), ids];
        expectError(() => run('DynamicStitch', mixed, { N: 2 }), 'TypeError', 'data');
        expectError(() => run('SegmentSum', [tf.ones([2])]), 'TypeError', 'segment_ids');
      }),
    );
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describeForBackends(
  'int64 tensors of TensorFlow',
  () => {
    interface Binding {
      readonly TF_INT64: number;
      createTensor(shape: number[], dtype: number, values: Int32Array): number;
    }
    interface Backend {
      readonly binding: Binding;
      createOutputTensor(metadata: { id: number; shape: number[]; dtype: number }): tf.Tensor;
    }

    /** What a SavedModel returns for int64: a tensor that calls itself int32. */
    function wide(...values: bigint[]): tf.Tensor {
      const backend = tf.backend() as unknown as Backend;
      const { binding } = backend;
      const words = new Int32Array(BigInt64Array.from(values).buffer);
      const id = binding.createTensor([values.length], binding.TF_INT64, words);
      const { warn } = console;
      console.warn = () => {};
      try {
        return backend.createOutputTensor({ id, shape: [values.length], dtype: binding.TF_INT64 });
      } finally {
        console.warn = warn;
      }
    }

    it('are read where they fit, and refused where they do not', () => {
      expectNoLeak(() =>
        tf.tidy(() => {
          const data = tf.tensor1d([1, 2, 4]);
          const op = operationNamed('SegmentSum');
          expect(Array.from(runOperation(op, [data, wide(0n, 0n, 1n)], {})[0]!.dataSync())).toEqual([3, 4]);
          const beyond = [data, wide(0n, 0n, 4294967296n)];
          expectError(() => runOperation(op, beyond, {}), 'ValueError', 'segment_ids', '4294967296');
        }),
      );
    });

    it('are no keys of lookup tables where they do not fit', async () => {
      emb.converter.registerOps();
      await expectNoLeakAsync(async () => {
        const model = await loadGraph([
          placeholder('keys', INT32),
          placeholder('values', FLOAT),
          { name: 'table', op: 'MutableHashTableV2', attr: { key_dtype: INT32, value_dtype: FLOAT } },
          { name: 'insert', op: 'LookupTableInsertV2', input: ['table', 'keys', 'values'] },
          { name: 'export', op: 'LookupTableExportV2', input: ['table'] },
        ]);
        execute(model, { keys: wide(7n, -3n), values: tf.tensor1d([1, 2]) }, 'insert');
        const beyond = { keys: wide(4294967303n, 1n), values: tf.tensor1d([3, 4]) };
        expectError(() => execute(model, beyond, 'insert'), 'ValueError', 'keys', '4294967303');
        expect(execute(model, {}, 'export:0', 'export:1')).toEqual([
          [7, -3],
          [1, 2],
        ]);
        model.dispose();
      });
    });
  },
  ['tensorflow'],
);
