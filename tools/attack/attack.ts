/** What an attack is, and what it is given. */

export interface Attack {
  /** As `--only` takes it. */
  readonly name: string;
  /** One line for `--help`: what is attacked, and what a round does. */
  readonly describe: string;
  /**
   * Runs rounds 0 to `rounds` - 1. Round r draws all that it draws at random from seed + r, so that `--seed <seed + r>
   * --rounds 1` repeats it. What can crash or hang runs in a process of its own (child_program.ts). A rejection is a
   * fault of the attack itself.
   */
  run(options: AttackOptions): Promise<void>;
}

export interface AttackOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Called after each round. */
  readonly progress: (roundsDone: number) => void;
  /** Called for each thing that fell. */
  readonly found: (finding: Finding) => void;
}

export interface Finding {
  /** The seed that repeats it with one round. */
  readonly seed: number;
  /** What happened. */
  readonly what: string;
}
