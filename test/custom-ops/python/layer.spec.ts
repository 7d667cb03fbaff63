// runner: python
/** The layer, the optimizers and the files of the wheel, tested in Python. */
import { fileURLToPath } from 'node:url';
import { addonPath } from '../../../src/backends/native/addon.js';
import { COMMON_FIELDS, DEFAULTS } from '../../../src/rules/fields.js';
import { HYPER_FIELDS, NEUTRAL_HYPER } from '../../../src/rules/hyper.js';
import { OPTIMIZER_NAMES, RULES, SLOT_NAMES, UPDATES, UPDATE_NAMES } from '../../../src/rules/rules.js';
import { PYTHON_TIMEOUT_MS, pythonWithSources, type Python } from '../../backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../helpers/backends.js';

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
/** JSON has no infinite numbers. */
const finite = (value: unknown): unknown => (Math.abs(value as number) === Infinity ? String(value) : value);

const TELL_RULES = `
import json, math
from tfjs_embeddings_ops import rules as r
finite = lambda x: x if math.isfinite(x) else ("Infinity" if x > 0 else "-Infinity")
print(json.dumps({
    "rules": {n: [e.class_name, e.learning_rate, e.decays_idle_rows, list(r.fields_of(n)), {**r.DEFAULTS, **e.defaults}]
              for n, e in r.RULES.items()},
    "hyper": [[n, finite(x)] for n, x in r.NEUTRAL_HYPER.items()],
    "slots": {n: [list(e), r.ROW_SLOTS.get(n, 0)] for n, e in r.SLOTS.items()},
}))
`;

describe('the wheel in Python', () => {
  let python: Python | string;
  beforeAll(() => {
    python = pythonWithSources(addonPath());
  }, PYTHON_TIMEOUT_MS);
  beforeEach(() => {
    if (typeof python === 'string') skipOrFail(python);
  });

  const lastLine = (...args: [string, ...string[]]): unknown =>
    JSON.parse(
      (python as Python)
        .run(...args)
        .trim()
        .split('\n')
        .at(-1)!,
    );

  it(
    'pools, trains and refuses',
    () => {
      expect(lastLine(path('layer_cases.py'))).toEqual({ ran: 27, failed: [] });
    },
    PYTHON_TIMEOUT_MS,
  );

  it(
    'reads and writes models, and refuses other files',
    () => {
      expect(lastLine(path('file_cases.py'))).toEqual({ ran: 7, failed: [] });
    },
    PYTHON_TIMEOUT_MS,
  );

  it('knows the rules that this package has', () => {
    const rules = OPTIMIZER_NAMES.map((name) => {
      const { className, learningRate = 0.01, decaysIdleRows = false, fields, defaults } = RULES[name];
      const all = Object.entries({ ...DEFAULTS, ...defaults }).map(([field, value]) => [snake(field), value]);
      const names = [...COMMON_FIELDS, ...fields].map(snake);
      return [snake(name), [className, learningRate, decaysIdleRows, names, Object.fromEntries(all)]];
    });
    const slots = UPDATE_NAMES.map((name) => [capital(name), [SLOT_NAMES[name], UPDATES[name].rowSlots ?? 0]]);
    expect(lastLine('-c', TELL_RULES)).toEqual({
      rules: Object.fromEntries(rules) as unknown,
      hyper: HYPER_FIELDS.map((field) => [snake(field), finite(NEUTRAL_HYPER[field])]),
      slots: Object.fromEntries(slots) as unknown,
    });
  });
});
