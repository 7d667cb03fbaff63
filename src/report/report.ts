/** Reports of the emulator: where tables live, what was counted, and what a step would cost on real machines. */
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import { GENERATION_NAMES, GENERATIONS, generationName } from './generations.js';
import { reportPage } from './page/report_page.js';
import { predictionOf } from './prediction.js';
import { clusterOf, readReportNetwork, type ReportNetworkArgs } from './cluster.js';
import { reportData, type ReportData } from './report_data.js';
import type { ReportSource } from '../backends/devices/report_source.js';
import { reportText } from './report_text.js';

export interface ReportArgs {
  /** A TPU generation to predict a step for: v2, v3, v4, v5e, v5p, v6e (Trillium), v7 (Ironwood). */
  generation?: string | undefined;
  /** Chips of the pod; those of the emulated machine by default. */
  chips?: number | undefined;
  /** Predicts a step where tables lie on servers that clients reach over this network. */
  network?: ReportNetworkArgs | null | undefined;
}

/** A report: plain data with its methods, which are not among its keys. */
export interface Report extends ReportData {
  /**
   * The report as text of at most 120 columns.
   *
   * @returns The text.
   */
  toString(): string;
  /**
   * The report as one page that needs nothing from elsewhere.
   *
   * @returns The source of the page.
   */
  toHTML(): string;
  /**
   * A copy as plain data.
   *
   * @returns The copy.
   */
  toJSON(): ReportData;
}

const FIELDS = ['generation', 'chips', 'network'] as const;

function readGeneration(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const expected = `one of ${GENERATION_NAMES.join(', ')}`;
  if (typeof value !== 'string') throw new ArgumentTypeError('generation', expected, value);
  const name = generationName(value);
  if (name === null) throw new ValueError('generation', expected, value);
  return name;
}

function readChips(value: unknown, generation: string | null, emulated: number): number {
  if (generation === null) {
    if (value === undefined || value === null) return emulated;
    const note = 'chips says how many chips of which generation a step is predicted for.';
    throw new ArgumentTypeError('generation', `one of ${GENERATION_NAMES.join(', ')}`, undefined, note);
  }
  const most = GENERATIONS[generation]!.podChips.value ?? Number.MAX_SAFE_INTEGER;
  const expected = `a whole number from 1 to ${most}, the largest pod of ${generation}`;
  const chips = value ?? emulated;
  if (typeof chips !== 'number') throw new ArgumentTypeError('chips', expected, chips);
  if (!Number.isInteger(chips) || chips < 1 || chips > most) throw new ValueError('chips', expected, chips);
  return chips;
}

/**
 * Returns a report: the machine; tables with their shards (rows, columns, device, bytes of table and slots), the ids that
 * were looked up in each and the bytes sent for it; counts and memory of each device; bytes and ids of each link [from][to]; balance (busiest device over the mean); and, where a
 * `generation` is asked for, the predicted time of the embedding part of a training step on `chips` chips of it, told
 * apart into lookup, exchange forward and backward, and update, with the bytes behind each. Times are bytes over
 * bandwidth: latency is not published, so that they are the least that is possible. A `network` asks for the same where
 * tables lie on servers that clients reach over it: bytes, calls and seconds of each server, steps of all clients per
 * second, and what limits them, as `planEmbedding` predicts them, beside the seconds counted here. Plain data with
 * `toString()`, `toHTML()` and `toJSON()`. Bytes are bytes, times are seconds.
 *
 * Edge cases: a prediction for another number of devices makes the plans again by the same request; batch and ids per
 * sample are those measured, or, before the first lookup, those that the plan was asked for. What had to be assumed
 * stands in `prediction.assumptions`; figures that are not published in `prediction.lacking`. Devices with less memory
 * than they need are listed in `prediction.doesNotFit`; the time is predicted all the same.
 *
 * Throws TypeError for wrong types, for `chips` without `generation` and for a network without bandwidth or latency;
 * ValueError for an unknown generation (the known ones are listed), for `chips` that is no whole number from 1 to the size
 * of the largest pod, for figures of the network that are out of range, and where no plan can be made for so many chips or
 * servers; RuntimeError where a prediction is asked for and no plan is there.
 *
 * The formulas are those of TorchRec's planner 1.0, reduced; the figures in `generations.ts` name where each is published.
 *
 * ```ts
 * const report = makeReport(source, { generation: 'v5p', chips: 64 });
 * console.log(String(report));
 * console.log(report.prediction?.stepSeconds);
 * ```
 */
export function makeReport(source: ReportSource, options?: ReportArgs): Report {
  const given = options === undefined || options === null ? {} : readOptions<ReportArgs>(options, FIELDS, 'options');
  const generation = readGeneration(given.generation);
  const chips = readChips(given.chips, generation, source.chips);
  const network = readReportNetwork(given.network, source.chips * source.coresPerChip);
  const data = reportData(
    source,
    generation === null ? null : predictionOf(source, generation, chips),
    network === null ? null : clusterOf(source, network),
  );
  return Object.defineProperties(data, {
    toString: { value: () => reportText(data), enumerable: false },
    toHTML: { value: () => reportPage(data), enumerable: false },
    toJSON: { value: () => structuredClone({ ...data }), enumerable: false },
  }) as Report;
}
