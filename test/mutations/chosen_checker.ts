/** Stryker's checker that lets only chosen mutants pass: Stryker itself chooses by ranges of a file, which hold others too. */
import { relative, sep } from 'node:path';
import { CheckStatus, type CheckResult, type Checker } from '@stryker-mutator/api/check';
import type { Mutant, StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, tokens } from '@stryker-mutator/api/plugin';

/** Names a mutant in one version of its file, by its path under the root. */
export function keyOf({ fileName, location: { start, end }, replacement }: Mutant): string {
  return [fileName, start.line, start.column, end.line, end.column, replacement].join(':');
}

export class ChosenChecker implements Checker {
  static inject = tokens(commonTokens.options);
  private readonly chosen: ReadonlySet<string>;

  constructor(options: StrykerOptions) {
    this.chosen = new Set(options['chosen'] as string[]);
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    const results = mutants.map((mutant): [string, CheckResult] => {
      const fileName = relative(process.cwd(), mutant.fileName).split(sep).join('/');
      const isChosen = this.chosen.has(keyOf({ ...mutant, fileName }));
      return [
        mutant.id,
        isChosen ? { status: CheckStatus.Passed } : { status: CheckStatus.CompileError, reason: 'not chosen' },
      ];
    });
    return Promise.resolve(Object.fromEntries(results));
  }

  /** All at once. */
  group(mutants: Mutant[]): Promise<string[][]> {
    return Promise.resolve([mutants.map(({ id }) => id)]);
  }
}
