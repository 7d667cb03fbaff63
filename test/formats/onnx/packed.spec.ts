/** Tables of float16 and int8, which stay so in a file of ONNX and are widened as they are read. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { namesOf, plain } from '../saved_model/exports.js';
import { temporaryFolder } from './model_suite.js';
import { nodeRuntime, runOnce, wasmRuntime } from './runtimes.js';

describe('packed tables of ONNX', () => {
  const folder = temporaryFolder('packed');

  for (const dtype of ['float16', 'int8'] as const) {
    for (const dim of [6, 7]) {
      it(`of ${dtype} with ${dim} columns give the rows that are read here, and take less`, async () => {
        const layer = emb.layers.embedding({ inputDim: 3000, outputDim: dim, combiner: null, inputShape: [4] });
        const plainModel = tf.sequential({ layers: [layer] });
        const model = emb.quantize(plainModel, { dtype });
        const ids = tf.tensor2d([[0, 1, 2999, 7]], [1, 4], 'int32');
        const expected = Array.from((model.predict(ids) as tf.Tensor).dataSync());
        const file = join(folder(), `${dtype}.onnx`);
        await emb.onnx.export(model, file);
        expect((await stat(file)).size).toBeLessThan(3000 * dim * (dtype === 'int8' ? 3 : 2.2) + 4000);
        const inputs = { [namesOf(model.inputs)[0]!]: plain(ids) };
        for (const runtime of [await nodeRuntime(), await wasmRuntime()]) {
          const session = await runtime.InferenceSession.create(await readFile(file), { logSeverityLevel: 3 });
          expect(Object.values(await runOnce(runtime, session, inputs))[0]!).toEqual(expected);
          await session.release();
        }
        const loaded = await emb.onnx.load(file);
        expect(Array.from((loaded.predict(ids) as tf.Tensor).dataSync())).toEqual(expected);
        for (const each of [plainModel, model, loaded]) each.dispose();
        ids.dispose();
      });
    }
  }
});
