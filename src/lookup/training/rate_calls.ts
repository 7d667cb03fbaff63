/** Calls of functions that give learning rates: somebody's code in the middle of a step, which may do anything. */
import { perProcess } from '../../base/per_process.js';

export type RateFunction = (step: number) => unknown;
/** Runs `call`, a call of `by`, or gives what takes its place. */
export type AskRate = (by: RateFunction, call: () => unknown) => unknown;

const state = (): { ask: AskRate | null } => perProcess('calls of learning rates', () => ({ ask: null }));

/** Runs `f`, while each learning rate that a function gives is asked for by way of `ask`. */
export function withRateCalls<T>(ask: AskRate, f: () => T): T {
  const active = state();
  const outer = active.ask;
  active.ask = ask;
  try {
    return f();
  } finally {
    active.ask = outer;
  }
}

/** What a function gives for a step, checked by nobody. */
export function askRate(by: RateFunction, step: number): unknown {
  const { ask } = state();
  return ask === null ? by(step) : ask(by, () => by(step));
}
