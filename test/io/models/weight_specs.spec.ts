/** What specs of weights say of their bytes. */
import { SpecFault, bytesTaken, leastBytes, readSpec } from '../../../src/io/models/weight_specs.js';

const bytesOf = (spec: object): number => leastBytes(readSpec({ name: 'w', shape: [2, 3], ...spec }));

describe('readSpec', () => {
  it('knows the bytes of every dtype', () => {
    expect(readSpec({ name: 'w', shape: [2, 3], dtype: 'float32' })).toEqual({ name: 'w', size: 6, valueBytes: 4 });
    expect(readSpec({ name: 'w', shape: [], dtype: 'int32' })).toEqual({ name: 'w', size: 1, valueBytes: 4 });
    expect(readSpec({ name: 'w', shape: [0, 3], dtype: 'bool' })).toEqual({ name: 'w', size: 0, valueBytes: 1 });
    expect(bytesOf({ dtype: 'bool' })).toBe(6);
    expect(bytesOf({ dtype: 'complex64' })).toBe(48);
    expect(readSpec({ name: 'w', shape: [6], dtype: 'string' }).valueBytes).toBeNull();
    expect(bytesOf({ dtype: 'string' })).toBe(24);
  });

  it('knows the bytes of every quantization', () => {
    for (const dtype of ['float32', 'int32']) {
      expect(bytesOf({ dtype, quantization: { dtype: 'uint8', min: 0, scale: 1 } })).toBe(6);
      expect(bytesOf({ dtype, quantization: { dtype: 'uint16', min: -1, scale: 0.5 } })).toBe(12);
    }
    expect(bytesOf({ dtype: 'float32', quantization: { dtype: 'float16' } })).toBe(12);
  });

  it('refuses quantizations that tfjs does not restore', () => {
    const bad: [string, unknown][] = [
      ['int32', { dtype: 'float16' }],
      ['bool', { dtype: 'uint8', min: 0, scale: 1 }],
      ['float32', { dtype: 'uint8', min: 0 }],
      ['float32', { dtype: 'uint8', scale: 1 }],
      ['float32', { dtype: 'uint16', min: '0', scale: 1 }],
      ['float32', { dtype: 'uint32', min: 0, scale: 1 }],
      ['float32', { dtype: 'toString', min: 0, scale: 1 }],
      ['float32', { dtype: 8, min: 0, scale: 1 }],
      ['float32', null],
      ['float32', 'uint8'],
    ];
    for (const [dtype, quantization] of bad) {
      expect(() => bytesOf({ dtype, quantization }))
        .withContext(JSON.stringify(quantization))
        .toThrowError(SpecFault, /^the weight "w", of \w+, whose quantization is /);
    }
  });

  it('refuses what has no name, shape or dtype', () => {
    const good = { name: 'w', shape: [2], dtype: 'float32' };
    for (const spec of [null, undefined, 'w', [good], 7]) {
      expect(() => readSpec(spec)).toThrowError(SpecFault, 'a weight that is no object');
    }
    for (const name of [undefined, '', '__proto__', 7]) {
      expect(() => readSpec({ ...good, name })).toThrowError(SpecFault, 'a weight without a name');
    }
    for (const shape of [undefined, 2, 'x', [-1], [0.5], ['2'], [2 ** 50, 2 ** 10], [2 ** 50]]) {
      expect(() => readSpec({ ...good, shape })).toThrowError(SpecFault, /^the weight "w", whose shape is /);
    }
    expect(readSpec({ ...good, shape: [2 ** 49] }).size).toBe(2 ** 49);
    for (const dtype of [undefined, 'float64', 'toString', 4]) {
      expect(() => readSpec({ ...good, dtype })).toThrowError(SpecFault, /^the weight "w", whose dtype is /);
    }
  });
});

describe('bytesTaken', () => {
  const string = { name: 's', size: 2, valueBytes: null };
  const floats = { name: 'f', size: 3, valueBytes: 4 };
  const view = (...words: number[]): DataView => new DataView(Uint32Array.from(words).buffer);

  it('walks from string to string', () => {
    expect(bytesTaken([floats], view())).toBe(12);
    expect(bytesTaken([string], view(0, 0))).toBe(8);
    expect(bytesTaken([string], view(4, 0, 8, 0, 0))).toBe(20);
    expect(bytesTaken([floats, string, floats], view(9, 9, 9, 0, 4, 9))).toBe(36);
  });

  it('is infinite where a length lies beyond the end', () => {
    expect(bytesTaken([string], view(0))).toBe(Infinity);
    expect(bytesTaken([string], view(100, 0))).toBe(Infinity);
    expect(bytesTaken([string], view())).toBe(Infinity);
    expect(bytesTaken([{ ...string, size: 1 }], view(100))).toBe(104);
  });
});
