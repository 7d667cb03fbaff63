/** Compact report of a run: one line per spec file, failures in full, the slowest files, the count as the last line. */
import type { Expectation, Message } from './messages.js';

interface FileCount {
  passed: number;
  failed: number;
  skipped: number;
  readonly begun: number;
}

/** Frames that say nothing about the failure: the runner's own, Node's and the loader's. */
const DULL = /node_modules[\\/](jasmine|jasmine-core|tsx)[\\/]|node:internal|<Jasmine>/;
const MOST_SLOW = 10;

export class SpecReporter {
  readonly #open = new Map<string, FileCount>();
  readonly #failures: string[] = [];
  readonly #skips: string[] = [];
  readonly #seconds = new Map<string, number>();
  readonly #passed = new Set<string>();
  readonly #total = { passed: 0, failed: 0, skipped: 0 };
  readonly #begun = Date.now();
  /** How the run went as a whole: of its files the worst. */
  #status = 'passed';

  constructor(private readonly write: (text: string) => void) {}

  /** How long each file took that is done; one with nothing to run is not among them. */
  get seconds(): ReadonlyMap<string, number> {
    return this.#seconds;
  }

  /** Files that passed whole: nothing of them failed or was skipped. */
  get passed(): ReadonlySet<string> {
    return this.#passed;
  }

  hear(file: string, message: Message): void {
    if (message.kind === 'taken') {
      this.#open.set(file, { passed: 0, failed: 0, skipped: 0, begun: Date.now() });
      return;
    }
    const count = this.#open.get(file);
    // What comes after the end of a file is nobody's, but not lost.
    if (count === undefined) {
      if (message.kind === 'failed') this.#fail(message.name, message.expectations);
      return;
    }
    if (message.kind === 'ends') {
      const { fullName, status, pendingReason, failedExpectations } = message.result;
      if (status === 'passed') {
        count.passed++;
        this.#total.passed++;
      } else if (status === 'failed') {
        count.failed++;
        const nothing = [{ message: 'It expects nothing.' }];
        this.#fail(fullName, failedExpectations.length > 0 ? failedExpectations : nothing);
      } else {
        count.skipped++;
        this.#total.skipped++;
        this.#skips.push(`${fullName}${pendingReason ? `: ${pendingReason}` : ''}`);
      }
    } else if (message.kind === 'failed') {
      count.failed++;
      this.#fail(message.name, message.expectations);
    } else if (message.kind === 'done') {
      this.#open.delete(file);
      if (this.#status === 'passed' || message.status === 'failed') this.#status = message.status;
      if (message.status === 'passed' && count.passed > 0 && count.failed + count.skipped === 0) this.#passed.add(file);
      this.#close(file, count);
    }
  }

  /** Prints failures and the count; returns the exit code. Nothing run, or only a part of it (`fit`), is no success. */
  end(): number {
    for (const text of this.#skips) this.write(`skipped: ${text}\n`);
    for (const text of this.#failures) this.write(`\nFAILED: ${text}\n`);
    const { passed, failed, skipped } = this.#total;
    if (passed + failed === 0) this.write('nothing ran\n');
    else if (failed === 0 && this.#status !== 'passed') this.write(`the run ended as ${this.#status}\n`);
    this.#writeSlowest();
    this.write(`${((Date.now() - this.#begun) / 1000).toFixed(1)} s\n`);
    this.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
    return failed === 0 && passed > 0 && this.#status === 'passed' ? 0 : 1;
  }

  #fail(name: string, expectations: readonly Expectation[]): void {
    this.#total.failed++;
    this.#failures.push([name, ...expectations.map((each) => indent(describeExpectation(each)))].join('\n'));
  }

  #close(file: string, { passed, failed, skipped, begun }: FileCount): void {
    if (passed + failed + skipped === 0) return;
    const seconds = (Date.now() - begun) / 1000;
    this.#seconds.set(file, seconds);
    const parts = [`${passed} passed`];
    if (failed > 0) parts.push(`${failed} FAILED`);
    if (skipped > 0) parts.push(`${skipped} skipped`);
    this.write(`${file}  ${parts.join(', ')}  (${seconds.toFixed(1)} s)\n`);
  }

  #writeSlowest(): void {
    if (this.#seconds.size <= 1) return;
    const slowest = [...this.#seconds].sort(([, a], [, b]) => b - a).slice(0, MOST_SLOW);
    const sum = [...this.#seconds.values()].reduce((total, seconds) => total + seconds, 0);
    this.write(`the slowest of ${this.#seconds.size} files, which took ${sum.toFixed(1)} s one by one:\n`);
    for (const [file, seconds] of slowest) this.write(`${seconds.toFixed(1).padStart(8)} s  ${file}\n`);
  }
}

function describeExpectation({ message, stack }: Expectation): string {
  const frames = (stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at ') && !DULL.test(line));
  return [message, ...frames.slice(0, 8)].join('\n');
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
