/** What a process that runs specs is asked, and what it says. */
import type { Failure } from './failure.js';

export interface SpecRequest {
  /** Paths of spec files, in the order in which they run. */
  readonly files: readonly string[];
  /** Whether it looks for a spec that notices a change, and ends at the first one; else it runs all. */
  readonly hunts: boolean;
}

export type SpecMessage =
  | { readonly kind: 'begins'; readonly file: string }
  | { readonly kind: 'unloadable'; readonly file: string; readonly message: string }
  | {
      readonly kind: 'ends';
      readonly file: string;
      readonly seconds: number;
      readonly passed: number;
      /** Those that did not pass; while hunting, what failed twice. */
      readonly failures: readonly Failure[];
      /** Numbers of the blocks that were reached, where that is measured. */
      readonly reached: readonly number[];
    };
