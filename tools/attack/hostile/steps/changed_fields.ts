/** Numbers, flags and lists of numbers in the fields of all layers, each of which somebody changes. */
import * as tf from '@tensorflow/tfjs';
import type { Random } from '../../../../test/helpers/random.js';
import { layersOf, put, type Fields, type HostileStep } from './hostile_step.js';
import { MODELS, type ModelName } from './models.js';

/** How many of them are drawn. */
const DRAWN = 80;

/** Another value of the same kind; undefined: it is no number, flag or list of numbers. */
function changed(value: unknown, factor: number): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return Number.isInteger(value) ? value + 1 : value * factor;
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const first = changed(value[0], factor);
  return first === undefined ? undefined : [first, ...(value.slice(1) as unknown[])];
}

/** What tfjs counts and names layers by. */
const IGNORED_FIELDS = new Set(['id', '_refCount', '_addedWeightNames']);

/** Fields of the layers of every model, and of what they hold, that may change; 80 of them. */
export function changedFields(random: Random): HostileStep[] {
  const found: HostileStep[] = [];
  for (const model of Object.keys(MODELS) as ModelName[]) {
    const sample = MODELS[model].build();
    layersOf(sample).forEach((layer, at) => {
      for (const [field, value] of Object.entries(layer) as [string, unknown][]) {
        const factor = 0.3 + random.next();
        if (IGNORED_FIELDS.has(field) || changed(value, factor) === undefined) continue;
        const when = random.pick(['first', 'later', 'always'] as const);
        const how = random.pick(['set', 'set', 'getter'] as const);
        const act: HostileStep['act'] = (training) => {
          const holder = layersOf(training.model)[at] as unknown as Fields;
          if (when === 'always' && training.step % 5 !== 4) return;
          const now = holder[field];
          const other = changed(now, factor);
          if (how === 'set') holder[field] = other;
          else put(training, holder, field, { get: () => (training.factor() === 1 ? now : other), enumerable: true });
        };
        found.push({ name: `${field} of layer ${at}, ${how}`, model, when, act });
      }
    });
    tf.dispose(sample.getWeights());
  }
  return Array.from({ length: DRAWN }, () => random.pick(found));
}
