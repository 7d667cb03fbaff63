/**
 * Levels of parquet pages: numbers of few bits, in runs and packed groups. hyparquet makes a list of them, ten times as
 * slowly; here runs stay runs.
 */

/** Where levels go: runs of one level, and single ones. */
interface Sink {
  run(level: number, place: number, count: number): void;
  /** Levels of one bit: the lowest one first. */
  bits?(byte: number, place: number): void;
  one(level: number, place: number): void;
}

function tooShort(): Error {
  return new Error('levels that end before their page does');
}

/** Reads `count` levels of `width` bits (1 to 8). Throws where the bytes end before. */
function readLevels(bytes: Uint8Array, width: number, count: number, sink: Sink): void {
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
      const run = Math.min(header >>> 1, count - place);
      if (at >= bytes.length || run === 0) throw tooShort();
      sink.run(bytes[at++]! & mask, place, run);
      place += run;
      continue;
    }
    const packed = Math.min((header >>> 1) * 8, Math.ceil((count - place) / 8) * 8);
    const end = at + (packed * width) / 8;
    if (end > bytes.length) throw tooShort();
    if (sink.bits !== undefined) {
      for (; at < end; place += 8) sink.bits(bytes[at++]!, place);
    } else {
      for (let buffer = 0, bits = 0; at < end || bits >= width; place++) {
        for (; bits < width; bits += 8) buffer |= bytes[at++]! << bits;
        if (place < count) sink.one(buffer & mask, place);
        buffer >>>= width;
        bits -= width;
      }
    }
  }
}

/** Levels, and how many of them are `full`; null in place of levels that all are. */
export interface Levels {
  readonly levels: Uint8Array | null;
  readonly known: number;
}

/** `count` levels of `width` bits (1 to 8). Throws where the bytes end before. */
export function decodeLevels(bytes: Uint8Array, width: number, count: number, full: number): Levels {
  let levels: Uint8Array | null = null;
  let known = 0;
  readLevels(bytes, width, count, {
    run(level, place, run) {
      if (level === full) known += run;
      if (levels === null && known === count) return;
      levels ??= new Uint8Array(count);
      levels.fill(level, place, place + run);
    },
    one(level, place) {
      levels ??= new Uint8Array(count);
      levels[place] = level;
      if (level === full) known += 1;
    },
  });
  return { levels: known === count ? null : (levels ?? new Uint8Array(0)), known };
}

/** The places of the levels that are 0, of `count` levels of one bit: where rows begin. */
export function placesOfZero(bytes: Uint8Array, count: number): Int32Array {
  const places = new Int32Array(count);
  let found = 0;
  readLevels(bytes, 1, count, {
    run(level, place, run) {
      if (level === 0) for (let i = 0; i < run; i++) places[found++] = place + i;
    },
    bits(byte, place) {
      const held = Math.min(8, count - place);
      for (let zeros = ~byte & ((1 << held) - 1); zeros !== 0; zeros &= zeros - 1) {
        places[found++] = place + 31 - Math.clz32(zeros & -zeros);
      }
    },
    one: () => undefined,
  });
  return places.subarray(0, found);
}

/** Bits of levels up to `most`. */
export function levelWidth(most: number): number {
  return 32 - Math.clz32(most);
}
