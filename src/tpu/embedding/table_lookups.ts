/** Lookups and steps of all tables of an embedding object, outside the tape. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../../backends/bag_tensors.js';
import { packHyper, withoutDecay } from '../../rules/hyper.js';
import { SINGLE_ROW, type BagOptions, type HostBags } from '../../backends/kernel_set.js';
import { tableOf } from '../../backends/table.js';
import type { Lookup, LookupGradient, LookupHandle, TableUpdate } from '../../backends/contract.js';
import { occurrenceRounds } from '../../ids/occurrence_rounds.js';
import { runLookups } from '../../lookup/lookup.js';
import { singleRows } from '../../backends/kernel_calls.js';
import { stepTables } from '../../optimizers/step_gradients.js';
import { withoutTape } from '../../tfjs/lazy_gradient.js';
import { kernelStep } from '../optimizers/kernel_step.js';
import { learningRates } from '../optimizers/learning_rates.js';
import type { EmbeddingTables } from '../tables/embedding_tables.js';
import { quantized } from '../tables/quantized.js';

/** A feature's bags, and the table in which they are looked up. */
export interface FeatureLookup {
  readonly table: number;
  readonly bags: HostBags;
}

/** What a step keeps of a lookup until its gradient comes. */
export interface KeptLookup extends FeatureLookup {
  readonly tensors: BagTensors;
  readonly handle: LookupHandle | null;
}

/** Where lookups read: the tables, or snapshots of them. */
export type TableValues = (table: number) => tf.Tensor;

function tensorsOf({ values, rowSplits, weights }: HostBags): BagTensors {
  return {
    values: tf.tensor1d(values, 'int32'),
    rowSplits: tf.tensor1d(rowSplits, 'int32'),
    weights: weights === null ? null : tf.tensor1d(weights, 'float32'),
  };
}

function listOf({ values, rowSplits, weights }: BagTensors): tf.Tensor[] {
  return weights === null ? [values, rowSplits] : [values, rowSplits, weights];
}

function optionsOf(tables: EmbeddingTables, table: number): BagOptions {
  return { combiner: tables.tables[table]!.config.combiner, outOfRange: 'error', maxNorm: 0 };
}

/** Rows of a quantized table one by one, so that they can be quantized before they are combined. */
function pooledQuantized(rows: tf.Tensor2D, bags: BagTensors, options: BagOptions): tf.Tensor2D {
  const places = tf.range(0, rows.shape[0], 1, 'int32');
  return runLookups([{ table: tableOf(rows), bags: { ...bags, values: places }, options }])[0]!.pooled;
}

/**
 * Looks all features up in one go: pooled rows [bags, dim], which are the caller's, and what a step needs of them where
 * `isKept`; otherwise null for each.
 */
export function lookUpInTables(
  tables: EmbeddingTables,
  features: readonly FeatureLookup[],
  valuesOf: TableValues,
  isKept: boolean,
): { pooled: tf.Tensor2D[]; kept: KeptLookup[] | null } {
  let kept: KeptLookup[] | null = null;
  const pooled = tf.tidy(() =>
    withoutTape(() => {
      const all = features.map(({ bags }) => tensorsOf(bags));
      const lookups = features.map(({ table }, i): Lookup => {
        const isQuantized = tables.tables[table]!.config.quantizationConfig !== null;
        const bags = isQuantized ? singleRows(all[i]!.values) : all[i]!;
        return { table: tableOf(valuesOf(table)), bags, options: isQuantized ? SINGLE_ROW : optionsOf(tables, table) };
      });
      const found = runLookups(lookups);
      if (isKept) {
        kept = features.map((feature, i) => {
          const tensors = all[i]!;
          for (const tensor of listOf(tensors)) tf.keep(tensor);
          const isDirect = lookups[i]!.bags === tensors;
          return { ...feature, tensors, handle: isDirect ? found[i]!.handle : null };
        });
      }
      return features.map(({ table }, i) => {
        const { quantizationConfig } = tables.tables[table]!.config;
        if (quantizationConfig === null) return found[i]!.pooled;
        return pooledQuantized(quantized(found[i]!.pooled, quantizationConfig), all[i]!, optionsOf(tables, table));
      });
    }),
  );
  return { pooled, kept };
}

