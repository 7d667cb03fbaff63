/**
 * Keys of open tables in captured steps: their row numbers are found before a step, once, however it runs then, and are
 * what its graph is fed.
 */
import * as tf from '@tensorflow/tfjs';
import { TableLayer } from '../layers/embedding/table_layer.js';
import { SparseOptimizer } from '../optimizers/sparse_optimizer.js';
import { isSameUse, keyInputOf, type FoundRows, type KeyInput, type KeyUse } from '../tables/keys/key_input.js';
import { OpenTable } from '../tables/keys/open_table.js';
import { keyReaderOf } from '../tfjs/models/key_inputs.js';
import { keyedLike } from '../tfjs/stand_ins.js';
import type { StepData } from '../tfjs/training/step_runner.js';
import { compiledOf, type Purpose } from './steps.js';

/** How layers of a model use the keys of one of its inputs; those within models in it too. */
function usesOf(model: tf.LayersModel, input: number): KeyUse[] {
  const symbol = model.inputs[input]!;
  const uses: KeyUse[] = [];
  for (const node of symbol.sourceLayer.outboundNodes) {
    const place = node.inputTensors.indexOf(symbol);
    const layer = node.outboundLayer;
    if (place < 0 || !model.layers.includes(layer)) continue;
    const found = layer instanceof tf.LayersModel ? usesOf(layer, place) : ownUse(layer, place);
    for (const use of found) if (!uses.some((known) => isSameUse(known, use))) uses.push(use);
  }
  return uses;
}

function ownUse(layer: tf.layers.Layer, place: number): KeyUse[] {
  const isUse = place === 0 && layer instanceof TableLayer && layer.table instanceof OpenTable;
  return isUse ? [{ table: layer.table as OpenTable, skipZero: layer.maskZero }] : [];
}

/** Whether a step trains a table. */
function isTrained(model: tf.LayersModel, purpose: Purpose, { variable }: OpenTable): boolean {
  return purpose === 'train' && compiledOf(model).optimizer_ instanceof SparseOptimizer && variable?.trainable === true;
}

/** Runs a training step of open tables: what it counts in them holds where it goes well. */
export function inStepsOf<T>(tables: ReadonlySet<OpenTable>, run: () => T): T {
  try {
    for (const table of tables) table.begin();
    const result = run();
    for (const table of tables) table.commit();
    return result;
  } catch (error) {
    for (const table of tables) table.undo();
    throw error;
  }
}

/**
 * Runs a step of a model, `run`, with the row numbers of all keys in its data. What they count holds if it goes well.
 */
export function withFoundKeys(
  model: tf.LayersModel,
  purpose: Purpose,
  data: StepData,
  run: (data: StepData) => tf.Tensor[],
): tf.Tensor[] {
  const inputs = data.map(keyInputOf);
  if (inputs.every((input) => input === null)) return run(data);
  // Data come in the order of the inputs; what else a step is given may come before them.
  const places = model.inputs.flatMap((input, place) => (keyReaderOf(input) === null ? [] : [place]));
  let next = 0;
  const uses = inputs.map((input) => (input === null ? [] : usesOf(model, places[next++]!)));
  const trained = new Set(uses.flat().flatMap(({ table }) => (isTrained(model, purpose, table) ? [table] : [])));
  const made: tf.Tensor[] = [];
  try {
    return inStepsOf(trained, () =>
      run(
        data.map((tensor, place) => {
          const input = inputs[place]!;
          if (input === null) return tensor;
          const known = input.unknown();
          for (const use of uses[place]!) {
            const rows = input.find(use, trained.has(use.table));
            made.push(...tensorsOf(rows));
            known.know(use, rows);
          }
          const standIn = keyedLike(tensor!, known);
          made.push(standIn);
          return standIn;
        }),
      ),
    );
  } finally {
    tf.dispose(made);
  }
}

function tensorsOf({ rows, rowSplits }: FoundRows): tf.Tensor[] {
  return rowSplits === null ? [...rows] : [...rows, rowSplits];
}

/** What a graph is fed for a tensor that stands for others. */
export interface Feeds {
  readonly tensors: readonly tf.Tensor[];
  /** Which of them are splits of rows; null: none of them is of ragged rows. */
  readonly splits: readonly number[] | null;
  /** One that stands for others in their place. */
  readonly restored: (given: StepData) => tf.Tensor;
}

/** The tensors that a graph is fed for keys whose rows were found. */
export function feedsOf(like: tf.Tensor): Feeds {
  const input = keyInputOf(like)!;
  const known = input.found;
  const tensors = known.flatMap(([, found]) => tensorsOf(found));
  const areSplits = new Set<tf.Tensor>(known.flatMap(([, { rowSplits }]) => rowSplits ?? []));
  return {
    tensors,
    splits: input.isRagged ? tensors.flatMap((each, i) => (areSplits.has(each) ? [i] : [])) : null,
    restored(given) {
      const again: KeyInput = input.unknown();
      let at = 0;
      for (const [use, { rows, rowSplits }] of known) {
        const next = (): tf.Tensor1D => given[at++] as tf.Tensor1D;
        again.know(use, { rows: rows.map(next), rowSplits: rowSplits === null ? null : next() });
      }
      return keyedLike(like, again);
    },
  };
}
