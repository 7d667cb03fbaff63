/**
 * What is said when a stock optimizer steps the table of a layer. Gradients alone do not tell: whoever asks
 * tf.variableGrads for one may want to look at it only.
 */
import type * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../base/errors.js';
import { tableSettings } from '../lookup/training/table_settings.js';
import { beforeStockSteps } from '../tfjs/stock_steps.js';
import { bytesText } from '../base/units.js';
import { warnOnce } from '../base/warn_once.js';

/** Looks at the steps of stock optimizers from now on. */
export function watchStockSteps(): void {
  beforeStockSteps(checkVariable);
}

function checkVariable(variable: tf.Variable): void {
  const settings = tableSettings(variable);
  if (settings === undefined) return;
  const { name, optimizer } = settings;
  const { shape, size } = variable;
  if (optimizer !== null) {
    throw new ValueError(
      'optimizer',
      `an emb.train optimizer in compile, because table ${name} has an optimizer of its own`,
      described('a stock optimizer, which trains every variable itself'),
    );
  }
  warnOnce(
    `table ${name} [${shape.join(', ')}] is trained by a stock optimizer: each step builds and applies a dense ` +
      `gradient of ${bytesText(4 * size)}, whatever the batch (said for the first such table only). Optimizers of ` +
      `emb.train touch only the rows of the batch: sgd and adagrad train the same, adam with \`lazy: false\`.`,
    'dense gradient',
  );
}
