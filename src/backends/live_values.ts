/**
 * Numbers that change from step to step though the ops of a step stay the same: rates, hyper-parameters, seeds. Whoever
 * repeats a step makes them again.
 */
import { perProcess } from '../base/per_process.js';

export type LiveValues = Float32Array | Int32Array;

const makers = (): WeakMap<LiveValues, () => LiveValues> => perProcess('live values', () => new WeakMap());

/** The numbers that `make` gives now; it gives those of later steps too, and as many. */
export function live<T extends LiveValues>(make: () => T): T {
  const values = make();
  makers().set(values, make);
  return values;
}

/** What makes these numbers for later steps; undefined where they are the same in all steps. */
export function makerOf(values: LiveValues): (() => LiveValues) | undefined {
  return makers().get(values);
}
