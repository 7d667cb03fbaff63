import { existsSync } from 'node:fs';
import { addonPath, loadAddon } from '../../../src/backends/native/addon.js';
import { crc32c, extendCrc32cPlainly, maskCrc32c } from '../../../src/io/checksums/crc32c.js';
import { skipOrFail } from '../../helpers/backends.js';

function noise(length: number): Uint8Array {
  let state = 12345;
  return Uint8Array.from({ length }, () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 16);
}

describe('CRC-32C', () => {
  it('is that of the standard', () => {
    const digits = new TextEncoder().encode('123456789');
    expect(crc32c(digits)).toBe(0xe3069283);
    expect(extendCrc32cPlainly(0, digits)).toBe(0xe3069283);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(32).fill(255))).toBe(0x62a8ab43);
    expect(crc32c(new Uint8Array(0))).toBe(0);
  });

  it('of two pieces is that of both together', () => {
    const bytes = noise(1000);
    for (const cut of [0, 1, 7, 8, 9, 500, 1000]) {
      const first = extendCrc32cPlainly(0, bytes.subarray(0, cut));
      expect(extendCrc32cPlainly(first, bytes.subarray(cut))).toBe(extendCrc32cPlainly(0, bytes));
    }
  });

  it('of the addon is the plain one, for lengths around all of its loops', () => {
    if (!existsSync(addonPath())) return skipOrFail('the native addon is not built');
    const addon = loadAddon();
    const bytes = noise(3 * 8192 * 2 + 100);
    for (const length of [0, 1, 7, 8, 9, 8191, 24575, 24576, 24577, 24600, bytes.length - 3]) {
      const part = bytes.subarray(3, 3 + length);
      const native = addon.extendCrc32c(7, part);
      if (native < 0) return skipOrFail('the processor has no instruction for CRC-32C');
      expect(native).withContext(`${length} bytes`).toBe(extendCrc32cPlainly(7, part));
    }
    expect(() => addon.extendCrc32c(-1, bytes)).toThrowError(RangeError);
    expect(() => addon.extendCrc32c(0, new Float32Array(1) as never)).toThrowError(TypeError);
  });

  it('is masked as TensorFlow masks it', () => {
    expect(maskCrc32c(0)).toBe(0xa282ead8);
    expect(maskCrc32c(0xffffffff)).toBe(0xa282ead7);
    expect(maskCrc32c(0x00018000)).toBe((((0x18000 >>> 15) | (0x18000 << 17)) + 0xa282ead8) >>> 0);
  });
});
