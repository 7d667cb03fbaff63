/** Features of users and items: columns of atomic files of RecBole as rows of ids. */
import * as tf from '@tensorflow/tfjs';
import { readFileSync } from 'node:fs';
import { InputError, mistakeAt } from '../input_error.mjs';
import { Names } from '../interactions.js';

/** One column: ids of each user or item, padded by -1 to `width`. */
export interface Feature {
  readonly name: string;
  /** Ids are below it. */
  readonly size: number;
  readonly width: number;
  /** [rows, width]. */
  readonly ids: Int32Array;
}

const BINS = 16;
const TYPES = ['token', 'token_seq', 'float'] as const;

/** A column of its number alone. */
export function ownIds(name: string, size: number): Feature {
  return { name, size, width: 1, ids: Int32Array.from({ length: size }, (_, id) => id) };
}

/** Rows of ids as a feature; rows without ids are all padding. */
export function featureOf(name: string, size: number, rows: readonly (readonly number[])[]): Feature {
  const width = rows.reduce((most, { length }) => Math.max(most, length), 1);
  const ids = new Int32Array(rows.length * width).fill(-1);
  rows.forEach((row, at) => ids.set(row, at * width));
  return { name, size, width, ids };
}

/** The features of these rows as inputs, int32 [rows, width] each. */
export function inputsOf(features: readonly Feature[], rows: ArrayLike<number>): tf.Tensor2D[] {
  return features.map(({ width, ids }) => {
    const picked = new Int32Array(rows.length * width);
    for (let i = 0; i < rows.length; i++) {
      const from = rows[i]! * width;
      for (let j = 0; j < width; j++) picked[i * width + j] = ids[from + j]!;
    }
    return tf.tensor2d(picked, [rows.length, width], 'int32');
  });
}

/** Reads the columns but `key`, of those whose key has a number. Throws InputError, with the line, for a wrong file. */
export function readFeatures(path: string, key: string, numberOf: (name: string) => number | null, count: number) {
  const lines = readFileSync(path, 'utf8').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const columns = (lines[0] ?? '').split('\t').map((column) => column.split(':') as [string, string | undefined]);
  const at = columns.findIndex(([name]) => name === key);
  if (at < 0) throw mistakeAt(path, 1, `a column ${key}`, lines[0] ?? '');
  const cells = columns.map(() => Array.from({ length: count }, () => ''));
  lines.slice(1).forEach((line, i) => {
    const row = line.split('\t');
    if (row.length !== columns.length) {
      throw new InputError(`${path}, line ${i + 2}: expected ${columns.length} columns, found ${row.length}`);
    }
    const number = numberOf(row[at]!);
    if (number !== null) row.forEach((cell, column) => (cells[column]![number] = cell));
  });
  return columns.flatMap(([name, type], column) => {
    if (column === at) return [];
    if (!TYPES.includes(type as 'token')) {
      throw new InputError(`${path}: expected ${name} to be of type ${TYPES.join(', ')}, found "${type ?? ''}"`);
    }
    return [type === 'float' ? binned(path, name, cells[column]!) : vocabulary(name, cells[column]!, type!)];
  });
}

function vocabulary(name: string, cells: readonly string[], type: string): Feature {
  const known = new Names();
  const rows = cells.map((cell) => {
    const words = type === 'token' ? [cell] : cell.split(' ');
    return words.filter((word) => word !== '').map((word) => known.numberOf(word));
  });
  return featureOf(name, Math.max(known.numbers.size, 1), rows);
}

/** Bins of equal count. */
function binned(path: string, name: string, cells: readonly string[]): Feature {
  const values = cells.map(Number);
  const bad = values.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new InputError(`${path}: expected numbers in ${name}, found "${cells[bad]}"`);
  const sorted = values.filter((_, i) => cells[i] !== '').sort((a, b) => a - b);
  const edges = Array.from({ length: BINS - 1 }, (_, i) => sorted[Math.floor(((i + 1) * sorted.length) / BINS)]!);
  const binOf = (value: number): number => edges.filter((edge) => edge <= value).length;
  return featureOf(
    name,
    BINS,
    values.map((value, i) => (cells[i] === '' ? [] : [binOf(value)])),
  );
}
