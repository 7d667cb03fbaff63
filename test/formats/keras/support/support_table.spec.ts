import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { documentedTable, supportTable } from './support_table.js';

describe('docs/keras_table.md', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  it('says what is loaded, trained and written', () => {
    expect(documentedTable()).toEqual(supportTable());
  });
});
