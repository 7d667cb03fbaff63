/** Ops with handles, state or names of their own: variables, variants, TensorArrays of old forms, embeddings. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';
import { FLOAT, INT32, execute, loadGraph, placeholder, text, type Node } from './small_graph.js';

const T = { T: FLOAT };
const TABLE = [
  [1, 2],
  [3, 4],
  [5, 6],
];

/** Runs a graph that is disposed afterwards; nothing may be left. */
async function withGraph(nodes: readonly Node[], use: (model: tf.GraphModel) => void): Promise<void> {
  await expectNoLeakAsync(async () => {
    const model = await loadGraph(nodes);
    use(model);
    model.dispose();
  });
}

function nameOfError(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).name;
  }
  return 'none';
}

const VARIABLE: Node[] = [
  { name: 'v', op: 'VarHandleOp', attr: { dtype: FLOAT, shared_name: text('Table') } },
  { name: 'same', op: 'VarHandleOp', attr: { dtype: FLOAT, shared_name: text('Table') } },
  placeholder('value', FLOAT),
  placeholder('ids', INT32),
  { name: 'set', op: 'AssignVariableOp', input: ['v', 'value'], attr: { dtype: FLOAT } },
  { name: 'read', op: 'ReadVariableOp', input: ['same', '^set'], attr: { dtype: FLOAT } },
  { name: 'rows', op: 'ResourceGather', input: ['same', 'ids'], attr: { dtype: FLOAT, Tindices: INT32 } },
  { name: 'cells', op: 'ResourceGatherNd', input: ['same', 'ids'], attr: { dtype: FLOAT, Tindices: INT32 } },
  { name: 'known', op: 'VarIsInitializedOp', input: ['v'] },
];

function arrayGraph(form: '' | 'V2' | 'V3'): Node[] {
  const name = (verb: string): string => `TensorArray${verb}${form}`;
  const dtype = { dtype: FLOAT };
  return [
    placeholder('x', FLOAT),
    placeholder('size', INT32),
    placeholder('at', INT32),
    placeholder('flow', FLOAT),
    { name: 'ta', op: name(''), input: ['size'], attr: { ...dtype, clear_after_read: { b: false } } },
    { name: 'w', op: name('Write'), input: ['ta', 'at', 'x', 'flow'], attr: T },
    { name: 'g', op: name('Grad'), input: ['ta', 'w'], attr: { source: text('Gradients') } },
    { name: 'g2', op: name('Grad'), input: ['ta', 'w'], attr: { source: text('Gradients') } },
    { name: 'gw', op: name('Write'), input: ['g', 'at', 'x', 'w'], attr: T },
    { name: 'gw2', op: name('Write'), input: ['g2', 'at', 'x', 'gw'], attr: T },
    { name: 'y', op: name('Read'), input: ['g', 'at', 'gw2'], attr: dtype },
    { name: 'n', op: name('Size'), input: ['ta', 'gw2'] },
  ];
}

