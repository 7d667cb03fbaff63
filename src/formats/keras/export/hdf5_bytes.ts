/**
 * HDF5 files of arrays of numbers in groups. Sizes alone tell where everything lies, so that the numbers of an array are
 * asked for when their place in the file has come, and lie nowhere else.
 * Source: HDF5 File Format Specification, version 3.0: superblock 0, symbol tables, object headers 1, as `libver
 * earliest` of h5py writes.
 */

export interface Hdf5Array {
  /** Names of groups and of the array, with slashes. */
  readonly path: string;
  readonly dtype: 'float32' | 'int32';
  readonly shape: readonly number[];
  /** Its numbers, row-major, in pieces of any size; each is of use until the next is asked for. */
  pieces(): AsyncIterable<Uint8Array>;
}

/** A file on its way: its length, and its bytes in order. */
export interface Hdf5Bytes {
  readonly size: number;
  bytes(): AsyncGenerator<Uint8Array>;
}

interface Group {
  readonly members: Map<string, Group | Hdf5Array>;
}

const SUPERBLOCK = 96;
const ENTRY = 40;
/** Of the nodes of trees over groups, each of which has one leaf: half of the children that they have room for. */
const TREE_RANK = 16;
const NOWHERE = 2 ** 64;
const SIGNATURE = [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a];
const encoder = new TextEncoder();

/** What the format calls them: class and version, what the sign and the byte order are, size, then where bits lie. */
const DATATYPES = {
  float32: [0x11, 0x20, 0x1f, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0, 0, 0, 0, 0],
  int32: [0x10, 0x08, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0],
} as const;
/** Of version 2: late, if it is set, the default of the type. */
const FILL_VALUE = [2, 2, 2, 1, 0, 0, 0, 0];

const padded = (length: number): number => Math.ceil(length / 8) * 8;
const sizeOf = ({ shape }: Hdf5Array): number => shape.reduce((product, each) => product * each, 4);
const isArray = (member: Group | Hdf5Array): member is Hdf5Array => 'pieces' in member;

/** What lies before the arrays, which grows. */
class Head {
  #bytes = new Uint8Array(4096);
  length = 0;

