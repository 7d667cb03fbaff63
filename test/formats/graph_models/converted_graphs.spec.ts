/** Graphs that the real converter wrote of small functions, with TensorFlow's results and errors. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { convertedGraphs, verdictOf } from './converted_graphs.js';

const graphs = convertedGraphs();
const rooms = [...new Set(graphs.map(({ name }) => name.split(':')[0]!))];

/** Of all graphs at most this share may be refused when they are loaded. */
const MOST_REFUSED = 0.15;

describeForBackends(
  'graphs of the converter as TensorFlow',
  () => {
    beforeAll(() => void emb.converter.registerOps());

    const refused: string[] = [];
    for (const room of rooms) {
      const own = graphs.filter(({ name }) => name.startsWith(`${room}:`));
      it(`${room}: ${own.length} graphs`, async () => {
        for (const graph of own) {
          const before = tf.memory().numTensors;
          const verdict = await verdictOf(graph);
          if ('refused' in verdict) refused.push(`${graph.name}: ${verdict.refused}`);
          else expect(verdict.difference).withContext(graph.name).toBeNull();
          expect(tf.memory().numTensors).withContext(`tensors after ${graph.name}`).toBe(before);
        }
      });
    }

    it('are loaded but for a few', () => {
      expect(refused.length)
        .withContext(refused.join('\n'))
        .toBeLessThan(MOST_REFUSED * graphs.length);
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
