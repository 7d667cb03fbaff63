import { unpackBlock } from '../../src/data/lz4.js';
import { Random } from '../helpers/random.js';
import { drawBlock } from './lz4_blocks.js';

const ROUNDS = 30;
const REFUSED = /^an LZ4 block (that ends early|with a match outside)$/;

describe('blocks of LZ4', () => {
  it('hold what was packed, behind what was there', () => {
    for (let seed = 0; seed < ROUNDS; seed++) {
      const random = new Random(seed);
      const before = Array.from({ length: random.whole(0, 4) }, () => random.whole(0, 256));
      const { bytes, unpacked } = drawBlock(random, before);
      const into = new Uint8Array(before.length + unpacked.length + 2);
      into.set(before);
      expect(unpackBlock(bytes, into, before.length)).toBe(before.length + unpacked.length);
      expect([...into]).toEqual([...before, ...unpacked, 0, 0]);
    }
  });

  it('may end behind literals alone', () => {
    for (let seed = 0; seed < ROUNDS; seed++) {
      const { bytes, unpacked, ends } = drawBlock(new Random(seed));
      for (let length = 0; length < bytes.length; length++) {
        const unpack = (): number => unpackBlock(bytes.subarray(0, length), new Uint8Array(unpacked.length), 0);
        if (ends.includes(length)) expect(unpack()).toBeLessThanOrEqual(unpacked.length);
        else expect(unpack).withContext(`${length} of ${bytes.length}`).toThrowError(REFUSED);
      }
    }
    // Whatever is missing: literals, a byte of their number, all.
    for (const bytes of [[], [0x20, 7], [0xf0], [0xf0, 255], [0xf0, 0, ...new Array<number>(14).fill(7)]]) {
      const unpack = (): number => unpackBlock(Uint8Array.from(bytes), new Uint8Array(99), 0);
      expect(unpack).toThrowError('an LZ4 block that ends early');
    }
  });

  it('need room for all that they hold', () => {
    for (let seed = 0; seed < ROUNDS; seed++) {
      const { bytes, unpacked } = drawBlock(new Random(seed));
      for (let size = 0; size < unpacked.length; size += 7)
        expect(() => unpackBlock(bytes, new Uint8Array(size), 0)).toThrowError(
          /^an LZ4 block (that ends early|with a match outside)$/,
        );
    }
    expect(() => unpackBlock(Uint8Array.of(0x20, 1, 2), new Uint8Array(1), 0)).toThrowError(/ends early/);
    expect(() => unpackBlock(Uint8Array.of(0x10, 1, 1, 0, 0x10, 2), new Uint8Array(4), 0)).toThrowError(/outside/);
  });

  it('have no match before what is there, and none of what is not', () => {
    for (const offset of [0, 3, 258])
      expect(() =>
        unpackBlock(Uint8Array.of(0x20, 1, 2, offset & 255, offset >> 8, 0x10, 2), new Uint8Array(99), 0),
      ).toThrowError(/outside/);
  });
});
