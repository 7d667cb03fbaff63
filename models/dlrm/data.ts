/**
 * Click logs in Criteo's layout: a line `label number*13 value*26` with tabs between, values hexadecimal, cells may be empty.
 *
 * Made-up ones have labels that are 1 with the probability sigmoid(z), z = -1 + 0.8 x0 - 0.5 x1 + a[v0] + b[v1] + w[v2][v3],
 * where x are ln(number + 1) less their mean of 2 and v the values of columns, of which there are 50 each (12 of the third
 * and fourth); a, b ~ 0.8 N and w ~ N. As z is known, so is the best possible AUC.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { InputError, mistakeAt } from '../input_error.mjs';
import { expectedAuc } from '../metrics.js';
import { Random } from '../random.js';
import type { Options } from './options.mjs';

export const NUMBERS = 13;
export const VALUES = 26;

export interface Clicks {
  readonly count: number;
  readonly labels: Float32Array;
  /** [count, 13], ln(number + 1); of what is missing and negative 0. */
  readonly numbers: Float32Array;
  /** [count, 26], -1 where it is missing. */
  readonly values: Int32Array;
}

const LINES = 60_000;

/** Reads up to `most` lines. Throws InputError, with the line, for anything that is none. */
export async function readClicks(path: string, most: number): Promise<Clicks> {
  const rows = { labels: [] as number[], numbers: [] as number[], values: [] as number[] };
  let count = 0;
  const stream = createReadStream(path);
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
    if (count === most) break;
    count++;
    const cells = line.split('\t');
    const mistake = (expected: string, found: string): InputError => mistakeAt(path, count, expected, found);
    if (cells.length !== 1 + NUMBERS + VALUES) throw mistake('40 columns with tabs between', `${cells.length}`);
    if (cells[0] !== '0' && cells[0] !== '1') throw mistake('a label of 0 or 1', cells[0]!);
    rows.labels.push(Number(cells[0]));
    for (const cell of cells.slice(1, 1 + NUMBERS)) {
      const number = Number(cell);
      if (!Number.isFinite(number)) throw mistake('a number', cell);
      rows.numbers.push(Math.log(Math.max(number, 0) + 1));
    }
    for (const cell of cells.slice(1 + NUMBERS)) {
      if (!/^[0-9a-f]{0,8}$/i.test(cell)) throw mistake('up to eight hexadecimal digits', cell);
      rows.values.push(cell === '' ? -1 : parseInt(cell, 16) & 0x7fffffff);
    }
  }
  stream.destroy();
  if (count === 0) throw new InputError(`${path} is empty`);
  return {
    count,
    labels: Float32Array.from(rows.labels),
    numbers: Float32Array.from(rows.numbers),
    values: Int32Array.from(rows.values),
  };
}

function slice({ labels, numbers, values }: Clicks, from: number, to: number): Clicks {
  return {
    count: to - from,
    labels: labels.slice(from, to),
    numbers: numbers.slice(from * NUMBERS, to * NUMBERS),
    values: values.slice(from * VALUES, to * VALUES),
  };
}

/** Lines in another order. */
export function inOrder({ labels, numbers, values }: Clicks, order: Int32Array): Clicks {
  const rowsOf = <T extends Float32Array | Int32Array>(from: T, to: T, width: number): T => {
    order.forEach((line, at) => to.set(from.subarray(line * width, (line + 1) * width), at * width));
    return to;
  };
  return {
    count: order.length,
    labels: rowsOf(labels, new Float32Array(order.length), 1),
    numbers: rowsOf(numbers, new Float32Array(order.length * NUMBERS), NUMBERS),
    values: rowsOf(values, new Int32Array(order.length * VALUES), VALUES),
  };
}

function makeUp(seed: number): { clicks: Clicks; truth: Float64Array } {
  const random = new Random(seed);
  const effects = (count: number, scale: number): number[] =>
    Array.from({ length: count }, () => scale * random.normal());
  const [a, b, w] = [effects(50, 0.8), effects(50, 0.8), effects(144, 1)];
  const clicks = {
    count: LINES,
    labels: new Float32Array(LINES),
    numbers: new Float32Array(LINES * NUMBERS),
    values: new Int32Array(LINES * VALUES),
  };
  const truth = new Float64Array(LINES);
  for (let line = 0; line < LINES; line++) {
    const x = clicks.numbers.subarray(line * NUMBERS, (line + 1) * NUMBERS).map(() => Math.max(0, 2 + random.normal()));
    const v = clicks.values.subarray(line * VALUES, (line + 1) * VALUES);
    v.forEach((_, column) => (v[column] = random.below(column === 2 || column === 3 ? 12 : 50)));
    clicks.numbers.set(x, line * NUMBERS);
    const z = -1 + 0.8 * (x[0]! - 2) - 0.5 * (x[1]! - 2) + a[v[0]!]! + b[v[1]!]! + w[v[2]! * 12 + v[3]!]!;
    truth[line] = 1 / (1 + Math.exp(-z));
    clicks.labels[line] = random.next() < truth[line]! ? 1 : 0;
  }
  return { clicks, truth };
}

/** Lines to train on and to score; `bestAuc` is null where it is not known. */
export async function readData({ data, test, lines, seed }: Options) {
  const made = data === null ? makeUp(seed) : null;
  const all = made?.clicks ?? (await readClicks(data!, lines ?? Infinity));
  if (test !== null) return { train: all, test: await readClicks(test, lines ?? Infinity), bestAuc: null };
  const from = all.count - Math.max(1, Math.floor(all.count / 7));
  if (from === 0) throw new InputError(`${data}: expected two lines at least, to train on and to score`);
  const truth = made?.truth.subarray(from) ?? null;
  return {
    train: slice(all, 0, from),
    test: slice(all, from, all.count),
    bestAuc: truth && expectedAuc(truth, truth),
  };
}
