/** Specs of tfjs on one backend, without the package and with it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareRuns, type Deliberate } from './compare.js';
import type { SuiteReport, Wanted } from './source.js';
import { runSpecs } from './spec_run.js';
import { bundleTfjs, type BundleArgs } from './tfjs_bundle.js';

const DELIBERATE = new URL('deliberate.json', import.meta.url);

/** Without the package there is no emulator: there the backend of its host, which runs all dense ops, has its place. */
const EMULATED_HOST = 'cpu';

export function deliberateDifferences(): Deliberate[] {
  return JSON.parse(readFileSync(DELIBERATE, 'utf8')) as Deliberate[];
}

/** Runs the specs of `suite` both ways on each backend. */
export async function runBothWays(
  suite: string,
  parts: Pick<BundleArgs, 'specs' | 'checkout'>,
  { backends, texts }: Pick<Wanted, 'backends' | 'texts'>,
  say: (line: string) => void,
): Promise<SuiteReport[]> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  const reports: SuiteReport[] = [];
  try {
    const bundle = join(folder, 'tfjs.cjs');
    await bundleTfjs({ ...parts, file: bundle });
    const run = (backend: string, withPackage: boolean): ReturnType<typeof runSpecs> => {
      const emulator = { chips: 2, coresPerChip: 1, devices: 'inline', host: EMULATED_HOST };
      const results = join(folder, 'results.jsonl');
      return runSpecs({ bundle, backend, withPackage, emulator, texts, results });
    };
    const stock = new Map<string, Awaited<ReturnType<typeof runSpecs>>>();
    for (const backend of backends) {
      const host = backend === 'tpu-emulator' ? EMULATED_HOST : backend;
      if (!stock.has(host)) stock.set(host, await run(host, false));
      const name = `${suite} on ${backend}`;
      const report = compareRuns(name, stock.get(host)!, await run(backend, true), deliberateDifferences());
      say(`${name}: ${report.cases} specs, ${report.failures.length} differ`);
      reports.push(report);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return reports;
}
