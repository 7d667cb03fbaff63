/** What a report is made of. */
import type { EmbeddingPlan } from '../../../partition/plan.js';
import type { PlanEmbeddingArgs } from '../../../partition/plan_request.js';
import type { TableLayout } from '../../../partition/table_layout.js';
import type { Counters } from '../counters.js';
import type { DeviceKind } from '../devices/device.js';

/** A table on the devices. */
export interface ReportedTable {
  readonly name: string;
  readonly layout: TableLayout;
  /** Slots of its optimizer by name, and how many columns each has: the table's, or 1. */
  readonly slots: readonly { readonly name: string; readonly columns: number }[];
}

/** What was looked up under a plan since the last reset: sums over calls, one number for each of its inputs. */
export interface MeasuredInputs {
  readonly calls: number;
  readonly bags: readonly number[];
  readonly ids: readonly number[];
}

/** A plan that a layer follows, and what it was made from, so that it can be made for another machine. */
export interface ReportedPlan {
  readonly name: string;
  readonly request: PlanEmbeddingArgs;
  readonly plan: EmbeddingPlan;
  /** Places of the plan's tables among the reported ones; without it they are found by name and size. */
  readonly tables?: readonly number[];
  /** Without it a prediction takes batch and ids per sample from the counters of the whole machine. */
  readonly measured?: MeasuredInputs;
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
}
