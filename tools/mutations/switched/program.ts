/**
 * Holds every change of a room behind a switch, as Stryker's instrumenter puts it, and runs specs with one of them on. The
 * sources and the package are loaded once for all changes, and of a spec file only the specs run that reach the change.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expectWholeErrors, specIds, startJasmine } from '../../../test/runner/jasmine.js';
import { failureOf, type Failure, type SpecResult } from '../specs/failure.js';
import type { SwitchAnswer, SwitchRequest } from './messages.js';

interface Switches {
  activeMutant?: string | undefined;
  hitCount?: number;
  hitLimit?: number;
}

/** What a spec file does without a change; specs are named by their place in it. */
interface DryRun {
  readonly seconds: number;
  /** Seconds of each spec that passed; null: it did not. */
  readonly specs: readonly (number | null)[];
  /** Specs that reach a change, by its id, each with how often. */
  readonly reached: Readonly<Record<string, readonly (readonly [spec: number, times: number])[]>>;
}

interface SpecFile {
  readonly ids: readonly string[];
  readonly dry: DryRun;
}

interface End {
  readonly id: string;
  readonly seconds: number;
  readonly failure: Failure | null;
}

/** The first files run whatever they take. */
const FEW_FILES = 3;
/** Specs that run one by one, the quickest first; the others run together. */
const LONG_SECONDS = 0.5;
const MOST_THROWN = 5;
/** A change may make a loop longer, but not by this. */
const MORE_HITS = 50;
/** Where dry runs are kept for the next such process. */
const FOLDER = process.argv[2]!;

const switches = ((globalThis as { __stryker__?: Switches }).__stryker__ ??= {});
/** More than all sources have. */
const MOST_CHANGES = 2 ** 18;
/** How often each change was reached; what counts in it stands in the sources (see ../draw.ts). */
const counts = new Float64Array(MOST_CHANGES);
(globalThis as { switchCounts?: Float64Array }).switchCounts = counts;

/** What was reached since the last call. */
function takeCounts(): (readonly [change: number, times: number])[] {
  const taken: [number, number][] = [];
  for (let change = 0; change < counts.length; change++) {
    if (counts[change]! > 0) taken.push([change, counts[change]!]);
  }
  counts.fill(0);
  return taken;
}

const runner = startJasmine(process.cwd(), { load: () => Promise.resolve() });
const { env } = runner;
expectWholeErrors();
env.configure({ autoCleanClosures: false });

let ends: End[] = [];
let begun = 0;
/** The specs of this run; Jasmine tells of all others, too. */
let running: ReadonlySet<string> = new Set();
/** In a dry run: what each spec reaches, by its id, and what hooks do. */
let reachedBy: Map<string, (readonly [change: number, times: number])[]> | null = null;
const HOOKS = 'hooks';

function noteReach(id: string): void {
  if (reachedBy !== null) reachedBy.set(id, [...(reachedBy.get(id) ?? []), ...takeCounts()]);
}

runner.addReporter({
  specStarted({ id }: SpecResult) {
    begun = performance.now();
    if (running.has(id)) noteReach(HOOKS);
  },
  specDone(result: SpecResult) {
    if (!running.has(result.id)) return;
    noteReach(result.id);
    note(result);
  },
  suiteDone: (result: SpecResult) => result.failedExpectations.length > 0 && note(result),
});

function note(result: SpecResult): void {
  if (result.status === 'excluded' || result.status === 'pending') return;
  ends.push({ id: result.id, seconds: (performance.now() - begun) / 1000, failure: failureOf(result) });
}

async function run(ids: ReadonlySet<string>, change: string | null, stopsAtFailure = true): Promise<End[]> {
  ends = [];
  running = ids;
  switches.activeMutant = change ?? undefined;
  switches.hitCount = 0;
  env.configure({ specFilter: ({ id }: { id: string }) => ids.has(id), stopOnSpecFailure: stopsAtFailure });
  await env.execute();
  switches.activeMutant = undefined;
  return ends;
}

function tell(answer: SwitchAnswer): Promise<void> {
  return new Promise((done, failed) => process.send!(answer, (error: unknown) => (error ? failed(error) : done())));
}

function allIds(): string[] {
  return specIds(env.topSuite() as unknown as { children: unknown[] });
}

async function dryRun(ids: readonly string[]): Promise<DryRun> {
  takeCounts();
  const perSpec = (reachedBy = new Map<string, (readonly [change: number, times: number])[]>());
  const start = performance.now();
  const all = await run(new Set(ids), null, false);
  noteReach(HOOKS);
  reachedBy = null;
  const reached: Record<string, [number, number][]> = {};
  const specs = ids.map((id) => {
    const end = all.find((each) => each.id === id);
    return end === undefined || end.failure !== null ? null : end.seconds;
  });
  ids.forEach((id, i) => {
    for (const [change, times] of perSpec.get(id) ?? []) (reached[change] ??= []).push([i, times]);
  });
  // What hooks reach, every spec may notice.
  for (const [change, times] of perSpec.get(HOOKS) ?? []) reached[change] = ids.map((_, i) => [i, times]);
  return { seconds: (performance.now() - start) / 1000, specs, reached };
}

