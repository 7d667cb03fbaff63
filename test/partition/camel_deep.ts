/** Keys in camel case, all the way down. */
import { toCamelCase } from '../../src/base/camel_case.js';

export function camelDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelDeep);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [toCamelCase(key), camelDeep(item)]));
}
