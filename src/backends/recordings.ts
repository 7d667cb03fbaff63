/** Steps that are recorded to be repeated, and what must not be part of one though no op shows it. */
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

type Refuse = (problem: string) => void;

const state = (): { refuse: Refuse | null } => perProcess('recording in progress', () => ({ refuse: null }));

/** Runs `step`, which is recorded; `refuse` is told why it cannot be repeated. */
export function whileRecording<T>(refuse: Refuse, step: () => T): T {
  const active = state();
  const outer = active.refuse;
  active.refuse = refuse;
  try {
    return step();
  } finally {
    active.refuse = outer;
  }
}

/** Whether a step is being recorded. */
export function isRecording(): boolean {
  return state().refuse !== null;
}

/** Says that the step in progress cannot be repeated as a recording; `problem` follows "because". */
export function refuseRecording(problem: string): void {
  state().refuse?.(problem);
}
