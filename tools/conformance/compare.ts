/** The specs of two runs, without the package and with it, side by side. */
import type { SuiteReport } from './source.js';
import type { SpecLine } from './spec_run.js';

/** A difference that is meant: of which suites, which specs, and why. */
export interface Deliberate {
  /** Suites, by a text that their names hold. */
  readonly suite: string;
  /** Specs, by a text that their names hold. */
  readonly spec: string;
  /** What the spec says in tfjs alone, where it must fail there and pass with the package. */
  readonly gained?: string;
  readonly reason: string;
}

const LONGEST_MESSAGE = 300;
const statusOf = (line: SpecLine | undefined): string => line?.status ?? 'not there';

function isMeant(
  { suite: suites, spec, gained }: Deliberate,
  suite: string,
  name: string,
  before: SpecLine | undefined,
  after: SpecLine | undefined,
): boolean {
  if (!suite.includes(suites) || !name.includes(spec)) return false;
  if (gained === undefined) return true;
  return statusOf(before) === 'failed' && statusOf(after) === 'passed' && before!.message.includes(gained);
}

/** What differs, spec by spec. Specs that fail in tfjs alone as well are told as not passed by either. */
export function compareRuns(
  suite: string,
  without: ReadonlyMap<string, SpecLine>,
  withPackage: ReadonlyMap<string, SpecLine>,
  meant: readonly Deliberate[],
): SuiteReport {
  const failures: { name: string; message: string }[] = [];
  const deliberate: Record<string, string> = {};
  const brokenBoth: string[] = [];
  let passed = 0;
  const names = new Set([...without.keys(), ...withPackage.keys()]);
  for (const name of names) {
    const [before, after] = [without.get(name), withPackage.get(name)];
    const reason = meant.find((each) => isMeant(each, suite, name, before, after))?.reason;
    if (statusOf(before) === statusOf(after)) {
      if (statusOf(after) === 'passed') passed += 1;
      else brokenBoth.push(name);
    } else if (reason !== undefined) deliberate[name] = reason;
    else {
      const told = [before?.message, after?.message].map((text) => (text ?? '').slice(0, LONGEST_MESSAGE));
      const message = `${statusOf(before)} without the package, ${statusOf(after)} with it: ${told.join(' | ')}`;
      failures.push({ name, message });
    }
  }
  const notRun = brokenBoth.map((name) => {
    const { status, message } = without.get(name)!;
    return {
      what: name,
      reason: status === 'pending' ? 'tfjs skips it' : `fails in tfjs alone: ${message.split('\n')[0]}`,
    };
  });
  return { suite, cases: names.size, passed, failures, deliberate, notRun };
}
