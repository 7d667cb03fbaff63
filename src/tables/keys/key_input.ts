/** Keys of a batch as a model is fed them, and the row numbers that its tables have for them. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import type { IdsInput } from '../../ids/parse_ids.js';
import { splitsOfRowIds, takeEntries } from '../../ids/ragged_entries.js';
import { keyNotes } from '../../lookup/key_notes.js';
import { longestRow, placeSplits } from '../../ids/row_splits.js';
import { keyedRowsOf, standInFor, type KeyedRows, type RaggedRows } from '../../tfjs/stand_ins.js';
import { PADDING } from './open_rows.js';
import type { OpenTable } from './open_table.js';
import type { KeysInput } from '../../tfjs/models/key_inputs.js';
import { idsInLayout, readKeys, type KeyBatch, type KeyKind, type KeyLayout } from './read_keys.js';

/** How a layer asks for keys. */
export interface KeyUse {
  readonly table: OpenTable;
  /** Whether the key 0 is padding. */
  readonly skipZero: boolean;
}

/** Row numbers that were found before a step, one vector for each lookup, and the splits of ragged rows. */
export interface FoundRows {
  readonly rows: readonly tf.Tensor1D[];
  readonly rowSplits: tf.Tensor1D | null;
}

/** Whether two layers ask for the same row numbers. */
export function isSameUse(a: KeyUse, b: KeyUse): boolean {
  return a.table === b.table && a.skipZero === b.skipZero;
}

export class KeyInput implements KeyedRows {
  /** Row numbers that were found before, by use. */
  readonly found: (readonly [KeyUse, FoundRows])[] = [];

  constructor(
    readonly batch: KeyBatch,
    /** The longest row that is taken; null: any. */
    readonly length: number | null = null,
  ) {}

  /** [rows, keys of the longest], or [rows] where there is one key for each. */
  get shape(): readonly number[] {
    const { layout } = this.batch;
    if (layout.kind === 'dense') return layout.shape;
    const splits = splitsOfRows(layout);
    return [splits.length - 1, this.length ?? longestRow(splits)];
  }

  /** Whether rows have different lengths. */
  get isRagged(): boolean {
    return this.batch.layout.kind === 'ragged';
  }

  take(rows: Int32Array): KeyInput {
    const { words, layout, texts } = this.batch;
    const isDense = layout.kind === 'dense';
    const splits = isDense ? [] : [splitsOfRows(layout)];
    // Of dense rows each is an entry.
    const width = isDense ? tf.util.sizeFromShape(layout.shape.slice(1)) : 1;
    const taken = takeEntries({ splits, values: words, size: 2 * width }, rows);
    const ofTaken = (): unknown[] => {
      const places = Int32Array.from({ length: words.length / 2 }, (_, place) => place);
      const all = texts!();
      return Array.from(takeEntries({ splits, values: places, size: width }, rows).values, (place) => all[place]);
    };
    const taking: KeyLayout = isDense
      ? { kind: 'dense', shape: [rows.length, ...layout.shape.slice(1)] }
      : { kind: 'ragged', nestedRowSplits: taken.splits };
    const batch = { words: taken.values as Int32Array, layout: taking, texts: texts === null ? null : ofTaken };
    return new KeyInput(batch, this.length);
  }

  /** Takes row numbers that were found before. */
  know(use: KeyUse, found: FoundRows): void {
    this.found.push([use, found]);
  }

