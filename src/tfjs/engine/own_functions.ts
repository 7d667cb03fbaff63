/** Functions, kernels and gradients that this package gives to tfjs, so that they can be told from those of users. */
import { perProcess } from '../../base/per_process.js';

const own = (): WeakSet<object> => perProcess('functions of this package', () => new WeakSet());

/** Notes a function, or what holds one, as one of this package; returns it. */
export function asOwn<T extends object>(made: T): T {
  own().add(made);
  return made;
}

/** Whether this package made it, and put it where it is. */
export function isOwn(found: object): boolean {
  return own().has(found);
}
