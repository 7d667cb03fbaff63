/** All of a run uses one build of TensorFlow.js: the installed one, or that in `TFJS_DIR`. */
import * as tf from '@tensorflow/tfjs';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import * as emb from '../../src/node.js';
import { ROOT } from '../helpers/project.js';
import { tfjsFolder } from './tfjs_dir.mjs';

const TOLD = "require('@tensorflow/tfjs').version.tfjs";
const require = createRequire(import.meta.url);

describe('the build of TensorFlow.js', () => {
  const path = join(tfjsFolder() ?? join(ROOT, 'node_modules'), '@tensorflow', 'tfjs', 'package.json');
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string };

  it('is the same for what is imported and required, for tfjs-node, programs and workers', async () => {
    type WithVersion = { version: { tfjs: string } };
    expect(tf.version.tfjs).toBe(version);
    expect((require('@tensorflow/tfjs') as WithVersion).version.tfjs).toBe(version);
    expect((require('@tensorflow/tfjs-node') as WithVersion).version.tfjs).toBe(version);
    const { stdout } = spawnSync(process.execPath, ['-p', TOLD], { cwd: ROOT, encoding: 'utf8' });
    expect(stdout.trim()).toBe(version);
    const code = `import { createRequire } from 'node:module';
      import { parentPort } from 'node:worker_threads';
      const require = createRequire(${JSON.stringify(join(ROOT, 'index.js'))});
      parentPort.postMessage(${TOLD});`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { stdout: true });
    const said = new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject));
    expect(await said).toBe(version);
  });

  it('runs layers of this package', async () => {
    await tf.setBackend('cpu');
    const before = tf.memory().numTensors;
    const layer = emb.layers.embedding({ inputDim: 5, outputDim: 2, combiner: 'sum' });
    tf.tidy(() => expect((layer.apply(tf.tensor2d([[1, 2]], [1, 2], 'int32')) as tf.Tensor).shape).toEqual([1, 2]));
    layer.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});