const loaded = new Map<string, SpecFile | null>();

async function specFile(file: string): Promise<SpecFile | null> {
  if (loaded.has(file)) return loaded.get(file)!;
  await tell({ kind: 'runs', file, seconds: null });
  const known = new Set(allIds());
  loaded.set(file, null);
  takeCounts();
  try {
    await import(pathToFileURL(resolve(file)).href);
  } catch {
    return null;
  }
  const ids = allIds().filter((id) => !known.has(id));
  const text = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16);
  const kept = join(FOLDER, `${file.replaceAll('/', '-')}-${text}.json`);
  let dry: DryRun;
  if (existsSync(kept)) {
    dry = JSON.parse(readFileSync(kept, 'utf8')) as DryRun;
  } else {
    dry = await dryRun(ids);
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(kept, JSON.stringify(dry));
  }
  loaded.set(file, { ids, dry });
  return loaded.get(file)!;
}

const isNoticed = (some: readonly End[]): boolean => some.some(({ failure }) => failure?.isExpectation === true);
const isClean = (some: readonly End[]): boolean => some.length > 0 && some.every(({ failure }) => failure === null);

/** Runs the specs of a file that reach a change; says before each group of them how long it takes, so that one that hangs ends soon. */
async function tryFile(
  file: string,
  { ids, dry }: SpecFile,
  change: string,
): Promise<{ thrown: Failure | null; answer: 'spoilt' | Failure | null; isReached: boolean }> {
  const reaching = (dry.reached[change] ?? []).filter(([spec]) => dry.specs[spec] !== null);
  if (reaching.length === 0) return { thrown: null, answer: null, isReached: false };
  switches.hitLimit = 100_000 + MORE_HITS * Math.max(...reaching.map(([, times]) => times));
  const secondsOf = ([spec]: readonly [number, number]): number => dry.specs[spec]!;
  const hooks = dry.specs.reduce<number>((left, each) => left - (each ?? 0), dry.seconds);
  const quick = reaching.filter((each) => secondsOf(each) < LONG_SECONDS);
  const long = reaching.filter((each) => secondsOf(each) >= LONG_SECONDS);
  long.sort((a, b) => secondsOf(a) - secondsOf(b));
  const groups = [quick, ...long.map((each) => [each])].filter((group) => group.length > 0);
  let thrown: Failure | null = null;
  let thrownCount = 0;
  for (const group of groups) {
    const left = new Set(group.map(([spec]) => ids[spec]!));
    const seconds = hooks + group.reduce((sum, each) => sum + secondsOf(each), 0);
    while (left.size > 0 && thrownCount < MOST_THROWN) {
      await tell({ kind: 'runs', file, seconds });
      const some = await run(left, change);
      if (some.length === 0) break;
      for (const { id } of some) left.delete(id);
      const failed = some.find(({ failure }) => failure !== null);
      if (failed === undefined) break;
      const own = new Set(ids.includes(failed.id) ? [failed.id] : group.map(([spec]) => ids[spec]!));
      if (!isClean(await run(own, null))) return { thrown, answer: 'spoilt', isReached: true };
      if (failed.failure!.isExpectation) {
        if (isNoticed(await run(own, change)) && isClean(await run(own, null)))
          return { thrown, answer: failed.failure, isReached: true };
        return { thrown, answer: 'spoilt', isReached: true };
      }
      thrown ??= failed.failure;
      thrownCount++;
    }
  }
  return { thrown, answer: null, isReached: true };
}

async function find({ id, files, seconds }: SwitchRequest): Promise<SwitchAnswer> {
  // Dry runs come before the first change: what it leaves behind would make specs fail, and then they would never count.
  let sum = 0;
  for (const file of files) {
    sum += (await specFile(file))?.dry.seconds ?? 0;
    if (sum > seconds) break;
  }
  sum = 0;
  let reached = 0;
  let thrown: Failure | null = null;
  for (const file of files) {
    const spec = await specFile(file);
    if (spec === null) continue;
    if (spec.dry.reached[id] === undefined) continue;
    sum += spec.dry.seconds;
    if (sum > seconds && reached >= FEW_FILES) break;
    const { answer, isReached, thrown: what } = await tryFile(file, spec, id);
    thrown ??= what;
    if (isReached) reached++;
    if (answer === 'spoilt') return { kind: 'spoilt', file };
    if (answer !== null) return { kind: 'caught', failure: answer };
  }
  return { kind: 'missed', thrown, files: reached };
}

process.on('message', (request: SwitchRequest) => {
  find(request)
    .then(tell)
    .catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
});
