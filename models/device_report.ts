/** What virtual devices or servers hold and did: for people, for a page and for programs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as emb from 'tfjs-embeddings/node';
import { CLUSTER } from './device_options.mjs';
import { isSystemError } from './input_error.mjs';

/** The virtual devices or servers that run. */
export function devicesInUse(): emb.Cluster | emb.TpuEmulator {
  return emb.backendInfo().backend === CLUSTER ? emb.cluster() : emb.tpuEmulator();
}

/** To be taken while the optimizer has its slots. `path` of the page, or null. */
export function reportDevices(path: string | null) {
  const report = devicesInUse().report();
  const lines = [String(report)];
  /** Why there is no page: that costs nobody the training. */
  let failure: string | null = null;
  try {
    if (path !== null) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, report.toHTML());
      lines.push(`wrote the report to ${path}`);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    failure = `the report was not written to ${path}: ${error.message}`;
  }
  const counters = {
    bytes: report.links.totalBytes,
    elements: report.devices.map(({ elements }) => elements),
    peakMemory: report.devices.map(({ memory }) => memory.peak),
  };
  return { lines, counters, failure };
}
