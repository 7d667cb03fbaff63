// runner: python
/** Drawn models go out as SavedModels and `.keras` files, predict the same elsewhere, and come back. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { addonPath } from '../../../src/backends/native/addon.js';
import {
  PYTHON_TIMEOUT_MS,
  pythonWithKeras,
  pythonWithTensorFlow,
  type Python,
} from '../../backends/tensorflow/python_tensorflow.js';
import { casesOf } from '../../forms/forms.js';
import { skipOrFail } from '../../helpers/backends.js';
import { drawRun, type DrawnRun } from './drawn/run.js';
import { Exports, expectSameOutputs, largestDifference, namesOf, parsePython, plain, valuesByName } from './exports.js';

const COUNT = casesOf('TFJS_EMBEDDINGS_DRAWN_EXPORTS');
const SEED = Number(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? 0) * 100_000;
const SEEDS = Array.from({ length: COUNT }, (_, i) => SEED + i);
/** |a - b| / (1 + |b|). */
const TOLERANCE = 1e-5;
/** Layers that norm rows make more of other roundings. */
const PACKED_TOLERANCE = 1e-3;
const KERAS_SCRIPT = fileURLToPath(new URL('../keras/predict_keras.py', import.meta.url));

interface KerasResult {
  readonly file: string;
  readonly error?: string;
  readonly outputs?: readonly { readonly values: number[] }[];
}

type Values = Record<string, number[]>;

