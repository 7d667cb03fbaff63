/**
 * Suites that others wrote, run against this package: `npm run conformance -- --tfjs ../tfjs`.
 *
 * A source of cases is a file of this folder that exports a `Source` (source.ts). To add one, add it to SOURCES.
 * What differs goes to standard error as it is found; the last line on standard output is JSON with the counts. Ends
 * with 0 where all cases do what they should or differ deliberately (deliberate.json), 1 where not, 2 for wrong options.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Source, SuiteReport, Wanted } from './source.js';
import { tfjsCheckout } from './tfjs_checkout.js';
import { tensorflowTree } from './tensorflow_tree.js';
import { CORE_BACKENDS, tfjsCore } from './tfjs_core.js';

const SOURCES: readonly Source[] = [tfjsCore, tfjsCheckout, tensorflowTree];
const NAMES = SOURCES.map(({ name }) => name);
const FOLDERS = SOURCES.flatMap(({ folder }) => folder ?? []);

const HELP = `npm run conformance -- [--only NAME]... [--backend NAME]... [--text TEXT]...${FOLDERS.map((name) => ` [--${name} DIR]`).join('')}

  --only NAME     this source alone; may be given several times
  --backend NAME  ${CORE_BACKENDS.join(', ')}; may be given several times
  --text TEXT     cases whose names hold the text; may be given several times

${SOURCES.map(({ name, describe, folder }) => `  ${name.padEnd(14)}${describe}${folder === undefined ? '' : ` (--${folder} DIR)`}`).join('\n')}
`;

interface Chosen extends Wanted {
  readonly sources: readonly Source[];
}

function known(option: string, given: readonly string[], names: readonly string[]): void {
  const unknown = given.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`--${option}: there is no ${unknown}, but ${names.join(', ')}`);
}

/** What the options ask for; null: help. Throws with a sentence for wrong ones. */
function read(args: readonly string[]): Chosen | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h' },
      only: { type: 'string', multiple: true },
      backend: { type: 'string', multiple: true, default: CORE_BACKENDS },
      text: { type: 'string', multiple: true, default: [] },
      ...Object.fromEntries(FOLDERS.map((name) => [name, { type: 'string' as const }])),
    },
  });
  if (values.help === true) return null;
  known('only', values.only ?? [], NAMES);
  known('backend', values.backend, CORE_BACKENDS);
  const given = values as Readonly<Record<string, unknown>>;
  const folders = Object.fromEntries(
    FOLDERS.filter((name) => given[name] !== undefined).map((name) => [name, resolve(given[name] as string)]),
  );
  const chosen = SOURCES.filter(({ name }) => values.only?.includes(name) ?? true);
  const lacking = chosen.find(({ folder }) => folder !== undefined && folders[folder] === undefined);
  if (values.only !== undefined && lacking !== undefined) {
    throw new Error(`--only ${lacking.name}: needs --${lacking.folder} DIR`);
  }
  return { sources: chosen, backends: values.backend, texts: values.text, folders };
}

/** How often each value occurs. */
function counts(values: readonly string[]): [string, number][] {
  const found = new Map<string, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  return [...found].sort(([, a], [, b]) => b - a);
}

function tell({ suite, cases, passed, failures, deliberate, notRun }: SuiteReport, say: (line: string) => void): void {
  say(`\n${suite}: ${cases} cases, ${passed} passed, ${failures.length} failures`);
  for (const { name, message } of failures) say(`  FAILED ${name}\n    ${message.replaceAll('\n', '\n    ')}`);
  for (const [reason, count] of counts(Object.values(deliberate))) say(`  ${count} differ deliberately: ${reason}`);
  if (notRun.length > 0) say(`  ${notRun.length} not run or without a result:`);
  if (notRun.length <= 10) for (const { what, reason } of notRun) say(`    ${what}: ${reason}`);
  else for (const [reason, count] of counts(notRun.map(({ reason }) => reason))) say(`    ${count}: ${reason}`);
}

async function main(): Promise<number> {
  let wanted: Chosen | null;
  try {
    wanted = read(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    return 2;
  }
  if (wanted === null) {
    process.stdout.write(HELP);
    return 0;
  }
  const say = (line: string): void => console.error(line);
  const reports: SuiteReport[] = [];
  for (const source of wanted.sources) {
    if (source.folder !== undefined && wanted.folders[source.folder] === undefined) {
      say(`${source.name}: not run, needs --${source.folder} DIR`);
      continue;
    }
    reports.push(...(await source.run(wanted, say)));
  }
  for (const report of reports) tell(report, say);
  const sum = (count: (report: SuiteReport) => number): number => reports.reduce((all, each) => all + count(each), 0);
  const failures = sum((each) => each.failures.length);
  console.log(
    JSON.stringify({
      cases: sum(({ cases }) => cases),
      passed: sum(({ passed }) => passed),
      failures,
      deliberate: sum(({ deliberate }) => Object.keys(deliberate).length),
      notRun: sum(({ notRun }) => notRun.length),
    }),
  );
  return failures === 0 ? 0 : 1;
}

process.exitCode = await main();
