/**
 * Masks as files of Keras 3 tell them: as operations, which are layers here only where something else than the masks that
 * layers pass on takes them. Two masks are the same where their texts are.
 */
import type * as tf from '@tensorflow/tfjs';
import { nextName } from '../../../base/layer_names.js';
import { isRecord } from '../../../base/options.js';
import { Operation, type OperandTemplate } from '../../../layers/operations/operation.js';
import type { CallJson } from './nodes.js';
import type { LayerJson } from './topology.js';

type Symbolic = tf.SymbolicTensor;
type Part = Symbolic | ToldMask | number | readonly Part[];

export const isTensor = (value: unknown): value is Symbolic => isRecord(value) && 'sourceLayer' in value;
const isMask = (value: unknown): value is ToldMask => value instanceof ToldMask;

function textOf(part: Part): string {
  if (typeof part === 'number') return String(part);
  if (part instanceof ToldMask) return part.text;
  return isTensor(part) ? `#${part.id}` : part.map(textOf).join(', ');
}

/** The mask of a tensor: an operation on tensors and other masks. */
export class ToldMask {
  readonly text: string;
  #made: Symbolic | null = null;

  constructor(
    readonly operation: string,
    private readonly parts: readonly Part[],
    private readonly settings: Readonly<Record<string, unknown>> = {},
    /** That of the operation in the file, where it is from there. */
    private readonly name: string | null = null,
  ) {
    const axis = settings['axis'] === undefined ? '' : `; ${String(settings['axis'])}`;
    this.text = `${operation}(${parts.map(textOf).join(', ')}${axis})`;
  }

  /** The mask as a tensor of the graph, which layers take; `made`: where layers that are made for it are noted. */
  symbolic(made: tf.layers.Layer[]): Symbolic {
    if (this.#made !== null) return this.#made;
    const inputs: Symbolic[] = [];
    const fill = (part: Part): OperandTemplate => {
      if (typeof part === 'number') return part;
      if (!(part instanceof ToldMask) && !isTensor(part)) return part.map(fill);
      return { tensor: inputs.push(part instanceof ToldMask ? part.symbolic(made) : part) - 1 };
    };
    const operands = this.parts.map(fill);
    const { operation, settings } = this;
    const layer = new Operation({ name: this.name ?? nextName('keras_mask'), operation, operands, settings });
    made.push(layer);
    this.#made = layer.apply(inputs) as Symbolic;
    return this.#made;
  }
}

/** Where a tensor is not a number. */
export const notEqual = (x: Symbolic, value: number, name?: string): ToldMask =>
  new ToldMask('NotEqual', [x, value], {}, name);
/** Where a mask has any feature. */
export const anyOf = (mask: ToldMask, name?: string): ToldMask =>
  new ToldMask('Any', [mask], { axis: -1, keepdims: false }, name);
const expanded = (mask: ToldMask, name?: string): ToldMask => new ToldMask('ExpandDims', [mask], { axis: -1 }, name);
const like = (operation: 'ZerosLike' | 'OnesLike', x: Symbolic, dtype: unknown = 'bool', name?: string): ToldMask =>
  new ToldMask(operation, [x], { dtype }, name);
const joined = (masks: readonly ToldMask[], axis: unknown, name?: string): ToldMask =>
  new ToldMask('Concatenate', [masks], { axis }, name);

/** Where any of the masks counts: as layers of Keras 3 that merge tensors join masks. */
export function either(a: ToldMask, b: ToldMask, name?: string): ToldMask {
  return a.text === b.text ? a : new ToldMask('LogicalOr', [a, b], {}, name);
}

/** What Concatenate of Keras 3 makes of the masks of its inputs; null: of an input that has none. */
export function concatenatedMask(
  inputs: readonly Symbolic[],
  masks: readonly (ToldMask | null)[],
  axis: unknown,
): ToldMask {
  const whole = inputs.map((input, i) => {
    const mask = masks[i] ?? null;
    return mask === null ? like('OnesLike', input) : either(expanded(mask), like('ZerosLike', input));
  });
  return anyOf(joined(whole, axis));
}

const isLast = (axis: unknown): boolean => axis === -1 || (Array.isArray(axis) && axis.length === 1 && axis[0] === -1);

type Read = (args: readonly unknown[], config: LayerJson['config'], name: string) => ToldMask | null;

const READERS: Readonly<Record<string, Read>> = {
  NotEqual: ([x, value], _, name) => (isTensor(x) && typeof value === 'number' ? notEqual(x, value, name) : null),
  Any: ([x], { axis, keepdims }, name) => (isMask(x) && isLast(axis) && keepdims !== true ? anyOf(x, name) : null),
  ExpandDims: ([x], { axis }, name) => (isMask(x) && isLast(axis) ? expanded(x, name) : null),
  ZerosLike: ([x], { dtype = null }, name) => (isTensor(x) ? like('ZerosLike', x, dtype, name) : null),
  OnesLike: ([x], { dtype = null }, name) => (isTensor(x) ? like('OnesLike', x, dtype, name) : null),
  LogicalOr: ([a, b], _, name) => (isMask(a) && isMask(b) ? either(a, b, name) : null),
  LogicalAnd: ([a, b], _, name) => (isMask(a) && isMask(b) ? new ToldMask('LogicalAnd', [a, b], {}, name) : null),
  ConvertToTensor: ([x]) => (isMask(x) ? x : null),
  Concatenate: ([list], { axis }, name) =>
    Array.isArray(list) && list.every(isMask) ? joined(list, axis, name) : null,
};

/** The mask that an operation makes; null where it may make something else. */
export function readMask({ className, config, name }: LayerJson, { args, kwargs }: CallJson): ToldMask | null {
  if (!Object.hasOwn(READERS, className) || Object.keys(kwargs).length > 0) return null;
  return READERS[className]!(args, config, name);
}
