/** Rows of the inputs of `fit`, all taken by one op that a graph can hold: tf.gather looks at the row numbers first. */
import * as tf from '@tensorflow/tfjs';
import { registeredBackend } from '../backends/registry.js';
import type { TensorFlowTables } from '../backends/tensorflow/tensorflow_tables.js';
import {
  asNodeBackend,
  BACKEND_NAME,
  type NodeBackend,
  type OpAttribute,
} from '../backends/tensorflow/node_backend.js';
import { BACKEND_NAME as EMULATOR } from '../backends/emulator/settings.js';
import {
  isStandIn,
  keyedLike,
  keyedRowsOf,
  raggedRowsOf,
  standInLike,
  takeRows,
  type RaggedRows,
} from '../tfjs/stand_ins.js';
import type { StepData } from '../tfjs/training/step_runner.js';

const TYPES = { float32: 'TF_FLOAT', int32: 'TF_INT32' } as const;

/** The backend in use where it runs ops of this package: TensorFlow, or devices beside it; null elsewhere. */
export function backendWithOps(): NodeBackend | null {
  const name = tf.getBackend();
  if (name !== BACKEND_NAME && (name !== EMULATOR || !('tensorMap' in tf.backend()))) return null;
  // tfjs-node may be loaded after this package: they are registered when they are first needed.
  const part = registeredBackend(BACKEND_NAME) as TensorFlowTables | undefined;
  return part?.hasOps() === true ? asNodeBackend(tf.backend()) : null;
}

/** The rows of these numbers of each tensor, on any backend: it may change within `fit`. Call inside a tidy. */
export function gathered(whole: StepData, rows: tf.Tensor1D): StepData {
  const backend = backendWithOps();
  if (backend === null) return takeRows(whole, rows);
  const dense = gatheredByOps(
    backend,
    whole.map((tensor) => (isStandIn(tensor) ? null : tensor)),
    rows,
  );
  return whole.map((tensor, i) => {
    const keyed = keyedRowsOf(tensor);
    if (keyed !== null) return keyedLike(tensor!, keyed.take(rows.dataSync<'int32'>() as Int32Array));
    const ragged = raggedRowsOf(tensor);
    if (ragged === null) return dense[i];
    return standInLike(tensor as tf.Tensor2D, raggedByOp(backend, ragged, rows), true);
  });
}

/** Ragged rows by one op. */
function raggedByOp(backend: NodeBackend, { values, rowSplits }: RaggedRows, rows: tf.Tensor1D): RaggedRows {
  const { binding } = backend;
  const type = (name: string, value: number): OpAttribute => ({ name, type: binding.TF_ATTR_TYPE, value });
  const count = (name: string): OpAttribute => ({ name, type: binding.TF_ATTR_INT, value: 1 });
  const attributes = [
    type('Tindices', binding.TF_INT32),
    type('Tsplits', binding.TF_INT32),
    type('Tvalues', binding[TYPES[values.dtype as keyof typeof TYPES]]),
    count('PARAMS_RAGGED_RANK'),
    count('OUTPUT_RAGGED_RANK'),
  ];
  const inputs = [rowSplits, values, rows];
  const [splits, taken] = backend.executeMultipleOutputs('RaggedGather', attributes, inputs, 2);
  return { values: taken as tf.Tensor1D, rowSplits: splits as tf.Tensor1D };
}

/** Whether a tensor lies on virtual devices. */
function isOnDevices(tensor: tf.Tensor): boolean {
  return (registeredBackend(tf.getBackend())?.store.devices?.layoutOf(tensor) ?? null) !== null;
}

/** `count` rows of each tensor from `start` on: one op for all, where a slice is one for each. Call inside a tidy. */
export function consecutive(whole: readonly tf.Tensor[], start: number, count: number): readonly tf.Tensor[] {
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[row] = start + row;
  return gathered(whole, tf.tensor1d(rows, 'int32')) as readonly tf.Tensor[];
}

function gatheredByOps(backend: NodeBackend, whole: StepData, rows: tf.Tensor1D): StepData {
  const { binding } = backend;
  const found = new Map<tf.Tensor, tf.Tensor>();
  for (const dtype of ['float32', 'int32'] as const) {
    const ofKind = [...new Set(whole)].filter((tensor) => tensor?.dtype === dtype) as tf.Tensor[];
    const sources = ofKind.filter((tensor) => !isOnDevices(tensor));
    if (sources.length === 0) continue;
    const attributes = [
      { name: 'N', type: binding.TF_ATTR_INT, value: sources.length },
      { name: 'T', type: binding.TF_ATTR_TYPE, value: binding[TYPES[dtype]] },
    ];
    const taken = backend.executeMultipleOutputs('EmbeddingTakeRows', attributes, [rows, ...sources], sources.length);
    sources.forEach((source, i) => found.set(source, taken[i]!));
  }
  return whole.map((tensor) => {
    return tensor === null || tensor === undefined ? tensor : (found.get(tensor) ?? tf.gather(tensor, rows));
  });
}
