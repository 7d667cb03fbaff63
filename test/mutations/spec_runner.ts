/**
 * Stryker's runner of our specs. It loads them once; for each mutant, the specs that reach it run again with the mutant
 * switched on, until one fails.
 */
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { INSTRUMENTER_CONSTANTS, type StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, tokens } from '@stryker-mutator/api/plugin';
import {
  DryRunStatus,
  MutantRunStatus,
  TestStatus,
  determineHitLimitReached,
  type DryRunResult,
  type FailedTestResult,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  type TestRunnerCapabilities,
} from '@stryker-mutator/api/test-runner';
import { startJasmine, type Jasmine } from '../runner/jasmine.js';
import { ChildProcesses } from './child_processes.js';
import { DeviceThreads } from './device_threads.js';
import { DryRunProgress } from './dry_run_progress.js';
import { SpecWatch, instrumenterContext } from './spec_watch.js';

/** Names the mutant that the next process is to have on from its start. */
const FROM_START = '.mutant-from-start';

/** How long each spec takes without mutants; null: passed over. */
const DURATIONS = '.spec-durations';
const QUICK_MS = [20, 200, 1000];

export class SpecRunner implements TestRunner {
  static inject = tokens(commonTokens.options);
  private readonly threads = new DeviceThreads();
  private readonly processes = new ChildProcesses();
  private readonly watch = new SpecWatch([this.threads, this.processes]);
  private readonly specs: readonly string[];
  private runner: Jasmine | null = null;
  /** Whether anything ran in this process, so that a failure may be the fault of an earlier mutant. */
  private isUsed = false;
  /** Whether an earlier mutant left something behind that makes specs fail. */
  private isSpoiled = false;

  constructor(options: StrykerOptions) {
    this.specs = options['specs'] as string[];
  }

  /** A loaded module stays loaded: what needs others gets a new process from Stryker. */
  capabilities(): TestRunnerCapabilities {
    return { reloadEnvironment: false };
  }

  /**
   * Runs the specs twice. One that fails both times ends the measurement. One that fails once cannot tell of a mutant and
   * is passed over: it may need a machine that is not busy, or not hold after all the others.
   */
  async dryRun(): Promise<DryRunResult> {
    await this.load();
    this.runner!.addReporter(new DryRunProgress());
    this.isUsed = true;
    this.processes.listen();
    const first = new Set(await this.failing());
    this.processes.close();
    const tests = this.watch.tests();
    const coverage = this.watch.coverage();
    const second = await this.failing();
    const broken = this.watch.tests().filter((test) => {
      return isFailed(test) && [...this.watch.specsIn(test.id)].some((id) => first.has(id));
    });
    if (broken.length > 0) return { status: DryRunStatus.Complete, tests: broken };
    const passedOver = new Set([...first, ...second]);
    for (const id of passedOver) delete coverage.perTest[id];
    const used = tests
      .filter((test) => !isFailed(test) || passedOver.has(test.id)) // no suites
      .map((test): TestResult => {
        return passedOver.has(test.id)
          ? { id: test.id, name: test.name, timeSpentMs: 0, status: TestStatus.Skipped }
          : test;
      });
    const durations = used.map(({ id, timeSpentMs }) => [id, passedOver.has(id) ? null : timeSpentMs]);
    writeFileSync(DURATIONS, JSON.stringify(Object.fromEntries(durations)));
    return { status: DryRunStatus.Complete, tests: used, mutantCoverage: coverage };
  }

