/** Losses of ranking and retrieval, for `compile` and as functions. */
import { nameFunctions } from '../../tfjs/training/named_functions.js';
import type { Loss } from './loss.js';
import { bpr } from './sampled.js';

const NAMED: Readonly<Record<string, () => Loss>> = { bpr };

/** Has `compile` take these losses by name, with their default options. */
export function nameLosses(): void {
  nameFunctions('loss', (name) => (Object.hasOwn(NAMED, name) ? NAMED[name]!() : null));
}

export { bpr, type SampledLossArgs } from './sampled.js';
export type { Loss, MaskedLabels, Targets } from './loss.js';
