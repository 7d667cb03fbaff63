/** Tables of keys and values: TensorFlow's lookup tables, on the host. */
import type * as tf from '@tensorflow/tfjs';
import { RuntimeError, ValueError, described } from '../../../base/errors.js';
import { copyValues, hostArray, sizeOf, type HostArray, type HostValues } from '../host_array.js';

/** `static`: filled once; `mutable`: written at any time; `dense`: mutable, with two keys that it never holds. */
export type TableKind = 'static' | 'mutable' | 'dense';

export interface TableSettings {
  /** Errors tell it. */
  readonly name: string;
  readonly kind: TableKind;
  readonly keyDtype: tf.DataType;
  readonly valueDtype: tf.DataType;
  /** Of each key; scalars but in dense tables. */
  readonly keyShape: readonly number[];
  /** Of each value; scalars unless the table is one of tensors. */
  readonly valueShape: readonly number[];
  /** The empty and the deleted key of a dense table, whose places they mark in TensorFlow. */
  readonly reserved?: readonly { readonly called: string; readonly key: HostArray }[];
}

interface Pair {
  readonly key: HostValues;
  readonly value: HostValues;
}

const show = (shape: readonly number[]): string => `shape [${shape.join(', ')}]`;

const isSame = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((size, axis) => size === b[axis]);

/** The values of one element. */
function partOf({ dtype, values }: HostArray, at: number, width: number): HostValues {
  const part = hostArray(dtype, [width]).values;
  copyValues(values, at * width, width, part, 0);
  return part;
}

/** What a map knows a key, or a value, by. */
function textOf(part: HostValues): string {
  return Array.isArray(part)
    ? part.map((bytes) => bytes.join(',')).join(';')
    : Array.from(part, (x) => x + 0).join(',');
}

/** How errors show a key. */
function shown(part: HostValues): string {
  return Array.isArray(part) ? JSON.stringify(new TextDecoder().decode(part[0])) : Array.from(part).join(', ');
}

export class LookupTable {
  private pairs = new Map<string, Pair>();
  private isFilled = false;
  private readonly reserved: ReadonlyMap<string, string>;
  private readonly keyWidth: number;
  private readonly valueWidth: number;

  constructor(readonly settings: TableSettings) {
    const { reserved = [], keyShape, valueShape, name } = settings;
    this.reserved = new Map(reserved.map(({ called, key }) => [textOf(key.values), called]));
    if (this.reserved.size < reserved.length) {
      throw new ValueError('deleted_key', `another key than the empty one of table ${name}`, described('the same key'));
    }
    this.keyWidth = sizeOf(keyShape);
    this.valueWidth = sizeOf(valueShape);
  }

  get size(): number {
    return this.pairs.size;
  }

  /** Gives a static table its pairs; one that has them keeps them. */
  initialize(keys: HostArray, values: HostArray): void {
    const { kind, name } = this.settings;
    if (kind !== 'static') {
      throw new ValueError('table_handle', 'a table that is filled once', described(`${name}, which is mutable`));
    }
    if (keys.shape.length !== 1) throw new ValueError('keys', 'a vector', described(show(keys.shape)));
    this.checkPairs(keys, values);
    if (keys.values.length === 0) throw new ValueError('keys', 'at least one key', described('none'));
    if (this.isFilled) return;
    const pairs = new Map<string, Pair>();
    this.forPairs(keys, values, (text, pair) => {
      const known = pairs.get(text) ?? pair;
      if (textOf(known.value) !== textOf(pair.value)) {
        const received = described(`${shown(pair.key)} with ${shown(known.value)} and with ${shown(pair.value)}`);
        throw new RuntimeError('keys', `one value for each key of table ${name}`, received);
      }
      pairs.set(text, known);
    });
    this.pairs = pairs;
    this.isFilled = true;
  }

  /** Writes pairs; the last one of a key counts. */
  insert(keys: HostArray, values: HostArray): void {
    this.checkMutable();
    this.checkPairs(keys, values);
    this.checkReserved(keys);
    this.forPairs(keys, values, (text, pair) => void this.pairs.set(text, pair));
  }

  /** Replaces all pairs. A static table takes them as its first ones. */
  import(keys: HostArray, values: HostArray): void {
    if (this.settings.kind === 'static') return this.initialize(keys, values);
    this.checkPairs(keys, values);
    this.checkReserved(keys);
    this.pairs = new Map();
    this.insert(keys, values);
  }

