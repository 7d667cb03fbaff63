/** All row formats. */
import type { Codec, Storage } from './codec.js';
import { FLOAT16 } from './float16.js';
import { FLOAT32 } from './float32.js';
import { INT8 } from './int8.js';

/** In the order of their numbers. */
export const CODECS: readonly Codec[] = [FLOAT32, FLOAT16, INT8];
export const STORAGES: readonly Storage[] = CODECS.map(({ name }) => name);

/** Those that steps write, as errors name them. */
export const TRAINED_STORAGES = CODECS.filter(({ training }) => training !== null)
  .map(({ name }) => `'${name}'`)
  .join(' or ');

/** The codec of a name; of float32 where none is given. */
export function codecOf(storage?: Storage): Codec {
  return storage === undefined ? FLOAT32 : CODECS.find(({ name }) => name === storage)!;
}
