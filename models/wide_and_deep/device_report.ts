/** What the virtual devices hold and did: for people, for a page and for programs. */
import * as emb from 'tfjs-embeddings/node';
import type { DeviceOptions, Placement } from './device_options.mjs';
import { isSystemError } from './input_error.mjs';
import { writeReport } from './write_report.js';

export interface DeviceReport {
  /** For people. */
  readonly lines: readonly string[];
  /** For the line of JSON. */
  readonly data: object;
  /** Why there is no page, although one was asked for. */
  readonly failure: string | null;
}

/** Writes a page; returns what went wrong, or null: a picture that cannot be written costs nobody the training. */
function keepPage(path: string, html: string): string | null {
  try {
    writeReport(path, html);
    return null;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return `the report was not written to ${path}: ${error.message}`;
  }
}

/** What lies on the devices, by the plan where there is one, and what they did until now. To be taken while the optimizer has its slots. */
export function reportDevices(
  plan: emb.EmbeddingPlan | null,
  { devices, report: path }: DeviceOptions,
  { strategy }: Placement,
): DeviceReport {
  const report = emb.tpuEmulator().report();
  const lines = [String(report)];
  const failure = path === null ? null : keepPage(path, report.toHTML());
  if (path !== null && failure === null) lines.push(`wrote the report to ${path}`);
  const counters = {
    bytes: report.links.totalBytes,
    elements: report.devices.map(({ elements }) => elements),
    peakMemory: report.devices.map(({ memory }) => memory.peak),
  };
  const placed = plan === null ? { strategy: null, plan: null } : { strategy, plan: plan.toJSON() };
  return { lines, data: { devices, ...placed, counters }, failure };
}
