/** Tables on TensorFlow servers as a tfjs backend. */
import { RuntimeError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import { platform } from '../../base/platform.js';
import { InlineExchange } from '../devices/exchange_memory.js';
import type { DeviceTable } from '../devices/machine/device_table.js';
import { Machine } from '../devices/machine/machine.js';
import { DevicesRegistration, type Running } from '../devices/registration.js';
import type { Addon } from '../native/addon.js';
import type { NativeKernelSet } from '../native/native_kernel_set.js';
import { namedKernelSet } from '../registry.js';
import { SlotValues } from './checkpoints/slot_values.js';
import { openSessions, type Connected } from './connection.js';
import { ServerDevice } from './server_device.js';
import { BACKEND_NAME, readClusterSettings, type ClusterSettings } from './settings.js';
import { FilledOnServer } from './filled_on_server.js';
import type { SessionDevice } from './session_device.js';
import { FilledFromHere, StockDevice } from './stock_device.js';
import { Variables } from './variables.js';

const START = `await emb.connectCluster({ps: ['host:port']}) and await tf.setBackend('${BACKEND_NAME}') start it.`;

/** What is known of a running cluster. */
export interface ClusterState {
  readonly host: string | null;
  readonly settings: ClusterSettings;
  readonly servers: readonly Connected[];
  readonly devices: readonly SessionDevice[];
  readonly slots: SlotValues;
  /** The same servers, for lookups of batches to come. */
  readonly beside: readonly ServerDevice[];
}

export type RunningCluster = Running<ClusterState>;

/** What was connected, until it is started. */
interface Connection {
  settings: ClusterSettings | null;
  servers: readonly Connected[] | null;
}

const connection = (): Connection => perProcess('tf-cluster connection', () => ({ settings: null, servers: null }));

/**
 * The addon, whose TensorFlow calls the servers; where none is loaded, that of tfjs-node is. Throws RuntimeError where
 * there is no such thing.
 */
export function clusterAddon(): Addon {
  const { addon } = (namedKernelSet('native') as NativeKernelSet | undefined) ?? {};
  let why = addon?.registerTensorFlow() ?? 'none';
  const isThere = (): boolean => why === 'registered' || why === 'already';
  if (addon !== undefined && !isThere()) {
    try {
      platform().require?.('@tensorflow/tfjs-node');
      why = addon.registerTensorFlow();
    } catch (error) {
      why = (error as Error).message.split('\n', 1)[0]!;
    }
  }
  if (addon !== undefined && isThere()) return addon;
  const note =
    "import 'tfjs-embeddings/node' and install @tensorflow/tfjs-node; `npx tfjs-embeddings setup` builds what they need.";
  throw new RuntimeError('connectCluster', 'native kernels with TensorFlow', described(why), note);
}

const registration = new DevicesRegistration<ClusterState>({
  backend: BACKEND_NAME,
  start: START,
  settings: () => {
    const { settings } = connection();
    if (settings === null) throw new RuntimeError('backend', 'a cluster to run on', described('none'), START);
    return { host: settings.host, settings, servers: [], devices: [], slots: new SlotValues(), beside: [] };
  },
  make: async ({ host, settings }) => {
    const addon = clusterAddon();
    const known = connection().servers;
    connection().servers = null;
    const servers = known ?? (await openSessions(addon, settings));
    const exchange = new InlineExchange();
    const client = `${process.pid}-${Date.now().toString(36)}`;
    const isReadOnly = settings.tables === 'readOnly';
    const isHalf = settings.exchange === 'float16';
    const isAhead = settings.prefetch === 1 && servers.every(({ info }) => info.ops !== 'stock');
    const besideExchange = new InlineExchange();
    const beside: ServerDevice[] = [];
    const devices = servers.map(({ session, info: { ops, kernels } }, index) => {
      // TensorFlow's own ops on rows make a variable copy-on-read: ours would then step a copy, so they never share one.
      const container = `tfjs-embeddings${ops === 'stock' ? '-stock' : ''}/${settings.name}`;
      const values = ops === 'stock' ? new FilledFromHere(session) : new FilledOnServer(session, container);
      const variables = new Variables(session, { container, mode: settings.tables, client }, values);
      const parts = { index, session, variables, exchange, sharing: addon, kernels, isReadOnly };
      if (ops === 'stock') return new StockDevice(parts);
      if (isAhead) beside.push(new ServerDevice({ ...parts, exchange: besideExchange, isHalf }));
      return new ServerDevice({ ...parts, isHalf });
    });
    const form = {
      backend: BACKEND_NAME,
      capacity: servers.map(({ info }) => info.memory),
      plannedMemory: leastOf(servers.map(({ info }) => info.memory)),
      hasHostMemory: false,
      isShared: settings.tables !== 'create',
      nameOf: (device: number) => `server ${servers[device]!.info.address}`,
      afterFault:
        'After a fault of a server no table is what it should be: await emb.cluster().reconnect() and restore(prefix) bring all of them back to a checkpoint.',
    };
    const set = { devices, exchange, addon, inlineBecause: null };
    const shown = servers.map(({ info: { address, ops, memory } }) => ({ address, ops, memory }));
    const { name, tables } = settings;
    const info = (dense: string): object => ({
      count: devices.length,
      kind: 'server',
      name,
      tables,
      exchange: settings.exchange,
      prefetch: beside.length > 0 ? 1 : 0,
      servers: shown,
      host: dense,
    });
    const slots = new SlotValues();
    const machine = new Machine(form, set);
    machine.slotMade = (slot, value) => slots.made(slot as DeviceTable, value);
    const together = (run: () => void): void => {
      for (const { session } of servers) session.hold();
      try {
        run();
      } finally {
        for (const { session } of servers) session.release();
      }
    };
    const besideSet = { ...set, devices: beside, exchange: besideExchange };
    const ahead = isAhead ? { machine: new Machine(form, besideSet, machine), together } : null;
    return { machine, beside: ahead, settings: { host, settings, servers, devices, slots, beside }, info };
  },
});

/** The least of some numbers, as far as they are known. */
function leastOf(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((each) => each !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** The running cluster, or null. */
export function runningCluster(): RunningCluster | null {
  return registration.running;
}

/** Registers the backend. */
export function registerCluster(): void {
  registration.register();
}

/** Opens sessions on all servers, which `tf.setBackend` then uses. */
export async function connect(args: unknown): Promise<readonly Connected[]> {
  const settings = readClusterSettings(args);
  const addon = clusterAddon();
  if (registration.isBuilt) {
    const note = `emb.cluster().close() ends it.`;
    throw new RuntimeError('connectCluster', 'no running cluster', described('one'), note);
  }
  const shared = connection();
  for (const { session } of shared.servers ?? []) session.close();
  Object.assign(shared, { settings: null, servers: null });
  const servers = await openSessions(addon, settings);
  Object.assign(shared, { settings, servers });
  return servers;
}
