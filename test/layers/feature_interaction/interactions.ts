/** What DotInteraction and FeatureCross of Keras RS return, read from the goldens. */
import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs';

interface Numbers {
  readonly shape: number[];
  readonly values: number[];
}

export interface InteractionCase {
  readonly config: Record<string, unknown>;
  readonly inputs: Numbers[];
  readonly output: Numbers;
}

export interface CrossCase extends InteractionCase {
  readonly weights: Numbers[];
  readonly penalty: number;
}

export function readInteractions(): { dot: InteractionCase[]; cross: CrossCase[] } {
  const text = readFileSync(new URL('../../goldens/interactions.json', import.meta.url), 'utf8');
  return JSON.parse(text) as { dot: InteractionCase[]; cross: CrossCase[] };
}

export function tensorsOf(list: Numbers[]): tf.Tensor[] {
  return list.map(({ shape, values }) => tf.tensor(values, shape, 'float32'));
}
