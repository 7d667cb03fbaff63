/** The checksum of gzip. */

let table: Uint32Array | null = null;

function tableOf(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    return rest;
  });
}

/** CRC-32 of bytes, as an unsigned number. */
export function crc32(bytes: Uint8Array): number {
  table ??= tableOf();
  let rest = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) rest = table[(rest ^ bytes[i]!) & 0xff]! ^ (rest >>> 8);
  return (rest ^ 0xffffffff) >>> 0;
}
