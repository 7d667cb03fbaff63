/** Steps that are recorded to be repeated, and what must not be part of one though no op shows it. */
import { perProcess } from '../base/per_process.js';

export type LiveValues = Float32Array | Int32Array;

/** Numbers that are made anew for each step. */
export interface Live {
  /** Gives those of a step: as many each time. */
  readonly make: () => LiveValues;
  /** The function of a user whose numbers they are: in each step the same one. */
  readonly given: (() => number) | null;
}

/** What records the step in progress. */
export interface StepRecorder {
  /** Is told why the step cannot be repeated. */
  refuse(problem: string): void;
  /** Is told of numbers that each step makes anew, in the order in which the step makes them. */
  lives(values: LiveValues, live: Live): void;
}

interface Recordings {
  recorder: StepRecorder | null;
  /** Numbers of a step that were made already, in the order in which it makes them; null: they are made. */
  answers: LiveValues[] | null;
}

const state = (): Recordings => perProcess('recording in progress', () => ({ recorder: null, answers: null }));

const made = (): WeakSet<LiveValues> => perProcess('live values', () => new WeakSet());

/** The numbers that `make` gives now; in a step that is repeated it is asked for those of each step. */
export function live<T extends LiveValues>(make: () => T, given: Live['given'] = null): T {
  const values = (state().answers?.shift() as T | undefined) ?? make();
  made().add(values);
  state().recorder?.lives(values, { make, given });
  return values;
}

/** Whether these numbers are others in each step. */
export function isLive(values: LiveValues): boolean {
  return made().has(values);
}

/** Runs `step`, which is recorded. */
export function whileRecording<T>(recorder: StepRecorder, step: () => T): T {
  const active = state();
  const outer = active.recorder;
  active.recorder = recorder;
  try {
    return step();
  } finally {
    active.recorder = outer;
  }
}

/** Runs a step op by op for which the numbers were made before. */
export function whileAnswering<T>(answers: readonly LiveValues[], step: () => T): T {
  const active = state();
  const outer = active.answers;
  active.answers = [...answers];
  try {
    return step();
  } finally {
    active.answers = outer;
  }
}

/** Whether a step is being recorded. */
export function isRecording(): boolean {
  return state().recorder !== null;
}

/** Says that the step in progress cannot be repeated as a recording; `problem` follows "because". */
export function refuseRecording(problem: string): void {
  state().recorder?.refuse(problem);
}
