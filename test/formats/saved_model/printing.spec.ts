// runner: python
/** SavedModels of Python that print. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow } from '../../backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../helpers/backends.js';
import { expectRejection } from '../../helpers/errors.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';

/** Writes two models: `stream` prints what it is given to the standard output, `file` to a file beside it. */
const MODELS = `
import os, sys
import tensorflow as tf

folder = sys.argv[1]
for name, stream in [("stream", sys.stdout), ("file", "file://" + os.path.join(folder, "told.txt"))]:
    class Doubling(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
        def doubled(self, x):
            tf.print("doubled:", x, output_stream=stream)
            return {"y": 2 * x}

    model = Doubling()
    tf.saved_model.save(model, os.path.join(folder, name), signatures=model.doubled)
`;

describe('a SavedModel that prints', () => {
  it(
    'runs where it prints to a stream, and is refused where it prints to a file',
    async () => {
      const python = pythonWithTensorFlow();
      if (typeof python === 'string') return skipOrFail(python);
      const folder = mkdtempSync(join(tmpdir(), 'printing-'));
      try {
        python.run('-c', MODELS, folder);
        await expectNoLeakAsync(async () => {
          const model = (await emb.savedModel.load(join(folder, 'stream'))) as emb.RunnableSavedModel;
          const x = tf.tensor1d([1, -2.5]);
          const { y } = model.predict({ x });
          expect(Array.from(y!.dataSync())).toEqual([2, -5]);
          tf.dispose([x, y!]);
          model.dispose();
          const file = join(folder, 'told.txt');
          const loading = (): Promise<unknown> => emb.savedModel.load(join(folder, 'file'));
          await expectRejection(loading, 'ValueError', 'directory', `PrintV2 to file://${file}`);
          expect(existsSync(file)).toBeFalse();
        });
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    PYTHON_TIMEOUT_MS,
  );
});
