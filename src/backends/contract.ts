/**
 * What a backend of tfjs does for tables. Every backend does all of it: with kernels of its own, with stock ops, or on
 * virtual devices. What they are given is a `Table`, whose tensor is float32 [rows, dim], or int32 of rows of another
 * codec.
 */
import type * as tf from '@tensorflow/tfjs';
import type { EmbeddingPlan } from '../partition/plan.js';
import type { PlanEmbeddingArgs } from '../partition/plan_request.js';
import type { TableLayout } from '../partition/table_layout.js';
import type { Codec, Words } from '../codecs/codec.js';
import type { UpdateName } from '../rules/rules.js';
import type { BagTensors } from './bag_tensors.js';
import type { Fill } from './fill.js';
import type { BagOptions, KernelInfo } from './kernel_set.js';
import type { RowsInPlace } from './ranking.js';
import type { StepOps } from './step_ops.js';
import type { Table } from './table.js';

export interface Backend {
  /**
   * The pooled rows of each lookup; tables of one call may be looked up at the same time. Nothing is on the tape.
   * Throws IdOutOfRange.
   */
  lookUp(lookups: readonly Lookup[]): LookedUp[];
  /** One exact step of each table, in place: as if the gradients of all its entries had been summed first. */
  step(updates: readonly TableUpdate[]): void;
  readonly gradient: Gradients;
  readonly store: RowStore;
  /** Ops of a training step beside lookups; null where stock ops do their work. */
  readonly ops: StepOps | null;
  /** What runs a kernel of this name now, for `backendInfo()`. */
  info(kernelName: string): KernelInfo;
}

/** Gradients that are tensors; those of a step go to `step` as they are. */
export interface Gradients {
  /** What one lookup adds to the gradient of a table with so many rows; `table` is read where `maxNorm` is set. */
  byRow(of: LookupGradient, rows: number, table: Table | null): RowGradientTensors;
  /** The gradient of a lookup with respect to its weights, [nnz]. */
  byWeight(table: Table, of: LookupGradient): tf.Tensor1D;
}

/** Where tables lie beside a GPU. */
export type TableMemory = 'host memory' | 'GPU memory';

/** Where the rows of tables and of their slots lie: in the memory of a backend, or placed on devices. */
export interface RowStore {
  /** Whether rows of this codec can be stepped, of those that train. */
  trains(codec: Codec): boolean;
  /** Zeros where tables lie, whose rows come one block after the other: their values never lie anywhere twice. */
  begin(shape: readonly number[]): TableWriter;
  /** Writes rows of a variable where they lie; its snapshots stay as they are. null: it takes all its values at once. */
  rewrite(table: tf.Variable): WriteRows<Words> | null;
  /** Writes rows of such a variable of floats by their numbers, at once; null: they are written run by run. */
  readonly writeAt: ((table: tf.Variable, rows: Int32Array, values: Words) => void) | null;
  /**
   * Brings a variable to where it is read and stepped, before its first use: on devices as `layout` says, else where
   * it lay before, else like `like`, else where room is.
   */
  place(table: tf.Variable, where?: Placement): void;
  /** Reads whole rows, row-major, without copying others; false where a slice does as well. */
  read(table: tf.Tensor, firstRow: number, into: Float32Array): boolean;
  /** All rows of a table where they lie, which nothing changes before they are read; null: they are read in blocks. */
  view(table: tf.Tensor): RowsInPlace | null;
  /**
   * Issues these lookups with the next `step`, of tables as that leaves them; a later `lookUp` of the same tables and ids
   * takes the results. null: every lookup is answered at once.
   */
  readonly prefetch: ((lookups: readonly Lookup[]) => void) | null;
  /** Devices that hold tables; null where they lie in the memory of the backend. */
  readonly devices: Devices | null;
  /** Told in `backendInfo()` where other tensors lie on a GPU. */
  readonly memory?: TableMemory;
}

export interface Placement {
  readonly layout?: TableLayout;
  readonly like?: tf.Variable;
  readonly name?: string;
}

/** Takes the values of whole rows, row-major, from a row on; `Numbers`: words too, as the variable of a table has them. */
export type WriteRows<Numbers extends Words = Float32Array> = (firstRow: number, values: Numbers) => void;

