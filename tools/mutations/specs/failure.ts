/** How a spec ended that did not pass. */

/** What Jasmine tells of a spec or a suite. */
export interface SpecResult {
  readonly id: string;
  readonly fullName: string;
  readonly status: string;
  readonly failedExpectations: readonly { readonly message: string; readonly matcherName: string }[];
}

export interface Failure {
  readonly spec: string;
  readonly message: string;
  /** Whether an expectation did not hold, or `fail` was called; else something was thrown. */
  readonly isExpectation: boolean;
}

function isExpectation({ matcherName, message }: SpecResult['failedExpectations'][number]): boolean {
  return matcherName !== '' || message.startsWith('Failed: ');
}

/** Null: it passed. */
export function failureOf({ fullName, failedExpectations }: SpecResult): Failure | null {
  const shown = failedExpectations.find(isExpectation) ?? failedExpectations[0];
  if (shown === undefined) return null;
  return { spec: fullName, message: shown.message.slice(0, 600), isExpectation: isExpectation(shown) };
}
