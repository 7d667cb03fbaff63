/** Headers of `.npy` files made to be slow to read, or to be believed. */
import { Buffer } from 'node:buffer';
import type { Random } from '../../../test/helpers/random.js';

export interface HostileHeader {
  readonly kind: string;
  /** A text of at least as many characters. */
  make(length: number, random: Random): string;
}

const FIELDS = ["'descr': '<f4'", "'fortran_order': False", "'shape': (1, 1)"];
const WHOLE = `{${FIELDS.join(', ')}, }`;

function repeated(kind: string, piece: string, before = '', after = ''): HostileHeader {
  return { kind, make: (length) => before + piece.repeat(Math.ceil(length / piece.length)) + after };
}

export const HOSTILE_HEADERS: readonly HostileHeader[] = [
  repeated('descr and an open list', "'descr':["),
  repeated('descr and an open list, in a dictionary', "'descr':[", '{', '}'),
  repeated('descr and an open string', "'descr':'", '{', '}'),
  repeated('descr and an open string of the other kind', '"descr":"', '{', '}'),
  repeated('fields of shape that do not end', "'shape':(1,", '{', '}'),
  repeated('sizes', '1,', "{'shape':(", ')}'),
  repeated('a size of many digits', '9', "{'descr': '<f4', 'fortran_order': False, 'shape': (", ', 1)}'),
  repeated('spaces', ' ', '{', '}'),
  repeated('lines', '\n', '{', '}'),
  repeated('spaces behind the end', ' ', WHOLE),
  repeated('spaces before the colon', ' ', "{'descr'", ": '<f4'}"),
  repeated('open brackets', '[', "{'descr':"),
  repeated('brackets that close', '[]', "{'descr':[", ']}'),
  {
    kind: 'nested brackets',
    make: (length) => `{'descr':${'['.repeat(length / 2)}${']'.repeat(length / 2)},${FIELDS[1]},${FIELDS[2]}}`,
  },
  repeated('brackets of two kinds', '([', "{'descr':"),
  repeated('open strings in a list', `'"`, "{'descr':["),
  repeated('strings with escapes', "\\'", "{'descr':'", "'}"),
  repeated('braces', '{'),
  repeated('braces that close', '{}'),
  repeated('the same field', "'descr': '<f4', ", '{', '}'),
  repeated('all fields over and over', `${FIELDS.join(', ')}, `, '{', '}'),
  repeated('other fields', "'a': 1, ", '{', '}'),
  repeated('quotes', "'", '{', '}'),
  repeated('quotes of two kinds', `'"`, '{', '}'),
  repeated('words', 'False', '{', '}'),
  repeated('letters beyond ASCII', 'é', "{'descr': '", "'}"),
  repeated('zeros', '\0', '{', '}'),
  repeated('a long type', '<', "{'descr': '", "f4'}"),
  repeated('a structure', "('a', '<f4'), ", "{'descr': [", `], ${FIELDS[1]}, ${FIELDS[2]}}`),
  {
    kind: 'noise',
    make: (length, random) => Buffer.from(Array.from({ length }, () => random.whole(0, 256))).toString('latin1'),
  },
  {
    kind: 'pieces of headers',
    make(length, random) {
      const pieces = [...FIELDS, '{', '}', '[', ']', '(', ')', ',', ':', "'", '"', ' ', '-1', '1.5', 'L', '\\', 'True'];
      let text = '';
      while (text.length < length) text += random.pick(pieces);
      return text;
    },
  },
];
