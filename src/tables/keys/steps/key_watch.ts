/** Warns where a table does little good: many keys have no row, or keys lose theirs right after they were seen. */
import { warnOnce } from '../../../base/warn_once.js';

/** Steps that are judged together: one batch is no measure. */
const STEPS = 100;
/** Of keys, those without a row. */
const MOST_UNKNOWN = 0.1;
/** Of keys that lost their rows, those that were seen in the last few steps. */
const MOST_SOON = 0.5;
export const FEW_STEPS = 4;

/** What a training step came to. */
export interface WatchedStep {
  readonly step: number;
  /** Its keys, and those of them without a row. */
  readonly keys: number;
  readonly unknown: number;
  /** Keys that lost their rows, and those of them that were seen within FEW_STEPS before. */
  readonly gone: number;
  readonly soon: number;
}

export class KeyWatch {
  #sums = { keys: 0, unknown: 0, gone: 0, soon: 0 };

  constructor(private readonly name: string) {}

  /** Takes a step that went well. */
  stepped({ step, keys, unknown, gone, soon }: WatchedStep): void {
    const sums = this.#sums;
    sums.keys += keys;
    sums.unknown += unknown;
    sums.gone += gone;
    sums.soon += soon;
    if (step % STEPS !== 0) return;
    this.#sums = { keys: 0, unknown: 0, gone: 0, soon: 0 };
    // In the first steps all keys are met for the first time.
    if (step > STEPS && sums.unknown > MOST_UNKNOWN * sums.keys) this.#warnOfUnknown(sums.unknown / sums.keys, step);
    if (sums.gone > 0 && sums.soon > MOST_SOON * sums.gone) this.#warnOfEvictions(sums.soon / sums.gone, step);
  }

  #warnOfUnknown(share: number, step: number): void {
    warnOnce(
      `${percent(share)} of the keys of table ${this.name} had no row in steps ${step - STEPS + 1} to ${step}. ` +
        'Lower `admit.after`, or raise `admit.tracked` or `admit.probability`, for them to get one.',
      `unknown keys of ${this.name}`,
    );
  }

  #warnOfEvictions(share: number, step: number): void {
    warnOnce(
      `${percent(share)} of the keys that lost their rows of table ${this.name} in steps ${step - STEPS + 1} to ${step} ` +
        `had been seen within ${FEW_STEPS} steps before. Raise \`capacity\`, or \`admit\` keys later.`,
      `evictions of ${this.name}`,
    );
  }
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
