/**
 * HDF5 files, by jsfive, which is loaded on first use.
 *
 * It is JavaScript alone: a damaged file ends in an error, where the C library may lose its memory for good. It reads
 * what lies in the file and nothing else, so links out of it lead nowhere.
 */
import type * as jsfive from 'jsfive';
import { ValueError, described, describe } from '../../base/errors.js';
import { loadPackage } from '../../base/platform.js';
import type { PositionedFile } from '../../base/platform.js';
import { noteOnBytes, positioned } from '../../io/byte_source.js';
import { readArray, type ArrayType } from '../../io/weights/array_values.js';

/** `TREE`, kind, level, number of entries, and the addresses of two neighbours. */
const HEADER = 24;
const SIGNATURE = [0x54, 0x52, 0x45, 0x45];
const GROUP_NODE = 0;
/** The library's own writer makes 32. */
const MOST_ENTRIES = 64;

function isNode(bytes: Uint8Array, at: number): boolean {
  return SIGNATURE.every((byte, i) => bytes[at + i] === byte) && bytes[at + 4] === GROUP_NODE;
}

/** Throws ValueError where a node of a group has more entries than HDF5 writes, or a child that another node has too. */
function checkGroupTrees(bytes: Uint8Array, name: string): void {
  const refuse = (what: string): never => {
    throw new ValueError('source', 'an HDF5 file that is whole', described(`${name}, ${what}`));
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const children = new Set<bigint>();
  for (let at = bytes.indexOf(SIGNATURE[0]!); at >= 0; at = bytes.indexOf(SIGNATURE[0]!, at + 1)) {
    if (!isNode(bytes, at) || at + HEADER > bytes.length) continue;
    const entries = view.getUint16(at + 6, true);
    if (entries > MOST_ENTRIES) refuse(`whose group at ${at} has ${entries} entries in a node`);
    // Keys and addresses of children take turns.
    for (let i = 0; i < entries; i++) {
      const place = at + HEADER + 8 + 16 * i;
      if (place + 8 > bytes.length) return refuse('which ends within a group');
      const child = view.getBigUint64(place, true);
      if (children.has(child)) refuse(`whose group at ${at} has a child that is another's`);
      children.add(child);
    }
  }
}

const VERSION_AT = 8;
/** Where the address of the end lies, by version, with addresses of 8 bytes. */
const END_AT = [40, 44, 28, 28];

/** Throws ValueError for a file that is shorter than it says. */
function checkEnd(bytes: Uint8Array, name: string): void {
  const at = END_AT[bytes[VERSION_AT] ?? -1];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = at === undefined || at + 8 > bytes.length ? null : view.getBigUint64(at, true);
  if (end !== null && end <= BigInt(bytes.length)) return;
  const expected = end === null ? 'an HDF5 file' : `an HDF5 file of ${end} bytes`;
  throw new ValueError('source', expected, described(`${name}, which holds ${bytes.length}`));
}

type Library = typeof jsfive;

const loadLibrary = (): Promise<Library> => loadPackage('jsfive', 'source', () => import('jsfive'));

const MOST_NAMES = 100_000;
const DEEPEST = 24;
/** Numbers of one, two, four and eight bytes, as NumPy writes their types. */
const NUMBERS = /^([<>|=])([fiu])([1248])$/;

type Entity = jsfive.Group | jsfive.Dataset;

/** An HDF5 file in memory, for reading. */
export class Hdf5File {
  private constructor(
    private readonly library: Library,
    private readonly file: jsfive.File,
    /** What it is called in errors. */
    readonly name: string,
    private readonly bytes: PositionedFile,
  ) {}

  /** Opens the bytes of a file. Throws ValueError where they are none. */
  static async open(bytes: Uint8Array, name: string): Promise<Hdf5File> {
    const library = await loadLibrary();
    const isWhole = bytes.byteLength === bytes.buffer.byteLength;
    const buffer = (isWhole ? bytes.buffer : bytes.slice().buffer) as ArrayBuffer;
    checkEnd(new Uint8Array(buffer), name);
    checkGroupTrees(new Uint8Array(buffer), name);
    try {
      return new Hdf5File(library, new library.File(buffer, name), name, positioned(new Uint8Array(buffer)));
    } catch (error) {
      throw new ValueError('source', 'an HDF5 file', described(name), noteOnBytes(error));
    }
  }

  /** Runs what reads; what the library throws becomes an error that names the file and the place. */
  #read<T>(place: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof ValueError) throw error;
      const received = described(`${this.name}, at ${describe(place)}`);
      throw new ValueError('source', 'an HDF5 file that is whole', received, noteOnBytes(error));
    }
  }

  /** By path: the library reads all links of a group each time that it comes by. */
  readonly #entities = new Map<string, Entity | null>();
  /** Texts of attributes, which the library reads anew for each group; many groups lie in one heap. */
  readonly #heaps: object = {};

  #get(path: string): Entity | null {
    const [name, ...outer] = path
      .split('/')
      .filter((part) => part !== '')
      .reverse() as [string?, ...string[]];
    return this.#read(path, () => (name === undefined ? this.file : this.#within(outer.reverse(), name)));
  }

  #within(folders: readonly string[], name: string): Entity | null {
    const path = [...folders, name].join('/');
    const known = this.#entities.get(path);
    if (known !== undefined) return known;
    const parent = folders.length === 0 ? this.file : this.#within(folders.slice(0, -1), folders.at(-1)!);
    const found = parent instanceof this.library.Group ? (parent.get(name) ?? null) : null;
    if (found !== null) (found as unknown as Placed)._dataobjects._global_heaps = this.#heaps;
    this.#entities.set(path, found);
    return found;
  }

  /** An attribute that holds a text; null where there is none. */
  text(path: string, attribute: string): string | null {
    const value = this.#attribute(path, attribute);
    return typeof value === 'string' ? textOf(value) : null;
  }

  /** An attribute that holds a list of texts; null where there is none. Keras splits long lists into `name0`, `name1`. */
  texts(path: string, attribute: string): string[] | null {
    const whole = this.#attribute(path, attribute);
    if (whole !== undefined) return listOfTexts(whole);
    const parts: string[] = [];
    for (let i = 0; ; i++) {
      const part = this.#attribute(path, `${attribute}${i}`);
      if (part === undefined) return i === 0 ? null : parts;
      parts.push(...listOfTexts(part));
    }
  }

  #attribute(path: string, attribute: string): unknown {
    return this.#read(`${path}@${attribute}`, () => {
      const attributes = this.#get(path)?.attrs;
      return attributes !== undefined && Object.hasOwn(attributes, attribute) ? attributes[attribute] : undefined;
    });
  }

  /** Paths of all arrays below a group, without the path of the group. Throws for a group that comes twice. */
  arrays(group: string): string[] {
    const found: string[] = [];
    const open: [string, number][] = [['', 0]];
    const groups = new Set<unknown>();
    let seen = 0;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [path, depth] = next;
      const place = `${group}/${path}`.replace(/^(.+)\/$/, '$1');
      const entity = this.#get(place);
      if (entity instanceof this.library.Dataset) found.push(path);
      else if (entity instanceof this.library.Group) {
        const at = (entity as unknown as Placed)._dataobjects.offset;
        if (groups.has(at)) {
          const received = described(`${this.name}, whose ${describe(place)} is another group too`);
          throw new ValueError('source', 'an HDF5 file that is whole', received);
        }
        groups.add(at);
        const keys = this.#read(place, () => [...entity.keys]);
        seen += keys.length;
        if (depth > DEEPEST || seen > MOST_NAMES) {
          const received = described(`${this.name}, which has more`);
          throw new ValueError('source', `at most ${MOST_NAMES} names, ${DEEPEST} levels deep`, received);
        }
        for (const key of keys.reverse()) open.push([path === '' ? key : `${path}/${key}`, depth + 1]);
      }
    }
    return found;
  }

  #array(path: string): jsfive.Dataset {
    const entity = this.#get(path);
    if (entity instanceof this.library.Dataset) return entity;
    throw new ValueError('source', `an array at ${describe(path)}`, described(this.name));
  }

  shape(path: string): number[] {
    return this.#read(path, () => [...this.#array(path).shape].map(Number));
  }

  /** The values of an array as float32, or as int32 where they are whole numbers. */
  values(path: string): Float32Array | Int32Array | Uint8Array {
    return this.#read(path, () => {
      const array = this.#array(path);
      const place = `${this.name}, ${describe(path)}`;
      const shape = this.shape(path);
      const size = shape.reduce((product, each) => product * each, 1);
      if (!Number.isSafeInteger(size) || size < 0) {
        throw new ValueError(
          'source',
          'values that fit into the file',
          described(`${place} of shape [${shape.join(', ')}]`),
        );
      }
      const start = startOf(array);
      // Chunks may unpack to anything, and Keras writes none.
      if (start === null) throw new ValueError('source', 'arrays in one piece, as Keras writes them', described(place));
      return readArray(this.bytes, place, start, size, typeOf(array, place));
    });
  }
}

