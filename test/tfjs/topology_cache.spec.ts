/** What stays of a model that was disposed. */
import * as tf from '@tensorflow/tfjs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as emb from 'tfjs-embeddings';
import { clearTopologyCache } from '../../src/tfjs/topology_cache.js';
import { SIZES, idTensors, items, modelOf } from '../layers/distributed_embedding/layers.js';
import { leakFree, useCpu } from '../layers/setup.js';

const MOST = 'TOPOLOGICAL_SORT_CACHE_MAX_ENTRIES';

/** A model that has trained and predicted and was disposed. */
async function usedLayer(): Promise<WeakRef<emb.DistributedEmbedding>> {
  const layer = emb.layers.distributedEmbedding({ embeddings: items() });
  const model = modelOf(layer, SIZES.length);
  const optimizer = emb.train.sgd({ learningRate: 0.1 });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  const x = idTensors();
  const y = tf.ones([5, 1]);
  await model.fit(x, y, { epochs: 1, verbose: 0 });
  tf.dispose(model.predict(x));
  model.dispose();
  optimizer.dispose();
  tf.dispose([x, y]);
  return new WeakRef(layer);
}

/** Whether there is still something to be seen when garbage was collected a few times. */
async function stays(reference: WeakRef<object>): Promise<boolean> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 10 && reference.deref() !== undefined; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    collect();
  }
  return reference.deref() !== undefined;
}

describe('a model with a distributed layer that was disposed', () => {
  beforeAll(useCpu);

  it(
    'is remembered by nobody',
    leakFree(async () => {
      const layers = [await usedLayer(), await usedLayer()];
      for (const layer of layers) expect(await stays(layer)).toBeFalse();
    }),
  );

  it(
    'leaves tfjs with the room that it had for others, which go on',
    leakFree(async () => {
      const before = tf.env().getNumber(MOST);
      try {
        tf.env().set(MOST, 7);
        const layer = emb.layers.distributedEmbedding({ embeddings: items() });
        const model = modelOf(layer, SIZES.length);
        const x = idTensors();
        const first = model.predict(x) as tf.Tensor;
        await usedLayer();
        clearTopologyCache();
        const second = model.predict(x) as tf.Tensor;
        expect(Array.from(second.dataSync())).toEqual(Array.from(first.dataSync()));
        expect(tf.env().getNumber(MOST)).toBe(7);
        model.dispose();
        tf.dispose([x, first, second]);
      } finally {
        tf.env().set(MOST, before);
      }
    }),
  );
});