/** Writes a table that is not read before it is finished. */
export interface TableWriter {
  readonly write: WriteRows;
  /** The table. */
  finish(): tf.Tensor;
  /** Frees what was begun. */
  cancel(): void;
}

/** Virtual devices. Tables and slots on them are tensors of the global shape whose data lie there. */
export interface Devices extends Pick<RowStore, 'place'> {
  /** Number of devices. */
  readonly count: number;
  /** Bytes of each that plans keep to where they are not told; null: none. */
  readonly deviceMemory: number | null;
  /** Whether tables are found with their values, as others have made them. */
  readonly joins: boolean;
  /** Bytes that the fullest of them still has; null: no limit. */
  readonly roomOfEach: number | null;
  /** Makes a table [rows, columns] on the devices; no copy of it is ever made on the host. */
  create(request: TableRequest): tf.Tensor2D;
  /** A new variable full of a number that lies as the table does: [rows, dim], or one value per row. */
  createSlot(table: tf.Variable, name: string, shape: readonly number[], value: number): tf.Variable;
  /** Where a table lies; null where it is not on the devices. */
  layoutOf(variable: tf.Tensor): TableLayout | null;
  /** Writes whole rows from `firstRow` on, row-major; snapshots that others hold do not change. */
  writeRows(variable: tf.Variable, firstRow: number, values: Float32Array): void;
  /** Reads whole rows, row-major. */
  readRows(variable: tf.Tensor, firstRow: number, rows: number): Float32Array;
  /** Shows the plan of a layer in reports, until `followPlan` of the same owner shows another one or null. */
  followPlan(owner: object, plan: FollowedPlan | null): void;
  /** What is told in `backendInfo()`. */
  info(): object;
}

/** A table to be made on the devices. */
export interface TableRequest {
  /** Named in errors and reports. */
  readonly name: string;
  readonly layout: TableLayout;
  readonly fill: Fill;
}

/** A plan that a layer follows, and what it was made from. */
export interface FollowedPlan {
  readonly name: string;
  readonly request: PlanEmbeddingArgs;
  readonly plan: EmbeddingPlan;
  /** The tables of the plan, in its order. */
  readonly tables?: () => readonly tf.Variable[];
}

/** The input of a layer that a lookup is for; reports tell them apart by it. */
export interface LookupInput {
  /** Who told the plan: the first argument of `followPlan`. */
  readonly owner: object;
  readonly input: number;
  /** Samples of the call; there are more bags than samples where ids are looked up one by one. */
  readonly samples: number;
}

/** One pooled lookup. */
export interface Lookup {
  readonly table: Table;
  readonly bags: BagTensors;
  readonly options: BagOptions;
  /** Ids came to the devices with the input, so that they are not sent: `dpInput: false`. */
  readonly idsArePlaced?: boolean;
  readonly servedInput?: LookupInput;
}

/** What a backend keeps of a lookup that it ran, for the step that follows; opaque to all others. */
export type LookupHandle = object;

/** What a lookup gave. */
export interface LookedUp {
  readonly pooled: tf.Tensor2D; // [batch, dim]
  readonly handle: LookupHandle | null;
}

/** What one lookup adds to the gradient of its table. */
export interface LookupGradient {
  readonly gradient: tf.Tensor2D; // [batch, dim]
  readonly bags: BagTensors;
  readonly options: BagOptions;
  /** That of the lookup; null where there is none, or it is of no use any more: everything is then read again. */
  readonly handle?: LookupHandle | null;
}

/** One entry per touched row, ids ascending. */
export type RowGradientTensors = { uniqueIds: tf.Tensor1D; rowGradients: tf.Tensor2D };

/** One exact step of one table. */
export interface TableUpdate {
  readonly optimizer: UpdateName;
  readonly table: Table;
  readonly slots: readonly tf.Variable[];
  readonly entries: readonly LookupGradient[];
  /** The part of the gradient that came through the tape, [rows, dim]. */
  readonly dense: tf.Tensor2D | null;
  readonly hyper: Float32Array;
}
