/** Blocks of LZ4 as they are defined, drawn. */
import type { Random } from '../helpers/random.js';

export interface Block {
  readonly bytes: Uint8Array;
  readonly unpacked: Uint8Array;
  /** Where literals end: there alone a block may end. */
  readonly ends: readonly number[];
}

/** Lengths that 4 bits do not hold go on in bytes. */
function more(length: number): number[] {
  if (length < 15) return [];
  const bytes = new Array<number>(Math.floor((length - 15) / 255)).fill(255);
  return [...bytes, (length - 15) % 255];
}

/** Drawn parts behind bytes that are there already. */
export function drawBlock(random: Random, before: readonly number[] = []): Block {
  const bytes: number[] = [];
  const unpacked = [...before];
  const ends: number[] = [];
  const lengthOf = (least: number): number => random.whole(least, random.chance(0.2) ? 600 : 20);
  const parts = random.whole(0, 5);
  for (let part = 0; part <= parts; part++) {
    const literals = Array.from({ length: lengthOf(unpacked.length === 0 ? 1 : 0) }, () => random.whole(0, 256));
    const isLast = part === parts;
    const match = isLast ? 0 : lengthOf(4) - 4;
    bytes.push((Math.min(literals.length, 15) << 4) | Math.min(match, 15), ...more(literals.length), ...literals);
    unpacked.push(...literals);
    ends.push(bytes.length);
    if (isLast) break;
    const offset = random.whole(1, Math.min(unpacked.length, 0xffff) + 1);
    bytes.push(offset & 255, offset >> 8, ...more(match));
    for (let i = 0; i < match + 4; i++) unpacked.push(unpacked.at(-offset)!);
  }
  return { bytes: Uint8Array.from(bytes), unpacked: Uint8Array.from(unpacked.slice(before.length)), ends };
}
