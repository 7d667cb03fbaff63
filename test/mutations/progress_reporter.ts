/** Tells every now and then how far Stryker is. */
import type { MutantResult } from '@stryker-mutator/api/core';
import type { DryRunCompletedEvent, Reporter } from '@stryker-mutator/api/report';
import { DryRunStatus, TestStatus } from '@stryker-mutator/api/test-runner';
import { specsRun } from './dry_run_progress.js';

const PERIOD_MS = 15_000;

export class ProgressReporter implements Reporter {
  private last = Date.now();
  private tried = 0;
  private survived = 0;
  private readonly dryRun = setInterval(() => {
    console.log(`  ${specsRun()} specs run without mutants; each runs twice`);
  }, PERIOD_MS).unref();

  onDryRunCompleted({ result, timing }: DryRunCompletedEvent): void {
    clearInterval(this.dryRun);
    const tests = result.status === DryRunStatus.Complete ? result.tests : [];
    const passedOver = tests.filter(({ status }) => status === TestStatus.Skipped);
    console.log(`  ${tests.length - passedOver.length} specs hold without mutants, ${Math.round(timing.net / 1000)} s`);
    for (const { name } of passedOver) console.log(`  passed over (skipped, or does not hold twice): ${name}`);
  }

  onMutantTested({ status }: Readonly<MutantResult>): void {
    if (status === 'CompileError') return;
    this.tried++;
    if (status === 'Survived' || status === 'NoCoverage') this.survived++;
    if (Date.now() - this.last < PERIOD_MS) return;
    this.last = Date.now();
    console.log(`  ${this.tried} mutants tried, ${this.survived} survived`);
  }
}
