/** What a runtime gives beyond the language and its own globals. The Node entry sets it, once; in pages nothing is there. */
import type * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from './errors.js';
import { perProcess } from './per_process.js';

/** An open file that is read piece by piece. */
export interface PositionedFile {
  /** Bytes. */
  readonly size: number;
  /** Fills `into` with what lies at `position`; gives fewer bytes than that only where the file ends. */
  read(position: number, into: Uint8Array): number;
  close(): void;
}

/** Takes the files of a SavedModel one after the other, each in pieces. */
export interface SavedModelWriter {
  /**
   * `path`: from the folder of the SavedModel, with slashes. A piece is of use until the next is asked for.
   *
   * @param path - From the folder of the SavedModel, with slashes.
   * @param chunks - The bytes, piece after piece; each is of use until the next is asked for.
   * @returns Nothing, or a promise that resolves when the file is written.
   */
  write(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> | void;
}

/** Whether a value takes files. */
export function isWriter(value: unknown): value is SavedModelWriter {
  return typeof (value as Partial<SavedModelWriter> | null)?.write === 'function';
}

/** A signature's inputs or outputs. */
export type NamedShapes = Readonly<
  Record<string, { readonly dtype: string; readonly shape: readonly (number | null)[] }>
>;

/** A SavedModel that runs, without being layers. */
export interface RunnableSavedModel {
  /**
   * Runs the signature on tensors by name; gives tensors by name.
   *
   * @param inputs - Tensors by the names of the signature's inputs.
   * @returns Tensors by the names of its outputs; the caller disposes them.
   */
  predict(inputs: tf.NamedTensorMap): tf.NamedTensorMap;
  readonly signatures: Readonly<Record<string, { readonly inputs: NamedShapes; readonly outputs: NamedShapes }>>;
  dispose(): void;
}

/** The captured steps of models. */
export interface Capturer {
  /** Capture status of a model: the reason why its steps run op by op (null: none), captured signatures, evictions. */
  infoOf(model: tf.LayersModel): {
    readonly reason: string | null;
    readonly captured: number;
    readonly evictions: number;
  };
  /** Gives up the graphs of a model. */
  forget(model: tf.LayersModel): void;
  /** The steps of a function of a user. */
  functionSteps(f: (...args: never[]) => unknown, options: FunctionOptions): CapturedFunctionSteps;
}

/** How a function of a user is captured. */
export interface FunctionOptions {
  /** Whether a call that cannot be captured is an error. */
  readonly onlyCaptured: boolean;
  /** Which calls are compared with a new recording. */
  readonly check: 'growing' | 'always';
}

/** The calls of a function, captured where that can be. */
export interface CapturedFunctionSteps {
  /** A call with this `this` and these arguments. */
  run(self: unknown, args: readonly unknown[]): unknown;
  /** Why calls run op by op; null: nothing speaks against capturing them. */
  readonly reason: string | null;
  /** Kinds of calls that run as one op. */
  readonly captured: number;
  readonly evictions: number;
  /** Whether a new recording of each kind agrees with the old one. */
  verify(): boolean;
  dispose(): void;
}

/** Columns of texts and of whole numbers: looked up or hashed. A text is bytes[offsets[i] .. offsets[i + 1] - gap). */
export interface ColumnKernels {
  /** Fills the slots of a vocabulary; returns the position of a text that was there before, or -1. */
  indexTexts(bytes: Uint8Array, offsets: Int32Array, slots: Int32Array): number;
  /** Writes the index of each text, -1 for unknown ones; returns how many are unknown. */
  findTexts(
    bytes: Uint8Array,
    slots: Int32Array,
    queryBytes: Uint8Array,
    queryOffsets: Int32Array,
    gap: number,
    found: Int32Array, // written
  ): number;
  indexNumbers(numbers: BigInt64Array, slots: BigInt64Array): number;
  findNumbers(slots: BigInt64Array, queries: BigInt64Array, found: Int32Array): number;
  /** FarmHash64, with a key SipHash64, mod `of`. */
  hashTexts(
    bytes: Uint8Array,
    offsets: Int32Array,
    gap: number,
    of: number,
    key: BigInt64Array | null,
    buckets: Int32Array, // written
  ): void;
  /** FarmHash64 of each text as two words, the low one first. */
  fingerprintTexts(bytes: Uint8Array, offsets: Int32Array, words: Int32Array): void;
  /** The same of the decimal texts of numbers. */
  hashNumbers(numbers: BigInt64Array, of: number, key: BigInt64Array | null, buckets: Int32Array): void;
  /** Writes the offsets of texts that each end in a separator; returns how many there are, -1 where others are left. */
  splitTexts(bytes: Uint8Array, separator: number, offsets: Int32Array): number;
}

/** Functions of the C core on the index of keys of an open table: `KeySearch` says what they do. */
export interface KeyKernels {
  /** Bytes from the start of a buffer to where so many bytes should begin: at a line of the cache, or a huge page. */
  tableOffset(buffer: ArrayBuffer, bytes: number): number;
  findKeys(
    groups: Int32Array,
    entries: Int32Array,
    shards: number,
    keys: Int32Array,
    oldest: number,
    found: Int32Array, // written
  ): number;
  touchKeys(
    groups: Int32Array,
    entries: Int32Array, // written, as the last two
    shards: number,
    keys: Int32Array,
    step: number,
    oldest: number,
    found: Int32Array,
    before: Int32Array,
  ): number;
  /**
   * The rows of a shard with the lowest LAST or COUNT (`word`), ties by the lower row, ascending, rows.length at most and
   * none that `step` saw last. `room`: 3 words for each of the `used` rows. Returns how many it wrote.
   */
  lowestRows(
    entries: Int32Array,
    shards: number,
    shard: number,
    used: number,
    step: number,
    word: number,
    rows: Int32Array, // written, as the last
    room: Int32Array,
  ): number;
  /** Writes the rows that keys begin with; the first three are `fillInputs` of a fill that is not constant. */
  fillKeyedRows(
    kind: number,
    numbers: Float64Array,
    quantiles: Float64Array,
    seed: Int32Array,
    keys: Int32Array,
    columns: number,
    rows: Float32Array, // written
  ): void;
}

/** A file that threads of its own read; closed by `closeRowFile`, or when nobody holds it. */
export type RowFile = object;

/** Reads pieces of files by a pool of threads for each file. */
export interface RowReads {
  /** `descriptor`: of the open file. `direct`: 1 reads past the page cache where the system allows it. `most`: bytes of a piece. */
  openRowFile(descriptor: number, path: string, threads: number, direct: number, most: number): RowFile;
  rowFileIsDirect(file: RowFile): boolean;
  /** Begins to read a piece of so many bytes at each offset, ascending; the number of the job. */
  startReads(file: RowFile, offsets: Float64Array, bytes: number): number;
  /** Waits for a job, and writes what it read; null: nobody wants it. `why`: '' where the file ends before. */
  finishReads(file: RowFile, job: number, into: Uint8Array | null): [bytes: number, firstMissing: number, why: string];
  /** Waits for what is being read. */
  closeRowFile(file: RowFile): void;
  /** The slots of rows in a cache, as `RowCache` finds them; `told`: how many have none, and how many slots are used anew. */
  findSlots(
    places: Int32Array,
    marks: Int32Array, // written, as the last two
    used: number,
    rows: Int32Array,
    slots: Int32Array,
    told: Int32Array,
  ): void;
}

/** Under this name a handler of files tells how a model is opened whose weights are read as they are asked for. */
export const OPEN_MODEL = Symbol.for('tfjs-embeddings.openModel');

export interface Platform {
  /** Loads a module of Node by its name. */
  require(name: string): unknown;
  /** Opens a file for reading. Errors of the system pass. */
  openFile(path: string): PositionedFile;
  /** Writes a file, all of it or nothing, and the folders above it. */
  writeFile(path: string, pieces: Iterable<Uint8Array>): Promise<void>;
  /** Makes a folder of what `fill` writes: all of it or nothing. */
  makeFolder(folder: string, overwrite: boolean, fill: (writer: SavedModelWriter) => Promise<void>): Promise<void>;
  loadSavedModel(directory: unknown, options: unknown): Promise<tf.LayersModel | RunnableSavedModel>;
  /** Two names of one disk change places in one step; false where the system cannot do that. */
  exchangeFolders(a: string, b: string): boolean;
  /** The CRC-32C of what came before and these bytes; -1 where the processor has no instruction for it. */
  extendCrc32c(before: number, bytes: Uint8Array): number;
  readonly capturer: Capturer;
  readonly columns: ColumnKernels;
  readonly keys: KeyKernels;
  readonly rowReads: RowReads;
  /** Opens the disk table that a config tells of. */
  openDiskTable(config: Record<string, unknown>, name: string): object;
}

const given = (): { platform: Partial<Platform> | null } => perProcess('platform', () => ({ platform: null }));

/** Sets what the platform gives. What another build of this package set in this process stays. */
export function setPlatform(platform: Partial<Platform>): void {
  given().platform ??= platform;
}

/** What the platform gives; parts may be missing. */
export function platform(): Partial<Platform> {
  return given().platform ?? {};
}

/**
 * Returns a part of the platform. Where it is missing, throws a RuntimeError, which says that `what` needs Node; `note`:
 * what works without it.
 */
export function fromPlatform<K extends keyof Platform>(
  part: K,
  argument: string,
  what: string,
  note = '',
): Platform[K] {
  const found = platform()[part];
  if (found !== undefined) return found;
  const message = `${what} needs Node: import 'tfjs-embeddings/node'. ${note}`.trim();
  throw new RuntimeError(argument, "Node and the entry 'tfjs-embeddings/node'", described(what, message));
}

/**
 * Returns a module of Node by its name, such as `node:fs`; null in other runtimes.
 *
 * Node has a function for that from 20.16 and 22.3 on; before, the Node entry gives its `require`.
 */
export function nodeBuiltin<T>(name: string): T | null {
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  if (process?.versions?.node === undefined) return null;
  if (typeof process.getBuiltinModule === 'function') return (process.getBuiltinModule(name) as T | undefined) ?? null;
  return (platform().require?.(name) as T | undefined) ?? null;
}

/**
 * Loads a package on first use. Throws a RuntimeError, which names it, where it is not there; `note`: what else to do.
 */
export async function loadPackage<T>(
  name: string,
  argument: string,
  load: () => Promise<T>,
  note = 'In a page without a bundler an import map names it.',
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw new RuntimeError(argument, `the package ${name}`, described('none'), `${note} ${(error as Error).message}`);
  }
}

/**
 * Imports a package that bundlers leave alone: one that few have installed, or that works in Node only. A literal name
 * would end every bundle that lacks it.
 */
export function importUnbundled(name: string): Promise<unknown> {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ name);
}
