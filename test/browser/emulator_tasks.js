/** What specs ask of a page or of its worker: plain JavaScript that gets tfjs and this package. */
import { makeModel, startDevices, trainDistributedModel } from './distributed_model.js';

async function stopDevices(tf, emb) {
  await tf.setBackend('cpu');
  tf.removeBackend('tpu-emulator');
  emb.configureTpuEmulator({});
}

async function train(tf, emb, { host }) {
  await startDevices(tf, emb, { host });
  const before = tf.memory().numTensors;
  const trained = await trainDistributedModel(tf, emb);
  const tensors = tf.memory().numTensors - before;
  await stopDevices(tf, emb);
  return { ...trained, tensors };
}

/** Trains, makes a device fail, trains once more, and starts anew. */
async function fail(tf, emb, { host, fault }) {
  await startDevices(tf, emb, { host });
  const { model, x, y, dispose } = makeModel(tf, emb);
  await model.trainOnBatch(x, y);
  emb.tpuEmulator().injectFault(2, fault);
  let error = null;
  try {
    await model.trainOnBatch(x, y);
  } catch (thrown) {
    error = { isRuntimeError: thrown instanceof emb.RuntimeError, message: thrown.message };
  }
  dispose();
  await stopDevices(tf, emb);
  return { error, again: await train(tf, emb, { host }) };
}

/** Leaves devices running. */
async function start(tf, emb, { host }) {
  await startDevices(tf, emb, { host });
  return emb.backendInfo().devices;
}

const stop = stopDevices;

export const tasks = { train, fail, start, stop };