describe('drawn models', () => {
  let exports: Exports;
  let folder: string;
  let python: Python | string;
  let keras: Python | string;
  const expected = new Map<number, Values>();
  const packed = new Set<number>();
  const problems = new Map<string, string>();
  const refused = new Map<number, Error & { argument?: string }>();
  const named = new Map<number, DrawnRun['named']>();
  let ofKeras = new Map<string, KerasResult>();
  const cases: { seed: number; file: string; needs_keras_rs: boolean; inputs: object[] }[] = [];

  /** Notes what goes wrong, and goes on. */
  async function attempt(what: string, seed: number, run: () => Promise<void>): Promise<void> {
    await run().catch((error: Error) => problems.set(`${what} ${seed}`, `${error.stack}`));
  }

  /** Runs an export, which leaves no tensors; those of a packed model make layers, whose tfjs initializers leave some. */
  async function withoutLeak({ isPacked }: DrawnRun, run: () => Promise<void>): Promise<void> {
    const before = tf.memory().numTensors;
    await run();
    const left = tf.memory().numTensors - before;
    if (left !== 0 && !isPacked) throw new Error(`${left} tensors are left`);
  }

  function toleranceOf(seed: number): number {
    return packed.has(seed) ? PACKED_TOLERANCE : TOLERANCE;
  }

  function expectSame(found: Values, values: Values, tolerance: number): void {
    for (const [name, each] of Object.entries(values)) {
      const difference = largestDifference(found[name] ?? [], each);
      if (!(difference <= tolerance)) throw new Error(`output ${name} is ${difference} off`);
    }
  }

  function compareReloaded(loaded: tf.LayersModel, { inputs, isPacked }: DrawnRun, values: Values): void {
    const results = [loaded.predict(inputs)].flat();
    const found = results.map((each) => Array.from(each.dataSync()));
    const weights = loaded.weights.map((weight) => weight.read() as tf.Tensor);
    loaded.dispose();
    tf.dispose([results, weights]);
    expectSame(
      Object.fromEntries(found.map((each, i) => [i, each])),
      Object.fromEntries(Object.values(values).map((each, i) => [i, each])),
      isPacked ? PACKED_TOLERANCE : TOLERANCE,
    );
  }

  async function exportOne(seed: number): Promise<void> {
    const run = drawRun(seed);
    const { model, inputs, options, call, isOwn, predictions } = run;
    const values = valuesByName(namesOf(model.outputs), predictions as tf.Tensor[]);
    expected.set(seed, values);
    if (run.isPacked) packed.add(seed);
    if (!call) named.set(seed, run.named);
    await attempt('SavedModel', seed, () => {
      return withoutLeak(run, () => exports.add(`${seed}`, model, run.named, options, { call }));
    });
    await attempt('reload', seed, async () => {
      const loaded = await emb.savedModel.load(exports.directory(`${seed}`));
      compareReloaded(loaded as tf.LayersModel, run, values);
    });
    const file = join(folder, `${seed}.keras`);
    await attempt('Keras', seed, async () => {
      const write = emb.exportKeras.bind(null, model, file);
      await withoutLeak(run, write).catch((error: Error) => {
        refused.set(seed, error);
      });
      if (refused.has(seed)) return;
      cases.push({ seed, file, needs_keras_rs: isOwn, inputs: inputs.map(plain) });
      compareReloaded(await emb.loadKerasModel(file, { strict: false }), run, values);
    });
    run.dispose();
  }

  beforeAll(async () => {
    for (const each of [expected, packed, problems, refused, named]) each.clear();
    await tf.setBackend('cpu');
    exports = new Exports();
    folder = mkdtempSync(join(tmpdir(), 'drawn-'));
    python = existsSync(addonPath()) ? pythonWithTensorFlow() : 'the native addon is not built';
    keras = pythonWithKeras();
    if (typeof python !== 'string') exports.start(python, emb.opLibraryPath());
    for (const seed of SEEDS) {
      tf.engine().startScope();
      await attempt('drawing', seed, () => exportOne(seed));
      tf.engine().endScope();
    }
    if (typeof python !== 'string') await exports.finish();
    if (typeof keras === 'string') return;
    const list = join(folder, 'cases.json');
    writeFileSync(list, JSON.stringify(cases));
    const all = parsePython(keras.run(KERAS_SCRIPT, list).trim().split('\n').at(-1)!) as KerasResult[];
    ofKeras = new Map(all.map((each) => [each.file, each]));
  }, PYTHON_TIMEOUT_MS);

  afterAll(() => {
    exports.remove();
    rmSync(folder, { recursive: true });
  });

  for (const seed of SEEDS) {
    it(`as SavedModels predict in Python what they predict here, and come back: ${seed}`, () => {
      for (const what of ['drawing', 'SavedModel', 'reload']) {
        expect(problems.get(`${what} ${seed}`))
          .withContext(what)
          .toBeUndefined();
      }
      if (typeof python === 'string') return skipOrFail(python);
      expectSameOutputs(exports.result(`${seed}`), expected.get(seed)!, toleranceOf(seed));
    });

    it(`as .keras files predict in Python what they predict here, and come back, or are refused: ${seed}`, () => {
      expect(problems.get(`Keras ${seed}`)).toBeUndefined();
      const error = refused.get(seed);
      if (error !== undefined) {
        expect(error.name).withContext(error.message).toBe('ValueError');
        expect(error.message).toMatch(/The layer ".*" is a /);
        return;
      }
      if (typeof keras === 'string') return skipOrFail(keras);
      const { outputs, error: said } = ofKeras.get(join(folder, `${seed}.keras`))!;
      expect(said).toBeUndefined();
      const values = Object.values(expected.get(seed)!);
      expect(outputs?.length).toBe(values.length);
      const differences = (outputs ?? []).map((each, i) => largestDifference(each.values, values[i]!));
      expect(Math.max(...differences)).toBeLessThanOrEqual(toleranceOf(seed));
    });
  }

  it('are .keras files more often than not, where there is only what Keras has', () => {
    expect(cases.length).toBeGreaterThan(COUNT * 0.4);
  });

  it('as SavedModels run in tfjs-node', async () => {
    const node = await import('@tensorflow/tfjs-node').catch((error: Error) => error.message);
    if (typeof node === 'string') return skipOrFail(node);
    const before = tf.getBackend();
    await tf.setBackend('tensorflow');
    // Registers the op of lookups.
    emb.backendInfo();
    for (const [seed, given] of named) {
      if (problems.has(`SavedModel ${seed}`)) continue;
      const served = await node.node.loadSavedModel(exports.directory(`${seed}`));
      const inputs = Object.entries(given).map(([name, each]) => {
        const { dtype, shape, values } = each as ReturnType<typeof plain>;
        return [name, node.tensor(values, shape, dtype === 'int64' ? 'int32' : (dtype as 'int32'))] as const;
      });
      const found = served.predict(Object.fromEntries(inputs), {}) as tf.NamedTensorMap;
      for (const [name, values] of Object.entries(expected.get(seed)!)) {
        const difference = largestDifference(Array.from(found[name]!.dataSync()), values);
        expect(difference).withContext(`${seed} ${name}`).toBeLessThanOrEqual(toleranceOf(seed));
      }
      tf.dispose([Object.fromEntries(inputs), found]);
      served.dispose();
    }
    await tf.setBackend(before);
  });
});
