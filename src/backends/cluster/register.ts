/** Tables on TensorFlow servers as a tfjs backend. */
import { RuntimeError, ValueError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import { platform } from '../../base/platform.js';
import { InlineExchange } from '../devices/exchange_memory.js';
import { Machine } from '../devices/machine/machine.js';
import { DevicesRegistration, type Running } from '../devices/registration.js';
import type { Addon } from '../native/addon.js';
import type { NativeKernelSet } from '../native/native_kernel_set.js';
import { namedKernelSet } from '../registry.js';
import { openSessions, type Connected, type ServerInfo } from './connection.js';
import { ServerDevice } from './server_device.js';
import { BACKEND_NAME, readClusterSettings, type ClusterSettings } from './settings.js';
import { FilledOnServer } from './filled_on_server.js';
import { readOnlyError } from './read_only.js';
import { allLeft, StaleTables, type SessionDevice } from './session_device.js';
import { FilledFromHere, StockDevice } from './stock_device.js';
import { Membership } from './record/membership.js';
import { ServerError } from './server_session.js';
import { destroying, Variables } from './variables.js';

const START = `await emb.connectCluster({ps: ['host:port']}) and await tf.setBackend('${BACKEND_NAME}') start it.`;

/** What is known of a running cluster. */
export interface ClusterState {
  readonly host: string | null;
  readonly settings: ClusterSettings;
  readonly servers: readonly Connected[];
  readonly devices: readonly SessionDevice[];
  readonly membership: Membership;
  /** The same servers, for lookups of batches to come. */
  readonly beside: readonly ServerDevice[];
}

export type RunningCluster = Running<ClusterState>;

/** What was connected, until it is started. */
interface Connection {
  settings: ClusterSettings | null;
  joined: Joined | null;
}

/** Servers, and what this client is to their tables. */
interface Joined {
  readonly servers: readonly Connected[];
  readonly membership: Membership;
}

const connection = (): Connection => perProcess('tf-cluster connection', () => ({ settings: null, joined: null }));

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

/** Opens sessions on all servers, and takes the name where this client makes its tables. */
async function join(addon: Addon, settings: ClusterSettings, isAgain: boolean): Promise<Joined> {
  await allLeft(settings.timeoutMs);
  const servers = await openSessions(addon, settings);
  try {
    const client = `process ${process.pid}-${Date.now().toString(36)}`;
    const sessions = servers.map(({ session }) => session);
    const membership = new Membership(sessions, settings.name, settings.tables, client);
    checkApart(membership, servers);
    if (membership.makes) {
      membership.claim(isAgain || settings.tables === 'replace').forEach((parts, i) => {
        const { session, info } = servers[i]!;
        const call = destroying(session, containerOf(settings, info.ops), parts);
        if (call !== null) session.call(call);
      });
    }
    return { servers, membership };
  } catch (error) {
    for (const { session } of servers) session.close();
    if (!(error instanceof ServerError)) throw error;
    throw new RuntimeError('connectCluster', 'servers that answer', described(error.message));
  }
}

/** Where the tables of a name lie on a server. */
function containerOf({ name }: ClusterSettings, ops: ServerInfo['ops']): string {
  return `tfjs-embeddings${ops === 'stock' ? '-stock' : ''}/${name}`;
}

/** Throws ValueError where two addresses are one server. */
function checkApart({ stores }: Membership, servers: readonly Connected[]): void {
  const found = stores.map((store) => store.identity());
  found.forEach((identity, i) => {
    const first = found.indexOf(identity);
    if (first === i) return;
    const received = described(
      `${servers[i]!.info.address}, which is the server of ps[${first}], ${servers[first]!.info.address}`,
    );
    throw new ValueError(`ps[${i}]`, 'another server than those before it', received);
  });
}

const registration = new DevicesRegistration<ClusterState, Pick<ClusterState, 'host' | 'settings'>>({
  backend: BACKEND_NAME,
  start: START,
  settings: () => {
    const { settings } = connection();
    if (settings === null) throw new RuntimeError('backend', 'a cluster to run on', described('none'), START);
    return { host: settings.host, settings };
  },
  make: async ({ host, settings }) => {
    const addon = clusterAddon();
    const known = connection().joined;
    connection().joined = null;
    // Another start without another connection makes anew what it made before.
    const { servers, membership } = known ?? (await join(addon, settings, true));
    const exchange = new InlineExchange();
    const isHalf = settings.exchange === 'float16';
    const isAhead = settings.prefetch === 1 && servers.every(({ info }) => info.ops !== 'stock');
    const besideExchange = new InlineExchange();
    const beside: ServerDevice[] = [];
    const devices = servers.map(({ session, info: { ops, kernels } }, index) => {
      // TensorFlow's own ops on rows make a variable copy-on-read: ours would then step a copy, so they never share one.
      const container = containerOf(settings, ops);
      const values = new (ops === 'stock' ? FilledFromHere : FilledOnServer)(session, container);
      const variables = new Variables(session, { device: index, container, membership }, values);
      const parts = { index, session, variables, exchange, sharing: addon, kernels };
      if (ops === 'stock') return new StockDevice(parts);
      if (isAhead) beside.push(new ServerDevice({ ...parts, exchange: besideExchange, isHalf }));
      return new ServerDevice({ ...parts, isHalf });
    });
    const form = {
      backend: BACKEND_NAME,
      capacity: servers.map(({ info }) => info.memory),
      plannedMemory: leastOf(servers.map(({ info }) => info.memory)),
      hasHostMemory: false,
      isShared: !membership.makes,
      keepsAssigned: true,
      checkWrites: () => {
        if (membership.mode === 'readOnly') throw readOnlyError();
      },
      again: <T>(read: () => T): T => {
        try {
          return read();
        } catch (error) {
          if (!(error instanceof StaleTables)) throw error;
          return read();
        }
      },
      nameOf: (device: number) => `server ${servers[device]!.info.address}`,
      afterFault:
        'await emb.cluster().reconnect() tells what became of the tables; restore(prefix) brings all of them back to a checkpoint.',
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
    const machine = new Machine(form, set);
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
    return { machine, beside: ahead, settings: { host, settings, servers, devices, membership, beside }, info };
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
  for (const { session } of shared.joined?.servers ?? []) session.close();
  Object.assign(shared, { settings: null, joined: null });
  const joined = await join(addon, settings, false);
  Object.assign(shared, { settings, joined });
  return joined.servers;
}
