/** Runs spec files in this process, one after the other, each as a jasmine run of its own. */
import { pathToFileURL } from 'node:url';
import { shortFormOf } from '../forms/forms.js';
import { expectWholeErrors, startJasmine, type Jasmine } from './jasmine.js';
import type { Result, Task, Tell } from './messages.js';
import { SeededRandom } from './seeded_random.js';
import { TEST_FOLDER, type SpecFile } from './spec_files.js';

/** What goes to another process: jasmine's results hold more, not all of it plain. */
function plain({ fullName, status, pendingReason, failedExpectations }: Result): Result {
  return {
    fullName,
    status,
    ...(pendingReason === undefined ? {} : { pendingReason }),
    failedExpectations: failedExpectations.map(({ message, stack }) => ({
      message,
      ...(stack === undefined ? {} : { stack }),
    })),
  };
}

export class FileRunner {
  readonly #jasmine: Jasmine;
  readonly #random = new SeededRandom();

  constructor(
    private readonly task: Task,
    private readonly tell: Tell,
  ) {
    this.#jasmine = startJasmine(TEST_FOLDER, { load: () => Promise.resolve() });
    this.#jasmine.addReporter({
      specStarted: ({ fullName }: Result) => this.tell({ kind: 'begins', spec: fullName }),
      specDone: (result: Result) => {
        if (result.status !== 'excluded') this.tell({ kind: 'ends', result: plain(result) });
      },
      suiteDone: (result: Result) => this.#failedOutside(`${result.fullName} (outside its specs)`, result),
    });
  }

  async run({ path, name, isWhole }: SpecFile): Promise<void> {
    const { env } = this.#jasmine;
    env.parallelReset();
    expectWholeErrors();
    env.configure({ specFilter: this.#filterOf(name, isWhole) });
    this.#random.startFor(name);
    try {
      await import(pathToFileURL(path).href);
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.tell({ kind: 'failed', name: `${name} cannot be loaded`, expectations: [{ message }] });
      this.tell({ kind: 'done', status: 'failed' });
      return;
    }
    const end = await env.execute();
    this.#failedOutside(`${name} as a whole`, end);
    this.tell({ kind: 'done', status: end.overallStatus });
  }

  #filterOf(file: string, isWhole = false): (spec: { getFullName(): string }) => boolean {
    const { texts, isShort } = this.task;
    const isInForm = isShort && !isWhole ? shortFormOf(file) : () => true;
    // Jasmine may ask again.
    const places = new Map<object, number>();
    return (spec) => {
      const name = spec.getFullName();
      if (!places.has(spec)) places.set(spec, places.size);
      const isAsked = texts.length === 0 || texts.some((text) => name.includes(text));
      return isAsked && isInForm(name, places.get(spec)!);
    };
  }

  #failedOutside(name: string, { failedExpectations }: Pick<Result, 'failedExpectations'>): void {
    if (failedExpectations.length === 0) return;
    const { failedExpectations: expectations } = plain({ fullName: name, status: 'failed', failedExpectations });
    this.tell({ kind: 'failed', name, expectations });
  }
}
