/** Looks for a spec that notices a change in a sandbox. */
import type { Failure } from './specs/failure.js';
import type { SpecMessage } from './specs/messages.js';
import { runSpecs } from './specs/spec_process.js';
import type { Fate } from './tally.js';

export interface Found {
  readonly fate: Exclude<Fate, 'equivalent'>;
  /** What noticed it, or what there is to know. */
  readonly text: string;
}

/** How often the process may end before its time, for one change. */
const MOST_CRASHES = 2;

/** Seconds that a spec file may take: another machine took `seconds`, and failures run again. */
function limitFor(seconds: number): number {
  return 30 + 5 * seconds;
}

type Ended = Extract<SpecMessage, { kind: 'ends' }>;

export class Hunt {
  /** What fails without a change, by spec file. */
  private readonly failing = new Map<string, ReadonlySet<string> | null>();

  /** `whole` writes the sandbox as it is without a change. */
  constructor(
    private readonly tree: string,
    private readonly secondsOf: (spec: string) => number,
  ) {}

  /**
   * Runs spec files until an expectation fails. It counts if its spec fails in a process of its own too, and passes there
   * without the change: `change` makes it, `restore` takes it back.
   */
  async find(files: readonly string[], change: () => void, restore: () => void): Promise<Found> {
    let left = [...files];
    let tried = 0;
    let worse: Found | null = null;
    for (let crashes = 0; left.length > 0 && crashes <= MOST_CRASHES;) {
      change();
      const end = await this.run(left, true);
      let last = left[0]!;
      for (const message of end.messages) {
        last = message.file;
        if (message.kind === 'begins') tried++;
        if (message.kind === 'unloadable') worse ??= { fate: 'crashed', text: `${last}: ${message.message}` };
        if (message.kind !== 'ends') continue;
        const caught = message.failures.find(({ isExpectation }) => isExpectation);
        if (caught !== undefined && (await this.confirms(last, caught, change, restore, tried > 1)))
          return { fate: 'caught', text: `${caught.spec}: ${caught.message}` };
        const [thrown] = message.failures;
        if (thrown === undefined || caught !== undefined) continue;
        restore();
        if (await this.holds(last, thrown.spec))
          worse ??= { fate: 'thrown', text: `${thrown.spec}: ${thrown.message}` };
      }
      // Elsewhere it would hang too, and each takes its time.
      if (end.hung !== null) return { fate: 'hung', text: end.hung };
      if (end.crash !== null) {
        worse = { fate: 'crashed', text: `${last}: ${end.crash}` };
        crashes++;
      }
      left = left.slice(left.indexOf(last) + 1);
    }
    return worse ?? { fate: 'survived', text: `${tried} spec files run` };
  }

  /** Whether a spec fails again by itself with the change, and passes without it. */
  private async confirms(
    file: string,
    { spec }: Failure,
    change: () => void,
    restore: () => void,
    again: boolean,
  ): Promise<boolean> {
    restore();
    if (!(await this.holds(file, spec))) return false;
    if (!again) return true;
    change();
    const { failures } = await this.endOf(file, true);
    return failures.some(({ isExpectation }) => isExpectation);
  }

  private async holds(file: string, spec: string): Promise<boolean> {
    if (!this.failing.has(file)) {
      const { messages, hung, crash } = await this.run([file], false);
      const end = messages.find((message): message is Ended => message.kind === 'ends');
      const isWhole = end !== undefined && hung === null && crash === null;
      this.failing.set(file, isWhole ? new Set(end.failures.map((failure) => failure.spec)) : null);
      if (!isWhole || end.failures.length > 0)
        console.log(`    without a change: ${file}: ${hung ?? crash ?? end?.failures[0]?.spec ?? 'cannot be loaded'}`);
    }
    const failing = this.failing.get(file)!;
    return failing !== null && !failing.has(spec);
  }

  private async endOf(file: string, hunts: boolean): Promise<{ failures: readonly Failure[] }> {
    const { messages } = await this.run([file], hunts);
    return messages.find((message): message is Ended => message.kind === 'ends') ?? { failures: [] };
  }

  private run(files: readonly string[], hunts: boolean): ReturnType<typeof runSpecs> {
    return runSpecs({ tree: this.tree, files, hunts, limitOf: (file) => limitFor(this.secondsOf(file)) });
  }
}
