/**
 * Layers of this package in `model.summary()`. tfjs prints the name under which a class is saved, and cuts it at the end
 * of its column: here a layer shows its kind alone, `Embedding`, and the column is as wide as that takes.
 */
import * as tf from '@tensorflow/tfjs';
import { MODELS, override } from './models/own_models.js';

const SAVED_NAME = /^TfjsEmbeddings>/;

type Print = (line: string) => void;
type Summary = (this: tf.LayersModel, lineLength?: number, positions?: number[], print?: Print) => void;

function isOurs(layer: tf.layers.Layer): boolean {
  return SAVED_NAME.test(layer.getClassName());
}

/** Prints while our layers tell their kinds. */
function withKinds(layers: readonly tf.layers.Layer[], print: () => void): void {
  for (const layer of layers) {
    const kind = layer.getClassName().replace(SAVED_NAME, '');
    Object.defineProperty(layer, 'getClassName', { value: () => kind, configurable: true });
  }
  try {
    print();
  } finally {
    for (const layer of layers) delete (layer as { getClassName?: unknown }).getClassName;
  }
}

/** Where each column ends, by a summary's line of titles, which stand at their beginnings. */
function endsOfColumns([rule = '', titles = '']: readonly string[]): number[] {
  const starts = [...titles.matchAll(/(?<= )(Input Shape|Output shape|Param #|Receives inputs)/g)];
  return [...starts.map(({ index }) => index), rule.length];
}

function readable(original: Summary): Summary {
  return function (lineLength, positions, print = console.log) {
    if (!this.built && this instanceof tf.Sequential) this.build();
    const ours = this.built ? this.layers.filter(isOurs) : [];
    withKinds(ours, () => {
      if (ours.length === 0 || lineLength !== undefined || positions !== undefined) {
        return original.call(this, lineLength, positions, print);
      }
      const lines: string[] = [];
      original.call(this, undefined, undefined, (line) => lines.push(line));
      const ends = endsOfColumns(lines);
      const first = this.layers.map((layer) => `${layer.name} (${layer.getClassName()}) `.length);
      const more = Math.max(...first) - ends[0]!;
      if (more <= 0) return lines.forEach((line) => print(line));
      const wider = ends.map((end) => end + more);
      original.call(this, wider.at(-1), wider, print);
    });
  };
}

/** Makes summaries of models show what our layers are. */
export function showKindsInSummaries(): void {
  for (const each of [MODELS.graphs, MODELS.sequentials]) override(each, 'summary', readable);
}
