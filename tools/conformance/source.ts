/** Where cases come from: one source per file. */

/** What the options of the command ask for. */
export interface Wanted {
  /** Backends, of those that a source knows. */
  readonly backends: readonly string[];
  /** Texts of which the name of a case must hold one; none: all cases. */
  readonly texts: readonly string[];
  /** Folders by the option that names them, such as `tfjs`. */
  readonly folders: Readonly<Record<string, string>>;
}

/** What became of one suite of cases. */
export interface SuiteReport {
  readonly suite: string;
  readonly cases: number;
  /** Cases that do what they should. */
  readonly passed: number;
  /** Cases that do not, by name. */
  readonly failures: readonly { readonly name: string; readonly message: string }[];
  /** Differences that are meant, by name, with the reason. */
  readonly deliberate: Readonly<Record<string, string>>;
  /** What was not run, with the reason; counts neither as passed nor as failed. */
  readonly notRun: readonly { readonly what: string; readonly reason: string }[];
}

export interface Source {
  readonly name: string;
  readonly describe: string;
  /** The option that names its folder; without it the source is left out. */
  readonly folder?: string;
  run(wanted: Wanted, say: (line: string) => void): Promise<readonly SuiteReport[]>;
}
