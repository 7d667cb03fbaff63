/** Files as NumPy writes them, made by hand. */

export interface NpyParts {
  readonly version?: readonly [number, number];
  readonly descr?: string;
  readonly fortranOrder?: string;
  readonly shape?: string;
  /** In place of the three fields. */
  readonly header?: string;
  /** Spaces after the header; as many as end it at a multiple of 64 bytes where none are given. */
  readonly padding?: number;
  readonly values?: Uint8Array;
}

/** The bytes of a file. */
export function npyBytes(parts: NpyParts): Uint8Array {
  const { version = [1, 0], descr = "'<f4'", fortranOrder = 'False', shape = '(0, 1)' } = parts;
  const text = parts.header ?? `{'descr': ${descr}, 'fortran_order': ${fortranOrder}, 'shape': ${shape}, }`;
  const before = version[0] === 1 ? 10 : 12;
  const padding = parts.padding ?? 64 - ((before + text.length + 1) % 64);
  const header = new TextEncoder().encode(`${text}${' '.repeat(padding)}\n`);
  const values = parts.values ?? new Uint8Array();
  const bytes = new Uint8Array(before + header.length + values.length);
  bytes.set([0x93, ...new TextEncoder().encode('NUMPY'), ...version]);
  const view = new DataView(bytes.buffer);
  if (before === 10) view.setUint16(8, header.length, true);
  else view.setUint32(8, header.length, true);
  bytes.set(header, before);
  bytes.set(values, before + header.length);
  return bytes;
}

/** Floats in the byte order asked for. */
export function floatBytes(values: readonly number[], size: 4 | 8, littleEndian = true): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * size));
  values.forEach((value, i) => {
    if (size === 4) view.setFloat32(i * size, value, littleEndian);
    else view.setFloat64(i * size, value, littleEndian);
  });
  return new Uint8Array(view.buffer);
}

/** Halves, given by their 16 bits. */
export function halfBytes(values: readonly number[], littleEndian = true): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 2));
  values.forEach((value, i) => view.setUint16(i * 2, value, littleEndian));
  return new Uint8Array(view.buffer);
}
