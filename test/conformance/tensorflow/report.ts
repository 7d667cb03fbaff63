/** What became of the cases of a suite, as the runner tells it. */
import type { Deliberate } from '../compare.js';
import type { SuiteReport } from '../source.js';
import type { CaseLine } from './test_run.js';

/** Why cases are not run, by a text that their names hold. */
export interface ReasonByCase {
  readonly case: string;
  readonly reason: string;
}

/** The end of a message has the error; what stands before it is the way there. */
const LONGEST_MESSAGE = 1500;

/** Cases are those that were run to an end: others stand in `notRun`, with the reason. */
export function reportOf(
  suite: string,
  lines: readonly CaseLine[],
  meant: readonly Deliberate[],
  notRunCases: readonly ReasonByCase[],
): SuiteReport {
  const failures: { name: string; message: string }[] = [];
  const deliberate: Record<string, string> = {};
  const notRun: { what: string; reason: string }[] = [];
  let passed = 0;
  for (const { name, status, message } of lines) {
    if (status === 'passed') passed += 1;
    else if (status === 'skipped') notRun.push({ what: name, reason: `TensorFlow skips it: ${message}` });
    else if (status === 'refused') notRun.push({ what: name, reason: message });
    else if (status === 'reaches nothing') notRun.push({ what: name, reason: 'it asks this package nothing' });
    else {
      const left = notRunCases.find((each) => name.includes(each.case))?.reason;
      const reason = meant.find((each) => suite.includes(each.suite) && name.includes(each.spec))?.reason;
      if (left !== undefined) notRun.push({ what: name, reason: left });
      else if (reason !== undefined) deliberate[name] = reason;
      else failures.push({ name, message: message.slice(-LONGEST_MESSAGE) });
    }
  }
  const cases = passed + failures.length + Object.keys(deliberate).length;
  return { suite, cases, passed, failures, deliberate, notRun };
}
