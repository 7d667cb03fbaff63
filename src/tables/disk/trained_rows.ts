/** Rows that are trained: changed ones, and what optimizers keep of them, go back to the file, and to the disk at checkpoints. */
import * as tf from '@tensorflow/tfjs';
import type * as nodeFs from 'node:fs';
import { readRows, writeRowsAt } from '../../backends/stores/table_rows.js';
import { RuntimeError, ValueError, described } from '../../base/errors.js';
import { readRowsAt } from '../../lookup/lookup.js';
import type { RowsBeside } from './cached_rows.js';
import { headerOf, sizeOf, stateRegion, stateWords, type RowFileForm, type RowState } from './row_file.js';
import { RowJournal, writeAt, type Piece } from './row_journal.js';
import { nodeFsOf, type Region, type RowReader } from './row_reader.js';

/** Rows that are written at once. */
const AT_ONCE = 8192;

function bitsOf(start: number): number {
  return new Int32Array(Float32Array.of(start).buffer)[0]!;
}

/** Numbers of rows of a variable by their places, row-major. */
function numbersAt(variable: tf.Variable, places: Int32Array): Float32Array {
  if (variable.rank === 2) return readRowsAt(variable, places);
  if (tf.getBackend() === 'tensorflow') {
    const found = tf.tidy(() => tf.gather(variable as tf.Tensor, tf.tensor1d(places, 'int32')));
    const values = found.dataSync<'float32'>();
    found.dispose();
    return values;
  }
  const values = new Float32Array(places.length);
  places.forEach((place, i) => readRows(variable, place, 1, values.subarray(i, i + 1)));
  return values;
}

export class TrainedRows implements RowsBeside {
  bytesWritten = 0;
  readonly #dirty: Uint8Array;
  readonly #journal: RowJournal;
  /** A bit for each row that the journal has. */
  readonly #noted: Uint8Array;
  readonly #fs: typeof nodeFs;
  #form: RowFileForm;
  /** Bytes of the file at the last checkpoint. */
  #size: number;
  #slots: readonly tf.Variable[] | null = null;

  constructor(
    private readonly name: string,
    private readonly reader: RowReader,
    private readonly region: Region,
    form: RowFileForm,
    private readonly rowAt: Int32Array,
    private readonly variable: () => tf.Variable,
  ) {
    this.#form = form;
    this.#size = sizeOf(form);
    this.#dirty = new Uint8Array(rowAt.length);
    this.#noted = new Uint8Array(Math.ceil(form.rows / 8));
    this.#journal = new RowJournal(reader.path);
    this.#fs = nodeFsOf(reader.path);
  }

