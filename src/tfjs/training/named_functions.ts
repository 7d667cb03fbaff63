/** Losses and metrics of this package by name: `compile` of tfjs knows its own alone, and has no list to add to. */
import type * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';

type LossOrMetric = (yTrue: tf.Tensor, yPred: tf.Tensor) => tf.Tensor;

/** Makes what a name stands for; null: the name is none of its. */
export type MakeNamed = (name: string) => LossOrMetric | null;

type Kind = 'loss' | 'metrics';
type Given = Record<Kind, unknown>;

const makers = (): Record<Kind, MakeNamed[]> => perProcess('named functions', () => ({ loss: [], metrics: [] }));

/** Has `compile` ask for names that it is given as losses or metrics. */
export function nameFunctions(kind: Kind, make: MakeNamed): void {
  makers()[kind].push(make);
}

/** The same structure with functions for our names; itself where it has none. */
function withFunctions(kind: Kind, given: unknown): unknown {
  if (typeof given === 'string') {
    for (const make of makers()[kind]) {
      const made = make(given);
      if (made !== null) return made;
    }
    return given;
  }
  if (given === null || typeof given !== 'object') return given;
  const entries = Object.entries(given).map(([key, each]) => [key, withFunctions(kind, each)] as const);
  if (entries.every(([key, each]) => each === (given as Record<string, unknown>)[key])) return given;
  return Array.isArray(given) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}

/** Runs `compile` with functions in place of our names; the model keeps the names, which files of models hold. */
export function compileNamed<A extends object>(model: tf.LayersModel, args: A, compile: (args: A) => void): void {
  const { loss, metrics } = args as Partial<Given>;
  const found = { loss: withFunctions('loss', loss), metrics: withFunctions('metrics', metrics) };
  if (found.loss === loss && found.metrics === metrics) return compile(args);
  compile({ ...args, ...found });
  Object.assign(model, { loss, metrics });
}
