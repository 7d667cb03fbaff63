import * as tf from '@tensorflow/tfjs';
import {
  checkSameWeighted,
  featuresByDevice,
  fedTensors,
  idPathsByDevice,
  readInputs,
  spreadWeights,
  type InputForm,
} from '../../../src/layers/distributed_embedding/inputs.js';
import { listStructure, readStructure } from '../../../src/layers/distributed_embedding/structure.js';
import { expectError } from '../../helpers/errors.js';

const LIST: InputForm = { structure: listStructure(2), count: 2, weighted: null, byDevice: null };
const { structure: record } = readStructure({ a: 1, b: 2 }, 'features', 'numbers', (part) =>
  typeof part === 'number' ? part : null,
);
const RECORD: InputForm = { ...LIST, structure: record };

describe('inputs of a DistributedEmbedding', () => {
  it('are one entry per feature, in the structure of the features', () => {
    expect(readInputs([[1], [2]], null, LIST)).toEqual({ ids: [[1], [2]], weights: [null, null], isFlat: false });
    expect(readInputs({ b: [2], a: [1] }, { b: [0.5] }, RECORD)).toEqual({ ids: [[1], [2]], weights: [null, [0.5]], isFlat: false }); // prettier-ignore
    expectError(() => readInputs([[1]], null, LIST), 'ValueError', 'inputs', 'a list of 1');
    expectError(() => readInputs({ a: [1] }, null, RECORD), 'ValueError', 'inputs.b');
    for (const none of [null, undefined]) {
      expectError(() => readInputs(none, null, LIST), 'TypeError', 'inputs', String(none));
      expectError(() => readInputs(none, null, { ...LIST, byDevice: [[0], [1]] }), 'TypeError', 'inputs', String(none));
    }
  });

  it('are the same ids on all devices that hold columns of a table', () => {
    const form: InputForm = { ...LIST, structure: listStructure(1), count: 1, byDevice: [[0], [0]] };
    const sparse = (values: number[]): object => ({ indices: [[0, 0], [1, 0]], values, denseShape: [2, 1] }); // prettier-ignore
    tf.tidy(() => {
      const tensor = (...values: number[]): tf.Tensor => tf.tensor1d(values, 'int32');
      const same = [[1, 2], [[1], [2, 3]], sparse([1, 2]), tensor(1, 2), [tensor(1), tensor(2)]];
      const others = [
        [[1, 3], [3, 2], [1], [1, 2, 3], sparse([1, 2])],
        [
          [[1], [2, 4]],
          [[2], [2, 3]],
        ],
        [sparse([1, 3]), sparse([3, 2]), [1, 2]],
        [tensor(1, 3), tensor(1, 2, 3), tensor(1, 2).toFloat(), tensor(1, 2).expandDims(1), [1, 2]],
        [
          [tensor(1), tensor(3)],
          [tensor(3), tensor(2)],
        ],
      ];
      // The same tensor, whatever it holds.
      const none = tf.tensor1d([NaN, 1]);
      expect(readInputs([[none], [none]], null, form).ids).toEqual([none]);
      same.forEach((ids, i) => {
        const copy: unknown = ids instanceof tf.Tensor ? ids.clone() : Array.isArray(ids) ? [...ids] : { ...ids };
        expect(readInputs([[ids], [copy]], null, form).ids).toEqual([copy]);
        for (const other of others[i]!) {
          for (const pair of [
            [[ids], [other]],
            [[other], [ids]],
          ])
            expectError(() => readInputs(pair, null, form), 'ValueError', 'inputs[1][0]', 'other ids');
        }
      });
    });
  });

  it('are a flat list where a model hands its tensors on, the weights behind the ids', () => {
    tf.tidy(() => {
      const [a, b] = [tf.zeros([2, 1], 'int32'), tf.ones([2, 1], 'int32')];
      const [w, v] = [tf.ones([2, 1]), tf.zeros([2, 1])];
      const flat = (weighted: number[] | null, structure = record): InputForm => ({ ...RECORD, structure, weighted });
      const none = [null, null];
      expect(readInputs([a, b], null, flat([]))).toEqual({ ids: [a, b], weights: none, isFlat: true });
      expect(readInputs([a, b, w], null, flat([1]))).toEqual({ ids: [a, b], weights: [null, w], isFlat: true });
      expect(readInputs([a, b, w, v], undefined, flat([0, 1]))).toEqual({ ids: [a, b], weights: [w, v], isFlat: true });
      const plain = flat([], listStructure(2));
      // A plain list looks the same when it is flat.
      expect(readInputs([a, b], null, plain).isFlat).toBeFalse();
      expect(readInputs([a, b, w], null, { ...plain, weighted: [0] })).toEqual({ ids: [a, b], weights: [w, null], isFlat: true }); // prettier-ignore
      expect(readInputs([a, b], null, { ...plain, byDevice: [[0], [1]] }).isFlat).toBeTrue();
      // Not before the layer was applied, with weights beside it, with other numbers of tensors, with int32 weights.
      expectError(() => readInputs([a, b], null, flat(null)), 'TypeError', 'inputs');
      expectError(() => readInputs([a, b], {}, flat([])), 'TypeError', 'inputs');
      expectError(() => readInputs([a, b], null, flat([0])), 'TypeError', 'inputs');
      expectError(() => readInputs([a, b, b], null, flat([0])), 'TypeError', 'inputs');
      expectError(() => readInputs([a, [1]], null, flat([])), 'TypeError', 'inputs');
    });
  });

  it('are symbolic alone, or none of them', () => {
    const [a, b] = [tf.input({ shape: [1], dtype: 'int32' }), tf.input({ shape: [1], dtype: 'int32' })];
    const form = { ...RECORD, weighted: [] };
    expect(readInputs([a, b], null, form)).toEqual({ ids: [a, b], weights: [null, null], isFlat: true });
    const tensor = tf.zeros([2, 1], 'int32');
    expectError(() => readInputs([a, tensor], null, form), 'TypeError', 'inputs');
    tensor.dispose();
    const one = { ...LIST, structure: listStructure(1), count: 1 };
    expect(readInputs(a, null, { ...one, weighted: [] })).toEqual({ ids: [a], weights: [null], isFlat: true });
  });

  it('are no pairs of ids and weights', () => {
    tf.tidy(() => {
      const ids = tf.zeros([2, 1], 'int32');
      const symbolic = tf.input({ shape: [1], dtype: 'int32' });
      const pairs = [
        [ids, tf.ones([2, 1])],
        [tf.zeros([2], 'int32'), tf.ones([2])],
        [symbolic, symbolic],
        [[1], symbolic],
        [{ values: [1] }, [1]],
      ];
      for (const pair of pairs) {
        expectError(() => readInputs([[1], pair], null, LIST), 'ValueError', 'inputs[1]', 'a pair');
      }
      const splits = [tf.zeros([2], 'int32'), tf.zeros([3], 'int32')];
      for (const fine of [splits, [[1], [2]], [1, 2], [Int32Array.of(1), Int32Array.of(0, 1)], [null, 1]]) {
        expect(readInputs([[1], fine], null, LIST).ids[1]).toBe(fine);
      }
    });
    expectError(() => readInputs([[1], [2], [3], [4]], null, LIST), 'ValueError', 'inputs', 'a list of 4');
  });

  it('may come by device, where those that hold columns of one table were given the same ids', () => {
    const form: InputForm = { ...LIST, byDevice: [[0, 1], [1]] };
    const read = (inputs: unknown): readonly unknown[] => readInputs(inputs, null, form).ids;
    expect(read([[[1], [2]], [[2]]])).toEqual([[1], [2]]);
    expect(read([[[1], { values: [2], rowSplits: [0, 1] }], [{ values: [2], rowSplits: [0, 1] }]])[0]).toEqual([1]);
    tf.tidy(() => {
      const [a, same, other, float] = [[2, 3], [2, 3], [2, 4]].map((ids) => tf.tensor1d(ids, 'int32')).concat(tf.tensor1d([2, 3])); // prettier-ignore
      expect(read([[[1], a], [same]])[1]).toBe(same!);
      for (const wrong of [other, float, [2, 3], tf.tensor2d([[2, 3]], [1, 2], 'int32')]) {
        expectError(() => read([[[1], a], [wrong]]), 'ValueError', 'inputs[1][0]', 'other ids');
        expectError(() => read([[[1], wrong], [a]]), 'ValueError', 'inputs[1][0]', 'other ids');
      }
    });
    const symbolic = tf.input({ shape: [1], dtype: 'int32' });
    expect(read([[[1], symbolic], [symbolic]])[1]).toBe(symbolic);
    expectError(() => read([[[1], symbolic], [[2]]]), 'ValueError', 'inputs[1][0]', 'other ids');
    for (const wrong of [[3], [2, 3], [[2]], { values: [2] }]) {
      expectError(() => read([[[1], [2]], [wrong]]), 'ValueError', 'inputs[1][0]', 'other ids');
    }
    expectError(() => read([[[1], { values: [2] }], [{ values: [3] }]]), 'ValueError', 'inputs[1][0]', 'other ids');
    expectError(() => read('ids'), 'TypeError', 'inputs', 'ids');
    expectError(() => read([[[1], [2]]]), 'ValueError', 'inputs', 'a list of 1');
    expectError(() => read([[[1], [2]], 5]), 'TypeError', 'inputs[1]', '5');
    expectError(() => read([[[1]], [[2]]]), 'ValueError', 'inputs[0]', 'a list of 1');
    expectError(() => read([[[1], null], [[2]]]), 'TypeError', 'inputs[0][1]', 'null');
    expectError(() => read([[[1], [2]], [undefined]]), 'TypeError', 'inputs[1][0]', 'undefined');
    expect(idPathsByDevice([[1, 0], [0, 2]])).toEqual(['inputs[0][1]', 'inputs[0][0]', 'inputs[1][1]']); // prettier-ignore
    const plan = { ranks: [{ tableParallel: { inputIdsGlobal: [1, 0] } }, {}] };
    expect(featuresByDevice(plan as never)).toEqual([[1, 0], []]);
  });

  it('keep the features that have weights', () => {
    checkSameWeighted(null, [1]);
    checkSameWeighted([0, 1], [0, 1]);
    expectError(() => checkSameWeighted([0], [0, 1]), 'ValueError', 'weights', 'weights for 0, 1');
    expectError(() => checkSameWeighted([0, 1], []), 'ValueError', 'weights', 'weights for none');
    expect(() => checkSameWeighted([0, 2], [])).toThrowError(/\(0, 2\)/);
    expect(() => checkSameWeighted([], [1])).toThrowError(/\(none\)/);
    expect(spreadWeights(['a', 'b', 'c', 'w'], 3, [1])).toEqual([null, 'w', null]);
    expect(spreadWeights(['a', 'b'], 2, [1])).toEqual([null, null]);
  });

  it('may be nothing but tensors', () => {
    tf.tidy(() => {
      const tensors = [tf.scalar(1), tf.scalar(2)];
      expect(fedTensors(tensors, null)).toBe(tensors);
      expect(fedTensors(tensors, undefined)).toBe(tensors);
      for (const other of [tensors[0], [tensors[0], [1]], null]) expect(fedTensors(other, null)).toBeNull();
      expect(fedTensors(tensors, [null, null])).toBeNull();
    });
  });
});
