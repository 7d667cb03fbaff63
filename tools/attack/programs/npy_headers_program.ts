/**
 * Opens `.npy` files with hostile headers, in a process of its own.
 *   node --import tsx tools/attack/npy_headers_program.ts <seed>
 * Each kind of hostile/headers.ts with 1 MB, which must be refused without reading it, and within the limit, where it is
 * read; then right headers of which some characters were changed. Prints a JSON line with what fell.
 */
import type { PositionedFile } from '../../../src/base/platform.js';
import { readNpyHeader } from '../../../src/io/npy.js';
import { Random } from '../../../test/helpers/random.js';
import { npyBytes } from '../../../test/io/npy_bytes.js';
import { HOSTILE_HEADERS } from '../hostile/headers.js';

const [MEGABYTE, LIMIT, CHANGED, VALUES] = [2 ** 20, 10_000, 5000, 64];
const random = new Random(Number(process.argv[2] ?? 1));
const fallen: string[] = [];

/** A file, and up to where it was read. */
function watched(header: string): { file: PositionedFile; readTo: () => number } {
  const bytes = npyBytes({ version: [2, 0], header, values: new Uint8Array(VALUES) });
  let end = 0;
  const file: PositionedFile = {
    size: bytes.length,
    read(position, into) {
      end = Math.max(end, position + into.length);
      const piece = bytes.subarray(position, position + into.length);
      into.set(piece);
      return piece.length;
    },
    close() {},
  };
  return { file, readTo: () => end };
}

/** What is wrong with how a header is taken; `isRight` says whether a shape that was read may be believed. */
function check(header: string, isRight: (shape: readonly number[]) => boolean, mostRead: number): string | null {
  const { file, readTo } = watched(header);
  let problem: string | null = null;
  try {
    const { shape } = readNpyHeader(file, 'a.npy', 'weights');
    if (!isRight(shape)) problem = `is believed, with shape ${JSON.stringify(shape)}`;
  } catch (error) {
    const { name, message } = error as Error;
    if (name !== 'ValueError' || !message.includes('a.npy') || message.length > 1000) problem = `${name}: ${message}`;
  }
  return readTo() > mostRead ? `is read up to ${readTo()}` : problem;
}

/** Changes some characters of a right header. */
function changed(): string {
  const characters = [
    ...`{'descr': '<f4', 'fortran_order': False, 'shape': (${random.whole(0, 5)}, ${random.whole(0, 5)}), }`,
  ];
  for (let times = random.whole(1, 4); times > 0; times--) {
    const some = Array.from({ length: random.whole(0, 3) }, () => String.fromCharCode(random.whole(9, 128)));
    characters.splice(random.whole(0, characters.length), random.whole(0, 3), ...some);
  }
  return characters.join('');
}

for (const { kind, make } of HOSTILE_HEADERS) {
  for (const length of [MEGABYTE, LIMIT - 100]) {
    const text = make(length, random);
    const isLong = length === MEGABYTE;
    const isSpaces = kind === 'spaces behind the end';
    const what = check(text, () => !isLong && isSpaces, isLong ? 12 : text.length * 2 + 100);
    if (what !== null) fallen.push(`${kind}, ${length} characters: ${what}`);
  }
}
for (let n = 0; n < CHANGED; n++) {
  const text = changed();
  // Whatever the change, values that are not there are never believed.
  const what = check(text, (shape) => shape.reduce((product, size) => product * size, 2) <= VALUES, LIMIT);
  if (what !== null) fallen.push(`${JSON.stringify(text)} ${what}`);
}
console.log(JSON.stringify({ tried: 2 * HOSTILE_HEADERS.length + CHANGED, fallen }));
