import { Message, many, map, one } from '../../src/protobuf/message.js';
import { expectError } from '../helpers/errors.js';

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
});

/** One message more around it. */
function wrap(inner: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = inner.length < 128 ? [inner.length] : [(inner.length & 127) | 128, inner.length >> 7];
  return Uint8Array.from([0x2a, ...length, ...inner]);
}
