import * as tf from '@tensorflow/tfjs';
import { KERNEL_NAMES } from '../../../src/backends/bag_tensors.js';
import { registerGenericBackend } from '../../../src/backends/generic/register.js';
import { registerWebgpuBackend } from '../../../src/backends/webgpu/register.js';
import * as emb from '../../../src/index.js';
import { perProcess } from '../../../src/base/per_process.js';

/** What tells one warning from another. */
const KEY = 'large table on a GPU';
const said = (): Set<string> => perProcess('warnings', () => new Set<string>());

/** The stock ops of tfjs's cpu backend under the name of one on a GPU, which Node does not have. */
const NAME = 'webgpu';

function startBackend(name: string): void {
  const Cpu = tf.findBackend('cpu').constructor as new () => tf.KernelBackend;
  tf.registerBackend(name, () => new Cpu());
  // This one has no kernels of ours.
  for (const kernel of KERNEL_NAMES) if (tf.getKernel(kernel, name) !== undefined) tf.unregisterKernel(kernel, name);
  for (const kernel of tf.getKernelsForBackend('cpu')) {
    const isOurs = KERNEL_NAMES.includes(kernel.kernelName);
    if (!isOurs && tf.getKernel(kernel.kernelName, name) === undefined) {
      tf.registerKernel({ ...kernel, backendName: name });
    }
  }
  registerGenericBackend(name);
}

describe('tables on a GPU', () => {
  let before: string;
  let tensors: number;
  let wasSaid: boolean;
  let warn: jasmine.Spy;

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    before = tf.getBackend();
    startBackend(NAME);
    wasSaid = said().has(KEY);
  });
  beforeEach(async () => {
    await tf.setBackend(NAME);
    tensors = tf.memory().numTensors;
    said().delete(KEY);
    warn = spyOn(console, 'warn');
  });
  afterEach(() => expect(tf.memory().numTensors).toBe(tensors));
  afterAll(async () => {
    await tf.setBackend(before);
    tf.removeBackend(NAME);
    for (const kernel of KERNEL_NAMES) tf.unregisterKernel(kernel, NAME);
    registerWebgpuBackend();
    if (wasSaid) said().add(KEY);
  });

  const warnings = (): string[] =>
    warn.calls.allArgs().flatMap(([text]) => (String(text).includes('cost of a training step') ? [String(text)] : []));

  function step(rows: number): void {
    const table = tf.tidy(() => tf.variable(tf.zeros([rows, 1])));
    const gradient = tf.ones([1, 1]) as tf.Tensor2D;
    emb.ops.sparseApply('sgd', { table, gradient, values: [1], rowSplits: [0, 1], combiner: 'sum', learningRate: 1 });
    tf.dispose([table, gradient]);
  }

  function denseStep(rows: number): void {
    const table = tf.tidy(() => tf.variable(tf.zeros([rows, 1])));
    const optimizer = tf.train.sgd(0.1);
    optimizer.minimize(() => emb.embeddingLookup(table, [[1]], { combiner: 'sum' }).sum() as tf.Scalar);
    optimizer.dispose();
    table.dispose();
  }

  for (const [title, run] of [
    ['a step by rows', step],
    ['a dense gradient', denseStep],
  ] as const) {
    it(`are warned of once, from 10,000 rows on: ${title}`, () => {
      run(9_999);
      expect(warnings()).toEqual([]);
      run(10_000);
      run(20_000);
      expect(warnings().length).toBe(1);
      const [text] = warnings() as [string];
      expect(text).toContain(`on the backend ${NAME}`);
      expect(text).toContain('one has 10000 rows');
      expect(text).toContain(`await tf.setBackend('`);
    });
  }

  /** Runs what the warning says, between the colon and the semicolon, as a program that was pasted. */
  async function runRemedy(): Promise<string> {
    step(10_000);
    const [, line] = /: (await tf\.[^;]+;)/.exec(warnings()[0]!)!;
    const paste = new Function('tf', `return (async () => { ${line} })()`) as (given: typeof tf) => Promise<void>;
    await paste(tf);
    return tf.getBackend();
  }

  it('are told a line that runs, where wasm is there and where it is not', async () => {
    const { registryFactory } = tf.engine();
    const wasm = registryFactory['wasm'];
    delete registryFactory['wasm'];
    try {
      expect(await runRemedy()).toBe('cpu');
      step(20_000);
      expect(warnings().length).toBe(1);
    } finally {
      if (wasm !== undefined) registryFactory['wasm'] = wasm;
    }
    await import('@tensorflow/tfjs-backend-wasm');
    said().delete(KEY);
    warn.calls.reset();
    await tf.setBackend(NAME);
    expect(await runRemedy()).toBe('wasm');
    step(20_000);
    expect(warnings().length).toBe(1);
  });

  it('are not warned of where they are only looked up', () => {
    tf.tidy(() => void emb.embeddingLookup(tf.zeros([20_000, 1]), [[1]], { combiner: 'sum' }));
    expect(warnings()).toEqual([]);
  });

  it('are not warned of on other backends', async () => {
    for (const backend of ['cpu', 'generic-large']) {
      if (backend !== 'cpu') startBackend(backend);
      await tf.setBackend(backend);
      step(20_000);
      denseStep(20_000);
      expect(warnings()).withContext(backend).toEqual([]);
    }
    await tf.setBackend(NAME);
    tf.removeBackend('generic-large');
  });
});
