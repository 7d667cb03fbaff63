/** `emb.tpu` for calls: objects have numbers, and values of TensorFlow forms of their own. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { numbersOf, readTensor, writeTensor, type WireTensor } from './wire_tensors.js';

/** A value as frames carry it: what is no object stands for itself. */
type WireValue = null | number | string | boolean | Readonly<Record<string, unknown>>;

interface Start {
  readonly isTpu: boolean;
  readonly chips: number;
  readonly coresPerChip: number;
}

/** What no JavaScript program could pass. */
class Foreign {
  constructor(readonly text: string) {}
}

export class TpuCalls {
  private readonly objects = new Map<number, object>();
  private readonly numberOf = new WeakMap<object, number>();
  private readonly rates = new Map<number, number>();
  private next = 1;

  /** Frees all objects and begins on a new emulator, or on `cpu`. */
  async start({ isTpu, chips, coresPerChip }: Start): Promise<void> {
    for (const object of this.objects.values()) {
      if ('build' in object) (object as unknown as { dispose(): void }).dispose();
    }
    if (tf.getBackend() === 'tpu-emulator') {
      await tf.setBackend('cpu');
      tf.removeBackend('tpu-emulator');
    }
    if (!isTpu) return;
    emb.configureTpuEmulator({ chips, coresPerChip, devices: 'inline' });
    await tf.setBackend('tpu-emulator');
  }

  make({ kind, fields }: { kind: string; fields: WireValue }, buffers: readonly Uint8Array[]): number {
    const Class = (emb.tpu as unknown as Record<string, new (fields: unknown) => object>)[kind]!;
    return this.numberFor(new Class(this.read(fields, buffers)));
  }

  /** Plain fields of an object, where they are there. */
  fields({ id, names }: { id: number; names: readonly string[] }): Record<string, unknown> {
    const object = this.objects.get(id) as Record<string, unknown>;
    const isPlain = (value: unknown): boolean =>
      value === null || ['number', 'string', 'boolean'].includes(typeof value);
    return Object.fromEntries(names.filter((name) => isPlain(object[name])).map((name) => [name, object[name]]));
  }

  /** The config of an object, as text. */
  config({ id }: { id: number }): string {
    return JSON.stringify((this.objects.get(id) as { getConfig(): object }).getConfig());
  }

  /** A method of an object, or an accessor where there are no arguments; `rates` are learning rates of functions. */
  call(
    { id, method, args, rates }: { id: number; method: string; args: WireValue[] | null; rates?: [number, number][] },
    buffers: readonly Uint8Array[],
    out: Uint8Array[],
  ): unknown {
    for (const [number, rate] of rates ?? []) this.rates.set(number, rate);
    const object = this.objects.get(id) as Record<string, unknown>;
    if (args === null) return this.write(object[method], out);
    const given = args.map((each) => this.read(each, buffers));
    return this.write((object as Record<string, (...args: unknown[]) => unknown>)[method]!(...given), out);
  }

  /** What a function of plain data gives, by its name in `emb.tpu`. */
  plain(
    { name, args }: { name: string; args: readonly WireValue[] },
    buffers: readonly Uint8Array[],
    out: Uint8Array[],
  ): unknown {
    const found = name.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], emb.tpu);
    const given = args.map((each) => this.read(each, buffers));
    const result = (found as (...args: unknown[]) => unknown)(...given);
    const wire = writePlain(result, out);
    tf.dispose([given, result] as tf.TensorContainer);
    return wire;
  }

  private numberFor(object: object): number {
    const known = this.numberOf.get(object);
    if (known !== undefined) return known;
    this.objects.set(this.next, object);
    this.numberOf.set(object, this.next);
    return this.next++;
  }

  private read(value: unknown, buffers: readonly Uint8Array[]): unknown {
    if (value === null || typeof value !== 'object') return value;
    const [[kind, content]] = Object.entries(value) as [[string, never]];
    const tensor = (wire: WireTensor): tf.Tensor => readTensor(wire, buffers);
    switch (kind) {
      case 'list':
        return (content as unknown[]).map((each) => this.read(each, buffers));
      case 'record':
        return Object.fromEntries(Object.entries(content).map(([key, each]) => [key, this.read(each, buffers)]));
      case 'object':
        return this.objects.get(content);
      case 'tensor':
        return tensor(content);
      case 'sparse': {
        const [indices, values, denseShape] = content as WireTensor[];
        const sizes = Array.from(numbersOf(denseShape!, buffers));
        return { indices: tensor(indices!), values: tensor(values!), denseShape: sizes };
      }
      case 'ragged': {
        const [values, ...splits] = content as WireTensor[];
        const nested = splits.map((each) => numbersOf(each, buffers) as Int32Array);
        return emb.RaggedTensor.fromNestedRowSplits(numbersOf(values!, buffers) as Int32Array, nested);
      }
      case 'rate':
        return () => this.rates.get(content);
      case 'constant':
        return tf.initializers.constant({ value: content });
      case 'values': {
        // Large tables ask for their rows in blocks, from the first to the last.
        const numbers = numbersOf(content, buffers) as Float32Array;
        let at = 0;
        return (shape: number[]) => {
          const size = tf.util.sizeFromShape(shape);
          if (at + size > numbers.length) at = 0;
          at += size;
          return tf.tensor(numbers.slice(at - size, at), shape);
        };
      }
      default:
        return new Foreign(String(content));
    }
  }

  private write(value: unknown, out: Uint8Array[]): unknown {
    if (value === undefined || value === null) return null;
    if (typeof value !== 'object') return value;
    if (value instanceof tf.Tensor) return { tensor: writeTensor(value, out) };
    if (Array.isArray(value)) return { list: value.map((each) => this.write(each, out)) };
    if (value instanceof Map) {
      return { pairs: [...value].map(([key, each]) => [this.write(key, out), this.write(each, out)]) };
    }
    if (Object.getPrototypeOf(value) === Object.prototype && !('preserved' in value)) {
      const entries = Object.entries(value);
      if (entries.every(([, each]) => each instanceof tf.Tensor || typeof each !== 'object' || Array.isArray(each))) {
        return { record: Object.fromEntries(entries.map(([key, each]) => [key, this.write(each, out)])) };
      }
    }
    return { object: this.numberFor(value) };
  }
}

function writePlain(value: unknown, out: Uint8Array[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof tf.Tensor) return { tensor: writeTensor(value, out) };
  if (value instanceof Int32Array || value instanceof Float32Array) {
    return { tensor: tf.tidy(() => writeTensor(tf.tensor(value), out) as unknown as tf.TensorContainer) };
  }
  return { record: Object.fromEntries(Object.entries(value).map(([key, each]) => [key, writePlain(each, out)])) };
}