  /** Forgets keys, known ones and others. */
  remove(keys: HostArray): void {
    this.checkMutable();
    this.checkKeys(keys);
    this.checkReserved(keys);
    for (let at = 0; at < this.countOf(keys); at++) this.pairs.delete(textOf(partOf(keys, at, this.keyWidth)));
  }

  /** The value of each key; for others the default, which is one value or one for each key. */
  find(keys: HostArray, defaults: HostArray): HostArray {
    const { kind, name, valueShape, valueDtype } = this.settings;
    this.checkKeys(keys);
    this.checkDtype('default_value', defaults, valueDtype);
    const full = [...this.outerShape(keys), ...valueShape];
    const isPerKey = !isSame(defaults.shape, valueShape);
    if (isPerKey && !isSame(defaults.shape, full)) {
      const expected = `${show(valueShape)} or ${show(full)}`;
      throw new ValueError('default_value', expected, described(show(defaults.shape)));
    }
    if (kind === 'static' && !this.isFilled) {
      throw new RuntimeError('table_handle', 'a table that has its pairs', described(`${name}, which has none yet`));
    }
    this.checkReserved(keys);
    const found = hostArray(valueDtype, full);
    const width = this.valueWidth;
    for (let at = 0; at < this.countOf(keys); at++) {
      const pair = this.pairs.get(textOf(partOf(keys, at, this.keyWidth)));
      if (pair === undefined) copyValues(defaults.values, isPerKey ? at * width : 0, width, found.values, at * width);
      else copyValues(pair.value, 0, width, found.values, at * width);
    }
    return found;
  }

  /** All keys and their values, in the order in which they came. */
  export(): [HostArray, HostArray] {
    const { keyDtype, valueDtype, keyShape, valueShape } = this.settings;
    const keys = hostArray(keyDtype, [this.size, ...keyShape]);
    const values = hostArray(valueDtype, [this.size, ...valueShape]);
    let at = 0;
    for (const { key, value } of this.pairs.values()) {
      copyValues(key, 0, this.keyWidth, keys.values, at * this.keyWidth);
      copyValues(value, 0, this.valueWidth, values.values, at * this.valueWidth);
      at++;
    }
    return [keys, values];
  }

  private forPairs(keys: HostArray, values: HostArray, use: (text: string, pair: Pair) => void): void {
    for (let at = 0; at < this.countOf(keys); at++) {
      const key = partOf(keys, at, this.keyWidth);
      use(textOf(key), { key, value: partOf(values, at, this.valueWidth) });
    }
  }

  /** The shape of keys without that of each key. */
  private outerShape({ shape }: HostArray): readonly number[] {
    return shape.slice(0, shape.length - this.settings.keyShape.length);
  }

  private countOf(keys: HostArray): number {
    return sizeOf(this.outerShape(keys));
  }

  private checkMutable(): void {
    const { kind, name } = this.settings;
    if (kind !== 'static') return;
    throw new RuntimeError('table_handle', 'a mutable table', described(`${name}, which is filled once`));
  }

  private checkDtype(argument: string, { dtype }: HostArray, expected: tf.DataType): void {
    if (dtype === expected) return;
    throw new ValueError(
      argument,
      `dtype ${expected}, that of table ${this.settings.name}`,
      described(`dtype ${dtype}`),
    );
  }

  private checkKeys(keys: HostArray): void {
    const { keyDtype, keyShape } = this.settings;
    this.checkDtype('keys', keys, keyDtype);
    if (isSame(keys.shape.slice(this.outerShape(keys).length), keyShape)) return;
    throw new ValueError('keys', `keys of ${show(keyShape)}`, described(show(keys.shape)));
  }

  private checkPairs(keys: HostArray, values: HostArray): void {
    const { valueDtype, valueShape } = this.settings;
    this.checkKeys(keys);
    this.checkDtype('values', values, valueDtype);
    const expected = [...this.outerShape(keys), ...valueShape];
    if (!isSame(values.shape, expected)) throw new ValueError('values', show(expected), described(show(values.shape)));
  }

  private checkReserved(keys: HostArray): void {
    if (this.reserved.size === 0) return;
    for (let at = 0; at < this.countOf(keys); at++) {
      const key = partOf(keys, at, this.keyWidth);
      const called = this.reserved.get(textOf(key));
      if (called === undefined) continue;
      throw new ValueError(
        'keys',
        `keys other than the ${called} key of table ${this.settings.name}`,
        described(shown(key)),
      );
    }
  }
}
