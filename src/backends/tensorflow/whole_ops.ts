/** What the Node entry adds to the backend `tensorflow`: whole lookups and parts of steps as one op each. */
import * as tf from '@tensorflow/tfjs';
import { COMBINERS, OUT_OF_RANGE } from '../../base/types.js';
import { SLOT_NAMES, opNames } from '../../rules/rules.js';
import type { BagOptions } from '../kernel_set.js';
import type { LookedUp, Lookup } from '../contract.js';
import type { JoinedUpdate } from '../kernel_calls.js';
import { asNodeBackend, withTensor, type NodeBackend, type OpAttribute } from './node_backend.js';
import { translated } from './op_errors.js';
import { checkInputs, weightsOrNone } from './op_inputs.js';
import { Ownership, watchedBackend } from './ownership.js';
import { STEP_OPS } from './step_kernels.js';
import type { WholeOps } from './tensorflow_tables.js';
import type { Words } from '../../codecs/codec.js';
import { widthOf } from '../stores/table_rows.js';

const MANY_OPS = opNames('EmbeddingSparseApplyMany');

/** The table of each use and how its ids are combined, in the order of `Modes` in custom-ops/hosts/tensorflow/ops/many.cc. */
interface Use {
  readonly table: number;
  readonly options: BagOptions;
}

function withModes<T>(backend: NodeBackend, uses: readonly Use[], run: (numbers: tf.TensorInfo[]) => T): T {
  const modes = Int32Array.from(
    uses.flatMap(({ table, options }) => [
      table,
      COMBINERS.indexOf(options.combiner),
      OUT_OF_RANGE.indexOf(options.outOfRange),
    ]),
  );
  const norms = Float32Array.from(uses, ({ options }) => options.maxNorm);
  return withTensor(backend, modes, [modes.length], (ofModes) =>
    withTensor(backend, norms, [norms.length], (ofNorms) => run([ofModes, ofNorms])),
  );
}

function count(backend: NodeBackend, name: string, value: number): OpAttribute {
  return { name, type: backend.binding.TF_ATTR_INT, value };
}

/** The pooled rows of each lookup. */
function lookUpMany(lookups: readonly Lookup[]): LookedUp[] {
  const backend = watchedBackend();
  for (const { table, bags } of lookups) checkInputs(backend, { table: table.tensor, ...bags });
  const of = (pick: (lookup: Lookup) => tf.TensorInfo): tf.TensorInfo[] => lookups.map(pick);
  const uses = lookups.map(({ options }, table): Use => ({ table, options }));
  const pooled = translated('EmbeddingBags', () =>
    withModes(backend, uses, (numbers) =>
      backend.executeMultipleOutputs(
        'EmbeddingBags',
        [count(backend, 'N', lookups.length)],
        [
          ...of(({ table }) => table.tensor),
          ...of(({ bags }) => bags.values),
          ...of(({ bags }) => bags.rowSplits),
          ...of(({ bags }) => weightsOrNone(backend, bags.weights)),
          ...numbers,
        ],
        lookups.length,
      ),
    ),
  );
  return pooled.map((each) => ({ pooled: each as tf.Tensor2D, handle: null }));
}

/** Steps tables and slots in place; their buffers must have no other holders, and what is read lie apart. */
function stepMany(updates: readonly JoinedUpdate[]): void {
  const backend = asNodeBackend(tf.backend());
  const { optimizer } = updates[0]!;
  const opName = MANY_OPS[optimizer];
  const uses = updates.flatMap(({ entries, options }, table) => entries.map((entry) => ({ ...entry, table, options })));
  const slots = SLOT_NAMES[optimizer].flatMap((_, slot) => updates.map((update) => update.slots[slot]!));
  const hypers = new Map<Float32Array, tf.TensorInfo>();
  const made: object[] = [];
  for (const { hyper } of updates) {
    if (hypers.has(hyper)) continue;
    const dataId = backend.write(hyper, [hyper.length], 'float32');
    made.push(dataId);
    hypers.set(hyper, { dataId, shape: [hyper.length], dtype: 'float32' });
  }
  try {
    translated(opName, () =>
      withModes(backend, uses, (numbers) =>
        backend.executeMultipleOutputs(
          opName,
          [count(backend, 'N', updates.length), count(backend, 'U', uses.length)],
          [
            ...updates.map(({ table }) => table.tensor),
            ...slots,
            ...uses.map(({ gradient }) => gradient),
            ...uses.map(({ bags }) => bags.values),
            ...uses.map(({ bags }) => bags.rowSplits),
            ...uses.map(({ bags }) => weightsOrNone(backend, bags.weights)),
            ...updates.map(({ hyper }) => hypers.get(hyper)!),
            ...numbers,
          ],
          0,
        ),
      ),
    );
  } finally {
    for (const dataId of made) backend.disposeData(dataId, true);
  }
}

/** Zeros in a buffer with no other holders. */
function newTable(shape: readonly number[]): tf.Tensor {
  const backend = asNodeBackend(tf.backend());
  const ownership = Ownership.of(backend);
  return translated('EmbeddingNewTable', () =>
    withTensor(backend, Int32Array.from(shape), [shape.length], (sizes) => {
      const table = backend.executeSingleOutput('EmbeddingNewTable', [], [sizes]);
      ownership.adopt(table);
      return table;
    }),
  );
}

/** Writes rows of a table whose buffer has no other holders: from one on, or those of these numbers. */
function writeRows(table: tf.Tensor, rows: number | Int32Array, values: Words): void {
  const backend = asNodeBackend(tf.backend());
  if (values.length === 0) return;
  const [numbers, shape] = typeof rows === 'number' ? [Int32Array.of(rows), []] : [rows, [rows.length]];
  translated('EmbeddingWriteRows', () =>
    withTensor(backend, values, [values.length], (written) =>
      withTensor(backend, numbers, shape, (places) =>
        backend.executeMultipleOutputs('EmbeddingWriteRows', [], [table, written, places], 0),
      ),
    ),
  );
}

/** Fills an array with rows. A slice would share the table's buffer, which a later step then had to copy. */
function readRows(table: tf.Tensor, firstRow: number, into: Float32Array): boolean {
  const backend = watchedBackend(); // knows that the op shares nothing
  const { values } = backend.tensorMap.get(table.dataId);
  // Reading would hand the whole array to TensorFlow.
  if (values !== null) return false;
  const width = widthOf(table.shape);
  const rows = Int32Array.from({ length: into.length / width }, (_, i) => firstRow + i);
  const attributes = [
    { name: 'N', type: backend.binding.TF_ATTR_INT, value: 1 },
    { name: 'T', type: backend.binding.TF_ATTR_TYPE, value: backend.binding.TF_FLOAT },
  ];
  const taken = translated('EmbeddingTakeRows', () =>
    withTensor(backend, rows, [rows.length], (ids) =>
      backend.executeSingleOutput('EmbeddingTakeRows', attributes, [ids, table]),
    ),
  );
  try {
    into.set(taken.dataSync<'float32'>());
    return true;
  } finally {
    taken.dispose();
  }
}

const MEMORY: WholeOps['memory'] = {
  zeros: newTable,
  isWritable: (table) => table.dtype === 'float32' && Ownership.of(asNodeBackend(tf.backend())).isWritable(table),
  write: writeRows,
  writeAt: writeRows,
  read: readRows,
};

export const WHOLE_OPS: WholeOps = { lookUp: lookUpMany, step: stepMany, ops: STEP_OPS, memory: MEMORY };