  willChange(places: Int32Array): void {
    for (const place of places) if (place < this.#dirty.length) this.#dirty[place] = 1;
  }

  putBack(places: Int32Array): void {
    const changed = places.filter((place) => this.#dirty[place] === 1 && this.rowAt[place]! >= 0);
    const order = changed.sort((a, b) => this.rowAt[a]! - this.rowAt[b]!);
    for (let first = 0; first < order.length; first += AT_ONCE) this.#write(order.slice(first, first + AT_ONCE));
  }

  /** Writes the rows of places, in the order of the rows. */
  #write(places: Int32Array): void {
    const rows = places.map((place) => this.rowAt[place]!);
    const values = numbersAt(this.variable(), places);
    const state = this.#slots === null ? null : this.#stateAt(places);
    this.#system(() => {
      this.#note(rows);
      this.#put(rows, this.region, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
      if (state !== null) this.#put(rows, stateRegion(this.#form), new Uint8Array(state.buffer));
    });
    for (const place of places) this.#dirty[place] = 0;
  }

  /** Writes rows, ascending, those one after the other at once. */
  #put(rows: Int32Array, { start, bytes }: Region, all: Uint8Array): void {
    if (bytes === 0) return;
    for (let first = 0, end = 1; end <= rows.length; end++) {
      if (end < rows.length && rows[end] === rows[end - 1]! + 1) continue;
      writeAt(this.#fs, this.reader.descriptor, {
        at: start + rows[first]! * bytes,
        bytes: all.subarray(first * bytes, end * bytes),
      });
      first = end;
    }
    this.bytesWritten += rows.length * bytes;
  }

  /** Has the journal know what lies in the places of rows. */
  #note(rows: Int32Array): void {
    const fresh = rows.filter((row) => (this.#noted[row >> 3]! & (1 << (row & 7))) === 0);
    if (fresh.length === 0) return;
    const pieces: Piece[] = [];
    for (const region of [this.region, stateRegion(this.#form)]) {
      const { start, bytes } = region;
      // What the file has got since the checkpoint goes when it is cut off.
      if (bytes === 0 || start >= this.#size) continue;
      const old = this.reader.read(fresh, region);
      fresh.forEach((row, i) =>
        pieces.push({ at: start + row * bytes, bytes: old.subarray(i * bytes, (i + 1) * bytes) }),
      );
    }
    this.#journal.note(pieces, this.#size);
    for (const row of fresh) this.#noted[row >> 3]! |= 1 << (row & 7);
  }

  #system<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (typeof (error as { code?: unknown }).code !== 'string') throw error;
      const received = described(`${this.reader.path}, of which the system says: ${(error as Error).message}`);
      throw new RuntimeError('file', `a file that rows of table ${this.name} can be written to`, received);
    }
  }

  /** What lies in the state of the file for rows of places. */
  #stateAt(places: Int32Array): Int32Array {
    const { widths, starts } = this.#form.state!;
    const words = stateWords(this.#form.state!);
    const state = new Int32Array(places.length * words);
    let column = 0;
    this.#slots!.forEach((slot, k) => {
      const [width, start] = [widths[k]!, bitsOf(starts[k]!)];
      const values = numbersAt(slot, places);
      const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
      for (let i = 0; i < bits.length; i++) {
        state[Math.floor(i / width) * words + column + (i % width)] = bits[i]! ^ start;
      }
      column += width;
    });
    return state;
  }

  fetch(rows: Int32Array, places: Int32Array): void {
    const slots = this.#slots;
    if (slots === null || slots.length === 0 || rows.length === 0) return;
    const { widths, starts } = this.#form.state!;
    const words = stateWords(this.#form.state!);
    const state = new Int32Array(this.reader.read(rows, stateRegion(this.#form)).buffer);
    let column = 0;
    slots.forEach((slot, k) => {
      const [width, start] = [widths[k]!, bitsOf(starts[k]!)];
      const bits = new Int32Array(rows.length * width);
      for (let i = 0; i < bits.length; i++) {
        bits[i] = state[Math.floor(i / width) * words + column + (i % width)]! ^ start;
      }
      writeRowsAt(slot, places, new Float32Array(bits.buffer));
      column += width;
    });
  }

  slotsMade(slots: readonly tf.Variable[], starts: readonly number[], optimizer: string): void {
    const widths = slots.map(({ shape }) => shape[1] ?? 1);
    this.#takeState({ optimizer, widths, starts });
    this.#slots = slots;
    const places = this.rowAt.map((row, place) => (row >= 0 ? place : -1)).filter((place) => place >= 0);
    places.sort((a, b) => this.rowAt[a]! - this.rowAt[b]!);
    this.fetch(
      places.map((place) => this.rowAt[place]!),
      places,
    );
  }

  /** Gives the file room for what an optimizer keeps; an error where it holds what another one kept. */
  #takeState(state: RowState): void {
    const known = this.#form.state;
    if (known !== null) {
      if (JSON.stringify(known) === JSON.stringify(state)) return;
      const told = ({ optimizer, starts }: RowState): string => `${optimizer} that begins with [${starts.join(', ')}]`;
      const note = 'copyTo makes a file of the same rows that no optimizer has had.';
      const expected = `${told(known)}, with which ${this.reader.path} was trained`;
      throw new ValueError('optimizer', expected, described(told(state)), note);
    }
    const form: RowFileForm = { ...this.#form, state };
    this.#system(() => {
      const { descriptor } = this.reader;
      this.#journal.note([{ at: 0, bytes: headerOf(this.#form) }], this.#size);
      this.#fs.ftruncateSync(descriptor, sizeOf(form));
      writeAt(this.#fs, descriptor, { at: 0, bytes: headerOf(form) });
    });
    this.#form = form;
  }

  slotsGo(): void {
    if (this.#slots === null) return;
    this.#putBackAll();
    this.#slots = null;
  }

  #putBackAll(): void {
    const places: number[] = [];
    this.#dirty.forEach((dirty, place) => dirty === 1 && places.push(place));
    this.putBack(Int32Array.from(places));
  }

  /** Brings all rows to the disk: what it holds then is what a crash leaves. */
  checkpoint(): void {
    this.#putBackAll();
    this.#system(() => {
      this.#fs.fsyncSync(this.reader.descriptor);
      this.#journal.drop();
    });
    this.#noted.fill(0);
    this.#size = sizeOf(this.#form);
  }

  /** Leaves the file as it is. */
  close(): void {
    this.#journal.close();
  }
}
