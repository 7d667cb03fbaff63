/** Counts and sizes of graphs that contradict the tensors: errors, on every backend, before anything native runs. */
import * as tf from '@tensorflow/tfjs';
import { OPERATIONS } from '../../../src/formats/graph_models/operations.js';
import { runOperation } from '../../../src/formats/graph_models/run_operation.js';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';
import { Random } from '../../helpers/random.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { goldenOps, type GoldenOp, type GoldenTensor } from './golden_ops.js';
import { tensorOf } from './one_op_graph.js';
import { FLOAT, INT32, execute, loadGraph, placeholder } from './small_graph.js';

const int32 = (values: number[], shape = [values.length]): GoldenTensor => ({ dtype: 'int32', shape, values });
const float32 = (values: number[], shape = [values.length]): GoldenTensor => ({ dtype: 'float32', shape, values });

const ROWS = float32([1, 2, 3, 4], [2, 2]);
/** The op, its count, what is wrong of it, and inputs. */
const COUNTS: readonly [string, string, number[], GoldenTensor[]][] = [
  ['RaggedTensorToSparse', 'RAGGED_RANK', [-1, 2 ** 30, 1.5], [int32([0, 1, 2]), ROWS]],
  ['RaggedTensorToSparse', 'rt_nested_splits', [0], [ROWS]],
  ['DynamicPartition', 'num_partitions', [-1, 0, 2 ** 30], [ROWS, int32([0, 0])]],
  ['DynamicStitch', 'N', [-2, 0, 2 ** 30], [int32([0, 1]), ROWS]],
  ['SparseConcat', 'N', [-1, 0, 2 ** 30], [int32([0], [1, 1]), float32([1]), int32([1])]],
  ['SparseSplit', 'num_split', [-1, 0, 2 ** 30], [int32([0], []), int32([0], [1, 1]), float32([1]), int32([1])]],
  ['RaggedGather', 'PARAMS_RAGGED_RANK', [-1, 2 ** 30], [int32([0, 2]), ROWS, int32([0])]],
  ['RaggedGather', 'OUTPUT_RAGGED_RANK', [-1, 0, 2, 2 ** 30], [int32([0, 2]), ROWS, int32([0])]],
];
const OTHERS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  RAGGED_RANK: { RAGGED_RANK: 0 },
  rt_nested_splits: { RAGGED_RANK: 0 },
  SparseConcat: { concat_dim: 0 },
  PARAMS_RAGGED_RANK: { OUTPUT_RAGGED_RANK: 1 },
  OUTPUT_RAGGED_RANK: { PARAMS_RAGGED_RANK: 1 },
};

function run(op: string, inputs: readonly GoldenTensor[], attributes: object): void {
  tf.tidy(() => {
    runOperation(OPERATIONS.get(op)!, inputs.map(tensorOf), attributes as Readonly<Record<string, number>>);
  });
}

const SPOILS = [-2147483648, -1, 0, 1, 2, 3, 7, 1000];

/** A case of TensorFlow with some numbers, shapes and attributes changed. */
function spoilt(golden: GoldenOp, random: Random): GoldenOp {
  const inputs = golden.inputs.map((input) => ({ ...input, values: [...input.values] }));
  const attributes: Record<string, number | boolean | readonly string[]> = { ...golden.attributes };
  for (let change = random.whole(1, 4); change > 0; change--) {
    const input = random.pick(inputs);
    const name = random.pick([...Object.keys(attributes), '']);
    const kind = random.whole(0, 4);
    if (kind === 0 && typeof attributes[name] === 'number') attributes[name] = random.pick(SPOILS);
    if (kind === 1 && input.dtype === 'int32' && input.values.length > 0) {
      input.values[random.whole(0, input.values.length)] = random.pick(SPOILS);
    }
    if (kind === 2) Object.assign(input, { shape: random.pick([[0], [0, 2]]), values: [] });
    if (kind === 3) input.shape = random.pick([[input.values.length], [1, ...input.shape]]);
  }
  return { ...golden, inputs, attributes };
}

describeForBackends(
  'counts of ops in graphs',
  () => {
    beforeAll(() => void emb.converter.registerOps());

    for (const [op, count, wrong, inputs] of COUNTS) {
      for (const value of wrong) {
        it(`${op} refuses ${count} ${value}`, () => {
          const attributes = { ...OTHERS[op], ...OTHERS[count] };
          const given = count === 'rt_nested_splits' ? attributes : { ...attributes, [count]: value };
          expectError(() => run(op, inputs, given), 'ValueError', count);
        });
      }
    }

    it('a count of more inputs than a node has is told with the name of the node', async () => {
      await expectNoLeakAsync(async () => {
        const model = await loadGraph([
          placeholder('at', INT32),
          placeholder('rows', FLOAT),
          { name: 'merged', op: 'DynamicStitch', input: ['at', 'rows'], attr: { N: { i: '7' }, T: FLOAT } },
        ]);
        const feeds = (): tf.NamedTensorMap => ({ at: tf.tensor1d([0], 'int32'), rows: tf.tensor1d([5]) });
        expectError(() => execute(model, feeds(), 'merged'), 'ValueError', 'merged', '2');
        model.dispose();
      });
    });

    it('negative sizes are refused', () => {
      const [at, values, rows] = [int32([0, 0], [1, 2]), float32([1]), float32([1, 2, 3, 4], [2, 2])];
      for (const size of [-1, -2147483648]) {
        const wrong = [at, values, int32([size, 2]), rows];
        expectError(() => run('SparseTensorDenseMatMul', wrong, {}), 'ValueError', 'a_shape');
        const shape = [int32([], [0, 2]), float32([]), int32([size, 2]), float32([0], [])];
        expectError(() => run('SparseFillEmptyRows', shape, {}), 'ValueError', 'dense_shape');
      }
    });

    it('ranges of more numbers than positions reach are refused', () => {
      const numbers = [int32([-2147483648]), int32([2147483647]), int32([1])];
      expect(() => run('RaggedRange', numbers, {})).toThrowMatching((error: Error) => error.name === 'ValueError');
    });

    it('updates that do not belong to the places are refused', () => {
      const [at, one] = [int32([0, 1], [2, 1]), float32([1, 2])];
      expectError(() => run('TensorScatterAdd', [ROWS, at, one], {}), 'ValueError', 'updates', '[2]');
      expectError(() => run('ScatterNd', [at, one, int32([2, 2])], {}), 'ValueError', 'updates', '[2]');
      expectError(() => run('ScatterNd', [at, ROWS, int32([2, 2], [1, 2])], {}), 'ValueError', 'shape', '[1, 2]');
      expectError(() => run('ScatterNd', [int32([0, 0, 0], [1, 3]), one, int32([2])], {}), 'ValueError', 'indices');
    });

    it('300 spoilt calls give results or errors that name an argument', () => {
      const random = new Random(26);
      const { cases } = goldenOps();
      let refused = 0;
      for (let call = 0; call < 300; call++) {
        const { op, inputs, attributes } = spoilt(random.pick(cases), random);
        try {
          run(op, inputs, attributes);
        } catch (error) {
          refused++;
          const { argument, name } = error as Error & { argument?: string };
          expect(typeof argument)
            .withContext(`${op} ${JSON.stringify(attributes)}: ${String(error)}`)
            .toBe('string');
          expect(name).toMatch(/^(Value|Type)Error$/);
        }
      }
      expect(refused).toBeGreaterThan(100);
      expect(refused).toBeLessThan(290);
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