  /** New bytes, all zero; returns where they begin. */
  take(length: number): number {
    const at = this.length;
    this.length += padded(length);
    if (this.length > this.#bytes.length) {
      const more = new Uint8Array(2 * this.length);
      more.set(this.#bytes);
      this.#bytes = more;
    }
    return at;
  }

  put(at: number, bytes: ArrayLike<number>): void {
    this.#bytes.set(bytes, at);
  }

  putText(at: number, text: string): void {
    this.put(at, encoder.encode(text));
  }

  /** A whole number of so many bytes, the least first. */
  putNumber(at: number, value: number, length: number): void {
    const bits = BigInt.asUintN(64, value === NOWHERE ? -1n : BigInt(value));
    for (let i = 0; i < length; i++) this.#bytes[at + i] = Number((bits >> BigInt(8 * i)) & 0xffn);
  }

  /** Addresses and lengths, one after the other. */
  putAddresses(at: number, ...values: number[]): void {
    values.forEach((value, i) => this.putNumber(at + 8 * i, value, 8));
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }
}

/** An object header of messages: [type, size of its body]. Returns where it and the bodies begin. */
function header(head: Head, messages: readonly (readonly [number, number])[]): { at: number; bodies: number[] } {
  const size = messages.reduce((sum, [, body]) => sum + 8 + padded(body), 0);
  const at = head.take(16 + size);
  head.put(at, [1, 0, messages.length]);
  head.putNumber(at + 4, 1, 4);
  head.putNumber(at + 8, size, 4);
  let next = at + 16;
  const bodies = messages.map(([type, body]) => {
    head.putNumber(next, type, 2);
    head.putNumber(next + 2, padded(body), 2);
    next += 8 + padded(body);
    return next - padded(body);
  });
  return { at, bodies };
}

/** Where an object begins; of a group also its tree and its names. */
interface Placed {
  readonly at: number;
  readonly tree?: number;
  readonly names?: number;
}

/** `later`: where the address of an array is to be written. */
function putArray(head: Head, array: Hdf5Array, later: Map<Hdf5Array, number>): Placed {
  const { shape, dtype } = array;
  const type = DATATYPES[dtype];
  const { at, bodies } = header(head, [
    [0x01, 8 + 8 * shape.length],
    [0x03, type.length],
    [0x05, FILL_VALUE.length],
    [0x08, 18],
  ]);
  const [space, ofType, fill, layout] = bodies as [number, number, number, number];
  head.put(space, [1, shape.length]);
  head.putAddresses(space + 8, ...shape);
  head.put(ofType, type);
  head.put(fill, FILL_VALUE);
  head.put(layout, [3, 1]);
  head.putAddresses(layout + 2, NOWHERE, sizeOf(array));
  later.set(array, layout + 2);
  return { at };
}

function putEntry(head: Head, at: number, name: number, { at: object, tree, names }: Placed): void {
  head.putAddresses(at, name, object);
  if (tree === undefined) return;
  head.putNumber(at + 16, 1, 4);
  head.putAddresses(at + 24, tree, names!);
}

/** By the bytes of their names, as readers search them. */
function sorted({ members }: Group): [Uint8Array, Group | Hdf5Array][] {
  const named = [...members].map(([name, member]) => [encoder.encode(name), member] as [Uint8Array, Group | Hdf5Array]);
  return named.sort(([a], [b]) => {
    const at = a.findIndex((byte, i) => byte !== b[i]);
    return at < 0 ? a.length - b.length : a[at]! - (b[at] ?? -1);
  });
}

/** `leafRank`: half of the entries that a leaf has room for. */
function putGroup(head: Head, group: Group, leafRank: number, later: Map<Hdf5Array, number>): Placed {
  const members = sorted(group);
  const objects = members.map(([, member]) => {
    return isArray(member) ? putArray(head, member, later) : putGroup(head, member, leafRank, later);
  });
  // The empty name comes first: it is the lower end of the tree.
  const places: number[] = [];
  let length = 8;
  for (const [name] of members) {
    places.push(length);
    length += padded(name.length + 1);
  }
  const names = head.take(32);
  const text = head.take(length);
  head.putText(names, 'HEAP');
  head.putAddresses(names + 8, length, 1, text);
  members.forEach(([name], i) => head.put(text + places[i]!, name));
  const tree = head.take(24 + 8 * (4 * TREE_RANK + 1));
  head.putText(tree, 'TREE');
  head.putAddresses(tree + 8, NOWHERE, NOWHERE);
  if (members.length > 0) {
    const leaf = head.take(8 + 2 * leafRank * ENTRY);
    head.putText(leaf, 'SNOD');
    head.put(leaf + 4, [1]);
    head.putNumber(leaf + 6, members.length, 2);
    objects.forEach((object, i) => putEntry(head, leaf + 8 + i * ENTRY, places[i]!, object));
    head.putNumber(tree + 6, 1, 2);
    head.putAddresses(tree + 24, 0, leaf, places.at(-1)!);
  }
  const { at, bodies } = header(head, [[0x11, 16]]);
  head.putAddresses(bodies[0]!, tree, names);
  return { at, tree, names };
}

/** Arrays and empty groups by their paths, as a tree. */
function treeOf(arrays: readonly Hdf5Array[], groups: readonly string[]): Group {
  const root: Group = { members: new Map() };
  const groupAt = (names: readonly string[]): Group => {
    let group = root;
    for (const name of names) {
      const known = (group.members.get(name) as Group | undefined) ?? { members: new Map() };
      group.members.set(name, known);
      group = known;
    }
    return group;
  };
  for (const path of groups) groupAt(path.split('/'));
  for (const array of arrays) {
    const names = array.path.split('/');
    groupAt(names.slice(0, -1)).members.set(names.at(-1)!, array);
  }
  return root;
}

function mostMembers({ members }: Group): number {
  const below = [...members.values()].map((member) => (isArray(member) ? 0 : mostMembers(member)));
  return Math.max(members.size, ...below);
}

/** A file of these arrays, and of groups that may be empty. Every path is there once, and no array is a group too. */
export function hdf5Bytes(arrays: readonly Hdf5Array[], groups: readonly string[] = []): Hdf5Bytes {
  const root = treeOf(arrays, groups);
  const leafRank = Math.max(4, Math.ceil(mostMembers(root) / 2));
  const [head, later] = [new Head(), new Map<Hdf5Array, number>()];
  head.take(SUPERBLOCK);
  const placed = putGroup(head, root, leafRank, later);
  let size = head.length;
  for (const [array, at] of later) {
    if (sizeOf(array) === 0) continue;
    head.putAddresses(at, size);
    size += padded(sizeOf(array));
  }
  head.put(0, SIGNATURE);
  head.put(13, [8, 8]);
  head.putNumber(16, leafRank, 2);
  head.putNumber(18, TREE_RANK, 2);
  head.putAddresses(24, 0, NOWHERE, size, NOWHERE);
  putEntry(head, 56, 0, placed);
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield head.bytes;
    for (const array of later.keys()) {
      yield* array.pieces();
      const rest = padded(sizeOf(array)) - sizeOf(array);
      if (rest > 0) yield new Uint8Array(rest);
    }
  }
  return { size, bytes };
}
