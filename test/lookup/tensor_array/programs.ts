/** Programs over TensorArrays that real TensorFlow ran: see test/goldens/gen_tensor_arrays.py. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../helpers/project.js';

export interface Answer {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

/** The operation, and its arguments by name. */
export type Step = readonly [string, Readonly<Record<string, unknown>>];

export interface Program {
  readonly name: string;
  readonly program: readonly Step[];
  readonly results?: Readonly<Record<string, Answer>>;
  readonly error?: string;
}

export function programs(): readonly Program[] {
  const path = join(ROOT, 'test', 'goldens', 'tensor_arrays.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { cases: Program[] }).cases;
}
