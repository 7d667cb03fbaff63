/** Blocks of LZ4, which are refused where they end early or reach outside. */

/** Bytes of a block of LZ4 behind those that are there: literals, and what lay before. Returns the new end. */
export function unpackBlock(block: Uint8Array, into: Uint8Array, start: number): number {
  let [at, end] = [0, start];
  const more = (length: number): number => {
    if (length < 15) return length;
    for (let byte = 255; byte === 255; length += byte) {
      if (at >= block.length) throw new Error('an LZ4 block that ends early');
      byte = block[at++]!;
    }
    return length;
  };
  while (at < block.length) {
    const token = block[at++]!;
    const literals = more(token >> 4);
    if (at + literals > block.length || end + literals > into.length) throw new Error('an LZ4 block that ends early');
    into.set(block.subarray(at, at + literals), end);
    at += literals;
    end += literals;
    if (at === block.length) return end;
    const offset = block[at]! | (block[at + 1]! << 8);
    at += 2;
    const length = more(token & 15) + 4;
    if (!(offset > 0 && offset <= end) || end + length > into.length)
      throw new Error('an LZ4 block with a match outside');
    // Matches may reach into what they write.
    for (let i = 0; i < length; i++, end++) into[end] = into[end - offset]!;
  }
  throw new Error('an LZ4 block that ends early');
}
