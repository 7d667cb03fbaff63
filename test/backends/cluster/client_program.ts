/** Attaches to a table on servers and takes steps: client_program.ts <addresses> <name> <steps> */
import '@tensorflow/tfjs-node';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { commonTable, stepUp } from './common_table.js';

const [, , ps, name, steps] = process.argv;
await emb.connectCluster({ ps: ps!.split(','), name: name!, tables: 'attach', host: 'cpu' });
await tf.setBackend('tf-cluster');
const layer = commonTable();
stepUp(layer, Number(steps));
layer.getWeights()[0]!.dataSync(); // the last steps have ended
emb.cluster().close();
