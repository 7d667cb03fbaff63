/** Watches a run of the specs: how each ended, and, for Stryker, which spec reached which mutant. */
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext, type MutantCoverage } from '@stryker-mutator/api/core';
import { TestStatus, type TestResult } from '@stryker-mutator/api/test-runner';

interface Result {
  readonly id: string;
  readonly fullName: string;
  readonly status: string;
  readonly duration: number | null;
  readonly failedExpectations: readonly { readonly message: string }[];
}

/** Others do not count how often they reach a mutant: often enough that no limit is drawn from it. */
const MANY = 1e7;

/** What mutated code reads: which mutant is on; and writes: which were reached. */
export function instrumenterContext(): InstrumenterContext {
  const scope = globalThis as unknown as Record<string, InstrumenterContext | undefined>;
  return (scope[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {});
}

/** A reporter of jasmine for any number of runs. */
export class SpecWatch {
  private results: TestResult[] = [];
  /** Suites that run, outermost first. */
  private readonly open: string[] = [];
  private readonly specsOf = new Map<string, Set<string>>();

  /** `others`: threads and processes that run mutated code besides this thread. */
  constructor(private readonly others: readonly { takeReached(): string[] }[]) {}

  jasmineStarted(): void {
    this.results = [];
    this.open.length = 0;
    this.enter();
  }

  suiteStarted({ id }: Result): void {
    this.open.push(id);
    this.enter();
  }

  specStarted({ id }: Result): void {
    for (const suite of this.open) this.specsOf.set(suite, (this.specsOf.get(suite) ?? new Set()).add(id));
    this.credit();
    instrumenterContext().currentTestId = id;
  }

  specDone(result: Result): void {
    this.enter();
    if (result.status === 'excluded') return;
    if (result.status === 'pending') this.results.push({ ...named(result), status: TestStatus.Skipped });
    else this.note(result);
  }

  suiteDone(result: Result): void {
    this.open.pop();
    this.enter();
    if (result.failedExpectations.length > 0) this.note(result);
  }

  /** How the specs ended, and suites whose `beforeAll` or `afterAll` failed. */
  tests(): TestResult[] {
    return this.results;
  }

  /** The specs of a suite; of a spec, itself. */
  specsIn(id: string): Iterable<string> {
    return this.specsOf.get(id) ?? [id];
  }

  /**
   * Which spec reached which mutant. What `beforeAll` and `afterAll` reach counts for every spec of the suite; what is
   * reached while files are loaded counts only where no spec reaches it.
   */
  coverage(): MutantCoverage {
    const { static: atLoad, perTest: reached } = instrumenterContext().mutantCoverage ?? { static: {}, perTest: {} };
    const perTest: MutantCoverage['perTest'] = {};
    for (const [id, hits] of Object.entries(reached)) {
      for (const spec of this.specsIn(id)) {
        const counts = (perTest[spec] ??= {});
        for (const [mutant, count] of Object.entries(hits)) counts[mutant] = (counts[mutant] ?? 0) + count;
      }
    }
    const inSpecs = new Set(Object.values(perTest).flatMap((hits) => Object.keys(hits)));
    const onlyAtLoad = Object.entries(atLoad).filter(([mutant]) => !inSpecs.has(mutant));
    return { static: Object.fromEntries(onlyAtLoad), perTest };
  }

  /** Between specs, what is reached belongs to the suite. */
  private enter(): void {
    this.credit();
    const context = instrumenterContext();
    const suite = this.open.at(-1);
    if (suite === undefined) delete context.currentTestId;
    else context.currentTestId = suite;
  }

  /**
   * What others reached belongs to what runs, unless this process reached it while files were loaded: then every spec
   * may depend on it, not only those that start others.
   */
  private credit(): void {
    const context = instrumenterContext();
    const { static: atLoad, perTest } = (context.mutantCoverage ??= { static: {}, perTest: {} });
    const counts = context.currentTestId === undefined ? atLoad : (perTest[context.currentTestId] ??= {});
    for (const id of this.others.flatMap((other) => other.takeReached())) {
      if (counts === atLoad || atLoad[id] === undefined) counts[id] = (counts[id] ?? 0) + MANY;
    }
  }

  private note(result: Result): void {
    const [failure] = result.failedExpectations;
    if (failure === undefined) this.results.push({ ...named(result), status: TestStatus.Success });
    else this.results.push({ ...named(result), status: TestStatus.Failed, failureMessage: failure.message });
  }
}

function named({ id, fullName, duration }: Result): { id: string; name: string; timeSpentMs: number } {
  return { id, name: fullName, timeSpentMs: duration ?? 0 };
}
