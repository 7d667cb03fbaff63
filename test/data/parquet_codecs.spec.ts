import { gzipSync } from 'node:zlib';
import { checkedCompressors } from '../../src/data/parquet_codecs.js';
import { Random } from '../helpers/random.js';
import { drawBlock } from './lz4_blocks.js';

const ROUNDS = 40;

/** Lengths as Hadoop writes them. */
function lengths(...all: number[]): number[] {
  return all.flatMap((length) => [length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255]);
}

describe('compressions of parquet pages', () => {
  const codecs = checkedCompressors({ GZIP: (_, size) => Uint8Array.from({ length: size }, (_byte, i) => i) });

  it('take LZ4 with lengths before each part, and without', () => {
    for (let seed = 0; seed < ROUNDS; seed++) {
      const random = new Random(seed);
      const page: number[] = [];
      const unpacked: number[] = [];
      const parts = random.whole(1, 4);
      for (let part = 0; part < parts; part++) {
        const block = drawBlock(random, unpacked);
        page.push(...lengths(block.unpacked.length, block.bytes.length), ...block.bytes);
        unpacked.push(...block.unpacked);
      }
      expect([...codecs.LZ4!(Uint8Array.from(page), unpacked.length)]).toEqual(unpacked);
      // A page of another length is no whole one.
      for (const size of [unpacked.length - 1, unpacked.length + 1])
        expect(() => codecs.LZ4!(Uint8Array.from(page), size)).toThrowError(/LZ4 block|a page of/);
      for (const length of [page.length - 1, page.length - 9, 7])
        expect(() => codecs.LZ4!(Uint8Array.from(page.slice(0, length)), unpacked.length)).toThrowError(
          /LZ4 block|a page of/,
        );
      const plain = drawBlock(random);
      for (const codec of ['LZ4', 'LZ4_RAW'] as const)
        expect(codecs[codec]!(plain.bytes, plain.unpacked.length)).toEqual(plain.unpacked);
      expect(() => codecs.LZ4_RAW!(plain.bytes, plain.unpacked.length + 1)).toThrowError(/a page of/);
    }
  });

  it('compare pages of gzip with checksum and length', () => {
    const bytes = Uint8Array.from({ length: 9 }, (_, i) => i);
    const page = new Uint8Array(gzipSync(bytes));
    expect(codecs.GZIP!(page, 9)).toEqual(bytes);
    for (let place = page.length - 8; place < page.length; place++) {
      const changed = page.slice();
      changed[place]! ^= 1;
      expect(() => codecs.GZIP!(changed, 9)).toThrowError(/differs from its checksum/);
    }
  });

  it('unpack nothing to nothing', () => {
    for (const codec of ['GZIP', 'LZ4', 'LZ4_RAW'] as const)
      expect(codecs[codec]!(new Uint8Array(0), 0).length).toBe(0);
  });
});
