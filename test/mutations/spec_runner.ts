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
  type TestRunner,
  type TestRunnerCapabilities,
} from '@stryker-mutator/api/test-runner';
import { startJasmine, type Jasmine } from '../runner/jasmine.js';
import { SpecWatch, instrumenterContext } from './spec_watch.js';
import { drawOf } from './draw.js';

/** Names the mutant that the next process is to have on from its start. */
const FROM_START = '.mutant-from-start';

export class SpecRunner implements TestRunner {
  static inject = tokens(commonTokens.options);
  private readonly watch = new SpecWatch();
  private readonly specs: readonly string[];
  private runner: Jasmine | null = null;
  /** Whether anything ran in this process, so that a failure may be the fault of an earlier mutant. */
  private isUsed = false;
  /** Whether an earlier mutant left something behind that makes specs fail. */
  private isSpoiled = false;

  constructor(options: StrykerOptions) {
    this.specs = drawOf(options).specs;
  }

  /** A loaded module stays loaded: what needs others gets a new process from Stryker. */
  capabilities(): TestRunnerCapabilities {
    return { reloadEnvironment: false };
  }

  async dryRun(): Promise<DryRunResult> {
    await this.load();
    await this.run(null);
    this.isUsed = true;
    return { status: DryRunStatus.Complete, tests: this.watch.tests(), mutantCoverage: this.watch.coverage() };
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
    const failed = await this.run(testFilter ?? null);
    this.switchOff();
    const tests = this.watch.tests().length;
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
      return { status: MutantRunStatus.Killed, killedBy: [killer], failureMessage, nrOfTests: tests };
    }
    if (!fromStart && wasUsed && hits() === 0) {
      writeFileSync(FROM_START, id);
      throw new Error('nothing reached the mutant');
    }
    return { status: MutantRunStatus.Survived, nrOfTests: tests };
  }

  /** Returns what tells how often the mutant was reached since. */
  private switchOn(id: string, hitLimit: number | undefined): () => number {
    const context = instrumenterContext();
    context.activeMutant = id;
    context.hitCount = 0;
    context.hitLimit = hitLimit ?? Infinity;
    // For the threads and processes that specs start.
    process.env[INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE] = id;
    return () => context.hitCount ?? 0;
  }

  private switchOff(): void {
    delete instrumenterContext().activeMutant;
    delete process.env[INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE];
  }

  private async load(): Promise<void> {
    if (this.runner !== null) return;
    const files = specFiles(this.specs);
    this.runner = startJasmine(process.cwd(), { load: () => Promise.resolve() });
    this.runner.addReporter(this.watch);
    this.runner.env.configure({ stopOnSpecFailure: true, autoCleanClosures: false });
    for (const file of files) await import(pathToFileURL(resolve(file)).href);
  }

  /** Runs some specs, or suites, or all; returns the first that failed. */
  private async run(ids: readonly string[] | null): Promise<FailedTestResult | null> {
    const { env } = this.runner!;
    const chosen = new Set(ids);
    env.configure({ specFilter: (spec: { id: string }) => ids === null || chosen.has(spec.id) });
    const { failedExpectations } = await env.execute();
    const failed = this.watch.tests().find(({ status }) => status === TestStatus.Failed);
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
