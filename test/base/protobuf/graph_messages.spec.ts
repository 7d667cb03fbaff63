import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import {
  Graph,
  Shape,
  Tensor,
  Versions,
  type Attribute,
  type GraphMessage,
} from '../../../src/base/protobuf/graph_messages.js';

/** What bytes say without any table: numbers of fields in order, and below them what lies in those asked for. */
function numbersOf(bytes: Uint8Array): number[] {
  const reader = new BinaryReader(bytes);
  const numbers: number[] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    numbers.push(number);
    reader.skip(type, number);
  }
  return numbers;
}

/** The bytes of the first field of a number, which holds a message. */
function inside(bytes: Uint8Array, ...path: readonly number[]): Uint8Array {
  let inner = bytes;
  for (const wanted of path) {
    const reader = new BinaryReader(inner);
    let found: Uint8Array | null = null;
    while (found === null && reader.pos < reader.len) {
      const [number, type] = reader.tag();
      if (number === wanted && type === WireType.LengthDelimited) found = reader.bytes();
      else reader.skip(type, number);
    }
    if (found === null) throw new Error(`no field ${wanted}`);
    inner = found;
  }
  return inner;
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

const SHAPE = { dim: [{ size: 2, name: 'rows' }, { size: -1 }], unknownRank: false };

/** Each kind of attribute once. */
const ATTRIBUTES: Readonly<Record<string, Attribute>> = {
  s: { s: text('a') },
  i: { i: 3 },
  f: { f: 0.5 },
  b: { b: true },
  type: { type: 9 },
  shape: { shape: SHAPE },
  tensor: { tensor: { dtype: 7, shape: SHAPE, content: Uint8Array.of(1), strings: [text('x')] } },
  func: { func: { name: 'f', attr: { T: { type: 1 } } } },
  list: { list: { s: [text('b')], i: [1, -1], f: [0.25], b: [true, false], type: [1, 3], shape: [SHAPE] } },
};

const GRAPH: GraphMessage = {
  node: [{ name: 'n', op: 'Op', input: ['a', '^b'], attr: ATTRIBUTES }],
  library: {
    function: [
      {
        signature: {
          name: 'f',
          inputArg: [{ name: 'x', type: 20, handleData: [{ dtype: 1, shape: SHAPE }] }],
          outputArg: [{ name: 'y', type: 1 }],
          isStateful: true,
          controlOutput: ['done'],
        },
        node: [{ name: 'm', op: 'NoOp' }],
        ret: { y: 'm:z:0' },
        attr: { a: { i: 1 } },
        controlRet: { done: 'm' },
        argAttr: { 0: { attr: { c: { b: true } } } },
      },
    ],
  },
  versions: { producer: 27, minConsumer: 12 },
};

describe('messages of graphs', () => {
  it('come back whole', () => {
    const shown = (graph: GraphMessage): unknown =>
      JSON.parse(JSON.stringify(graph, (_, value: unknown) => (value instanceof Uint8Array ? [...value] : value)));
    expect(shown(Graph.decode(Graph.encode(GRAPH)))).toEqual(shown(GRAPH));
  });

  // The numbers are those of tensorflow/core/framework: graph, versions, node_def, op_def, function, attr_value, tensor.
  it('have the numbers of GraphDef, NodeDef and VersionDef', () => {
    const bytes = Graph.encode(GRAPH);
    expect(numbersOf(bytes)).toEqual([1, 2, 4]);
    expect(numbersOf(inside(bytes, 1))).toEqual([1, 2, 3, 3, ...Object.keys(ATTRIBUTES).map(() => 5)]);
    expect(numbersOf(inside(bytes, 4))).toEqual([1, 2]);
    expect([...Versions.encode({ producer: 27, minConsumer: 12 })]).toEqual([0x08, 27, 0x10, 12]);
  });

  it('have the numbers of FunctionDef, OpDef and its ArgDef', () => {
    const definition = inside(Graph.encode(GRAPH), 2, 1);
    expect(numbersOf(definition).sort((a, b) => a - b)).toEqual([1, 3, 4, 5, 6, 7]);
    expect(numbersOf(inside(definition, 1))).toEqual([1, 2, 3, 17, 20]);
    expect(numbersOf(inside(definition, 1, 2))).toEqual([1, 3, 7]);
    expect(numbersOf(inside(definition, 1, 2, 7))).toEqual([1, 2]);
    expect(numbersOf(inside(definition, 7))).toEqual([1, 2]);
    expect(numbersOf(inside(definition, 7, 2))).toEqual([1]);
  });

  it('have the numbers of AttrValue and its lists', () => {
    const numbers = { list: 1, s: 2, i: 3, f: 4, b: 5, type: 6, shape: 7, tensor: 8, func: 10 };
    for (const [kind, number] of Object.entries(numbers)) {
      const bytes = Graph.encode({
        node: [{ name: 'n', op: 'Op', attr: { a: ATTRIBUTES[kind]! } }],
        versions: { producer: 1 },
      });
      expect(numbersOf(inside(bytes, 1, 5, 2)))
        .withContext(kind)
        .toEqual([number]);
      if (kind === 'list') expect(numbersOf(inside(bytes, 1, 5, 2, 1))).toEqual([2, 3, 4, 5, 6, 7]);
      if (kind === 'func') expect(numbersOf(inside(bytes, 1, 5, 2, 10))).toEqual([1, 2]);
    }
  });

  it('have the numbers of TensorProto and TensorShapeProto', () => {
    const { tensor } = ATTRIBUTES['tensor']!;
    const bytes = Tensor.encode(tensor!);
    expect(numbersOf(bytes)).toEqual([1, 2, 4, 8]);
    expect(numbersOf(inside(bytes, 2))).toEqual([2, 2, 3]);
    expect([...Shape.encode({ dim: [{ size: 3, name: 'a' }] })]).toEqual([0x12, 5, 0x08, 3, 0x12, 1, 97]);
    expect([...Shape.encode({ unknownRank: true })]).toEqual([0x18, 1]);
  });
});
