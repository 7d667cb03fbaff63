/** What a process that runs spec files says to the one that started it. */

export interface Expectation {
  readonly message: string;
  readonly stack?: string;
}

/** How a spec ended, or a suite as far as its `afterAll` is concerned. */
export interface Result {
  readonly fullName: string;
  readonly status: string;
  readonly pendingReason?: string;
  readonly failedExpectations: readonly Expectation[];
}

export type Message =
  /** A process has got the file. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'begins'; readonly spec: string }
  | { readonly kind: 'ends'; readonly result: Result }
  /** What failed outside of specs: while a file was loaded, in `afterAll`, or after its end. */
  | { readonly kind: 'failed'; readonly name: string; readonly expectations: readonly Expectation[] }
  /** A file is done. `status`: jasmine's word for how it went as a whole. */
  | { readonly kind: 'done'; readonly status: string };

export type Tell = (message: Message) => void;

/** What a process is asked to do before it gets files, one by one. */
export interface Task {
  readonly texts: readonly string[];
  /** Whether specs that only the long form runs are left out. */
  readonly isShort: boolean;
}
