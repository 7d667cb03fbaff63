/** Headers and floats of `.npy` files. */
import type { PositionedFile } from '../../src/base/platform.js';
import { readNpyHeader, toFloat32Values } from '../../src/io/npy.js';
import { HOSTILE_HEADERS } from '../../tools/attack/hostile/headers.js';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';
import { floatBytes, halfBytes, npyBytes, type NpyParts } from './npy_bytes.js';

/** A file in memory. */
function fileOf(bytes: Uint8Array): PositionedFile {
  return {
    size: bytes.length,
    read(position, into) {
      const piece = bytes.subarray(position, position + into.length);
      into.set(piece);
      return piece.length;
    },
    close() {},
  };
}

function header(parts: NpyParts): ReturnType<typeof readNpyHeader> {
  return readNpyHeader(fileOf(npyBytes(parts)), 'a.npy', 'weights');
}

describe('headers of .npy files', () => {
  it('are read in versions 1.0, 2.0 and 3.0', () => {
    for (const version of [
      [1, 0],
      [2, 0],
      [3, 0],
    ] as const) {
      const parts = { version, shape: '(2, 3)', values: new Uint8Array(24) };
      const { shape, floats, start } = header(parts);
      expect(shape).toEqual([2, 3]);
      expect(floats).toEqual({ bytes: 4, littleEndian: true });
      expect(start).toBe(npyBytes(parts).length - 24);
    }
  });

  it('may have their fields in any order and as older versions wrote them', () => {
    const values = new Uint8Array(64);
    expect(header({ header: `{"shape": (2L, 4L), "fortran_order": False, "descr": ">f8"}`, values }).shape).toEqual([
      2, 4,
    ]);
    expect(header({ header: `{'fortran_order':False,'shape':(2,4),'descr':'>f8'}`, values }).floats).toEqual({
      bytes: 8,
      littleEndian: false,
    });
  });

  it('may have any rank, and values may be followed by something else', () => {
    const values = new Uint8Array(100);
    expect(header({ shape: '()', values }).shape).toEqual([]);
    expect(header({ shape: '(25,)', values }).shape).toEqual([25]);
    expect(header({ shape: '(0, 7)', values }).shape).toEqual([0, 7]);
    expect(header({ shape: '(2, 3, 4)', values }).shape).toEqual([2, 3, 4]);
  });

  it('are refused where the values are not floats in row-major order', () => {
    const refuse = (parts: NpyParts, received: string): void =>
      expectError(
        () => header({ shape: '(1, 1)', values: new Uint8Array(64), ...parts }),
        'ValueError',
        'weights',
        received,
      );
    for (const descr of [
      "'<i8'",
      "'<f16'",
      "'|u1'",
      "'<c8'",
      "'<U4'",
      "'|b1'",
      "'f4'",
      "[('a', '<f4'), ('b', '<i4')]",
    ]) {
      refuse({ descr }, `a.npy, which holds ${descr}`);
    }
    refuse({ descr: "'|O'" }, 'a.npy, which holds pickled objects');
    refuse({ fortranOrder: 'True' }, 'a.npy, which is column-major');
    refuse({ version: [4, 0] }, 'a.npy, of version 4.0');
    refuse({ version: [1, 1] }, 'a.npy, of version 1.1');
  });

  it('are refused where they are broken', () => {
    for (const text of [
      '',
      '{}',
      `{'descr': '<f4', 'fortran_order': False}`,
      `{'descr': '<f4', 'shape': (1, 1)}`,
      `{'fortran_order': False, 'shape': (1, 1)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1, -1)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1.5, 1)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1`,
      `{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 1)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (,)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1,, 1)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}`,
      `{'descr': '<f4' 'fortran_order': False, 'shape': (1, 1)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)} and more`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), 'more': 1}`,
      `{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), 'shape': (1, 1)}`,
      `{'descr': '<f4', 'fortran_order': True, 'fortran_order': False, 'shape': (1, 1)}`,
      `{'note': "'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)"}`,
      `{'descr': '<f4, 'fortran_order': False, 'shape': (1, 1)}`,
      `{'descr': '<f\\'4', 'fortran_order': False, 'shape': (1, 1)}`,
      `{'descr': [('a', '<f4'), 'fortran_order': False, 'shape': (1, 1)}`,
      `{'descr': [('a', '<f4)], 'fortran_order': False, 'shape': (1, 1)}`,
      `{'descr': <f4, 'fortran_order': False, 'shape': (1, 1)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shape': (1, １)}`,
      `{'descr': '<f4', 'fortran_order': False, 'shapé': (1, 1)}`,
      `{'descr': '<f4',\0 'fortran_order': False, 'shape': (1, 1)}`,
    ]) {
      expectError(() => header({ header: text, values: new Uint8Array(64) }), 'ValueError', 'weights', 'a.npy, whose');
    }
  });

  it('are told where they are broken', () => {
    const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (1, -1)}`;
    const message = 'At character 54 of the header: expected a whole number that is not negative.';
    expect(() => header({ header: text })).toThrowError(new RegExp(message));
  });

  it('are shown as far as they are short', () => {
    const received = (text: string): string => `a.npy, whose header is ${JSON.stringify(text)}`;
    const shown = (text: string, wanted: string): void =>
      expectError(() => header({ header: text }), 'ValueError', 'weights', received(wanted));
    shown('{}', '{}');
    shown('x'.repeat(80), 'x'.repeat(80));
    shown('x'.repeat(81), `${'x'.repeat(80)}…`);
  });

  it('are refused where the file ends before its values do', () => {
    const whole = npyBytes({ shape: '(2, 3)', values: new Uint8Array(24) });
    for (let length = 0; length < whole.length; length++) {
      const cut = whole.subarray(0, length);
      expectError(() => readNpyHeader(fileOf(cut), 'a.npy', 'weights'), 'ValueError', 'weights', 'a.npy, ');
    }
    for (const shape of [
      '(3, 3)',
      '(4294967296, 4294967296)',
      `(${'9'.repeat(400)}, 1)`,
      `(${'9'.repeat(400)}, 0)`,
      '(9007199254740993, 0)',
    ]) {
      expectError(() => header({ shape, values: new Uint8Array(24) }), 'ValueError', 'weights', 'which holds 24');
    }
  });

  it('are refused unread above 10,000 bytes, as in NumPy', () => {
    const fields = `{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}`;
    const padded = (length: number): Uint8Array =>
      npyBytes({ version: [2, 0], header: fields.padEnd(length - 1), padding: 0, values: new Uint8Array(4) });
    expect(readNpyHeader(fileOf(padded(10_000)), 'a.npy', 'weights').shape).toEqual([1, 1]);
    const absurd = npyBytes({ version: [2, 0] });
    new DataView(absurd.buffer).setUint32(8, 0xffffffff, true);
    const long = (text: string): Uint8Array => npyBytes({ version: [2, 0], header: text });
    const hostile = HOSTILE_HEADERS.map(({ make }) => long(make(2 ** 20, new Random(1))));
    expect(hostile.length).toBeGreaterThan(20);
    for (const bytes of [padded(10_001), absurd, ...hostile]) {
      const reads: number[] = [];
      const file = fileOf(bytes);
      const watched = {
        ...file,
        size: 2 ** 40,
        read(position: number, into: Uint8Array): number {
          reads.push(position + into.length);
          return file.read(position, into);
        },
      };
      expectError(
        () => readNpyHeader(watched, 'a.npy', 'weights'),
        'ValueError',
        'weights',
        'a.npy, whose header takes',
      );
      expect(reads).toEqual([12]);
    }
  });

  it('are refused within that limit, whatever is in them', () => {
    for (const { kind, make } of HOSTILE_HEADERS) {
      const text = make(9000, new Random(1));
      const read = (): unknown => header({ version: [2, 0], header: text, values: new Uint8Array(4) });
      // NumPy itself writes spaces behind the end.
      if (kind === 'spaces behind the end') expect(read).not.toThrow();
      else expectError(read, 'ValueError', 'weights', 'a.npy, ');
    }
  });

  it('are missed in other files', () => {
    const others: [Uint8Array, string][] = [
      [new Uint8Array(), 'a.npy, an empty file'],
      [Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0), 'a.npy, a zip archive'],
      [Uint8Array.of(0x80, 4, 0x95, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 'a.npy, a pickle'],
      [new TextEncoder().encode('1.5 2.5 3.5 4.5'), 'a.npy, which begins with the bytes 31 2e 35'],
      [Uint8Array.of(1, 0, 10, 255, 16, 9, 7, 7, 7, 7), 'a.npy, which begins with the bytes 01 00 0a ff 10 09'],
      [Uint8Array.of(0x93, 0x4e, 0x55), 'a.npy, cut off after 3 bytes'],
      [npyBytes({}).subarray(0, 9), 'a.npy, cut off after 9 bytes'],
      [Uint8Array.of(7), 'a.npy, which begins with the bytes 07'],
      [npyBytes({}).subarray(0, 10), 'a.npy, which holds 10 bytes in all'],
    ];
    for (const [bytes, received] of others) {
      expectError(() => readNpyHeader(fileOf(bytes), 'a.npy', 'weights'), 'ValueError', 'weights', received);
    }
  });
});

describe('floats of .npy files', () => {
  const FLOATS = [0, -0, 1, -1.5, 3.4028234663852886e38, 1.401298464324817e-45, Infinity, -Infinity, NaN];

  for (const littleEndian of [true, false]) {
    const order = littleEndian ? 'little-endian' : 'big-endian';

    it(`are exact from float32, ${order}`, () => {
      const values = toFloat32Values(floatBytes(FLOATS, 4, littleEndian), { bytes: 4, littleEndian });
      expect([...values]).toEqual(FLOATS);
    });

    it(`are rounded from float64 as astype does, ${order}`, () => {
      const doubles = [...FLOATS, 0.1, 1 + 2 ** -24, 1 + 3 * 2 ** -24, 1e39, -1e39, 1e-46, 2 ** -150, 3 * 2 ** -150];
      const expected = [...FLOATS, 0.10000000149011612, 1, 1 + 2 ** -22, Infinity, -Infinity, 0, 0, 2 ** -148];
      const values = toFloat32Values(floatBytes(doubles, 8, littleEndian), { bytes: 8, littleEndian });
      expect([...values]).toEqual(expected);
    });

    it(`are exact from float16, ${order}`, () => {
      const halves: [number, number][] = [
        [0x0000, 0],
        [0x8000, -0],
        [0x3c00, 1],
        [0xbe00, -1.5],
        [0x7bff, 65504],
        [0x0400, 2 ** -14],
        [0x03ff, 1023 * 2 ** -24],
        [0x0001, 2 ** -24],
        [0x8001, -(2 ** -24)],
        [0x3555, 0.333251953125],
        [0x7c00, Infinity],
        [0xfc00, -Infinity],
        [0x7e00, NaN],
        [0xfe01, NaN],
      ];
      const bytes = halfBytes(
        halves.map(([bits]) => bits),
        littleEndian,
      );
      expect([...toFloat32Values(bytes, { bytes: 2, littleEndian })]).toEqual(halves.map(([, value]) => value));
    });
  }
});
