/**
 * Memory of an open table over many steps of 64 new and old keys, in which others lose their rows. Prints a JSON line for
 * each tenth of the steps: megabytes of the process, of JavaScript's heap after a collection, and tensors.
 *   node --expose-gc --import tsx tools/bench/tables/open_memory.ts [cpu | tensorflow] [steps]
 */
import * as tf from '@tensorflow/tfjs';
import { Random } from '../../../test/helpers/random.js';
import { printLine } from '../stopwatch.js';

const [backend = 'cpu', stepsText = '1000000'] = process.argv.slice(2);
const [steps, capacity] = [Number(stepsText), 20_000];
if (backend === 'tensorflow') await import('@tensorflow/tfjs-node');
const emb = await import('../../../src/node.js');
await tf.setBackend(backend);

const random = new Random(1);
const open = emb.openTable({ outputDim: 16, capacity, seed: 1, admit: { after: 2, tracked: 50_000 } });
const optimizer = emb.train.adam({ learningRate: 0.01 });
const step = emb.capture((keys: BigInt64Array): void => {
  optimizer.minimize(() => (emb.embeddingLookup(open, keys) as tf.Tensor).square().mean<tf.Scalar>());
});
const megabytes = (bytes: number): number => Math.round(bytes / 2 ** 20);

for (let done = 1; done <= steps; done++) {
  // Each key comes about three times within some steps, and then no more.
  step(BigInt64Array.from({ length: 64 }, () => BigInt(random.whole(20 * done, 20 * done + 10_000))));
  if (done % Math.ceil(steps / 10) !== 0) continue;
  globalThis.gc?.();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  const { size, admitted, evicted } = open.stats();
  printLine({
    ...{ bench: 'memory of open tables', backend, step: done, captured: step.info.captured },
    ...{ rssMb: megabytes(rss), heapMb: megabytes(heapUsed), arraysMb: megabytes(arrayBuffers) },
    ...{ tensors: tf.memory().numTensors, size, admitted, evicted },
  });
}
