/** Parts of a tensor by an index of Python: `x[:, 0, ::2, None]`. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';
import { isRecord } from '../../base/options.js';
import { axisOf } from './operand.js';

/** Part of one axis: [start, stop) by step, counted as Python counts. */
interface Range {
  readonly start: number | null;
  readonly stop: number | null;
  readonly step: number;
}

/** What an index of Python takes of each axis: a place, a range, or a new axis. */
type Part = number | 'new' | Range;

const PYTHON_SLICE = ['start', 'stop', 'step'];

function readPart(key: unknown): Part | 'rest' {
  const expected = 'whole numbers, slices of whole numbers, null and an ellipsis';
  if (key === null) return 'new';
  if (typeof key === 'number' && Number.isInteger(key)) return key;
  if (isRecord(key) && key['ellipsis'] === true) return 'rest';
  if (!isRecord(key) || !Object.keys(key).every((each) => PYTHON_SLICE.includes(each))) {
    throw new ValueError('key', expected, key);
  }
  const [start, stop, step] = PYTHON_SLICE.map((field) => key[field] ?? null);
  for (const each of [start, stop, step]) {
    if (each !== null && !Number.isInteger(each)) throw new ValueError('key', expected, key);
  }
  if (step === 0) throw new ValueError('key', 'a step that is not 0', key);
  return { start: start as number | null, stop: stop as number | null, step: (step as number | null) ?? 1 };
}

/** The parts of an index, one for each axis and new axis. */
function readKey(key: unknown, rank: number): Part[] {
  const parts = (Array.isArray(key) ? (key as unknown[]) : [key]).map(readPart);
  const taken = parts.filter((part) => part !== 'new' && part !== 'rest').length;
  if (taken > rank) throw new ValueError('key', `at most ${rank} axes`, key);
  const whole = Array.from({ length: rank - taken }, (): Range => ({ start: null, stop: null, step: 1 }));
  const at = parts.indexOf('rest');
  const split = at < 0 ? parts.length : at;
  const after = at < 0 ? [] : parts.slice(at + 1);
  if (after.includes('rest')) throw new ValueError('key', 'one ellipsis', key);
  return [...parts.slice(0, split), ...whole, ...after] as Part[];
}

/** The places that a range takes of an axis, first, one behind the last, and how many. */
function placesOf({ start, stop, step }: Range, size: number): { first: number; count: number } {
  const low = step > 0 ? 0 : -1;
  const high = step > 0 ? size : size - 1;
  const bound = (value: number | null, byDefault: number): number => {
    if (value === null) return byDefault;
    return Math.min(high, Math.max(low, value < 0 ? value + size : value));
  };
  const first = bound(start, step > 0 ? 0 : size - 1);
  const end = bound(stop, step > 0 ? size : -1);
  return { first, count: Math.max(0, Math.ceil((end - first) / step)) };
}

function isWhole({ start, stop, step }: Range): boolean {
  return step === 1 && (start === null || start === 0) && stop === null;
}

export function itemShape(shape: SymbolicShape, key: unknown): SymbolicShape {
  let axis = 0;
  return readKey(key, shape.length).flatMap((part) => {
    if (part === 'new') return [1];
    const size = shape[axis++]!;
    if (typeof part === 'number') {
      if (size !== null) axisOf(part, size, 'key');
      return [];
    }
    return [size === null ? null : placesOf(part, size).count];
  });
}

export function takeItems(x: tf.Tensor, key: unknown): tf.Tensor {
  const parts = readKey(key, x.rank);
  const own = parts.filter((part): part is number | Range => part !== 'new');
  const begin: number[] = [];
  const size: number[] = [];
  // Steps other than 1 are gathered: tfjs has no gradient of strided slices.
  const gathered: [axis: number, places: number[]][] = [];
  own.forEach((part, axis) => {
    const all = x.shape[axis]!;
    if (typeof part === 'number') {
      begin.push(axisOf(part, all, 'key'));
      size.push(1);
      return;
    }
    const { first, count } = placesOf(part, all);
    const isPlain = part.step === 1;
    begin.push(isPlain && count > 0 ? first : 0);
    size.push(isPlain ? count : all);
    if (!isPlain) gathered.push([axis, Array.from({ length: count }, (_, i) => first + i * part.step)]);
  });
  const isAll = own.every((part) => typeof part !== 'number' && isWhole(part));
  let taken = isAll ? x : tf.slice(x, begin, size);
  for (const [axis, places] of gathered) taken = tf.gather(taken, tf.tensor1d(places, 'int32'), axis);
  return taken.reshape(itemShape(x.shape, key) as number[]);
}
