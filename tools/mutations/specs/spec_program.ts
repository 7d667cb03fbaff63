/** Runs spec files for whoever started this process, one after the other, and tells how each ended. */
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expectWholeErrors, specIds, startJasmine } from '../../../test/runner/jasmine.js';
import { failureOf, type Failure, type SpecResult } from './failure.js';
import type { SpecMessage, SpecRequest } from './messages.js';

/** Where everything throws, a few failures tell as much as all. */
const MOST_THROWN = 20;

const runner = startJasmine(process.cwd(), { load: () => Promise.resolve() });
const { env } = runner;
expectWholeErrors();
env.configure({ autoCleanClosures: false });

/** What ended in the run that is on. */
let done: { id: string; passed: boolean; failure: Failure | null }[] = [];

function note(result: SpecResult): void {
  if (result.status === 'excluded' || result.status === 'pending') return;
  const failure = failureOf(result);
  done.push({ id: result.id, passed: failure === null, failure });
}

runner.addReporter({
  specDone: note,
  suiteDone: (result: SpecResult) => result.failedExpectations.length > 0 && note(result),
});

async function run(ids: ReadonlySet<string>, stopsAtFailure: boolean): Promise<typeof done> {
  done = [];
  env.configure({ specFilter: ({ id }: { id: string }) => ids.has(id), stopOnSpecFailure: stopsAtFailure });
  await env.execute();
  return done;
}

const isNoticed = (ends: typeof done): boolean => ends.some(({ failure }) => failure?.isExpectation === true);

/**
 * Runs specs until an expectation fails, and fails again when its spec runs a second time: a spec that holds now and then
 * tells nothing. Of what is thrown, the first few.
 */
async function hunt(ids: readonly string[]): Promise<{ passed: number; failures: Failure[] }> {
  const left = new Set(ids);
  const thrown: Failure[] = [];
  let passed = 0;
  while (left.size > 0 && thrown.length < MOST_THROWN) {
    const ends = await run(left, true);
    if (ends.length === 0) break; // those left are skipped
    passed += ends.filter((end) => end.passed).length;
    for (const { id } of ends) left.delete(id);
    const failed = ends.find(({ failure }) => failure !== null);
    if (failed === undefined) break;
    if (!failed.failure!.isExpectation) thrown.push(failed.failure!);
    else if (!ids.includes(failed.id) || isNoticed(await run(new Set([failed.id]), true)))
      return { passed, failures: [failed.failure!] };
  }
  return { passed, failures: thrown };
}

async function runAll(ids: readonly string[]): Promise<{ passed: number; failures: Failure[] }> {
  const ends = await run(new Set(ids), false);
  return {
    passed: ends.filter((end) => end.passed).length,
    failures: ends.flatMap(({ failure }) => failure ?? []),
  };
}

/** Blocks that this process reached since the last call, and processes that ended since. */
function takeReached(): number[] {
  const take = (globalThis as { __takeReached?: () => number[] }).__takeReached;
  if (take === undefined) return [];
  const folder = process.env['MUTATIONS_REACHED']!;
  const others = readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const reached = JSON.parse(readFileSync(path, 'utf8')) as number[];
    rmSync(path);
    return reached;
  });
  return [...new Set([...take(), ...others])];
}

function tell(message: SpecMessage): Promise<void> {
  return new Promise((done, failed) => process.send!(message, (error: unknown) => (error ? failed(error) : done())));
}

/** Whether the hunt goes on. */
async function runFile(file: string, hunts: boolean): Promise<boolean> {
  await tell({ kind: 'begins', file });
  const begun = Date.now();
  const known = new Set(allIds());
  try {
    await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    await tell({ kind: 'unloadable', file, message: String(error).slice(0, 600) });
    return true;
  }
  const ids = allIds().filter((id) => !known.has(id));
  const { passed, failures } = await (hunts ? hunt(ids) : runAll(ids));
  const seconds = (Date.now() - begun) / 1000;
  await tell({ kind: 'ends', file, seconds, passed, failures, reached: takeReached() });
  return !(hunts && failures.some(({ isExpectation }) => isExpectation));
}

function allIds(): string[] {
  return specIds(env.topSuite() as unknown as { children: unknown[] });
}

// For processes that specs start (see reach/reach_hook.mjs).
process.env['MUTATIONS_CHILD'] = 'yes';
const { files, hunts } = JSON.parse(process.argv[2]!) as SpecRequest;
for (const file of files) if (!(await runFile(file, hunts))) break;
process.exit(0);
