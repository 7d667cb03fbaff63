/** Measures a room of TypeScript sources with Stryker. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MutantResult, PartialStrykerOptions } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { LEFT_OUT, type Draw } from './draw.js';
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

function optionsFor(room: SourceRoom, draw: Draw): PartialStrykerOptions {
  return {
    plugins: [join(process.cwd(), 'test/mutations/plugin.ts')],
    testRunner: 'specs',
    checkers: ['draw'],
    reporters: ['count'],
    coverageAnalysis: 'perTest',
    concurrency: 1,
    inPlace: true,
    mutate: [...room.sources],
    ...(room.hasDevices === true ? { buildCommand: 'node custom-ops/build_worker.mjs' } : {}),
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
    draw,
  };
}

/** Runs Stryker in a sandbox, which `use` gets the results in. */
async function inSandbox<T>(
  root: string,
  name: string,
  optionsIn: (originals: string) => PartialStrykerOptions,
  use: (results: MutantResult[], sources: Sources) => T,
): Promise<T> {
  const { tree, originals, remove } = makeSandbox(root, name);
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
    const results = await new Stryker(optionsIn(originals)).runMutationTest();
    return use(results, new Sources(originals, tree));
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    stop();
  }
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

function print(result: MutantResult, { file, line, code, becomes }: MutantText): void {
  const { location, mutatorName, coveredBy = [], static: isStatic } = result;
  const seen = isStatic ? 'reached while loading' : `reached by ${coveredBy.length} specs`;
  console.log(`\n${file}:${location.start.line}:${location.start.column}  ${mutatorName}, ${seen}\n    ${line}`);
  console.log(`  - ${code}\n  + ${becomes}`);
}

/** Prints every survivor; resolves to the counts. */
export async function measureSources(root: string, name: string, room: SourceRoom, request: Request): Promise<Tally> {
  const { sample, seed, again, file } = request;
  const only = again ? survivorsBefore(root, name) : null;
  const left = room.sources.filter((glob) => glob.startsWith('!'));
  const wanted = file === null ? room : { ...room, sources: [`src/**/${file}.ts`, ...left] };
  const survivors: MutantText[] = [];
  const tally = await inSandbox(
    root,
    name,
    (originals) => optionsFor(wanted, { originals, specs: room.specs, sample, seed, only }),
    (results, sources) => count(results, sources, survivors),
  );
  mkdirSync(join(root, CACHE), { recursive: true });
  writeFileSync(memory(root, name), `${JSON.stringify(survivors, null, 1)}\n`);
  return tally;
}

function count(results: readonly MutantResult[], sources: Sources, survivors: MutantText[]): Tally {
  const known = readEquivalents();
  const tally = { caught: 0, survived: 0, equivalent: 0, total: 0 };
  for (const result of results) {
    if (result.statusReason === LEFT_OUT.message) continue;
    tally.total++;
    if (result.statusReason === LEFT_OUT.undrawn) continue;
    const text = sources.textOf(result, 1);
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
