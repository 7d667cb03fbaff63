/** Memory that ops take from TensorFlow, and give back. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describeTensorFlow } from './tensorflow_backend.js';
import { WITH_DIST } from '../../helpers/programs.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MEBIBYTE = 2 ** 20;

/** 300 calls of each kind, right and wrong, on tables of 4 MiB of TensorFlow's own; prints by how much memory grew. */
const PROGRAM = `
  import * as tf from '@tensorflow/tfjs';
  import '@tensorflow/tfjs-node';
  import * as emb from 'tfjs-embeddings/node';
  await tf.setBackend('tensorflow');
  await emb.ready();
  const bags = { values: tf.tensor1d([0, 1], 'int32'), rowSplits: tf.tensor1d([0, 2], 'int32') };
  const wrong = { ...bags, values: tf.tensor1d([0, -1], 'int32') };
  const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 1 };
  const run = (name, inputs, attributes = {}) => {
    const call = () => tf.engine().runKernel(name, inputs, { ...options, ...attributes });
    if (inputs.values !== wrong.values) return call();
    let thrown = null;
    try {
      call();
    } catch (error) {
      thrown = error;
    }
    if (thrown?.id !== -1) throw new Error(name + ' says of an id outside the table: ' + thrown);
  };
  const round = () => tf.tidy(() => {
    const table = tf.add(tf.fill([2 ** 14, 64], 1), 1);
    const gradient = tf.ones([1, 64]);
    for (const ids of [bags, wrong]) {
      run('EmbeddingBag', { table, ...ids });
      run('EmbeddingBagGrad', { gradient, table, ...ids }, { rows: 2 ** 14 });
      run('EmbeddingBagWeightsGrad', { table, gradient, ...ids, weights: tf.ones([2]) });
    }
  });
  for (let i = 0; i < 20; i++) round();
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 300; i++) round();
  console.log(process.memoryUsage().rss - before);`;

/** Makes glibc give memory back at once: what it keeps of tables that stock ops made differs by 1 GB from run to run. */
const GIVES_BACK = { MALLOC_MMAP_THRESHOLD_: String(MEBIBYTE) };

describeTensorFlow('the memory of TensorFlow ops', () => {
  it('is given back by calls that end well, and by those that do not', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...WITH_DIST, '--input-type=module', '--eval', PROGRAM],
      { cwd: ROOT, encoding: 'utf8', env: { ...process.env, ...GIVES_BACK } },
    );
    expect(status).withContext(stderr).toBe(0);
    // Kept, the tables would be 1200 MiB.
    expect(Number(stdout.trim().split('\n').at(-1)) / MEBIBYTE)
      .withContext(stderr)
      .toBeLessThan(100);
  }, 60_000);
});
