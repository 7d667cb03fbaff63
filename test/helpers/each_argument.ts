/**
 * Calls with each of their arguments replaced by each of some odd values, one at a time. What becomes of each is compared
 * with an approved list beside the spec: an error, by its class and the argument that it names, or how the result differs.
 * The list tells of every change; where one is meant, read the new lines and write them by
 * `TFJS_EMBEDDINGS_APPROVE=1 npm test -- each_argument`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs';
import { RaggedTensor } from '../../src/ids/ragged_tensor.js';
import type { Facts } from './errors.js';

/** A call with right arguments, all of them: those left out are not tried. */
export interface Call {
  /** Arguments by name, made anew for each call. */
  readonly args: () => Record<string, unknown>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- wrong values are what it is for
  readonly run: (args: any) => unknown;
}

const ODD: Readonly<Record<string, () => unknown>> = {
  'left out': () => undefined,
  null: () => null,
  true: () => true,
  '-1': () => -1,
  0: () => 0,
  1: () => 1,
  0.5: () => 0.5,
  NaN: () => NaN,
  Infinity: () => Infinity,
  '2^31': () => 2 ** 31,
  '2^53': () => 2 ** 53,
  '1n': () => 1n,
  "''": () => '',
  "'zz'": () => 'zz',
  '[]': () => [],
  '[0]': () => [0],
  '[-1.5]': () => [-1.5],
  "['zz']": () => ['zz'],
  '[null]': () => [null],
  '{}': () => ({}),
  '{zz: 1}': () => ({ zz: 1 }),
  symbol: () => Symbol('odd'),
  function: () => () => 0,
  date: () => new Date(0),
};

const LONGEST = 70;

function clip(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

/** A value as plain data. */
function plain(value: unknown, depth = 0): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number.isFinite(value) ? Number(value.toPrecision(5)) : String(value); // prettier-ignore
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'function') return 'a function';
  // Names that are numbered by how many there were before.
  if (typeof value === 'string') return value.replace(/_\d+$/, '_1');
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof tf.Tensor) return { dtype: value.dtype, shape: value.shape, values: plain(value.dataSync()) };
  if (value instanceof RaggedTensor) return plain(value.toRows(), depth);
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as number[], (each) => plain(each, depth));
  if (Array.isArray(value)) return value.map((each) => plain(each, depth + 1));
  const { getConfig } = value as { getConfig?: () => object };
  const fields = typeof getConfig === 'function' ? getConfig.call(value) : value;
  if (depth > 4) return '…';
  return Object.fromEntries(Object.entries(fields).map(([key, each]) => [key, plain(each, depth + 1)]));
}

/** How a result differs from that of right arguments. */
function difference(result: unknown, right: unknown): string {
  if (typeof result !== 'object' || typeof right !== 'object' || result === null || right === null) {
    return clip(JSON.stringify(result) ?? 'undefined');
  }
  const [one, other] = [result as Record<string, unknown>, right as Record<string, unknown>];
  const changed = [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (key) => JSON.stringify(one[key]) !== JSON.stringify(other[key]),
  );
  return clip(changed.map((key) => `${key} = ${JSON.stringify(one[key])}`).join(', '));
}

async function outcome(run: () => unknown): Promise<{ error: string } | { result: unknown }> {
  const before = new Set(Object.keys(tf.engine().registeredVariables));
  tf.engine().startScope();
  try {
    return { result: plain(await run()) };
  } catch (error) {
    const { name, message, argument } = error as Error & Facts;
    return {
      error: typeof argument === 'string' ? `${name} ${argument}` : `${name}: ${clip(message.split('\n')[0]!)}`,
    };
  } finally {
    tf.engine().endScope();
    for (const [name, variable] of Object.entries(tf.engine().registeredVariables)) {
      if (!before.has(name)) variable.dispose();
    }
  }
}

/** What becomes of each odd value of each argument, one line for those of one end. */
async function endsOf({ args, run }: Call): Promise<string[]> {
  const right = await outcome(() => run(args()));
  if ('error' in right) return [`right arguments: ${right.error}`];
  const lines: string[] = [];
  for (const name of Object.keys(args())) {
    const byEnd = new Map<string, string[]>();
    for (const [odd, make] of Object.entries(ODD)) {
      const given = args();
      if (odd === 'left out') delete given[name];
      else given[name] = make();
      const end = await outcome(() => run(given));
      const isSame = 'result' in end && JSON.stringify(end.result) === JSON.stringify(right.result);
      const text = 'error' in end ? end.error : isSame ? 'makes no difference' : difference(end.result, right.result);
      byEnd.set(text, [...(byEnd.get(text) ?? []), odd]);
    }
    const most = Math.max(...[...byEnd.values()].map(({ length }) => length));
    for (const [end, odd] of byEnd) {
      lines.push(`${name}: ${odd.length === most && most > 8 ? 'others' : odd.join(', ')} -> ${end}`);
    }
  }
  return lines;
}

/** Specs, one for each call. `approved`: the address of the list. */
export function itTreatsEachArgument(approved: URL, calls: Readonly<Record<string, Call>>): void {
  const writes = process.env['TFJS_EMBEDDINGS_APPROVE'] === '1';
  const sections = new Map<string, string>();
  if (existsSync(approved)) {
    for (const section of readFileSync(approved, 'utf8').split(/^(?=# )/m)) {
      const [title, ...lines] = section.trimEnd().split('\n');
      sections.set(title!.slice(2), lines.join('\n'));
    }
  }
  for (const [name, call] of Object.entries(calls)) {
    it(`${name} treats each argument as approved`, async () => {
      const ends = await endsOf(call);
      if (writes) sections.set(name, ends.join('\n'));
      const expected = sections.get(name)?.split('\n') ?? [];
      expect(ends.filter((line) => !expected.includes(line))).toEqual([]);
      expect(expected.filter((line) => !ends.includes(line))).toEqual([]);
    });
  }
  if (!writes) return;
  afterAll(() => {
    const kept = Object.keys(calls).map((name) => `# ${name}\n${sections.get(name)}\n`);
    writeFileSync(approved, kept.join('\n'));
  });
}
