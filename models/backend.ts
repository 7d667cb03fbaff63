/** Starts the tfjs backend that computes. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { CLUSTER, EMULATOR, type Machine } from './device_options.mjs';
import { InputError } from './input_error.mjs';
import { startServers, type Servers } from './servers.js';

/** What registers a backend with tfjs; cpu is there already. */
async function importBackend(name: string): Promise<void> {
  // TensorFlow says at start which instructions it uses; only warnings and errors are of interest here.
  process.env['TF_CPP_MIN_LOG_LEVEL'] ??= '2';
  if (name === 'tensorflow') await import('@tensorflow/tfjs-node');
  if (name === 'wasm') await import('@tensorflow/tfjs-backend-wasm');
}

// Data are read before a backend is chosen. tfjs would print at the first use of `cpu` that a backend for Node is missing;
// the kernels are native here.
await tf.setBackend('cpu');
(tf.backend() as { firstUse?: boolean }).firstUse = false;

async function start(name: string): Promise<void> {
  await emb.ready();
  if (!(await tf.setBackend(name))) throw new Error('tfjs could not start it');
}

/** Prepares the named backend, and nothing else in its place; without a name, TensorFlow where it is there, else cpu. */
async function withBackend(name: string | null, what: string, work: (name: string) => Promise<void>): Promise<void> {
  try {
    await work(name ?? 'tensorflow');
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    if (name !== null) {
      throw new InputError(`the ${what} ${name} is not there: ${reason} (npx tfjs-embeddings setup adds it)`);
    }
    const why = reason!.includes('tfjs_binding.node') ? '--backend tensorflow sets it up' : reason;
    process.stderr.write(`TensorFlow is not there (${why}): the ${what} is cpu\n`);
    await work('cpu');
  }
}

/** Servers that were started for this process. */
let servers: Servers | null = null;

/** Ends the servers that `startBackend` has started; does nothing where it has not. */
export async function endServers(): Promise<void> {
  await servers?.end();
  servers = null;
}

async function startCluster({ devices, deviceMemory = null, host }: Machine): Promise<void> {
  await importBackend('tensorflow');
  await withBackend(host, 'host', importBackend);
  servers = await startServers(devices, deviceMemory);
  await emb.connectCluster({ ps: servers.ps, host });
  await start(CLUSTER);
}

/** Starts a backend or, where there is a machine, virtual devices, each a chip of one core, or servers. */
export async function startBackend(name: string | null, machine: Machine | null): Promise<emb.BackendInfo> {
  if (machine === null) {
    await withBackend(name, 'backend', async (found) => {
      await importBackend(found);
      await start(found);
    });
  } else if (machine.onServers === true) {
    await startCluster(machine);
  } else {
    const { devices, threads, deviceMemory = null, host } = machine;
    await withBackend(host, 'host', importBackend);
    const perDevice = threads === undefined ? {} : { threadsPerDevice: threads };
    emb.configureTpuEmulator({ chips: devices, coresPerChip: 1, hbmBytesPerChip: deviceMemory, host, ...perDevice });
    await start(EMULATOR);
  }
  return emb.backendInfo();
}
