/** The weights of a model as values of a graph of ONNX: tables of fewer bits are widened where they are read. */
import type { GraphVariable } from '../saved_model/graph/function_builder.js';
import type { Value } from '../saved_model/graph/value.js';
import type { ModelVariables, SavedVariable } from '../saved_model/variables.js';
import type { OnnxTypeName } from '../../base/protobuf/onnx_messages.js';
import type { Initializer } from './graph/initializer.js';
import type { OnnxGraph, SharedParts } from './graph/onnx_graph.js';

/** Takes the part of each row that `take` names out of rows in words. */
type Part = { readonly bytes: number; readonly from: number };
type Rows = NonNullable<SavedVariable['packed']>;

/** `bytes` of each row from `from` on. */
async function* cut({ codec, dim, words }: Rows, { bytes, from }: Part): AsyncGenerator<Uint8Array> {
  const perRow = 4 * codec.words(dim);
  for await (const piece of words()) {
    const rows = piece.length / perRow;
    const part = new Uint8Array(rows * bytes);
    for (let row = 0; row < rows; row++) {
      const at = row * perRow + from;
      part.set(piece.subarray(at, at + bytes), row * bytes);
    }
    yield part;
  }
}

/** What a packed table is made of in a file: rows of halves, or codes with a scale and an offset for each row. */
function packedParts(name: string, rows: number, packed: Rows): Omit<Initializer, 'size'>[] {
  const { dim, codec } = packed;
  const made = (suffix: string, dtype: OnnxTypeName, columns: number, part: Part): Omit<Initializer, 'size'> => {
    return { name: `${name}${suffix}`, dtype, dims: [rows, columns], pieces: () => cut(packed, part) };
  };
  if (codec.name === 'float16') return [made('', 'float16', dim, { bytes: 2 * dim, from: 0 })];
  if (codec.name !== 'int8') throw new Error(`rows of ${codec.name} have no form in ONNX`);
  const end = 4 * (codec.words(dim) - 2);
  return [
    made('/codes', 'uint8', dim, { bytes: dim, from: 0 }),
    made('/scales', 'float32', 1, { bytes: 4, from: end }),
    made('/offsets', 'float32', 1, { bytes: 4, from: end + 4 }),
  ];
}

/** Codes as the numbers that they stand for, rounded as lookups here round them. */
function widened(g: OnnxGraph, parts: readonly Value[]): Value {
  if (parts.length === 1) return g.cast(parts[0]!, 'float32');
  const [codes, scales, offsets] = parts.map((part) => g.cast(part, 'float32')) as [Value, Value, Value];
  return g.op('Add', [g.op('Mul', [codes, scales], codes), offsets], codes);
}

/** The initializers of a weight: the value itself, or what it is widened from. */
export function partsOf({ name, dtype, shape, packed, pieces }: SavedVariable): Omit<Initializer, 'size'>[] {
  if (packed === null) return [{ name, dtype, dims: shape, pieces }];
  return packedParts(name, shape[0]!, packed);
}

export function onnxVariables(): SharedParts['variables'] {
  const partsIn = (g: OnnxGraph, variable: GraphVariable): Value[] =>
    partsOf(variable as SavedVariable).map((part) => g.initializer(part));
  const isPlain = (variable: GraphVariable): boolean => (variable as SavedVariable).packed === null;
  return {
    value(g, variable) {
      const parts = partsIn(g, variable);
      return isPlain(variable) ? parts[0]! : widened(g, parts);
    },
    rows(g, variable, ids) {
      const gathered = partsIn(g, variable).map((part) => {
        const shape = [...ids.shape, ...part.shape.slice(1)];
        return g.op('Gather', [part, ids], { dtype: part.dtype, shape }, { axis: { i: 0 } });
      });
      return isPlain(variable) ? gathered[0]! : widened(g, gathered);
    },
  };
}

/** All weights, also those that no node reads: a loaded model has them too. */
export function addWeights(g: OnnxGraph, variables: ModelVariables): Set<string> {
  const parts = variables.list.flatMap(partsOf);
  for (const part of parts) g.initializer(part);
  return new Set(parts.map(({ name }) => name));
}

/** The largest magnitude in a table; Infinity where it holds NaN or Infinity. */
export async function largestIn({ pieces }: SavedVariable): Promise<number> {
  let most = 0;
  for await (const { buffer, byteOffset, byteLength } of pieces()) {
    for (const value of new Float32Array(buffer as ArrayBuffer, byteOffset, byteLength / 4)) {
      if (!(Math.abs(value) <= most)) most = Number.isFinite(value) ? Math.abs(value) : Infinity;
    }
  }
  return most;
}
