/** An op of TensorFlow as this package runs it. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
import type { HostArray } from './host_array.js';
import { countOf, parseSignature, type Signature } from './signature.js';

export type Attributes = Readonly<Record<string, unknown>>;

/** Inputs and attributes of one call of a plain kernel. */
export class HostCall {
  constructor(
    private readonly signature: Signature,
    private readonly inputs: readonly HostArray[],
    private readonly attributes: Attributes,
  ) {}

  /** The tensors of an argument. */
  list(argument: string): HostArray[] {
    let at = 0;
    for (const candidate of this.signature.inputs) {
      const count = countOf(candidate, this.attributes);
      if (candidate.name === argument) return this.inputs.slice(at, at + count);
      at += count;
    }
    throw new Error(`${this.signature.name} has no argument ${argument}`);
  }

  /** The tensor of an argument. */
  one(argument: string): HostArray {
    return this.list(argument)[0]!;
  }

  /** All tensors, in order. */
  all(): HostArray[] {
    return [...this.inputs];
  }

  int(attribute: string, fallback = 0): number {
    const value = this.attributes[attribute] ?? fallback;
    if (typeof value === 'number' && Number.isInteger(value)) return value;
    throw new ValueError(attribute, 'a whole number', value);
  }

  bool(attribute: string, fallback: boolean): boolean {
    return (this.attributes[attribute] as boolean | undefined) ?? fallback;
  }

  strings(attribute: string): string[] {
    return ((this.attributes[attribute] as string[] | undefined) ?? []).map((text) => text.toUpperCase());
  }
}

export interface Operation {
  readonly signature: Signature;
  /** What the attribute T may be. */
  readonly dtypes: readonly tf.DataType[];
  /** Attributes that are neither types nor counts, which TensorFlow is given too. */
  readonly attributes: Readonly<Record<string, 'int' | 'bool'>>;
  /** Whether the `tensorflow` backend runs TensorFlow's op; tfjs-node cannot call those with lists of strings. */
  readonly inTensorFlow: boolean;
  /** The input that must not be empty for TensorFlow's op, which then returns what its memory held. */
  readonly notEmpty: string | null;
  /** Throws for counts that contradict one another; TensorFlow's op would write where there is no output. */
  readonly checkCounts: (inputs: readonly tf.TensorInfo[], attributes: Attributes) => void;
  /** The plain kernel. */
  readonly run: (call: HostCall) => HostArray[];
}

export const ANY: readonly tf.DataType[] = ['float32', 'int32', 'bool', 'string'];
export const NUMBERS: readonly tf.DataType[] = ['float32', 'int32'];
export const FLOATS: readonly tf.DataType[] = ['float32'];

/** Describes an op by its signature, its dtypes and its plain kernel. */
export function operation(
  signature: string,
  dtypes: readonly tf.DataType[],
  run: (call: HostCall) => HostArray | HostArray[],
  options: Partial<Pick<Operation, 'attributes' | 'inTensorFlow' | 'notEmpty' | 'checkCounts'>> = {},
): Operation {
  return {
    signature: parseSignature(signature),
    dtypes,
    attributes: options.attributes ?? {},
    inTensorFlow: options.inTensorFlow ?? true,
    notEmpty: options.notEmpty ?? null,
    checkCounts: options.checkCounts ?? ((): void => undefined),
    run: (call) => {
      const results = run(call);
      return Array.isArray(results) ? results : [results];
    },
  };
}
