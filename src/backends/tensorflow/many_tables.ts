/** Lookups of many tables as one TensorFlow op, and steps of many tables as one. */
import * as tf from '@tensorflow/tfjs';
import { COMBINERS, OUT_OF_RANGE } from '../../base/types.js';
import { SLOT_NAMES, opNames, type OptimizerName } from '../../rules/rules.js';
import type { BagOptions } from '../kernel_set.js';
import type { LookedUp, Lookup } from '../lookup.js';
import type { JoinedUpdate } from '../registry.js';
import { asNodeBackend, withTensor, type NodeBackend, type OpAttribute } from './node_backend.js';
import { translated } from './op_errors.js';
import { checkInputs, weightsOrNone } from './op_inputs.js';
import { watchedBackend } from './ownership.js';

const MANY_OPS = opNames('EmbeddingSparseApplyMany');

/** The table of each use and how its ids are combined, in the order of `Modes` in custom-ops/hosts/tensorflow_many.h. */
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
export function lookUpMany(lookups: readonly Lookup[]): LookedUp[] {
  const backend = watchedBackend();
  for (const { table, bags } of lookups) checkInputs(backend, { table: table as tf.Tensor, ...bags });
  const of = (pick: (lookup: Lookup) => tf.TensorInfo): tf.TensorInfo[] => lookups.map(pick);
  const uses = lookups.map(({ options }, table): Use => ({ table, options }));
  const pooled = translated('EmbeddingBags', () =>
    withModes(backend, uses, (numbers) =>
      backend.executeMultipleOutputs(
        'EmbeddingBags',
        [count(backend, 'N', lookups.length)],
        [
          ...of(({ table }) => table as tf.Tensor),
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

/** Steps tables and slots in place; their buffers must be nobody else's, and what is read lie apart from them. */
export function stepMany(optimizer: OptimizerName, updates: readonly JoinedUpdate[]): void {
  const backend = asNodeBackend(tf.backend());
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
            ...updates.map(({ table }) => table),
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
