/**
 * A client whose servers hang while a step or a save is under way, which then ends: exit_program.ts <way> <addresses> <process ids>
 */
import '@tensorflow/tfjs-node';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { commonTable, stepUp } from './common_table.js';

const [, , way, ps, ids] = process.argv as [string, string, string, string, string];
/** Those that wait for their servers, up to the deadline. */
const waits = ['lookup', 'save', 'close'].includes(way);
const timeoutMs = waits ? 1500 : 3_600_000;
await emb.connectCluster({ ps: ps.split(','), name: `exit-${process.pid}`, timeoutMs, host: 'cpu' });
await tf.setBackend('tf-cluster');
const layer = commonTable();
stepUp(layer, 1);
layer.getWeights()[0]!.dataSync();

const stopAll = (): void => ids.split(',').forEach((id) => process.kill(Number(id), 'SIGSTOP'));
const inputs = [tf.range(0, commonTable.rows, 1, 'int32').reshape([1, commonTable.rows])];
if (way === 'saveAndExit') stopAll();
else {
  emb.train.sgd({ learningRate: 1 }).minimize(() => {
    const [rows] = layer.apply(inputs) as [tf.Tensor];
    stopAll(); // its rows are there, its update finds nobody
    return rows.sum().asScalar();
  });
}
console.log('servers hang');

const told = (error: Error): void => console.log(error.message);
if (way === 'lookup') {
  try {
    layer.apply(inputs);
  } catch (error) {
    told(error as Error);
  }
}
if (way === 'save') await emb.cluster().save('/nowhere/checkpoint').catch(told);
if (way === 'saveAndExit') {
  void emb.cluster().save('/nowhere/checkpoint').catch(told);
  setTimeout(() => process.exit(7), 100);
}
if (way === 'close') emb.cluster().close();
if (way === 'exit') process.exit(7);