function typeOf({ dtype }: jsfive.Dataset, place: string): ArrayType {
  const [, order, letter, digit] = (typeof dtype === 'string' ? NUMBERS.exec(dtype) : null) ?? [];
  const bytes = Number(digit) as ArrayType['bytes'];
  if (letter === undefined || (letter === 'f' && bytes === 1)) {
    throw new ValueError('source', 'arrays of numbers', described(`${place}, of type ${describe(dtype)}`));
  }
  const kind = letter === 'f' ? 'float' : letter === 'i' ? 'int' : 'uint';
  return { kind, bytes, littleEndian: order !== '>', dtype: kind === 'float' ? 'float32' : 'int32' };
}

/** What the library knows of the place of an array. */
interface Placed {
  readonly _dataobjects: {
    readonly fh: ArrayBuffer;
    /** By address, those that were read. */
    _global_heaps: object;
    /** Where the entity begins in the file. */
    readonly offset: number;
    find_msg_type(type: number): readonly { get(field: string): number }[];
    _get_data_message_properties(offset: number): readonly number[];
  };
}

const STORAGE_MESSAGE = 8;
const CONTIGUOUS = 1;

/** Where the values of an array begin that lie in one piece; null for any other, and where there are none. */
function startOf(array: jsfive.Dataset): number | null {
  const { _dataobjects: objects } = array as unknown as Placed;
  const message = objects.find_msg_type(STORAGE_MESSAGE)[0];
  if (message === undefined) return null;
  const [, , layout, offset] = objects._get_data_message_properties(message.get('offset_to_message'));
  if (layout !== CONTIGUOUS || offset === undefined) return null;
  const start = new DataView(objects.fh).getBigUint64(offset, true);
  return start <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(start) : null;
}

function listOfTexts(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  // Texts of one length for all end in zeros where they are shorter: so h5py writes arrays of NumPy.
  return list.filter((item) => typeof item === 'string').map(textOf);
}

/** The library reads texts of one length as Latin-1, where Keras writes UTF-8. */
function textOf(value: string): string {
  const text = value.replace(/\0+$/, '');
  if (!/[\u0080-\u00ff]/.test(text) || /[^\0-\u00ff]/.test(text)) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
  } catch {
    return text;
  }
}
