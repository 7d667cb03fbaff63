/**
 * Whether anything changed that users could notice: `npm run frozen`.
 *
 * Compares tables after five steps and files that are written with the record in record.json, and prints how many files
 * a step goes through and how large the house is, beside figures.json. Progress goes to standard error, one line of JSON
 * with the counts to standard output. Ends with 0 where all is as recorded or differs deliberately (deliberate.json), 1
 * where not, 2 for wrong options. Declared types are compared by test/check/api.mjs.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bench } from './bench.js';
import { countLines } from './counts.js';
import { BACKENDS } from './programs/package.mjs';
import { runProgram, sideBySide } from './programs.js';
import { compare, recordText, type Comparison, type Deliberate, type Frozen, type Groups } from './record.js';
import { sizes, type Size, type Sizes } from './size.js';
import { passageLines, type Passages } from './steps.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const at = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const [RECORD, FIGURES, DELIBERATE] = [at('record.json'), at('figures.json'), at('deliberate.json')];
const PARTS = ['tables', 'files', 'steps', 'size'] as const;
const MOST_LISTED = 40;

const HELP = `npm run frozen -- [--only PART]... [--backend NAME]... [--write] [--all]
npm run frozen -- --bench DIR [--rounds N]

  --only PART     ${PARTS.join(', ')}; may be given several times
  --backend NAME  of tables: ${Object.keys(BACKENDS).join(', ')}; may be given several times
  --write         writes what was found into the record, in place of comparing
  --all           lists every difference, not the first ${MOST_LISTED} of each part
  --bench DIR     times whole steps of this checkout's dist beside those of another checkout, in turn
  --rounds N      of the bench, at least 7 (default: 9); medians are compared
  --jobs N        programs at a time (default: 2)
  -h, --help      this text

dist must be built; figures come from src. Meant differences are listed in tools/frozen/deliberate.json:
[{"what": "cpu native, avx2 / adam / float32 8 sum", "now": "0123456789ab", "reason": "..."}]; the beginning of a name
("cpu native, avx2 / adam") stands for all that it begins, \`now\` may be left out.
`;

type Part = (typeof PARTS)[number];

interface Chosen {
  readonly parts: readonly Part[];
  readonly backends: readonly string[];
  readonly write: boolean;
  readonly all: boolean;
  readonly bench: string | null;
  readonly rounds: number;
  readonly jobs: number;
}

interface Figures {
  readonly steps?: Passages;
  readonly size?: Sizes;
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
      only: { type: 'string', multiple: true, default: [...PARTS] },
      backend: { type: 'string', multiple: true, default: Object.keys(BACKENDS) },
      write: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      bench: { type: 'string' },
      rounds: { type: 'string', default: '9' },
      jobs: { type: 'string', default: '2' },
    },
  });
  if (values.help === true) return null;
  known('only', values.only, PARTS);
  known('backend', values.backend, Object.keys(BACKENDS));
  const rounds = Number(values.rounds);
  if (!(Number.isInteger(rounds) && rounds >= 7)) throw new Error('--rounds: a whole number of at least 7');
  const jobs = Number(values.jobs);
  if (!(Number.isInteger(jobs) && jobs >= 1)) throw new Error('--jobs: a whole number of at least 1');
  return {
    parts: values.only as Part[],
    backends: values.backend,
    write: values.write,
    all: values.all,
    bench: values.bench === undefined ? null : resolve(values.bench),
    rounds,
    jobs,
  };
}

function json<T>(path: string, fallback: T): T {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : fallback;
}

const say = (line: string): void => console.error(line);

interface Hashed {
  readonly key: string;
  readonly groups: Groups;
}

/** Hashes of the chosen parts, by key. */
async function frozenNow({ parts, backends, jobs: atOnce }: Chosen): Promise<Frozen> {
  const jobs = [
    ...(parts.includes('tables') ? backends.map((name) => ['tables.mjs', name] as const) : []),
    ...(parts.includes('files') ? [['files.mjs'] as const] : []),
  ].map(([program, ...args]) => async (): Promise<Hashed> => {
    const hashed = await runProgram<Hashed>(program, args);
    say(`${hashed.key}: ${casesIn({ [hashed.key]: hashed.groups })} cases`);
    return hashed;
  });
  return Object.fromEntries((await sideBySide(jobs, atOnce)).map(({ key, groups }) => [key, groups]));
}

function casesIn(frozen: Frozen): number {
  const groups = Object.values(frozen).flatMap((each) => Object.values(each));
  return groups.reduce((sum, cases) => sum + Object.keys(cases).length, 0);
}

