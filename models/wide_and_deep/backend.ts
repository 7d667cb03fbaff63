/** Starts the tfjs backend that computes. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { EMULATOR, type Machine } from './device_options.mjs';
import { InputError } from './input_error.mjs';
import type { BackendName } from './options.mjs';

type HostName = NonNullable<Machine['host']>;

/** The first line of what went wrong. */
function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
}

/** What registers a backend with tfjs; cpu is there already. */
async function importBackend(name: HostName): Promise<void> {
  // TensorFlow says at start which instructions it uses; only warnings and errors are of interest here.
  process.env['TF_CPP_MIN_LOG_LEVEL'] ??= '2';
  if (name === 'tensorflow') await import('@tensorflow/tfjs-node');
  if (name === 'wasm') await import('@tensorflow/tfjs-backend-wasm');
}

async function start(name: BackendName): Promise<void> {
  await emb.ready();
  if (!(await tf.setBackend(name))) throw new Error(`tfjs could not start it`);
}

function missing(what: string, error: unknown): InputError {
  return new InputError(`${what} is not there: ${reasonOf(error)} (npx tfjs-embeddings setup adds it)`);
}

/** Starts the named backend, and nothing else in its place; without a name, the best one there is. */
async function startHost(name: HostName | null): Promise<void> {
  try {
    await importBackend(name ?? 'tensorflow');
    await start(name ?? 'tensorflow');
  } catch (error) {
    if (name !== null) throw missing(`the backend ${name}`, error);
    process.stderr.write(`TensorFlow is not there (${reasonOf(error)}): running on cpu\n`);
    await start('cpu');
  }
}

/** Starts virtual devices; each is a chip of one core. */
async function startDevices({ devices, deviceMemory, host }: Machine): Promise<void> {
  try {
    await importBackend(host ?? 'tensorflow');
  } catch (error) {
    if (host !== null) throw missing(`the host ${host}`, error);
    process.stderr.write(`TensorFlow is not there (${reasonOf(error)}): the host is cpu\n`);
  }
  emb.configureTpuEmulator({ chips: devices, coresPerChip: 1, hbmBytesPerChip: deviceMemory, host });
  await start(EMULATOR);
}

export async function startBackend(name: BackendName | null, machine: Machine | null): Promise<emb.BackendInfo> {
  if (machine !== null) await startDevices(machine);
  else if (name !== EMULATOR) await startHost(name);
  return emb.backendInfo();
}