  /**
   * An honest answer needs more than one run. A failure counts if the spec passes again without the mutant; a mutant
   * that nothing reached this time, because an earlier run left the result in some cache, is tried from the start of a
   * process. Whoever throws here gets a new process and is asked once more.
   */
  async mutantRun({
    activeMutant,
    mutantActivation,
    testFilter,
    hitLimit,
  }: MutantRunOptions): Promise<MutantRunResult> {
    if (this.isSpoiled) throw new Error('an earlier mutant spoiled this process');
    const { id } = activeMutant;
    const fromStart = mutantActivation === 'static' || takeNote(id);
    if (!fromStart) await this.load();
    const hits = this.switchOn(id, hitLimit);
    try {
      await this.load();
    } catch (error) {
      return { status: MutantRunStatus.Killed, killedBy: [], failureMessage: String(error), nrOfTests: 0 };
    }
    const failed = await this.runQuickFirst(testFilter ?? null);
    this.switchOff();
    const wasUsed = this.isUsed;
    this.isUsed = true;
    this.isSpoiled = fromStart;
    const endless = determineHitLimitReached(hits(), hitLimit);
    if (endless !== undefined) return { status: MutantRunStatus.Timeout };
    if (failed !== null) {
      if (!fromStart && (await this.run([...this.watch.specsIn(failed.id)])) !== null) {
        this.isSpoiled = true;
        if (wasUsed) throw new Error(`${failed.name} fails without the mutant too`);
      }
      const { id: killer, failureMessage } = failed;
      return { status: MutantRunStatus.Killed, killedBy: [killer], failureMessage, nrOfTests: 1 };
    }
    if (!fromStart && wasUsed && hits() === 0) {
      writeFileSync(FROM_START, id);
      throw new Error('nothing reached the mutant');
    }
    return { status: MutantRunStatus.Survived, nrOfTests: testFilter?.length ?? 0 };
  }

  /** Runs all specs; returns those that failed, or whose suite did. */
  private async failing(): Promise<string[]> {
    await this.run(null, false);
    return this.watch
      .tests()
      .filter(isFailed)
      .flatMap(({ id }) => [...this.watch.specsIn(id)]);
  }

  /** Returns what tells how often the mutant was reached since. */
  private switchOn(id: string, hitLimit: number | undefined): () => number {
    const context = instrumenterContext();
    context.activeMutant = id;
    context.hitCount = 0;
    context.hitLimit = hitLimit ?? Infinity;
    this.threads.switchOn(id, context.hitLimit);
    // For the processes that specs start.
    process.env[INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE] = id;
    return () => (context.hitCount ?? 0) + this.threads.hits;
  }

  private switchOff(): void {
    delete instrumenterContext().activeMutant;
    this.threads.switchOff();
    delete process.env[INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE];
  }

  private async load(): Promise<void> {
    if (this.runner !== null) return;
    const files = specFiles(this.specs);
    this.runner = startJasmine(process.cwd(), { load: () => Promise.resolve() });
    this.runner.addReporter(this.watch);
    this.runner.env.configure({ autoCleanClosures: false });
    for (const file of files) await import(pathToFileURL(resolve(file)).href);
  }

  /** Most mutants fall to a quick spec, so that the slow ones need not run. */
  private async runQuickFirst(ids: readonly string[] | null): Promise<FailedTestResult | null> {
    const durations = JSON.parse(readFileSync(DURATIONS, 'utf8')) as Record<string, number | null>;
    const all = (ids ?? Object.keys(durations)).filter((id) => durations[id] !== null);
    let above = -1;
    for (const limit of [...QUICK_MS, Infinity]) {
      const chosen = all.filter((id) => durations[id]! > above && durations[id]! <= limit);
      above = limit;
      const failed = chosen.length === 0 ? null : await this.run(chosen);
      if (failed !== null) return failed;
    }
    return null;
  }

  /** Runs some specs, or suites, or all; returns the first that failed. */
  private async run(ids: readonly string[] | null, stopsAtFailure = true): Promise<FailedTestResult | null> {
    const { env } = this.runner!;
    const chosen = new Set(ids);
    env.configure({
      specFilter: (spec: { id: string }) => ids === null || chosen.has(spec.id),
      stopOnSpecFailure: stopsAtFailure,
    });
    const { failedExpectations } = await env.execute();
    const failed = this.watch.tests().find(isFailed);
    if (failed !== undefined) return failed as FailedTestResult;
    const [outside] = failedExpectations;
    if (outside === undefined) return null;
    return {
      id: '',
      name: 'outside of specs',
      status: TestStatus.Failed,
      failureMessage: outside.message,
      timeSpentMs: 0,
    };
  }
}

function isFailed({ status }: TestResult): boolean {
  return status === TestStatus.Failed;
}

/** Spec files whose path under `test` begins with one of some names. */
function specFiles(names: readonly string[]): string[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.spec.ts'));
  const chosen = files.filter((file) => names.some((name) => file.split('\\').join('/').startsWith(name)));
  return chosen.sort().map((file) => join('test', file));
}

function takeNote(id: string): boolean {
  if (!existsSync(FROM_START) || readFileSync(FROM_START, 'utf8') !== id) return false;
  rmSync(FROM_START);
  return true;
}
