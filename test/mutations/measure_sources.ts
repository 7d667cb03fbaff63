/** Measures a room of TypeScript sources with Stryker. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Mutant, MutantResult, PartialStrykerOptions } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { keyOf } from './chosen_checker.js';
import { drawMutants } from './draw.js';
import { equivalentOf, readEquivalents } from './equivalents.js';
import { Sources, type MutantText } from './mutant_text.js';
import type { SourceRoom } from './rooms.js';
import { CACHE, makeSandbox } from './sandbox.js';
import type { Tally } from './tally.js';

export interface Request {
  /** Null: all mutants. */
  readonly sample: number | null;
  readonly seed: number;
  /** Only what survived the last time. */
  readonly again: boolean;
  /** Only files whose path holds this text; null: all of the room. */
  readonly file: string | null;
}

/** A busy machine is not an endless loop: time-outs are generous, and loops are counted besides. */
const TIMEOUT_MS = 30_000;
const TIMEOUT_FACTOR = 4;

function optionsFor(room: SourceRoom, mutants: readonly Mutant[]): PartialStrykerOptions {
  return {
    plugins: [join(process.cwd(), 'test/mutations/plugin.ts')],
    testRunner: 'specs',
    checkers: ['chosen'],
    reporters: ['count'],
    coverageAnalysis: 'perTest',
    concurrency: 1,
    inPlace: true,
    // Ranges instead of whole files: code that counts its mutants is slow.
    mutate: mutants.map(({ fileName, location: { start, end } }) => {
      return `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
    }),
    ...(room.hasDevices ? { buildCommand: 'node test/mutations/build_devices.mjs' } : {}),
    ignorePatterns: ['dist', 'custom-ops/build', 'test/goldens'],
    disableTypeChecks: false,
    testRunnerNodeArgs: ['--import', 'tsx', '--expose-gc'],
    checkerNodeArgs: ['--import', 'tsx'],
    timeoutMS: TIMEOUT_MS,
    timeoutFactor: TIMEOUT_FACTOR,
    dryRunTimeoutMinutes: 20,
    allowConsoleColors: false,
    logLevel: (process.env['MUTATIONS_LOG'] ?? 'error') as never,
    tempDirName: '.stryker-tmp',
    cleanTempDir: 'always',
    warnings: false,
    specs: room.specs,
    chosen: mutants.map(keyOf),
  };
}

/** Calls `work` with a sandbox for the working directory. */
async function inSandbox<T>(root: string, name: string, work: () => Promise<T>): Promise<T> {
  const { tree, remove } = makeSandbox(root, name);
  const stop = (): void => {
    process.chdir(root);
    remove();
  };
  const interrupted = (): void => {
    stop();
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    process.chdir(tree);
    return await work();
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    stop();
  }
}

function sourceNames({ folder, without }: SourceRoom, file: string | null): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.split(sep).join('/')}`)
    .filter((name) => name.endsWith('.ts') && !without.includes(name) && (file === null || name.includes(file)));
  if (names.length === 0) throw new Error(`--file: there is no ${file} in ${folder}`);
  return names.sort();
}

function memory(root: string, name: string): string {
  return join(root, CACHE, `${name}.json`);
}

function survivorsBefore(root: string, name: string): MutantText[] {
  try {
    return JSON.parse(readFileSync(memory(root, name), 'utf8')) as MutantText[];
  } catch {
    throw new Error(`--again: no survivors of ${name} are noted; run it without --again first`);
  }
}

/** Prints every survivor; resolves to the counts. */
export async function measureSources(root: string, name: string, room: SourceRoom, request: Request): Promise<Tally> {
  const { sample, seed, again, file } = request;
  const only = again ? survivorsBefore(root, name) : null;
  const survivors: MutantText[] = [];
  const tally = await inSandbox(root, name, async () => {
    const sources = new Sources(process.cwd());
    const { mutants, total } = await drawMutants(sourceNames(room, file), sources, { sample, seed, only });
    console.log(`  ${mutants.length} of ${total} mutants`);
    if (mutants.length === 0) return { caught: 0, survived: 0, equivalent: 0, total };
    const results = await new Stryker(optionsFor(room, mutants)).runMutationTest();
    return { ...count(mutants, results, sources, survivors), total };
  });
  mkdirSync(join(root, CACHE), { recursive: true });
  writeFileSync(memory(root, name), `${JSON.stringify(survivors, null, 1)}\n`);
  return tally;
}

/** Stryker counts lines and columns of results from 1 on. */
function asDrawn({ fileName, location: { start, end }, replacement }: MutantResult): string {
  const file = relative(process.cwd(), fileName).split(sep).join('/');
  const [from, to] = [start, end].map(({ line, column }) => ({ line: line - 1, column: column - 1 }));
  return keyOf({ fileName: file, location: { start: from, end: to }, replacement } as Mutant);
}

function count(
  mutants: readonly Mutant[],
  results: readonly MutantResult[],
  sources: Sources,
  survivors: MutantText[],
): Omit<Tally, 'total'> {
  const known = readEquivalents();
  const byKey = new Map(results.map((result) => [asDrawn(result), result]));
  const tally = { caught: 0, survived: 0, equivalent: 0 };
  for (const mutant of mutants) {
    const result = byKey.get(keyOf(mutant));
    if (result === undefined) throw new Error(`Stryker has no result for ${keyOf(mutant)}`);
    const text = sources.textOf(mutant);
    const hasSurvived = result.status === 'Survived' || result.status === 'NoCoverage';
    if (equivalentOf(text, known) !== undefined) {
      tally.equivalent++;
      if (!hasSurvived)
        console.log(`\nlisted as equivalent, but caught: ${text.file}: ${text.code} -> ${text.becomes}`);
    } else if (hasSurvived) {
      tally.survived++;
      survivors.push(text);
      print(result, text);
    } else tally.caught++;
  }
  return tally;
}

function print(result: MutantResult, { file, line, code, becomes }: MutantText): void {
  const { location, mutatorName, coveredBy = [], static: isStatic } = result;
  const seen = isStatic ? 'reached while loading' : `reached by ${coveredBy.length} specs`;
  console.log(`\n${file}:${location.start.line}:${location.start.column}  ${mutatorName}, ${seen}\n    ${line}`);
  console.log(`  - ${code}\n  + ${becomes}`);
}
