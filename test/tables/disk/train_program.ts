/**
 * Trains the disk table in a file for ever: `train_program FILE SEED ROWS STEPS`. Every so many steps is a checkpoint, of
 * which a line on standard output tells the number. What goes wrong ends it with code 3, once it was told.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { DIM, modelOf, steps } from './trained_model.js';

const [file, seed, rows, between] = process.argv.slice(2);
// As the system would end the process where a file may not grow.
process.on('SIGXFSZ', () => undefined);
await tf.setBackend('cpu');
const table = await emb.diskTable({ file: file!, trainable: true, cacheBytes: 40 * DIM * 4 });
const model = modelOf(table, emb.train.adagrad({ learningRate: 0.1 }));
const random = new Random(Number(seed));
console.log('open');
try {
  for (let checkpoint = 1; ; checkpoint++) {
    await steps(model, random, Number(between), Number(rows));
    table.checkpoint();
    console.log(checkpoint);
  }
} catch (error) {
  console.log(String(error));
  process.exit(3);
}