  #knownOf(use: KeyUse): FoundRows | undefined {
    return this.found.find(([other]) => isSameUse(use, other))?.[1];
  }

  /** The same keys, of which no row numbers are known. */
  unknown(): KeyInput {
    return new KeyInput(this.batch, this.length);
  }

  /** Row numbers as a step of a graph is fed them. `isTraining`: in a step of the table that the caller began. */
  find({ table, skipZero }: KeyUse, isTraining: boolean): FoundRows {
    const { layout } = this.batch;
    const rows = isTraining ? table.trainedRowsOf(this.batch, skipZero) : table.foundRowsOf(this.batch, skipZero);
    return {
      rows: rows.map((each) => tf.tensor1d(each, 'int32')),
      rowSplits: layout.kind === 'dense' ? null : tf.tensor1d(splitsOfRows(layout), 'int32'),
    };
  }

  /** Where keys are no padding, bool: [rows, longest], or of the shape of dense keys. */
  present(use: KeyUse): tf.Tensor {
    return tf.tidy(() => {
      const { words, layout } = this.batch;
      const known = this.#knownOf(use)?.rows[0];
      if (layout.kind === 'dense' && known !== undefined) return known.notEqual(PADDING).reshape([...layout.shape]);
      const places = known === undefined ? use.table.present(words, use.skipZero) : null;
      const isThere = new Uint8Array(words.length / 2).fill(places === null ? 1 : 0);
      for (const place of places ?? []) isThere[place] = 1;
      known?.dataSync().forEach((row, i) => (isThere[i] = row === PADDING ? 0 : 1));
      if (layout.kind === 'dense') return tf.tensor(isThere, [...layout.shape], 'bool');
      const { splits, rows, columns } = placeSplits(splitsOfRows(layout), this.length);
      const spread = Uint8Array.from({ length: rows * columns }, (_, place) => {
        return splits[place + 1]! > splits[place]! ? isThere[splits[place]!]! : 0;
      });
      return tf.tensor2d(spread, [rows, columns], 'bool');
    });
  }

  /** Row numbers as layers look them up, one for each lookup of the table. Call inside a tidy. */
  idsFor(use: KeyUse): tf.Tensor[] {
    const { layout } = this.batch;
    const known = this.#knownOf(use);
    const rows = known?.rows ?? use.table.rowsOf(this.batch, use.skipZero).map((each) => tf.tensor1d(each, 'int32'));
    if (layout.kind === 'dense') return rows.map((each) => each.reshape([...layout.shape]));
    const rowSplits = known?.rowSplits ?? tf.tensor1d(splitsOfRows(layout), 'int32');
    const [count, longest] = this.shape as [number, number];
    return rows.map((values) => {
      const of: RaggedRows = { values, rowSplits, length: this.length };
      return standInFor(of, { name: 'keys', shape: [count, longest], owns: false });
    });
  }
}

/** Splits of rows of keys that are not dense. */
function splitsOfRows(layout: KeyLayout): Int32Array {
  if (layout.kind === 'ragged') return layout.nestedRowSplits[0]!;
  throw new Error('sparse keys become ragged rows when they are read');
}

/** Sparse keys as ragged rows. */
function raggedLayout({ layout, ...rest }: KeyBatch, path: string): KeyBatch {
  if (layout.kind !== 'sparse') return { layout, ...rest };
  const { indices, denseShape } = layout;
  if (denseShape.length !== 2) {
    throw new ValueError(path, 'sparse keys of rank 2', described(`rank ${denseShape.length}`));
  }
  const rowIds = Int32Array.from({ length: indices.length / 2 }, (_, i) => indices[2 * i]!);
  const splits = splitsOfRowIds(rowIds, rowIds.length, denseShape[0]);
  return { layout: { kind: 'ragged', nestedRowSplits: [splits] }, ...rest };
}

/** A tensor that stands for keys of an input [batch, ...sizes] of a model. */
export function keyStandIn(value: unknown, kind: KeyKind, sizes: readonly (number | null)[], path: string): tf.Tensor {
  const batch = raggedLayout(readKeys(value as KeysInput, kind, path), path);
  const { layout } = batch;
  const received = layout.kind === 'dense' ? `[${layout.shape.join(', ')}]` : 'ragged rows';
  const expected = `keys of shape [batch${sizes.map((size) => `, ${String(size)}`).join('')}]`;
  if (layout.kind === 'ragged' && (sizes.length !== 1 || layout.nestedRowSplits.length !== 1)) {
    throw new ValueError(path, expected, described(received));
  }
  const length = sizes.length === 1 ? sizes[0]! : null;
  const rows = new KeyInput(batch, layout.kind === 'ragged' ? length : null);
  if (layout.kind === 'dense') {
    const fits =
      layout.shape.length === sizes.length + 1 &&
      sizes.every((size, axis) => size === null || size === layout.shape[axis + 1]);
    if (!fits) throw new ValueError(path, expected, described(received));
  } else if (length !== null && longestRow(splitsOfRows(layout)) > length) {
    const longest = longestRow(splitsOfRows(layout));
    throw new ValueError(path, `rows of at most ${length} keys, as the input says`, described(`one of ${longest}`));
  }
  return standInFor(rows, { name: path, shape: rows.shape, owns: false });
}

/** The keys that a tensor stands for; null: it is an ordinary one, or no tensor. */
export function keyInputOf(value: unknown): KeyInput | null {
  return keyedRowsOf(value) as KeyInput | null;
}

/** Row numbers of the ids of a call, one for each lookup of the table. Call inside a tidy. */
export function rowNumbersFor(use: KeyUse, ids: unknown, path: string): IdsInput[] {
  const given = keyInputOf(ids);
  if (given !== null) return given.idsFor(use);
  const known = keyNotes()?.found(ids, use) ?? null;
  if (known !== null) return [...known];
  const batch = readKeys(ids as KeysInput, use.table.keyKind, path);
  return use.table.rowsOf(batch, use.skipZero, ids).map((rows) => idsInLayout(rows, batch.layout) as IdsInput);
}
