/** Values in every form that preprocessing takes, and ids of them as they are meant. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

export type Token = string | number;
export type Mode = 'int' | 'oneHot' | 'multiHot' | 'count' | 'tfIdf';

/** How data are given, and whether rows of them may be of any length. */
export const FORMS = ['one', 'vector', 'rows', 'uneven', 'tensor', 'ragged'] as const;
type Form = (typeof FORMS)[number];

export const WORDS = ['ab', 'cd', 'ef', 'gh', 'x y', 'ü'];
export const NUMBERS = [12, 5, -7, 40, 1001, 3];

/** Data as rows, in this form; one value and a vector are a row. */
export function given(form: Form, rows: readonly (readonly Token[])[]): unknown {
  const isText = typeof rows[0]![0] === 'string';
  switch (form) {
    case 'one':
      return rows[0]![0];
    case 'vector':
      return rows[0];
    case 'tensor':
      return tf.tensor2d(rows as string[][], undefined, isText ? 'string' : 'int32');
    case 'ragged':
      if (!isText) return emb.RaggedTensor.fromRows(rows as number[][], { dtype: 'int32' });
      return {
        values: rows.flat(),
        rowSplits: rows.reduce<number[]>((all, { length }) => [...all, all.at(-1)! + length], [0]),
      };
    default:
      return rows;
  }
}

/** The rows of a form: even ones, but where they may be uneven. */
export function rowsOf(form: Form, tokens: readonly Token[]): Token[][] {
  if (form === 'one') return [[tokens[0]!]];
  if (form === 'vector') return [[...tokens]];
  if (form === 'uneven' || form === 'ragged') return [tokens.slice(0, 3), tokens.slice(3, 4), tokens.slice(4)];
  const half = Math.floor(tokens.length / 2);
  return [tokens.slice(0, half), tokens.slice(half, 2 * half)];
}

/** Everything in nested arrays. */
function plain(result: unknown): unknown {
  if (result instanceof emb.RaggedTensor) return result.toRows();
  if (result instanceof tf.Tensor) return result.arraySync();
  if (ArrayBuffer.isView(result)) return Array.from(result as Int32Array);
  if (Array.isArray(result)) return result.map(plain);
  if (result === null || typeof result !== 'object') return result;
  const { values, rowSplits } = result as { values: string[]; rowSplits: Int32Array };
  return Array.from(rowSplits.slice(1), (end, i) => values.slice(rowSplits[i], end));
}

/** Ids in a mode, each -1 standing for nothing: a vector for each value or row of values. */
export function encoded(
  mode: Mode,
  form: Form,
  rows: readonly (readonly number[])[],
  depth: number,
  idf: readonly number[],
): unknown {
  const hot = (id: number): number[] => Array.from({ length: depth }, (_, at) => Number(at === id));
  if (mode === 'int' || mode === 'oneHot') {
    const shown = rows.map((row) => row.map((id) => (mode === 'int' ? id : hot(id))));
    return form === 'one' ? shown[0]![0] : form === 'vector' ? shown[0] : shown;
  }
  const vectors = rows.map((row) => {
    const counts = Array.from({ length: depth }, (_, at) => row.filter((id) => id === at).length);
    if (mode === 'multiHot') return counts.map((count) => Math.min(count, 1));
    return mode === 'count' ? counts : counts.map((count, at) => count * (idf[at] ?? 0));
  });
  return form === 'one' || form === 'vector' ? vectors[0] : vectors;
}

export function expectSame(found: unknown, expected: unknown, what: string): void {
  const [a, b] = [plain(found), plain(expected)];
  const shape = (value: unknown): unknown => (Array.isArray(value) ? value.map(shape) : typeof value);
  expect(shape(a)).withContext(what).toEqual(shape(b));
  const flat = (value: unknown): Token[] => [value].flat(Infinity) as Token[];
  const [left, right] = [flat(a), flat(b)];
  left.forEach((value, i) => {
    const wanted = right[i]!;
    if (typeof value === 'string')
      expect(value)
        .withContext(what)
        .toBe(wanted as string);
    else
      expect(value)
        .withContext(what)
        .toBeCloseTo(wanted as number, 5);
  });
}
