/** Bun and Deno print what Node prints: kernels, files, devices as workers, and captured steps of TensorFlow. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { skipOrFail } from '../helpers/backends.js';
import { Project, ROOT } from '../helpers/project.js';

const VERSIONS = ['bun@1.4.5', 'deno@2.9.6'];

/** The programs of both, installed once into a folder of the tests; or the reason why there are none. */
function runtimes(): { bun: string; deno: string } | string {
  const folder = join(ROOT, 'test', '.cache', VERSIONS.join('-').replaceAll('@', '-'));
  if (!existsSync(folder)) {
    const partial = `${folder}.${process.pid}.partial`;
    rmSync(partial, { recursive: true, force: true });
    mkdirSync(partial, { recursive: true });
    writeFileSync(join(partial, 'package.json'), '{}');
    console.log(`installing ${VERSIONS.join(' and ')} (once; 200 MB)`);
    // Without their scripts the programs themselves are fetched at their first start, if at all.
    const args = ['install', '--no-audit', '--no-fund', '--silent', '--foreground-scripts', ...VERSIONS];
    const { status, stderr } = spawnSync('npm', args, { cwd: partial, encoding: 'utf8' });
    if (status !== 0) return `npm could not install ${VERSIONS.join(' and ')}: ${stderr}`;
    renameSync(partial, folder);
  }
  const bin = join(folder, 'node_modules', '.bin');
  return { bun: join(bin, 'bun'), deno: join(bin, 'deno') };
}

/** A model that starts the same each time, trained on `ids`. */
const MODEL = `
  const ids = tf.tensor2d([[3, 7, -1], [5, -1, -1], [1, 2, 3], [7, -1, -1]], [4, 3], 'int32');
  const clicked = tf.tensor2d([[1], [0], [1], [0]]);
  const values = tf.tidy(() => tf.range(0, 80).div(100).sin().reshape([10, 8]));
  const table = emb.layers.raggedEmbedding({ inputDim: 10, outputDim: 8, combiner: 'mean', inputShape: [3] });
  const head = tf.layers.dense({ units: 1, activation: 'sigmoid', kernelInitializer: 'ones' });
  const model = tf.sequential({ layers: [table, head] });
  table.setWeights([values]);
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'binaryCrossentropy' });
  const { history } = await model.fit(ids, clicked, { epochs: 5, shuffle: false, verbose: 0 });
  console.log(history.loss.map((loss) => loss.toFixed(5)).join());
`;

const FILES = `
  const { fileURLToPath } = await import('node:url');
  await model.save('file://' + fileURLToPath(new URL('saved', import.meta.url)), { includeOptimizer: true });
  const again = await tf.loadLayersModel('file://' + fileURLToPath(new URL('saved/model.json', import.meta.url)));
  console.log('saved', tf.equal(again.predict(ids), model.predict(ids)).all().dataSync()[0]);
  const folder = fileURLToPath(new URL('exported', import.meta.url));
  await emb.savedModel.export(model, folder, { overwrite: true });
  const loaded = await emb.savedModel.load(folder);
  console.log('exported', tf.equal(loaded.predict(ids), model.predict(ids)).all().dataSync()[0]);
`;

const WORKERS = `
  emb.configureTpuEmulator({ chips: 2, coresPerChip: 1 });
  await tf.setBackend('tpu-emulator');
  const layer = emb.layers.distributedEmbedding({
    embeddings: [{ inputDim: 100, outputDim: 4, combiner: 'sum', embeddingsInitializer: 'ones' }],
  });
  console.log(layer.apply([tf.tensor2d([[1, 2], [3, 99]], [2, 2], 'int32')])[0].dataSync().join());
  console.log(emb.backendInfo().devices.kind);
  await tf.removeBackend('tpu-emulator');
`;

const PROGRAMS: Readonly<Record<string, string>> = {
  'native kernels, files and devices': `
    import * as tf from '@tensorflow/tfjs';
    import * as emb from 'tfjs-embeddings/node';
    ${MODEL}
    console.log(emb.backendInfo().kernels.EmbeddingBag.implementation);
    ${FILES}
    ${WORKERS}`,
  'WebAssembly kernels': `
    import * as tf from '@tensorflow/tfjs';
    import * as emb from 'tfjs-embeddings';
    await emb.ready();
    ${MODEL}
    console.log(emb.backendInfo().kernels.EmbeddingBag.implementation);`,
  'the backend wasm and the entry of layers': `
    import * as tf from '@tensorflow/tfjs';
    import '@tensorflow/tfjs-backend-wasm';
    import * as emb from 'tfjs-embeddings/layers';
    await tf.setBackend('wasm');
    ${MODEL}
    console.log(tf.getBackend());`,
  'captured steps of TensorFlow': `
    import * as tf from '@tensorflow/tfjs-node';
    import * as emb from 'tfjs-embeddings/node';
    ${MODEL}
    console.log(emb.stepInfo(model).captured, emb.backendInfo().kernels.EmbeddingBag.implementation);
    ${FILES}`,
};

describe('Bun and Deno', () => {
  let project: Project;
  let found: ReturnType<typeof runtimes>;

  beforeAll(() => {
    found = runtimes();
    project = new Project();
    // Deno looks for packages beside such a file.
    project.write('package.json', '{}');
    project.linkHere();
    project.link('@tensorflow/tfjs', '@tensorflow/tfjs-node', '@tensorflow/tfjs-backend-wasm');
  }, 300_000);

  afterAll(() => project.remove());

  for (const [what, program] of Object.entries(PROGRAMS)) {
    it(`run ${what} as Node does`, async () => {
      if (typeof found === 'string') return skipOrFail(found);
      project.write('program.mjs', program);
      const lines = async (by: string, ...args: string[]): Promise<string[]> => {
        const { code, output, errors } = await project.runBy(by, ...args, 'program.mjs');
        expect(code).withContext(`${by}: ${output}${errors}`).toBe(0);
        return output.trim().split('\n').slice(-9);
      };
      const expected = (await lines(process.execPath)).filter((line) => /^[\w.,]+( [\w.]+)*$/.test(line));
      expect(expected.length).toBeGreaterThan(1);
      const printed = { bun: await lines(found.bun), deno: await lines(found.deno, 'run', '--allow-all') };
      for (const [name, all] of Object.entries(printed)) {
        expect(all.filter((line) => expected.includes(line)))
          .withContext(name)
          .toEqual(expected);
      }
    }, 120_000);
  }
});
