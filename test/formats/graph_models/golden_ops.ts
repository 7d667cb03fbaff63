/** Ops that real TensorFlow ran: see test/goldens/gen_graph_ops.py. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../helpers/project.js';

export interface GoldenTensor {
  readonly dtype: 'int32' | 'float32' | 'bool' | 'string';
  readonly shape: number[];
  readonly values: (number | string)[];
}

export interface GoldenOp {
  readonly op: string;
  readonly note: string;
  readonly attributes: Readonly<Record<string, number | boolean | readonly string[]>>;
  readonly inputs: readonly GoldenTensor[];
  readonly outputs?: readonly GoldenTensor[];
  readonly error?: string;
}

export interface GoldenArgument {
  readonly name: string;
  readonly type: string;
  readonly count: string | null;
}

export interface GoldenSignature {
  readonly name: string;
  readonly inputs: readonly GoldenArgument[];
  readonly outputs: readonly GoldenArgument[];
}

interface Golden {
  readonly signatures: readonly GoldenSignature[];
  readonly cases: readonly GoldenOp[];
}

export function goldenOps(file = 'graph_ops.json'): Golden {
  return JSON.parse(readFileSync(join(ROOT, 'test', 'goldens', file), 'utf8')) as Golden;
}

/** An error must name an input or an attribute of one of the ops that may have failed; a number in brackets tells which of a list. */
export function expectBlame(error: Error | null, ops: readonly GoldenSignature[], attributes: readonly object[]): void {
  const { argument } = (error ?? {}) as { argument?: string };
  const known = [...ops.flatMap(({ inputs }) => inputs.map(({ name }) => name)), ...attributes.flatMap(Object.keys)];
  expect(known)
    .withContext(String(error?.message))
    .toContain(argument?.replace(/\[\d+\]$/, '') ?? 'no argument');
}
