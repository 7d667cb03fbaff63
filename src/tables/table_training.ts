/** What a table may ask of the optimizer that trains it. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../base/errors.js';
import type { Penalized } from '../optimizers/penalty.js';
import { TRAINED_STORAGES } from '../codecs/codecs.js';
import { lookupScope } from '../lookup/lookup.js';
import { warnOnce } from '../base/warn_once.js';
import type { EmbeddingTable } from './embedding_table.js';

/** Checks at the start of a training pass that runs under a stock optimizer. `layer`: the name of the table's layer. */
export function checkTableTraining(
  table: EmbeddingTable,
  layer: string,
  kwargs: Record<string, unknown> | undefined,
): void {
  const isStep = kwargs?.['training'] === true && tf.engine().state.gradientDepth > 0;
  if (!isStep) return;
  const { rowCodec: codec, storage } = table;
  if (codec.training === null && !table.isFrozen) {
    const expected = `${TRAINED_STORAGES} for the table of layer ${layer}, which is trained`;
    const note = `Rows of ${storage} are looked up alone: freeze the layer, trainable: false.`;
    throw new ValueError('storage', expected, storage, note);
  }
  if (lookupScope() !== null || !table.trainable) return;
  if (!codec.isPlain) {
    const expected = `an emb.train optimizer in compile, because the table of layer ${layer} has storage '${storage}'`;
    const note = 'A stock optimizer knows float32 alone; or freeze the layer, trainable: false.';
    throw new ValueError('optimizer', expected, described('a stock optimizer'), note);
  }
  if (table.optimizer !== null) {
    const expected = `an emb.train optimizer in compile, because layer ${layer} has an optimizer of its own`;
    const received = described('a stock optimizer, which trains every variable itself');
    throw new ValueError('optimizer', expected, received);
  }
  if (table.constraint === null) return;
  // tfjs itself never applies constraints while it trains.
  warnOnce(`layer ${layer}: TensorFlow.js optimizers apply no embeddingsConstraint; those of emb.train do.`);
}

/** The table and its regularizer, where steps of it add a penalty. */
export function penalizedOf({ regularizer, table, rowCodec: codec }: EmbeddingTable): Penalized[] {
  return regularizer === null || table === null || codec.training === null ? [] : [{ table, regularizer }];
}
