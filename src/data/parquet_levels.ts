/** Levels of parquet pages: numbers of few bits, in runs and packed groups. hyparquet makes a list of them, ten times as slowly. */

function tooShort(): Error {
  return new Error('levels that end before their page does');
}

/** Eight values of one bit each. */
function spread(byte: number, into: Uint8Array, place: number): void {
  const end = Math.min(8, into.length - place);
  for (let bit = 0; bit < end; bit++) into[place + bit] = (byte >> bit) & 1;
}

/** `count` levels of `width` bits (1 to 8), encoded by RLE and bit packing. Throws where the bytes end before. */
export function decodeLevels(bytes: Uint8Array, width: number, count: number): Uint8Array {
  const levels = new Uint8Array(count);
  const mask = (1 << width) - 1;
  for (let at = 0, place = 0; place < count;) {
    let header = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= bytes.length || shift > 28) throw tooShort();
      const byte = bytes[at++]!;
      header |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    header >>>= 0;
    if (header % 2 === 0) {
      const run = header >>> 1;
      if (at >= bytes.length || run === 0) throw tooShort();
      const end = Math.min(count, place + run);
      levels.fill(bytes[at++]! & mask, place, end);
      place = end;
      continue;
    }
    const packed = Math.min((header >>> 1) * 8, Math.ceil((count - place) / 8) * 8);
    const end = at + (packed * width) / 8;
    if (end > bytes.length) throw tooShort();
    if (width === 1) {
      for (; at < end; place += 8) spread(bytes[at++]!, levels, place);
    } else {
      for (let buffer = 0, bits = 0; at < end || bits >= width;) {
        for (; bits < width; bits += 8) buffer |= bytes[at++]! << bits;
        // Writes behind the end are none.
        levels[place++] = buffer & mask;
        buffer >>>= width;
        bits -= width;
      }
    }
    place = Math.min(place, count);
  }
  return levels;
}

/** Bits of levels up to `most`. */
export function levelWidth(most: number): number {
  return 32 - Math.clz32(most);
}