export function freeLookups(kept: readonly KeptLookup[]): void {
  for (const { tensors } of kept) tf.dispose(listOf(tensors));
}

/** The gradients of the features of one table, in the order of `kept`; null counts as zeros. */
function entriesOf(
  tables: EmbeddingTables,
  kept: readonly KeptLookup[],
  gradients: readonly (tf.Tensor2D | null)[],
  table: number,
): LookupGradient[] {
  const { dim } = tables.tables[table]!.config;
  return kept.flatMap((lookup, i) => {
    if (lookup.table !== table) return [];
    const bags = lookup.bags.rowSplits.length - 1;
    const gradient = gradients[i] ?? tf.zeros<tf.Rank.R2>([bags, dim]);
    return [{ gradient, bags: lookup.tensors, options: optionsOf(tables, table), handle: lookup.handle }];
  });
}

/** The steps of a table that does not accumulate: one after the other, in each of which no row comes twice. */
function singleSteps(update: TableUpdate, kept: readonly KeptLookup[]): TableUpdate[] {
  const { table, entries, hyper } = update;
  const { dim } = table;
  const pooled = entries.map(({ gradient }, i) => ({ ...kept[i]!.bags, gradient: gradient.dataSync<'float32'>() }));
  const combiner = entries[0]!.options.combiner;
  return occurrenceRounds(pooled, combiner, dim).map(({ ids, factors, gradients }, round): TableUpdate => {
    const shares = gradients.map((value, i) => factors[Math.floor(i / dim)]! * value);
    const gradient = tf.tensor2d(shares, [ids.length, dim]);
    const entry = { gradient, bags: singleRows(tf.tensor1d(ids, 'int32')), options: SINGLE_ROW };
    return { ...update, entries: [entry], hyper: round === 0 ? hyper : withoutDecay(hyper) };
  });
}

/** A table that a step changes, with its learning rate. */
interface SteppedTable {
  readonly table: number;
  readonly rate: number;
}

/** The tables that were looked up and have an optimizer. Dynamic learning rates are asked now, each once. */
export function steppedTables(tables: EmbeddingTables, kept: readonly KeptLookup[]): SteppedTable[] {
  const used = tables.tables.flatMap(({ optimizer }, table) => {
    return optimizer !== null && kept.some((each) => each.table === table) ? [{ table, optimizer }] : [];
  });
  const rates = learningRates(used.map(({ optimizer }) => optimizer));
  return used.map(({ table }, i) => ({ table, rate: rates[i]! }));
}

/** Steps tables, each once, with the gradients of pooled rows of the features: [bags, dim] each, null for zeros. */
export function stepFeatures(
  tables: EmbeddingTables,
  stepped: readonly SteppedTable[],
  kept: readonly KeptLookup[],
  gradients: readonly (tf.Tensor2D | null)[],
): void {
  tf.tidy(() =>
    withoutTape(() => {
      const together: TableUpdate[] = [];
      for (const { table, rate } of stepped) {
        const optimizer = tables.tables[table]!.optimizer!;
        const { optimizer: name, hyper } = kernelStep(optimizer, rate);
        const { table: variable, slots } = tables.of(table);
        const entries = entriesOf(tables, kept, gradients, table);
        const update = {
          optimizer: name,
          table: tableOf(variable),
          slots,
          entries,
          dense: null,
          hyper: packHyper(hyper),
        };
        if (optimizer.useGradientAccumulation) together.push(update);
        else {
          const ofTable = kept.filter((each) => each.table === table);
          for (const step of singleSteps(update, ofTable)) stepTables([step]);
        }
      }
      if (together.length > 0) stepTables(together);
    }),
  );
}
