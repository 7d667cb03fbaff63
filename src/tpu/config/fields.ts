/** What all config objects share: arguments in one object, configs in either spelling, equality by value. */
import { camelKeys } from '../../base/camel_case.js';
import { ArgumentTypeError, ValueError, describe } from '../../base/errors.js';
import { isRecord, readOptions } from '../../base/options.js';
import { refusePositional } from '../../base/positional.js';

/** The fields of a constructor's only argument. `call`: how it is written, such as `new emb.tpu.SGD`. */
export function readFields<T extends object>(
  call: string,
  known: readonly (keyof T & string)[],
  passed: readonly unknown[],
): Partial<T> {
  refusePositional(call, known, passed);
  return readOptions<T>(passed[0] ?? {}, known, 'args', `${call}({…})`);
}

/** The fields of a config, whose keys may be in snake_case as Python has them. */
export function readConfig<T>(config: unknown, argument = 'config'): T {
  if (!isRecord(config)) throw new ArgumentTypeError(argument, 'an object', config);
  return camelKeys(config) as T;
}

/** Whether two fields are the same: by value where they are data or have `equals`, else by identity. */
export function sameField(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => sameField(item, (b as unknown[])[i]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  if (typeof a['equals'] === 'function') return (a['equals'] as (other: unknown) => boolean).call(a, b);
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameField(a[key], b[key]))
  );
}

/** `SGD(learningRate=0.1, …)`: a config as text. */
export function configText(name: string, config: object): string {
  const fields = Object.entries(config).map(([key, value]) => `${key}=${fieldText(value)}`);
  return `${name}(${fields.join(', ')})`;
}

/** Configs within configs as they show themselves. */
function fieldText(value: unknown): string {
  const isConfig = isRecord(value) && typeof value['getConfig'] === 'function' && value.toString !== {}.toString;
  return isConfig ? String(value) : describe(value);
}

/** A whole number from `least` on. Anything else is a ValueError, as upstream. */
export function wholeNumber(value: unknown, argument: string, least: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) {
    throw new ValueError(argument, `a whole number >= ${least}`, value);
  }
  return value;
}

/** true or false; `byDefault` where it is not given. */
export function truth(value: unknown, argument: string, byDefault: boolean): boolean {
  if (value === undefined || value === null) return byDefault;
  if (typeof value !== 'boolean') throw new ArgumentTypeError(argument, 'true or false', value);
  return value;
}

/** A name that is not empty, or null. */
export function nameOrNull(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new ArgumentTypeError('name', 'a string or null', value);
  if (value === '') throw new ValueError('name', 'a string that is not empty', value);
  return value;
}
