/** Compact report of a jasmine run: one line per spec file, failures in full, the count as the last line. */

interface Expectation {
  readonly message: string;
  readonly stack?: string;
}

interface Result {
  readonly id: string;
  readonly fullName: string;
  readonly status: string;
  readonly pendingReason?: string;
  readonly failedExpectations: readonly Expectation[];
}

interface FileCount {
  name: string;
  passed: number;
  failed: number;
  skipped: number;
  readonly start: number;
}

/** Frames that say nothing about the failure: the runner's own, Node's and the loader's. */
const DULL = /node_modules[\\/](jasmine|jasmine-core|tsx)[\\/]|node:internal|<Jasmine>/;

export class SpecReporter {
  private readonly files = new Map<string, string>();
  private readonly failures: string[] = [];
  private readonly skips: string[] = [];
  private readonly total = { passed: 0, failed: 0, skipped: 0 };
  private readonly begun = Date.now();
  private current: FileCount | null = null;
  /** End of the last spec: what a file does before its first spec, such as starting a backend, counts as its own. */
  private lastEnd = Date.now();

  constructor(private readonly write: (text: string) => void) {}

  /** Notes which file a spec was loaded from. */
  belongs(specId: string, file: string): void {
    this.files.set(specId, file);
  }

  /** A spec file that could not be loaded counts as one failed test. */
  fileFailed(file: string, error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.fail(`${file} cannot be loaded`, [text]);
  }

  specDone(result: Result): void {
    if (result.status === 'excluded') return;
    const file = this.files.get(result.id) ?? '(unknown file)';
    if (this.current?.name !== file) this.openFile(file);
    this.lastEnd = Date.now();
    const count = this.current as FileCount;
    if (result.status === 'passed') {
      count.passed++;
      this.total.passed++;
    } else if (result.status === 'failed') {
      count.failed++;
      const failed = result.failedExpectations.map(describeExpectation);
      this.fail(result.fullName, failed.length > 0 ? failed : ['It expects nothing.']);
    } else {
      count.skipped++;
      this.total.skipped++;
      this.skips.push(`${result.fullName}${result.pendingReason ? `: ${result.pendingReason}` : ''}`);
    }
  }

  /** Failures outside of any spec (`afterAll`, stray rejections) count as failed tests too. */
  suiteDone(result: Result): void {
    if (result.failedExpectations.length > 0) {
      this.fail(`${result.fullName} (outside its specs)`, result.failedExpectations.map(describeExpectation));
    }
  }

  jasmineDone(result: { readonly failedExpectations: readonly Expectation[] }): void {
    if (result.failedExpectations.length > 0) {
      this.fail('the run as a whole', result.failedExpectations.map(describeExpectation));
    }
  }

  /** Prints failures and the count; returns the exit code. Nothing run, or only a part of it (`fit`), is no success. */
  close(overallStatus: string): number {
    this.closeFile();
    for (const text of this.skips) this.write(`skipped: ${text}\n`);
    for (const text of this.failures) this.write(`\nFAILED: ${text}\n`);
    const { passed, failed, skipped } = this.total;
    if (passed + failed === 0) this.write('nothing ran\n');
    else if (failed === 0 && overallStatus !== 'passed') this.write(`the run ended as ${overallStatus}\n`);
    this.write(`${((Date.now() - this.begun) / 1000).toFixed(1)} s\n`);
    this.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
    return failed === 0 && passed > 0 && overallStatus === 'passed' ? 0 : 1;
  }

  private fail(name: string, texts: readonly string[]): void {
    this.total.failed++;
    this.failures.push([name, ...texts.map(indent)].join('\n'));
  }

  private openFile(name: string): void {
    this.closeFile();
    this.current = { name, passed: 0, failed: 0, skipped: 0, start: this.lastEnd };
  }

  private closeFile(): void {
    const count = this.current;
    if (count === null) return;
    const parts = [`${count.passed} passed`];
    if (count.failed > 0) parts.push(`${count.failed} FAILED`);
    if (count.skipped > 0) parts.push(`${count.skipped} skipped`);
    const seconds = ((this.lastEnd - count.start) / 1000).toFixed(1);
    this.write(`${count.name}  ${parts.join(', ')}  (${seconds} s)\n`);
    this.current = null;
  }
}

function describeExpectation({ message, stack }: Expectation): string {
  const frames = (stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at ') && !DULL.test(line));
  return [message, ...frames.slice(0, 8)].join('\n');
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
