/** What became of the cases of a suite, as the runner tells it. */
import type { Deliberate } from '../compare.js';
import type { SuiteReport } from '../source.js';
import type { CaseLine } from './test_run.js';

/** Cases that cannot do here what they do in TensorFlow. They are run nevertheless: this error alone is no failure. */
export interface NotRunCases {
  /** Their whole names. */
  readonly cases: readonly string[];
  /** What each fails with: a part of the message. */
  readonly error: string;
  readonly reason: string;
}

/** A file none of whose cases can be run. */
export interface NotRunFile {
  readonly file: string;
  readonly reason: string;
}

export type NotRun = NotRunCases | NotRunFile;

/** The end of a message has the error; what stands before it is the way there. */
const LONGEST_MESSAGE = 1500;

const shortened = (message: string): string => message.slice(-LONGEST_MESSAGE);

/** What is wrong with a listed case, or null where it fails as the list says. */
function wrongInList({ error }: NotRunCases, { status, message }: CaseLine): string | null {
  if (status !== 'failed') return `no longer fails (${status}), but stands in not_run.json`;
  return message.includes(error) ? null : `fails otherwise than with ${JSON.stringify(error)}:\n${shortened(message)}`;
}

/** Cases are those that were run to an end: others stand in `notRun`, with the reason. */
export function reportOf(
  suite: string,
  lines: readonly CaseLine[],
  meant: readonly Deliberate[],
  listed: readonly NotRunCases[],
): SuiteReport {
  const failures: { name: string; message: string }[] = [];
  const deliberate: Record<string, string> = {};
  const notRun: { what: string; reason: string }[] = [];
  let passed = 0;
  for (const line of lines) {
    const { name, status, message } = line;
    const entry = listed.find((each) => each.cases.includes(name));
    const wrong = entry === undefined ? null : wrongInList(entry, line);
    if (wrong !== null) failures.push({ name, message: wrong });
    else if (status === 'passed') passed += 1;
    else if (status === 'skipped') notRun.push({ what: name, reason: `TensorFlow skips it: ${message}` });
    else if (status === 'refused') notRun.push({ what: name, reason: message });
    else if (status === 'reaches nothing') notRun.push({ what: name, reason: 'it asks this package nothing' });
    else if (entry !== undefined) notRun.push({ what: name, reason: entry.reason });
    else {
      const reason = meant.find((each) => suite.includes(each.suite) && name.includes(each.spec))?.reason;
      if (reason !== undefined) deliberate[name] = reason;
      else failures.push({ name, message: shortened(message) });
    }
  }
  const cases = passed + failures.length + Object.keys(deliberate).length;
  return { suite, cases, passed, failures, deliberate, notRun };
}

/** A failure for each name of the list that no case or file has. */
export function unknownInList(
  listed: readonly NotRun[],
  lines: readonly CaseLine[],
  files: readonly string[],
): { name: string; message: string }[] {
  const known = new Set([...lines.map(({ name }) => name), ...files]);
  const names = listed.flatMap((each) => ('file' in each ? [each.file] : each.cases));
  return names
    .filter((name) => !known.has(name))
    .map((name) => ({ name, message: 'stands in not_run.json, but is not there' }));
}
