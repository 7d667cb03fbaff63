/** `npm run bench -- --rivals PYTHON`: us, the limits of the memory and the rivals in one run, as one table of ratios. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Presets, SingleBar } from 'cli-progress';
import { allCases, nameOf, quickCases, usualCases, type BagCase } from './bag_cases.js';
import { benchBags, newReport } from './bag_bench.js';
import { HELP, readOptions, type Given } from './options.js';
import { BASE } from './peers.js';
import { linesText, machineText, peersText } from './report_text.js';

function casesOf({ isQuick, isFull, only }: Given): BagCase[] {
  const cases = isQuick ? quickCases() : isFull ? allCases() : usualCases();
  return cases.filter((each) => only === undefined || `${nameOf(each)}, ${each.threads} threads`.includes(only));
}

async function main(): Promise<void> {
  const given = readOptions(process.argv.slice(2));
  if (given === null) {
    console.log(HELP);
    return;
  }
  const { rounds, turnMs, rivals: pythons } = given;
  const loadBefore = loadavg()[0]!;
  const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-bench-'));
  const report = newReport();
  const bar = new SingleBar(
    {
      format: '[{bar}] {value}/{total} {what}',
      stream: process.stderr,
      noTTYOutput: true,
      notTTYSchedule: 20000,
      hideCursor: true,
    },
    Presets.shades_grey,
  );
  const parts: string[] = [];
  try {
    if (given.parts.includes('kernels')) {
      const cases = casesOf(given);
      bar.start(cases.length, 0, { what: '' });
      const progress = (done: number, what: string): void => bar.update(done, { what });
      await benchBags(cases, { pythons, folder, report, rounds, turnMs, progress });
      bar.stop();
      parts.push('## Kernels', linesText(report.lines, BASE));
    }
  } finally {
    bar.stop();
    rmSync(folder, { recursive: true });
  }
  const command = `npm run bench -- ${process.argv.slice(2).join(' ')}`;
  const text = [machineText(command, loadBefore), peersText(report), ...parts].join('\n\n');
  console.log(`\n${text}`);
  if (given.out !== undefined) writeFileSync(given.out, `${text}\n`);
}

try {
  await main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
