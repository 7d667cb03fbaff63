/** Writes down what is called of an addon, and what came of it, for `replay.c`. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Addon } from '../../src/backends/native/addon.js';

/** Numbers of replay.h. */
const KIND = { undefined: 0, null: 1, number: 2, array: 3, list: 4, text: 5 };

/** In the order of napi_typedarray_type. */
const ARRAYS = [
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
];

function count(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([count(bytes.length), bytes]);
}

function encoded(value: unknown): Buffer {
  if (value === undefined) return Buffer.from([KIND.undefined]);
  if (value === null) return Buffer.from([KIND.null]);
  if (typeof value === 'number')
    return Buffer.concat([Buffer.from([KIND.number]), Buffer.from(Float64Array.of(value).buffer)]);
  if (typeof value === 'string') return Buffer.concat([Buffer.from([KIND.text]), text(value)]);
  if (Array.isArray(value)) {
    return Buffer.concat([Buffer.from([KIND.list]), count(value.length), ...value.map((item) => encoded(item))]);
  }
  const type = ARRAYS.findIndex((kind) => value instanceof kind);
  if (type < 0) throw new Error(`a call of the addon cannot be recorded: ${String(value)}`);
  const { buffer, byteOffset, byteLength, length } = value as Float32Array;
  // A copy: what comes after may write it.
  const bytes = Buffer.from(Buffer.from(buffer, byteOffset, byteLength));
  return Buffer.concat([Buffer.from([KIND.array, type]), count(length), bytes]);
}

export class CallRecord {
  private readonly file: number;
  calls = 0;

  constructor(path: string) {
    this.file = openSync(path, 'w');
  }

  /** The addon, of which each call is recorded. */
  of(addon: Addon): Addon {
    const recorded = Object.entries(addon).map(([name, run]) => {
      return [name, (...args: unknown[]) => this.record(name, run as (...args: unknown[]) => unknown, args)];
    });
    return Object.fromEntries(recorded) as unknown as Addon;
  }

  private record(name: string, run: (...args: unknown[]) => unknown, args: unknown[]): unknown {
    const before = encoded(args);
    let [code, result, error] = ['', undefined as unknown, undefined as unknown];
    try {
      result = run(...args);
    } catch (thrown) {
      error = thrown;
      code = (thrown as { code: string }).code;
    }
    const kept = typeof result === 'number' || Array.isArray(result) ? result : undefined;
    writeSync(this.file, Buffer.concat([text(name), before, text(code), encoded(kept), encoded(args)]));
    this.calls++;
    if (code !== '') throw error;
    return result;
  }

  close(): void {
    closeSync(this.file);
  }
}
