/** What a backend with devices of its own offers beyond kernels: tables that live there, and calls for many at once. */
import type * as tf from '@tensorflow/tfjs';
import type { EmbeddingPlan } from '../partition/plan.js';
import type { PlanEmbeddingArgs } from '../partition/plan_request.js';
import type { TableLayout } from '../partition/table_layout.js';
import type { Fill } from './fill.js';

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

/** The devices of a backend. Tables and slots on them are tensors of the global shape whose data lie there. */
export interface DevicePart {
  /** Number of devices. */
  readonly count: number;
  /** Makes a table [rows, columns] on the devices; no copy of it is ever made on the host. */
  create(request: TableRequest): tf.Tensor2D;
  /** A new variable that lies as the table does: [rows, dim], or one value per row. */
  createSlot(table: tf.Variable, name: string, shape: readonly number[], value: number): tf.Variable;
  /** Puts a variable on the devices, as `layout` says; else where it lay before, else like `like`, else where room is. */
  placeTable(variable: tf.Variable, where?: { layout?: TableLayout; like?: tf.Variable; name?: string }): void;
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
