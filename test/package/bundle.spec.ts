/** The files that `info --bundle` lists are all that a function in a cloud needs. */
import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Project, ROOT, runIn } from '../helpers/project.js';

interface Bundle {
  readonly implementation: string;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly bytes: number;
}

const CLI = join(ROOT, 'custom-ops', 'cli.mjs');

/** Another model than the one that the list was made with, saved and asked. */
const FUNCTION = `
  import * as tf from '@tensorflow/tfjs';
  import * as emb from 'tfjs-embeddings/node';
  await emb.ready();
  await tf.setBackend('cpu');
  const model = tf.sequential();
  model.add(emb.layers.raggedEmbedding({ inputDim: 1000, outputDim: 16, combiner: 'sqrtn' }));
  model.add(tf.layers.dense({ units: 1 }));
  model.compile({ optimizer: emb.train.adam({ learningRate: 0.1, lazy: true }), loss: 'meanSquaredError' });
  const visits = emb.RaggedTensor.fromRows([[3, 999], [], [1]]);
  await model.trainOnBatch(visits, tf.ones([3, 1]));
  await model.save('file://saved');
  const again = await tf.loadLayersModel('file://saved/model.json');
  const [a, b] = [model, again].map((each) => Array.from(each.predict(visits).dataSync()).join());
  console.log(a === b, emb.backendInfo().kernels.EmbeddingBag.implementation);`;

describe('the files that info --bundle lists', () => {
  let project: Project;
  beforeEach(() => (project = new Project()));
  afterEach(() => project.remove());

  it('run alone, natively, and are less than 50 MB', async () => {
    const { code, output, errors } = await runIn(ROOT, process.execPath, CLI, 'info', '--bundle', '--json');
    expect(code).withContext(errors).toBe(0);
    const { implementation, files, bytes } = JSON.parse(output) as Bundle;
    expect(implementation).toBe('native');
    expect(bytes).toBe(files.reduce((sum, file) => sum + file.bytes, 0));
    expect(bytes).toBeLessThan(50e6);
    expect(errors).toContain(`${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, native kernels`);
    for (const { path } of files) {
      mkdirSync(join(project.path, dirname(path)), { recursive: true });
      cpSync(join(ROOT, path), join(project.path, path));
    }
    const run = await project.runModule(FUNCTION);
    expect(run.output).withContext(run.errors).toContain('true native');
    expect(run.code).toBe(0);
  }, 120_000);

  it('come one a line, with paths from the current folder', async () => {
    const { output } = await runIn(join(ROOT, 'test'), process.execPath, CLI, 'info', '--bundle');
    const lines = output.trimEnd().split('\n');
    expect(lines).toContain(join('..', 'package.json'));
    expect(lines).toContain(join('..', 'dist', 'kernels.wasm'));
    expect(lines.filter((line) => /\.map$|\.d\.c?ts$|\.min\.js$/.test(line))).toEqual([]);
  }, 120_000);

  it('are not told where the package cannot be loaded', async () => {
    await project.installPacked(); // without tfjs
    const cli = join('node_modules', 'tfjs-embeddings', 'custom-ops', 'cli.mjs');
    const { code, output, errors } = await project.run(cli, 'info', '--bundle');
    expect([code, output]).toEqual([1, '']);
    expect(errors).toContain('a model cannot be trained here');
    expect(errors).toContain('@tensorflow/tfjs');
  }, 120_000);
});
