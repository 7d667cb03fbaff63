/** The specs of tfjs-layers, tfjs-data and tfjs-converter, from a checkout of tfjs: npm ships none of them. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runBothWays } from './both_ways.js';
import type { Source, SuiteReport } from './source.js';

const PACKAGES = ['tfjs-layers', 'tfjs-data', 'tfjs-converter'];
const NOT_RUN = {
  what: 'specs for browsers alone, and those on webgl',
  reason: 'tfjs itself leaves them out in Node',
};

/** The spec files of a package, by name. */
function specsOf(checkout: string, name: string): Record<string, string> {
  const folder = join(checkout, name, 'src');
  if (!existsSync(folder)) throw new Error(`--tfjs: expected a checkout of tfjs 4.22, and there is no ${folder}`);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('_test.ts'));
  return Object.fromEntries(files.sort().map((file) => [file, join(folder, file)]));
}

export const tfjsCheckout: Source = {
  name: 'tfjs',
  describe: `specs of ${PACKAGES.join(', ')} on cpu, from a checkout of tfjs 4.22`,
  folder: 'tfjs',
  async run({ texts, folders }, say) {
    const checkout = folders['tfjs']!;
    const reports: SuiteReport[] = [];
    for (const name of PACKAGES) {
      const parts = { specs: specsOf(checkout, name), checkout };
      const [report] = await runBothWays(name, parts, { backends: ['cpu'], texts }, say);
      reports.push({ ...report!, notRun: [NOT_RUN, ...report!.notRun] });
    }
    return reports;
  },
};
