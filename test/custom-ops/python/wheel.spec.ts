// runner: python
/** The wheel in a fresh environment: what it holds, its example, and models that go there and come back. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { addonPath } from '../../../src/backends/native/addon.js';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow, type Python } from '../../backends/tensorflow/python_tensorflow.js';
import { describeForBackends, skipOrFail } from '../../helpers/backends.js';
import { ROOT } from '../../helpers/project.js';

const SOURCES = fileURLToPath(new URL('../../../custom-ops/python', import.meta.url));
const EXAMPLE = join(SOURCES, 'example.py');
// As in the example.
const [ROWS, COLUMNS, VISITS, PLACES] = [1000, 8, 512, 3];

function ran(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}

/** A virtual environment with the wheel, in which TensorFlow is found. */
class Environment {
  readonly folder = mkdtempSync(join(tmpdir(), 'te-wheel-'));
  readonly wheel: string;
  readonly #python: string;

  constructor(withTensorFlow: Python) {
    const built = ran(process.execPath, [join(SOURCES, 'wheel.mjs'), '--out', join(this.folder, 'dist')]);
    this.wheel = built.trim().split('\n').at(-1)!;
    ran('python3', ['-m', 'venv', '--without-pip', join(this.folder, 'venv')]);
    this.#python = join(this.folder, 'venv', 'bin', 'python');
    // From the wheel alone: what it depends on comes from the folder of TensorFlow.
    const options = ['--no-index', '--no-deps', '--disable-pip-version-check', '-q'];
    ran('python3', ['-m', 'pip', '--python', this.#python, 'install', ...options, this.wheel]);
    const [site] = readdirSync(join(this.folder, 'venv', 'lib'));
    const packages = withTensorFlow.env['PYTHONPATH']!;
    writeFileSync(join(this.folder, 'venv', 'lib', site!, 'site-packages', 'tensorflow.pth'), `${packages}\n`);
  }

  run(...args: string[]): string {
    return ran(this.#python, args, { TFJS_EMBEDDINGS_LIBRARY: '', PYTHONPATH: '' });
  }

  /** What the example prints. */
  example(...args: string[]): { before: number; after: number; steps: number } {
    return JSON.parse(this.run(EXAMPLE, ...args).trim()) as ReturnType<Environment['example']>;
  }

  path(name: string): string {
    return join(this.folder, name);
  }
}

function visits(): [ids: tf.Tensor2D, vectors: tf.Tensor2D] {
  const ids = Int32Array.from({ length: VISITS * PLACES }, (_, i) => (i % 7 === 0 ? -1 : (i * 37) % ROWS));
  const vectors = Float32Array.from({ length: VISITS * COLUMNS }, (_, i) => (i % 17) / 16);
  return [tf.tensor2d(ids, [VISITS, PLACES], 'int32'), tf.tensor2d(vectors, [VISITS, COLUMNS])];
}

async function fit(model: tf.LayersModel, epochs: number): Promise<void> {
  const [ids, vectors] = visits();
  await model.fit(ids, vectors, { batchSize: 64, epochs, shuffle: false, verbose: 0 });
  tf.dispose([ids, vectors]);
}

/** Table and state of the optimizer. */
async function stateOf(model: tf.LayersModel): Promise<Record<string, number[]>> {
  const weights = model.weights.map((weight) => ({ name: weight.originalName, tensor: weight.read() }));
  const state = await model.optimizer.getWeights();
  return Object.fromEntries(
    [...weights, ...state].map(({ name, tensor }) => [name, [...(tensor as tf.Tensor).dataSync()]]),
  );
}

async function load(folder: string): Promise<tf.LayersModel> {
  return tf.loadLayersModel(`file://${join(folder, 'model.json')}`);
}

function end(model: tf.LayersModel): void {
  model.optimizer.dispose();
  model.dispose();
}

describe('the wheel', () => {
  let python: Python | string;
  let environment: Environment | undefined;
  beforeAll(() => {
    python = existsSync(addonPath()) ? pythonWithTensorFlow() : 'the native addon is not built';
    if (typeof python !== 'string') environment = new Environment(python);
  }, PYTHON_TIMEOUT_MS);
  beforeEach(() => {
    if (typeof python === 'string') skipOrFail(python);
  });
  afterAll(() => {
    if (environment !== undefined) rmSync(environment.folder, { recursive: true });
  });

  it('is tagged by the library that it holds', () => {
    const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
    const name = basename(environment!.wheel);
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(name).toMatch(new RegExp(`^tfjs_embeddings_ops-${version}-py3-none-(manylinux_2_28|linux)_${machine}.whl$`));
    const needed = /GLIBC_2\.(29|[3-9]\d)/.test(ran('readelf', ['--version-info', addonPath()]));
    expect(name.includes('manylinux')).toBe(!needed);
    const told = ran('python3', [fileURLToPath(new URL('tag_cases.py', import.meta.url))]);
    expect(JSON.parse(told)).toEqual({
      old: 'manylinux_2_28_x86_64',
      glibc: 'linux_x86_64',
      stdlib: 'linux_aarch64',
      musl: 'ValueError: TFJS_EMBEDDINGS_LIBRARY: expected a library of glibc, received one of another C library',
      other:
        'ValueError: TFJS_EMBEDDINGS_LIBRARY: expected an ELF library for x86_64 or aarch64, received another file',
    });
  });

  it('is the same when it is built again', () => {
    const again = environment!.path('again');
    ran(process.execPath, [join(SOURCES, 'wheel.mjs'), '--out', again]);
    const [first, second] = [environment!.wheel, join(again, basename(environment!.wheel))].map((each) =>
      readFileSync(each),
    );
    expect(second!.equals(first!)).toBeTrue();
  });

  it('refuses a library that is not there', () => {
    expect(() => ran(process.execPath, [join(SOURCES, 'wheel.mjs'), '--library', 'absent.so'])).toThrowError(
      /--library: expected an op library, received no file absent.so/,
    );
  });

  it('brings its own library, and says what it needs', () => {
    const code = 'import tfjs_embeddings_ops as t; print(t.op_library_path())';
    expect(environment!.run('-c', code).trim()).toMatch(/venv.*site-packages.*tfjs_embeddings\.so$/);
    const second = `import tensorflow as tf; tf.load_op_library(${JSON.stringify(addonPath())}); import tfjs_embeddings_ops`;
    expect(() => environment!.run('-c', second)).toThrowError(
      /RuntimeError: op library: expected .* to be the first in this process, received ops of another copy/,
    );
    const old = 'import tensorflow as tf; tf.__version__ = "2.20.0"; import tfjs_embeddings_ops';
    expect(() => environment!.run('-c', old)).toThrowError(
      /RuntimeError: tensorflow: expected version 2\.21\.\*, received 2\.20\.0/,
    );
  });

  it('has an example that learns', () => {
    const { before, after, steps } = environment!.example('--epochs', '20');
    expect(after).toBeLessThan(before);
    expect(steps).toBe(160);
  });

  describeForBackends(
    'goes on with models, and hands them back',
    () => {
      it(
        'with equal bits in both directions',
        async () => {
          const [first, there, back] = ['first', 'there', 'back'].map((name) => environment!.path(name));
          const layer = emb.layers.raggedEmbedding({
            name: 'items',
            inputDim: ROWS,
            outputDim: COLUMNS,
            combiner: 'mean',
            inputShape: [PLACES],
          });
          const here = tf.sequential({ layers: [layer as tf.layers.Layer] });
          here.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
          await fit(here, 2);
          await here.save(`file://${first!}`, { includeOptimizer: true });
          const served = environment!.path('served');
          await emb.savedModel.export(here, served, { includeOptimizer: true, overwrite: true });
          await fit(here, 3);
          expect(environment!.example('--load', first!, '--save', there!, '--epochs', '3').steps).toBe(40);
          const again = await load(there!);
          expect(await stateOf(again)).toEqual(await stateOf(here));
          environment!.example('--load', served, '--save', back!, '--epochs', '3');
          const exported = await load(back!);
          expect(await stateOf(exported)).toEqual(await stateOf(here));
          await fit(again, 2);
          environment!.example('--load', there!, '--save', back!, '--epochs', '2');
          const last = await load(back!);
          const state = await stateOf(last);
          expect(state).toEqual(await stateOf(again));
          expect(Object.keys(state)).toEqual(['items/embeddings', 'iter', 'items/embeddings/accumulators']);
          expect(state['iter']).toEqual([56]);
          for (const model of [here, again, exported, last]) end(model);
        },
        PYTHON_TIMEOUT_MS,
      );
    },
    ['cpu native', 'tensorflow'],
  );
});
