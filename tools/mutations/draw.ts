/** Which changes are tried, out of all that there are. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commonTokens } from '@stryker-mutator/api/plugin';
import { createInstrumenter } from '@stryker-mutator/instrumenter';
import { createInjector } from 'typed-inject';
import { Random } from '../../test/helpers/random.js';
import { messagesOf } from './message_text.js';
import type { Mutant } from './mutant_text.js';

const SILENT = Object.fromEntries(
  ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((name) => [name, () => undefined]),
);

/** A change with the name of its switch. */
export interface Switchable extends Mutant {
  readonly id: string;
}

export interface Drawn {
  readonly mutants: readonly Switchable[];
  /** The sources with every change in them, each behind a switch. */
  readonly switched: ReadonlyMap<string, string>;
}

/** Every change that Stryker makes of some sources, but for texts of messages. */
export async function mutantsOf(root: string, names: readonly string[]): Promise<Drawn> {
  const logger = { ...SILENT, isDebugEnabled: () => false } as never;
  const instrumenter = createInstrumenter(createInjector().provideValue(commonTokens.logger, logger) as never);
  const texts = new Map(names.map((name) => [name, readFileSync(join(root, name), 'utf8')]));
  const files = [...texts].map(([name, content]) => ({ name, content, mutate: true }));
  const { mutants, files: switched } = await instrumenter.instrument(files, {
    plugins: null,
    excludedMutations: [],
    ignorers: [],
  });
  const isMessage = new Map([...texts].map(([name, text]) => [name, messagesOf(text)]));
  const starts = new Map([...texts].map(([name, text]) => [name, lineStarts(text)]));
  const drawn = mutants
    .map(({ id, fileName, location: { start, end }, replacement, mutatorName }): Switchable => {
      const [from, to] = [start, end].map(({ line, column }) => starts.get(fileName)![line]! + column);
      return { id, file: fileName, from: from!, to: to!, replacement, kind: mutatorName };
    })
    .filter(({ file, from, to, kind }) => kind !== 'StringLiteral' || !isMessage.get(file)!(from, to));
  return { mutants: drawn, switched: new Map(switched.map(({ name, content }) => [name, counting(content)])) };
}

/** Stryker counts in objects by name, which takes most of the time in loops over bytes; this counts in an array. */
function counting(content: string): string {
  return content
    .replace(/function stryCov_9fa48\(\) \{[^]*?\n\}\n/, `${COUNT}\n`)
    .replace(/stryCov_9fa48\([^()]+\)/g, (call) => call.replaceAll('"', ''));
}

const COUNT = `function stryCov_9fa48() {
  const counts = globalThis.switchCounts;
  if (counts !== undefined) for (let i = 0; i < arguments.length; i++) counts[arguments[i]]++;
}`;

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** All items, in an order that the seed gives. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = new Random(seed);
  const all = [...items];
  for (let i = all.length - 1; i > 0; i--) {
    const j = random.whole(0, i + 1);
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}
