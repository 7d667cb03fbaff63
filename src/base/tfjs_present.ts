/** Says what is missing before anything else fails for want of it. The first import of every entry. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from './errors.js';

const found = tf as Partial<typeof tf>;
if (typeof found.layers?.Layer !== 'function') {
  const received = described(found.version_core === undefined ? 'nothing' : 'a part of it, without tf.layers');
  const note = 'In a page the script of @tensorflow/tfjs (tf.min.js) stands before that of tfjs-embeddings.';
  throw new RuntimeError('tf', '@tensorflow/tfjs, loaded before tfjs-embeddings', received, note);
}
