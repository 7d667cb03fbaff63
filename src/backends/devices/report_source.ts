/** What a report is made of. */
import type { EmbeddingPlan } from '../../partition/plan.js';
import type { PlanEmbeddingArgs } from '../../partition/plan_request.js';
import type { TableLayout } from '../../partition/table_layout.js';
import type { StackCounts } from './machine/stack_stats.js';
import type { Counters, ServedLayer, TableCounts } from './machine/counters.js';
import type { DeviceKind } from './device.js';

/** A table on the devices. */
export interface ReportedTable {
  readonly name: string;
  readonly layout: TableLayout;
  /** Slots of its optimizer by name, and how many columns each has: the table's, or 1. */
  readonly slots: readonly { readonly name: string; readonly columns: number }[];
  /** Since the last reset. */
  readonly counts: TableCounts;
}

/** A plan that a layer follows, and what it was made from, so that it can be made for another machine. */
export interface ReportedPlan {
  readonly name: string;
  readonly request: PlanEmbeddingArgs;
  readonly plan: EmbeddingPlan;
  /** Places of the plan's tables among the reported ones, null where one is not there; else found by name and size. */
  readonly tables?: readonly (number | null)[];
  /** What was looked up under the plan since the last reset; null: nothing. */
  readonly measured?: ServedLayer | null;
}

export interface ReportSource {
  readonly chips: number;
  readonly coresPerChip: number;
  /** null: no limit. */
  readonly hbmBytesPerChip: number | null;
  readonly kind: DeviceKind;
  /** Why devices run in line where workers were wanted; null otherwise. */
  readonly inlineBecause: string | null;
  /** The tfjs backend that runs dense ops. */
  readonly host: string;
  readonly tables: readonly ReportedTable[];
  readonly plans: readonly ReportedPlan[];
  readonly counters: Counters;
  /** What SparseCores looked up, by stack; absent: nothing. */
  readonly sparseCores?: readonly StackCounts[];
}
