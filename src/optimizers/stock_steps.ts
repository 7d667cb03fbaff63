/**
 * Notices when a stock optimizer steps the table of a layer. Gradients alone do not tell: whoever asks tf.variableGrads
 * for one may want to look at it only. Steps do: all of them go through `applyGradients`.
 */
import * as tf from '@tensorflow/tfjs';
import { bytesText } from '../units.js';
import { ValueError, described } from '../errors.js';
import { tableSettings, type TableSettings } from '../ops/training/table_settings.js';
import { warnOnce } from '../warn_once.js';

type Apply = (gradients: tf.NamedTensorMap | { name: string; tensor: tf.Tensor }[]) => void;

const STOCK = [
  tf.SGDOptimizer,
  tf.MomentumOptimizer,
  tf.RMSPropOptimizer,
  tf.AdamOptimizer,
  tf.AdamaxOptimizer,
  tf.AdagradOptimizer,
  tf.AdadeltaOptimizer,
] as unknown as readonly { readonly prototype: { applyGradients: Apply } }[];

const MARK = Symbol.for('tfjs-embeddings.stockSteps');

/** Looks at the steps of stock optimizers from now on. */
export function watchStockSteps(): void {
  for (const { prototype } of STOCK) {
    if (Object.hasOwn(prototype, MARK)) continue;
    const apply = prototype.applyGradients;
    prototype.applyGradients = function (this: unknown, gradients): void {
      checkStep(gradients);
      apply.call(this, gradients);
    };
    Object.defineProperty(prototype, MARK, { value: true });
  }
}

function checkStep(gradients: Parameters<Apply>[0]): void {
  const list = Array.isArray(gradients)
    ? gradients
    : Object.entries(gradients).map(([name, tensor]) => ({ name, tensor }));
  for (const { name, tensor } of list) {
    const variable = tf.engine().registeredVariables[name];
    const settings = variable === undefined ? undefined : tableSettings(variable);
    if (settings !== undefined && tensor !== null && tensor !== undefined) checkTable(settings, variable!);
  }
}

function checkTable({ name, optimizer }: TableSettings, { shape, size }: tf.Variable): void {
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
