/** The optimizer of a table given by name, as an object, or by a config of ours or of Keras. */
import { camelKeys } from '../base/camel_case.js';
import { ValueError, described } from '../base/errors.js';
import { isRecord } from '../base/options.js';
import type { SparseOptimizer } from '../optimizers/sparse_optimizer.js';
import { train } from '../optimizers/train.js';
import { OPTIMIZER_NAMES, RULES, type OptimizerName } from '../rules/rules.js';
import { readTableOptimizer } from './table_optimizer.js';

export type OptimizerInput = SparseOptimizer | OptimizerName | { className: string; config: object };

const EXPECTED = `an emb.train optimizer, one of ${OPTIMIZER_NAMES.join(', ')}, or null`;

/** Classes of Keras that Keras RS turns into optimizers of tables, and the fields that it passes on. */
const KERAS = new Map(
  OPTIMIZER_NAMES.flatMap((name) => {
    const { keras } = RULES[name];
    return keras === undefined ? [] : [[keras.className, { name, fields: keras.fields }] as const];
  }),
);
const COMMON: Readonly<Record<string, string>> = {
  learningRate: 'learningRate',
  weightDecay: 'weightDecay',
  clipvalue: 'clipValue',
};
/** Fields that change nothing where they have these values. */
const NEUTRAL: ReadonlyMap<string, unknown> = new Map([
  ['emaMomentum', 0.99],
  ['gradientAccumulationSteps', 1],
]);
const WITHOUT_EFFECT = ['name', 'isLegacyOptimizer', 'jitCompile', 'emaOverwriteFrequency'];

/** Throws TypeError for what is no optimizer; ValueError for an unknown name and for what cannot be honoured. */
export function readNamedOptimizer(value: unknown): SparseOptimizer | null {
  if (typeof value === 'string') return byName(value);
  const keras = kerasConfig(value);
  return keras === null ? readTableOptimizer(value) : fromKeras(keras.className, keras.config);
}

function byName(value: string): SparseOptimizer {
  const plain = value.replaceAll('_', '').toLowerCase();
  const name = OPTIMIZER_NAMES.find((each) => each.toLowerCase() === plain);
  if (name === undefined) throw new ValueError('optimizer', EXPECTED, value);
  return train[name]();
}

function kerasConfig(value: unknown): { className: string; config: Record<string, unknown> } | null {
  if (!isRecord(value)) return null;
  const { className, config } = camelKeys(value) as { className?: unknown; config?: unknown };
  if (typeof className !== 'string' || !isRecord(config) || className.startsWith('TfjsEmbeddings>')) return null;
  const known = [...KERAS.keys()].find((each) => className === each || className.endsWith(`>${each}`));
  if (known === undefined) throw new ValueError('optimizer', EXPECTED, className);
  return { className: known, config: camelKeys(config) };
}

function fromKeras(className: string, config: Record<string, unknown>): SparseOptimizer {
  const { name, fields } = KERAS.get(className)!;
  const passed: Readonly<Record<string, string>> = { ...COMMON, ...fields };
  const settings: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(config)) {
    if (value === null || value === undefined || WITHOUT_EFFECT.includes(key)) continue;
    const field = Object.hasOwn(passed, key) ? passed[key] : undefined;
    if (field !== undefined) settings[field] = value;
    else if (value !== false && value !== 0 && value !== NEUTRAL.get(key)) {
      const note = `Keras RS passes on ${Object.keys(passed).join(', ')} of ${className}.`;
      throw new ValueError(
        `optimizer.${key}`,
        'nothing, or the value that turns it off',
        described(`${key} of ${String(value)}`),
        note,
      );
    }
  }
  return train[name](settings);
}
