/** Unknown keys of configs. */
import { closestName } from './closest_name.js';
import { warnOnce } from './warn_once.js';

/** Warns of such a key, and says what was probably meant. `owner`: whose config holds it. */
export function sayUnknownKey(key: string, owner: string, known: readonly string[]): void {
  const meant = closestName(key, known);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  warnOnce(`the key ${key} in the config of ${owner} is not known and has no effect.${hint}`);
}
