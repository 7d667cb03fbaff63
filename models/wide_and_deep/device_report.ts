/** What the virtual devices hold and did: for people, for a page and for programs. */
import * as emb from 'tfjs-embeddings/node';
import type { DeviceOptions, Placement } from './device_options.js';
import { writeReport } from './report_file.js';

export interface DeviceReport {
  /** For people. */
  readonly lines: readonly string[];
  /** For the line of JSON. */
  readonly data: object;
}

/** What lies on the devices and what they did until now. To be taken while the optimizer has its slots. */
export function reportDevices(
  plan: emb.EmbeddingPlan,
  { devices, report: path }: DeviceOptions,
  { strategy }: Placement,
): DeviceReport {
  const report = emb.tpuEmulator().report();
  const lines = [String(report)];
  if (path !== null) {
    writeReport(path, report.toHTML());
    lines.push(`wrote the report to ${path}`);
  }
  const counters = {
    bytes: report.links.totalBytes,
    elements: report.devices.map(({ elements }) => elements),
    peakMemory: report.devices.map(({ memory }) => memory.peak),
  };
  return { lines, data: { devices, strategy, plan: plan.toJSON(), counters } };
}