/** Whether a key of the record belongs to what was asked for. */
function isDue(key: string, { parts, backends }: Chosen, found: Frozen): boolean {
  if (key.startsWith('files, ')) return parts.includes('files');
  // Another instruction set than that of this machine is not due.
  const [name] = key.split(', ');
  return (
    parts.includes('tables') &&
    backends.includes(name!) &&
    !Object.keys(found).some((each) => each.startsWith(`${name}, `))
  );
}

function tell({ differences, deliberate, added, notCompared, unused }: Comparison, all: boolean): void {
  const list = (title: string, lines: readonly string[]): void => {
    if (lines.length === 0) return;
    say(`\n${title}: ${lines.length}`);
    for (const line of all ? lines : lines.slice(0, MOST_LISTED)) say(`  ${line}`);
    if (!all && lines.length > MOST_LISTED) say(`  and ${lines.length - MOST_LISTED} more (--all)`);
  };
  const changed = ({ what, was, is }: { what: string; was: string | null; is: string | null }): string =>
    `${what}: ${was ?? 'not in the record'} -> ${is ?? 'not there any more'}`;
  list('not in the record yet', added);
  list('differences', differences.map(changed));
  list(
    'deliberate',
    deliberate.map((each) => `${changed(each)} (${each.reason})`),
  );
  list('not compared', notCompared);
  list(
    'meant differences that fit none',
    unused.map(({ what }) => what),
  );
}

function sizeLines(now: Sizes, before: Sizes | undefined): string[] {
  const beside = (is: number, was: number | undefined): string => {
    const share = was === undefined || was === 0 ? '' : `, ${(((is - was) / was) * 100).toFixed(1)} %`;
    return `${is} (${was ?? 'not recorded'}${share})`;
  };
  const of = (folder: 'src' | 'custom-ops'): string => {
    const parts = (Object.keys(now[folder]) as (keyof Size)[]).map(
      (what) => `${what} ${beside(now[folder][what], before?.[folder][what])}`,
    );
    return `${folder}: ${parts.join(', ')}`;
  };
  return [of('src'), of('custom-ops'), `rooms ${beside(now.rooms, before?.rooms)}`];
}

async function figuresNow({ parts }: Chosen): Promise<Figures> {
  const steps = parts.includes('steps')
    ? await runProgram<Passages>('coverage.mjs', [], ['--import', 'tsx'])
    : undefined;
  const size = parts.includes('size') ? sizes(ROOT) : undefined;
  return { ...(steps === undefined ? {} : { steps }), ...(size === undefined ? {} : { size }) };
}

/** Replaces what was found in the record; keys that were not run stay. Refuses cases that failed. */
function write(found: Frozen, figures: Figures): number {
  const { differences } = compare({}, found);
  for (const { what, is } of differences) say(`${what}: ${is}`);
  if (differences.length > 0) return 1;
  writeFileSync(RECORD, recordText({ ...json<Frozen>(RECORD, {}), ...found }));
  writeFileSync(FIGURES, `${JSON.stringify({ ...json<Figures>(FIGURES, {}), ...figures }, null, 2)}\n`);
  say(`wrote ${casesIn(found)} cases`);
  return 0;
}

async function main(): Promise<number> {
  let chosen: Chosen | null;
  try {
    chosen = read(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    return 2;
  }
  if (chosen === null) {
    process.stdout.write(HELP);
    return 0;
  }
  if (chosen.bench !== null) return bench(join(chosen.bench), ROOT, chosen.rounds, say);
  const asked = chosen;
  const found = await frozenNow(asked);
  const figures = await figuresNow(asked);
  if (asked.write) return write(found, figures);
  const before = json<Figures>(FIGURES, {});
  if (figures.steps !== undefined) for (const line of passageLines(figures.steps, before.steps)) say(line);
  if (figures.size !== undefined) {
    for (const line of [...sizeLines(figures.size, before.size), ...countLines(ROOT)]) say(line);
  }
  const list = json<Deliberate[]>(DELIBERATE, []);
  const result = compare(json<Frozen>(RECORD, {}), found, list, (key) => isDue(key, asked, found));
  tell(result, asked.all);
  const { compared, differences, deliberate, added, notCompared } = result;
  const counts = { compared, differences: differences.length, deliberate: deliberate.length };
  console.log(JSON.stringify({ ...counts, added: added.length, notCompared: notCompared.length }));
  return differences.length === 0 ? 0 : 1;
}

process.exitCode = await main();
