/** What a process that holds every change of a room, each behind a switch, is asked, and what it says. */
import type { Failure } from '../specs/failure.js';

export interface SwitchRequest {
  /** The change that is switched on. */
  readonly id: string;
  /** Spec files, in the order in which they are tried. */
  readonly files: readonly string[];
  /** How long the specs for one change may take, as they take without it; the first few files run in any case. */
  readonly seconds: number;
}

export type SwitchAnswer =
  /** Whose specs are run next, and how long those take without a change; null: the file was not run before. */
  | { readonly kind: 'runs'; readonly file: string; readonly seconds: number | null }
  /** An expectation fails with the change and holds without it, both twice. */
  | { readonly kind: 'caught'; readonly failure: Failure }
  /** A spec fails that held before, with and without the change: what runs in this process tells nothing any more. */
  | { readonly kind: 'spoilt'; readonly file: string }
  | {
      readonly kind: 'missed';
      /** The first spec in which something was thrown. */
      readonly thrown: Failure | null;
      /** Spec files that ran the change. */
      readonly files: number;
    };
