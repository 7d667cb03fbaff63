import { Message, many, map, one } from '../../../src/base/protobuf/message.js';
import { expectError } from '../../helpers/errors.js';

interface Tree {
  name?: string;
  size?: number;
  flags?: readonly boolean[];
  numbers?: readonly number[];
  children?: readonly Tree[];
  named?: Readonly<Record<string, Tree>>;
}

const Tree: Message<Tree> = new Message<Tree>({
  name: one(1, 'string'),
  size: one(2, 'int64'),
  flags: many(3, 'bool'),
  numbers: many(4, 'sint64'),
  children: many(5, () => Tree),
  named: map(6, () => Tree),
});

describe('a message', () => {
  it('comes back, with what is set to nothing', () => {
    const tree: Tree = {
      name: '',
      size: -(2 ** 53) + 1,
      flags: [true, false],
      numbers: [-1, 0, 2 ** 40],
      children: [{ name: 'ä' }, {}],
      named: { b: { size: 0 }, a: {} },
    };
    expect(JSON.parse(JSON.stringify(Tree.decode(Tree.encode(tree))))).toEqual(JSON.parse(JSON.stringify(tree)));
  });

  it('reads lists of numbers one by one too, and passes over fields that it does not know', () => {
    const bytes = Uint8Array.of(0x20, 3, 0x20, 4, 0x7a, 2, 9, 9, 0x10, 5);
    expect({ ...Tree.decode(bytes) }).toEqual({ numbers: [-2, 2], size: 5 });
  });

  it('is refused where it is cut, too deep, or of other types', () => {
    const bytes = Tree.encode({ name: 'abc', children: [{ name: 'def' }] });
    for (let length = 1; length < bytes.length; length++) {
      if (length === 5) continue; // The first field alone is a message too.
      expectError(() => Tree.decode(bytes.subarray(0, length)), 'ValueError', 'bytes');
    }
    let deep = new Uint8Array(0);
    for (let depth = 0; depth < 200; depth++) deep = Tree.encode({ children: [] }).length === 0 ? wrap(deep) : deep;
    expectError(() => Tree.decode(deep), 'ValueError', 'bytes', 'more');
    expectError(() => Tree.decode(Uint8Array.of(0x08, 1)), 'ValueError', 'bytes');
    expectError(() => Tree.decode(Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f)), 'ValueError', 'bytes');
  });

  it('may hold messages 100 deep, and no deeper', () => {
    const nested = (depth: number): Uint8Array<ArrayBuffer> =>
      depth === 0 ? new Uint8Array(0) : wrap(nested(depth - 1));
    const depthOf = (tree: Tree): number => (tree.children === undefined ? 0 : 1 + depthOf(tree.children[0]!));
    let read: Tree | null = null;
    expect(() => (read = Tree.decode(nested(100)))).not.toThrow();
    expect(depthOf(read!)).toBe(100);
    expectError(() => Tree.decode(nested(101)), 'ValueError', 'bytes', 'more');
  });

  it('may hold four million values, and no more', () => {
    const flagsOf = (count: number): Uint8Array => Tree.encode({ flags: new Array<boolean>(count).fill(true) });
    expect(() => Tree.decode(flagsOf(4_000_000))).not.toThrow();
    expectError(() => Tree.decode(flagsOf(4_000_001)), 'ValueError', 'bytes', 'more');
  });

  it('holds whole numbers that are exact, and no others', () => {
    const bytesOf = (number: number, varint: readonly number[]): Uint8Array => Uint8Array.of(number << 3, ...varint);
    const ones = [255, 255, 255, 255, 255, 255, 255];
    expect({ ...Tree.decode(bytesOf(2, [...ones, 15])) }).toEqual({ size: 2 ** 53 - 1 });
    expectError(
      () => Tree.decode(bytesOf(2, [128, 128, 128, 128, 128, 128, 128, 16])),
      'ValueError',
      'bytes',
      '9007199254740992',
    );
    expectError(
      () => Tree.decode(bytesOf(4, [128, 128, 128, 128, 128, 128, 128, 32])),
      'ValueError',
      'bytes',
      '9007199254740992',
    );
  });

  it('is refused where it holds one message twice; of two texts the last one counts', () => {
    interface Pair {
      inner?: Tree;
      name?: string;
    }
    const pair = new Message<Pair>({ inner: one(1, () => Tree), name: one(2, 'string') });
    const two = Uint8Array.of(0x0a, 0, 0x0a, 0);
    expectError(() => pair.decode(two), 'ValueError', 'bytes', 'two');
    expect({ ...pair.decode(Uint8Array.of(0x12, 1, 97, 0x12, 1, 98)) }).toEqual({ name: 'b' });
    expect({ ...Tree.decode(Uint8Array.of(0x10, 1, 0x10, 2)) }).toEqual({ size: 2 });
    expectError(() => Tree.decode(Uint8Array.of(0x08, 1)), 'ValueError', 'bytes', '0');
  });

  it('has the keys of maps in order, and of numbers too', () => {
    interface Numbered {
      counts?: Readonly<Record<string, number>>;
    }
    const numbered = new Message<Numbered>({ counts: map(1, 'int32', 'uint32') });
    const bytes = numbered.encode({ counts: { 7: 70, 300: 3 } });
    expect(numbered.decode(bytes).counts).toEqual(jasmine.objectContaining({ 7: 70, 300: 3 }));
    const empty = Uint8Array.of(0x0a, 2, 0x10, 5);
    expect({ ...numbered.decode(empty).counts }).toEqual({ 0: 5 });
    expect(Object.entries(numbered.decode(Uint8Array.of(0x0a, 2, 0x08, 5)).counts!)).toEqual([['5', undefined!]]);
    expect({ ...Tree.decode(Uint8Array.of(0x32, 2, 0x12, 0)).named }).toEqual({ '': {} });
    expect(Tree.encode({ named: { b: {}, a: {} } })).toEqual(Tree.encode({ named: { a: {}, b: {} } }));
    expect({ ...Tree.decode(Uint8Array.of(0x32, 3, 0x0a, 1, 97)).named }).toEqual({ a: {} });
  });

  it('is written as the format has it, for every kind', () => {
    const fields = {
      int32: one(1, 'int32'),
      uint32: one(2, 'uint32'),
      float: one(3, 'float'),
      double: one(4, 'double'),
      fixed32: one(5, 'fixed32'),
      bytes: one(6, 'bytes'),
      floats: many(7, 'float'),
      texts: many(8, 'string'),
    };
    const all = new Message<Partial<Record<keyof typeof fields, unknown>>>(fields);
    const value = { int32: -5, uint32: 4e9, float: 0.5, double: 0.1, fixed32: 7, floats: [1.5, -2], texts: ['x', ''] };
    const bytes = all.encode({ ...value, bytes: Uint8Array.of(1, 2) });
    const { bytes: inner, ...others } = all.decode(bytes);
    expect(others).toEqual(jasmine.objectContaining(value));
    expect([...(inner as Uint8Array)]).toEqual([1, 2]);
    // What takes four bytes, eight, or a length: as the format has it.
    expect([...all.encode({ float: 0.5 })]).toEqual([0x1d, 0, 0, 0, 0x3f]);
    expect([...all.encode({ fixed32: 7 })]).toEqual([0x2d, 7, 0, 0, 0]);
    expect([...all.encode({ double: 2 })]).toEqual([0x21, 0, 0, 0, 0, 0, 0, 0, 0x40]);
    expect([...all.encode({ floats: [1] })]).toEqual([0x3a, 4, 0, 0, 0x80, 0x3f]);
    expect([...all.encode({ floats: [] })]).toEqual([]);
    expect([...all.encode({ texts: ['x', ''] })]).toEqual([0x42, 1, 120, 0x42, 0]);
  });
});

/** One message more around it. */
function wrap(inner: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = inner.length < 128 ? [inner.length] : [(inner.length & 127) | 128, inner.length >> 7];
  return Uint8Array.from([0x2a, ...length, ...inner]);
}
