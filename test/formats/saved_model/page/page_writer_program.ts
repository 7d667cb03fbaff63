/**
 * Exports through a writer, as a page does: without the Node entry and without TensorFlow. Prints the files in the order
 * in which they came, base64 by path.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/index.js';
import { PAGE_OPTIONS, makePageModel } from './page_model.js';

await tf.setBackend('cpu');
await emb.ready();
const model = makePageModel(emb);
const files: [path: string, bytes: string][] = [];
await emb.savedModel.export(
  model,
  {
    async write(path, chunks) {
      const pieces: Buffer[] = [];
      // A piece is of use until the next is asked for.
      for await (const chunk of chunks) pieces.push(Buffer.from(chunk));
      files.push([path, Buffer.concat(pieces).toString('base64')]);
    },
  },
  PAGE_OPTIONS,
);
const backends = Object.keys(tf.engine().registryFactory);
console.log(JSON.stringify({ files, backends }));
