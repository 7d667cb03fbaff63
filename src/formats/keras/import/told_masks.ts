/**
 * Masks as files of Keras 3 tell them: as operations, each written by what it is made of, so that two masks are the same
 * where their texts are.
 */
import { isRecord } from '../../../base/options.js';
import type { CallJson } from './nodes.js';
import type { LayerJson } from './topology.js';

/** The mask of a tensor. */
export class ToldMask {
  constructor(readonly text: string) {}
}

interface Numbered {
  readonly id: number;
}

/** Where a tensor is not a number. */
export const notEqual = ({ id }: Numbered, value: unknown): ToldMask => new ToldMask(`${id} != ${String(value)}`);
/** Where a mask has any feature. */
export const anyOf = ({ text }: ToldMask): ToldMask => new ToldMask(`any(${text})`);
const expanded = ({ text }: ToldMask): ToldMask => new ToldMask(`expand(${text})`);
const zerosLike = ({ id }: Numbered): ToldMask => new ToldMask(`zeros(${id})`);
const onesLike = ({ id }: Numbered): ToldMask => new ToldMask(`ones(${id})`);
const either = (a: ToldMask, b: ToldMask): ToldMask => new ToldMask(`(${a.text} or ${b.text})`);
const joined = (masks: readonly ToldMask[], axis: unknown): ToldMask => {
  return new ToldMask(`concat(${masks.map(({ text }) => text).join(', ')}; ${String(axis)})`);
};

/** What Concatenate of Keras 3 makes of the masks of its inputs; null: of an input that has none. */
export function concatenatedMask(
  inputs: readonly Numbered[],
  masks: readonly (ToldMask | null)[],
  axis: unknown,
): ToldMask {
  const whole = inputs.map((input, i) => {
    const mask = masks[i] ?? null;
    return mask === null ? onesLike(input) : either(expanded(mask), zerosLike(input));
  });
  return anyOf(joined(whole, axis));
}

const isTensor = (value: unknown): value is Numbered => isRecord(value) && 'sourceLayer' in value;
const isMask = (value: unknown): value is ToldMask => value instanceof ToldMask;
const isLast = (axis: unknown): boolean => axis === -1 || (Array.isArray(axis) && axis.length === 1 && axis[0] === -1);

type Read = (args: readonly unknown[], config: LayerJson['config']) => ToldMask | null;

const READERS: Readonly<Record<string, Read>> = {
  NotEqual: ([x, value]) => (isTensor(x) && typeof value === 'number' ? notEqual(x, value) : null),
  Any: ([x], { axis, keepdims }) => (isMask(x) && isLast(axis) && keepdims !== true ? anyOf(x) : null),
  ExpandDims: ([x], { axis }) => (isMask(x) && isLast(axis) ? expanded(x) : null),
  ZerosLike: ([x]) => (isTensor(x) ? zerosLike(x) : null),
  OnesLike: ([x]) => (isTensor(x) ? onesLike(x) : null),
  LogicalOr: ([a, b]) => (isMask(a) && isMask(b) ? either(a, b) : null),
  Concatenate: ([list], { axis }) => (Array.isArray(list) && list.every(isMask) ? joined(list, axis) : null),
};

export const MASK_OPERATIONS = Object.keys(READERS);

/** Whether this is an operation of which Keras 3 makes masks. Concatenate is a layer as well; HDF5 files tell no module. */
export function isMaskOperation({ className, module, config }: LayerJson): boolean {
  if (!MASK_OPERATIONS.includes(className)) return false;
  if (className !== 'Concatenate') return true;
  return module === null ? config['trainable'] === undefined : module.startsWith('keras.src.ops.');
}

/** The mask that an operation makes; null where Keras 3 makes none so. */
export function readMask({ className, config }: LayerJson, { args, kwargs }: CallJson): ToldMask | null {
  if (!Object.hasOwn(READERS, className) || Object.keys(kwargs).length > 0) return null;
  return READERS[className]!(args, config);
}
