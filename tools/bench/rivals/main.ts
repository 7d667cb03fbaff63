/** `npm run bench -- --rivals PYTHON`: us, the limits of the memory and the rivals in one run, as one table of ratios. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Presets, SingleBar } from 'cli-progress';
import { allCases, nameOf, quickCases, usualCases, type BagCase } from './bags/bag_cases.js';
import { benchBags } from './bags/bag_bench.js';
import { HELP, checkPrograms, readOptions, type Given } from './options.js';
import { benchBusy } from './bags/busy_bench.js';
import { benchModels } from './models/model_bench.js';
import { MODELS, MORE_MODELS, TABLES_ALONE, modelOfPairs, type ModelSpec } from './models/model_specs.js';
import { BASE, OURS, deviceContestants, modelContestants } from './peers.js';
import { newReport } from './report.js';
import { busyText, linesText, machineText, peersText } from './report_text.js';

/** No text: every name. */
const isChosen = (name: string, texts: readonly string[]): boolean =>
  texts.length === 0 || texts.some((text) => name.includes(text));

function casesOf({ isQuick, isFull, only }: Given): BagCase[] {
  const cases = isQuick ? quickCases() : isFull ? allCases() : usualCases();
  return cases.filter((each) => isChosen(`${nameOf(each)}, ${each.threads} threads`, only));
}

function modelsOf({ isQuick, isFull, only, pairs }: Given): readonly ModelSpec[] {
  const models = [...MODELS, ...(isFull ? MORE_MODELS : []), ...(pairs === undefined ? [] : [modelOfPairs(pairs)])];
  if (isQuick) return models.slice(0, 1);
  return models.filter(({ name }) => isChosen(name, only));
}

async function main(): Promise<void> {
  const given = readOptions(process.argv.slice(2));
  if (given === null) {
    console.log(HELP);
    return;
  }
  checkPrograms(given);
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
  const options = {
    ...{ pythons, folder, report, rounds, turnMs, only: given.peers },
    progress: (done: number, what: string): void => bar.update(done, { what }),
  };
  const parts: string[] = [];
  try {
    if (given.parts.includes('kernels')) {
      const cases = casesOf(given);
      bar.start(cases.length, 0, { what: '' });
      await benchBags(cases, options);
      bar.stop();
      parts.push('## Kernels', linesText(report.lines, BASE));
    }
    if (given.parts.includes('models')) {
      const models = modelsOf(given);
      bar.start(models.length, 0, { what: '' });
      const lines = await benchModels(models, modelContestants(pythons), options);
      bar.stop();
      parts.push('## Steps of models in `fit`', linesText(lines, OURS));
    }
    if (given.parts.includes('devices')) {
      bar.start(1, 0, { what: '' });
      const lines = await benchModels([TABLES_ALONE], deviceContestants(), options);
      bar.stop();
      parts.push('## Virtual devices', linesText(lines, OURS));
    }
    if (given.parts.includes('busy')) {
      bar.start(1, 0, { what: 'beside a busy process' });
      const lines = await benchBusy(
        quickCases().find(({ op }) => op === 'sgd')!,
        options,
      );
      bar.stop();
      parts.push('## Beside a busy process', busyText(lines));
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