describeForBackends(
  'ops with state and handles',
  () => {
    beforeAll(() => void emb.converter.registerOps());

    it('variables: assigned, read, gathered; one for each shared name, kept until the model is disposed', async () => {
      await withGraph(VARIABLE, (model) => {
        expect(execute(model, {}, 'known')).toEqual([[0]]);
        expect(nameOfError(() => execute(model, { ids: tf.tensor1d([0], 'int32') }, 'rows'))).toBe('RuntimeError');
        expect(execute(model, { value: tf.tensor2d(TABLE) }, 'read')).toEqual([[1, 2, 3, 4, 5, 6]]);
        expect(execute(model, { ids: tf.tensor1d([2, 0], 'int32') }, 'rows')).toEqual([[5, 6, 1, 2]]);
        expect(execute(model, { ids: tf.tensor2d([[1, 0]], [1, 2], 'int32') }, 'cells')).toEqual([[3]]);
        expect(execute(model, {}, 'known')).toEqual([[1]]);
        for (const id of [3, -1]) {
          const ids = tf.tensor1d([id], 'int32');
          expect(nameOfError(() => execute(model, { ids }, 'rows'))).toBe('ValueError');
        }
        expect(execute(model, { value: tf.tensor2d([[9, 8]]) }, 'read')).toEqual([[9, 8]]);
      });
    });

    it('a frozen variable is its value', async () => {
      const nodes = [
        placeholder('table', FLOAT),
        placeholder('ids', INT32),
        { name: 'read', op: 'ReadVariableOp', input: ['table'] },
        { name: 'rows', op: 'ResourceGather', input: ['table', 'ids'] },
      ];
      await withGraph(nodes, (model) => {
        const feeds = { table: tf.tensor2d(TABLE), ids: tf.tensor1d([1], 'int32') };
        expect(execute(model, feeds, 'rows', 'read')).toEqual([
          [3, 4],
          [1, 2, 3, 4, 5, 6],
        ]);
      });
    });

    it('a ragged tensor passes through a variant', async () => {
      const rank = { Tsplits: INT32, Tvalues: FLOAT };
      const nodes = [
        placeholder('splits', INT32),
        placeholder('values', FLOAT),
        {
          name: 'to',
          op: 'RaggedTensorToVariant',
          input: ['splits', 'values'],
          attr: { ...rank, RAGGED_RANK: { i: '1' }, batched_input: { b: false } },
        },
        { name: 'copy', op: 'Identity', input: ['to'] },
        {
          name: 'from',
          op: 'RaggedTensorFromVariant',
          input: ['copy'],
          attr: { ...rank, output_ragged_rank: { i: '1' } },
        },
        {
          name: 'two',
          op: 'RaggedTensorFromVariant',
          input: ['copy'],
          attr: { ...rank, output_ragged_rank: { i: '2' } },
        },
      ];
      await withGraph(nodes, (model) => {
        const feeds = (): tf.NamedTensorMap => ({
          splits: tf.tensor1d([0, 2, 3], 'int32'),
          values: tf.tensor1d([1, 2, 3]),
        });
        expect(execute(model, feeds(), 'from:0', 'from:1')).toEqual([
          [0, 2, 3],
          [1, 2, 3],
        ]);
        expect(nameOfError(() => execute(model, feeds(), 'two'))).toBe('ValueError');
      });
    });

    it('a gradient of variants has one for each row, and all of their values', async () => {
      const attr = { Tsplits: INT32, Tvalues: FLOAT, RAGGED_RANK: { i: '1' }, batched_input: { b: true } };
      const nodes = [
        placeholder('splits', INT32),
        placeholder('values', FLOAT),
        placeholder('rows', INT32),
        placeholder('shape', INT32),
        { name: 'to', op: 'RaggedTensorToVariant', input: ['splits', 'values'], attr },
        { name: 'back', op: 'RaggedTensorToVariantGradient', input: ['to', 'rows', 'shape'], attr },
      ];
      await withGraph(nodes, (model) => {
        const run = (splits: number[], values: number[], rows: number[], shape: number[]): number[][] => {
          const [given, wanted, sizes] = [splits, rows, shape].map((each) => tf.tensor1d(each, 'int32'));
          return execute(model, { splits: given!, values: tf.tensor1d(values), rows: wanted!, shape: sizes! }, 'back');
        };
        expect(run([0, 2, 3], [1, 2, 3], [0, 2, 3], [3, 1])).toEqual([[1, 2, 3]]);
        expect(run([0], [], [0], [0])).toEqual([[]]);
        expect(nameOfError(() => run([0, 2, 3], [1, 2, 3], [0, 2, 3, 3], [3]))).toBe('ValueError');
        expect(nameOfError(() => run([0, 2, 3], [1, 2, 3], [0, 2, 3], [4]))).toBe('ValueError');
        expect(nameOfError(() => run([0, 2, 3], [1, 2, 3], [], [3]))).toBe('ValueError');
      });
    });

    for (const form of ['', 'V2', 'V3'] as const) {
      it(`TensorArray${form}: written, with gradients that add`, async () => {
        await withGraph(arrayGraph(form), (model) => {
          const feeds = {
            x: tf.tensor1d([1, 2]),
            size: tf.scalar(3, 'int32'),
            at: tf.scalar(1, 'int32'),
            flow: tf.scalar(0),
          };
          expect(execute(model, feeds, 'y', 'n')).toEqual([[2, 4], [3]]);
        });
      });
    }

    it('TensorArrayUnpack and TensorArrayPack', async () => {
      const nodes = [
        placeholder('x', FLOAT),
        placeholder('size', INT32),
        { name: 'ta', op: 'TensorArray', input: ['size'], attr: { dtype: FLOAT } },
        { name: 'u', op: 'TensorArrayUnpack', input: ['ta', 'x', 'x'], attr: T },
        { name: 'y', op: 'TensorArrayPack', input: ['ta', 'u'], attr: { dtype: FLOAT } },
      ];
      await withGraph(nodes, (model) => {
        expect(execute(model, { x: tf.tensor2d(TABLE), size: tf.scalar(3, 'int32') }, 'y')).toEqual([
          [1, 2, 3, 4, 5, 6],
        ]);
      });
    });

    it('element shapes with a size of 0, which the JSON of a graph leaves out', async () => {
      const shape = { shape: { dim: [{}, { size: '2' }] } };
      const nodes = [
        placeholder('size', INT32),
        placeholder('flow', FLOAT),
        { name: 'ta', op: 'TensorArrayV3', input: ['size'], attr: { dtype: FLOAT, element_shape: shape } },
        { name: 'read', op: 'TensorArrayConcatV3', input: ['ta', 'flow'], attr: { dtype: FLOAT } },
      ];
      await withGraph(nodes, (model) => {
        expect(execute(model, { size: tf.scalar(3, 'int32'), flow: tf.scalar(0) }, 'read')).toEqual([[]]);
      });
    });

    it('EmbeddingBag: combiners, weights, ids out of range', async () => {
      const bag = (name: string, combiner: string, mode: string): Node => ({
        name,
        op: 'EmbeddingBag',
        input: ['table', 'values', 'splits', 'weights'],
        attr: { combiner: text(combiner), out_of_range: text(mode), max_norm: { f: 0 } },
      });
      const inputs = [placeholder('table', FLOAT), placeholder('values', INT32), placeholder('splits', INT32)];
      const bags = [bag('sum', 'sum', 'error'), bag('mean', 'mean', 'error'), bag('zero', 'sum', 'zero')];
      await withGraph([...inputs, placeholder('weights', FLOAT), ...bags], (model) => {
        const feeds = (ids: number[], weights: number[]): tf.NamedTensorMap => ({
          table: tf.tensor2d(TABLE),
          values: tf.tensor1d(ids, 'int32'),
          splits: tf.tensor1d([0, 2, 2, 3], 'int32'),
          weights: tf.tensor1d(weights),
        });
        expect(execute(model, feeds([0, 2, 1], []), 'sum')).toEqual([[6, 8, 0, 0, 3, 4]]);
        expect(execute(model, feeds([0, 2, 1], [1, 3, 2]), 'mean')).toEqual([[4, 5, 0, 0, 3, 4]]);
        expect(execute(model, feeds([0, 9, 1], []), 'zero')).toEqual([[1, 2, 0, 0, 3, 4]]);
        expect(nameOfError(() => execute(model, feeds([0, 9, 1], []), 'sum'))).toBe('ValueError');
      });
    });

    it('EmbeddingLookupVariableHotness, its gradient, and RowToSplit', async () => {
      const attr = { combiner: text('mean') };
      const nodes = [
        placeholder('param', FLOAT),
        placeholder('ids', INT32),
        placeholder('rows', INT32),
        placeholder('batch', INT32),
        placeholder('grad', FLOAT),
        { name: 'splits', op: 'RowToSplit', input: ['rows', 'batch'] },
        { name: 'y', op: 'EmbeddingLookupVariableHotness', input: ['param', 'ids', 'splits'], attr },
        { name: 'g', op: 'EmbeddingLookupVariableHotnessGrad', input: ['ids', 'splits', 'grad', 'param'], attr },
      ];
      await withGraph(nodes, (model) => {
        const feeds = {
          param: tf.tensor2d(TABLE),
          ids: tf.tensor1d([0, 2, 0], 'int32'),
          rows: tf.tensor2d(
            [
              [0, 0],
              [0, 1],
              [2, 0],
            ],
            [3, 2],
            'int32',
          ),
          batch: tf.scalar(3, 'int32'),
          grad: tf.tensor2d([
            [2, 4],
            [9, 9],
            [1, 1],
          ]),
        };
        const [y, ids, rows] = execute(model, feeds, 'y', 'g:0', 'g:1');
        expectClose(y!, [3, 4, 0, 0, 1, 2]);
        expect(ids).toEqual([0, 2]);
        expectClose(rows!, [2, 3, 1, 2]);
      });
    });

    it('IntegerLookup: indices by first appearance, 0 once it is full, over all runs of the model', async () => {
      const nodes = [
        { name: 'table', op: 'VarHandleOp', attr: { dtype: INT32 } },
        { name: 'counts', op: 'VarHandleOp', attr: { dtype: INT32 } },
        placeholder('keys', INT32),
        { name: 'y', op: 'IntegerLookup', input: ['table', 'counts', 'keys'], attr: { capacity: { i: '4' } } },
      ];
      for (let model = 0; model < 2; model++) {
        await withGraph(nodes, (loaded) => {
          const run = (keys: number[]): number[][] => execute(loaded, { keys: tf.tensor1d(keys, 'int32') }, 'y');
          expect(run([7, 7, 9, 7])).toEqual([[1, 1, 2, 1]]);
          expect(run([5, 9, 8, 1])).toEqual([[3, 2, 0, 0]]);
        });
      }
    });

    it('lookup tables of old forms, and tables of one name', async () => {
      const types = { key_dtype: INT32, value_dtype: FLOAT };
      const nodes = [
        placeholder('keys', INT32),
        placeholder('values', FLOAT),
        placeholder('default', FLOAT),
        { name: 'a', op: 'MutableHashTable', attr: { ...types, shared_name: text('one') } },
        { name: 'b', op: 'MutableHashTable', attr: { ...types, shared_name: text('one') } },
        { name: 'other', op: 'MutableHashTable', attr: types },
        { name: 'wrong', op: 'MutableHashTable', attr: { ...types, value_dtype: INT32, shared_name: text('one') } },
        { name: 'static', op: 'HashTable', attr: { ...types, shared_name: text('one') } },
        { name: 'insert', op: 'LookupTableInsert', input: ['a', 'keys', 'values'] },
        { name: 'export', op: 'LookupTableExport', input: ['b'] },
        { name: 'others', op: 'LookupTableExport', input: ['other'] },
      ];
      await withGraph(nodes, (model) => {
        const feeds = { keys: tf.tensor1d([5, -2], 'int32'), values: tf.tensor1d([1, 2]) };
        execute(model, feeds, 'insert');
        expect(execute(model, {}, 'export:0', 'export:1', 'others:0')).toEqual([[5, -2], [1, 2], []]);
        expect(nameOfError(() => execute(model, {}, 'wrong'))).toBe('ValueError');
        expect(nameOfError(() => execute(model, {}, 'a', 'static'))).toBe('Error'); // tfjs-converter wants executeAsync
      });
    });

    it('tensor lists are not written at negative places', async () => {
      const list = { element_dtype: FLOAT, shape_type: INT32 };
      const nodes = [
        placeholder('rows', FLOAT),
        placeholder('at', INT32),
        placeholder('shape', INT32),
        { name: 'list', op: 'TensorListFromTensor', input: ['rows', 'shape'], attr: list },
        { name: 'into', op: 'TensorListScatterIntoExistingList', input: ['list', 'rows', 'at'], attr: list },
        { name: 'fresh', op: 'TensorListScatter', input: ['rows', 'at', 'shape'], attr: list },
      ];
      await withGraph(nodes, (model) => {
        for (const output of ['into', 'fresh']) {
          for (const places of [[-1], [-2147483648]]) {
            const feeds = { rows: tf.tensor2d([[1, 2]]), at: tf.tensor1d(places, 'int32') };
            const shape = tf.tensor1d([2], 'int32');
            expectError(() => execute(model, { ...feeds, shape }, output), 'ValueError', 'indices', `${places[0]}`);
          }
        }
      });
    });

    it('Assert names its node and shows what it was given', async () => {
      const nodes = [
        placeholder('ok', { type: 'DT_BOOL' }),
        placeholder('x', INT32),
        { name: 'rows match', op: 'Assert', input: ['ok', 'x', 'x'], attr: { T: { list: { type: [3, 3] } } } },
        { name: 'y', op: 'Identity', input: ['x', '^rows match'] },
      ];
      await withGraph(nodes, (model) => {
        const feeds = (ok: boolean): tf.NamedTensorMap => ({ ok: tf.scalar(ok), x: tf.tensor1d([5, 6], 'int32') });
        expect(execute(model, feeds(true), 'y')).toEqual([[5, 6]]);
        expect(() => execute(model, feeds(false), 'y')).toThrowError(/rows match.*5, 6 \| 5, 6/);
      });
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
