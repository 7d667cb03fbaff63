/** CRC-32C (Castagnoli), with which TensorFlow checks its files; and its masked form, as they hold it. */
import { platform } from '../../base/platform.js';

const POLYNOMIAL = 0x82f63b78;

/** Table k gives what a byte adds that lies k bytes before the end of a block of eight. */
function makeTables(): Int32Array[] {
  const tables = Array.from({ length: 8 }, () => new Int32Array(256));
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[0]![byte] = crc;
  }
  for (let byte = 0; byte < 256; byte++) {
    for (let k = 1; k < 8; k++) {
      const before = tables[k - 1]![byte]!;
      tables[k]![byte] = tables[0]![before & 255]! ^ (before >>> 8);
    }
  }
  return tables;
}

const [T0, T1, T2, T3, T4, T5, T6, T7] = makeTables() as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** The sum of what came before and these bytes; 0 before the first. The plain reference beside that of the addon. */
export function extendCrc32cPlainly(before: number, bytes: Uint8Array): number {
  let crc = ~before;
  const { length } = bytes;
  let i = 0;
  for (; i + 8 <= length; i += 8) {
    crc ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    crc =
      T7[crc & 255]! ^
      T6[(crc >>> 8) & 255]! ^
      T5[(crc >>> 16) & 255]! ^
      T4[crc >>> 24]! ^
      T3[bytes[i + 4]!]! ^
      T2[bytes[i + 5]!]! ^
      T1[bytes[i + 6]!]! ^
      T0[bytes[i + 7]!]!;
  }
  for (; i < length; i++) crc = T0[(crc ^ bytes[i]!) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

export function extendCrc32c(before: number, bytes: Uint8Array): number {
  const crc = platform().extendCrc32c?.(before, bytes) ?? -1;
  return crc >= 0 ? crc : extendCrc32cPlainly(before, bytes);
}

export function crc32c(bytes: Uint8Array): number {
  return extendCrc32c(0, bytes);
}

/** Sums of data that hold sums are no good; files therefore hold them in this form. */
export function maskCrc32c(crc: number): number {
  return ((((crc >>> 15) | (crc << 17)) >>> 0) + 0xa282ead8) >>> 0;
}
