/** Sessions on all servers of a cluster, and what each of them is. */
import { RuntimeError, described } from '../../base/errors.js';
import { nodeBuiltin } from '../../base/platform.js';
import type { KernelInfo } from '../kernel_set.js';
import { ServerCall } from './server_call.js';
import { node } from './server_graph.js';
import { addressOf, ServerError, ServerSession, type ServerPlace, type SessionFunctions } from './server_session.js';
import type { ClusterSettings } from './settings.js';

/** What a server says of itself. */
export interface ServerInfo {
  readonly address: string;
  /** Whether tables are looked up and stepped by our ops, or by those of TensorFlow. */
  readonly ops: 'tfjs-embeddings' | 'stock';
  /** Bytes that it was started with for tables, slots and exchange; null: no limit, or not known. */
  readonly memory: number | null;
  readonly kernels: KernelInfo;
}

/** A server of a connection. */
export interface Connected {
  readonly session: ServerSession;
  /** As it was last asked. */
  info: ServerInfo;
}

const STOCK: KernelInfo = { implementation: 'generic', instructionSet: 'unknown', threads: 1 };
/** Places in the numbers of the op EmbeddingServerInfo. */
const [MEMORY, THREADS] = [2, 5];

/** Opens a session on each server and asks what it can do. Throws RuntimeError, which names it, where one does not answer. */
export async function openSessions(functions: SessionFunctions, settings: ClusterSettings): Promise<Connected[]> {
  const { ps, job, timeoutMs } = settings;
  const places = ps.map(({ host, port }, task): ServerPlace => ({ host, port, job, task, timeoutMs }));
  const ends = await Promise.allSettled(places.map((place) => open(functions, place)));
  const opened = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed === undefined) return opened;
  for (const { session } of opened) session.close();
  throw failed.reason;
}

async function open(functions: SessionFunctions, place: ServerPlace): Promise<Connected> {
  await checkHost(place);
  const session = new ServerSession(functions, place);
  try {
    const info = await askFor(session);
    if (info.ops !== 'stock') return { session, info };
    // A graph with an op that the server does not know is of no use to it.
    session.close();
    return { session: new ServerSession(functions, place), info };
  } catch (error) {
    session.close();
    throw error;
  }
}

/** Throws RuntimeError for a host whose name nobody knows: TensorFlow would look for it until the deadline. */
async function checkHost(place: ServerPlace): Promise<void> {
  const dns = nodeBuiltin<{ readonly promises: { lookup(host: string): Promise<unknown> } }>('node:dns');
  try {
    await dns?.promises.lookup(place.host);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A resolver that does not answer for now is no proof.
    if (code !== 'ENOTFOUND') return;
    throw new RuntimeError(`server ${addressOf(place)}`, 'a host that is known', described(message));
  }
}

async function askFor(session: ServerSession): Promise<ServerInfo> {
  const address = addressOf(session.place);
  let numbers: Float64Array | null = null;
  let instructionSet = 'unknown';
  const n = session.graph.once('server info', (name) => [node(name, 'EmbeddingServerInfo')]);
  const call = new ServerCall();
  call.fetch(n, (values: Float64Array) => (numbers = values));
  call.fetch(`${n}:1`, ([name]: readonly string[]) => (instructionSet = name!));
  try {
    session.start([call]);
    await session.finishLater();
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    if (error.isUnknownOp) return { address, ops: 'stock', memory: null, kernels: STOCK };
    throw new RuntimeError(`server ${address}`, 'a TensorFlow server that answers', described(error.message));
  }
  const [memory, threads] = [MEMORY, THREADS].map((place) => numbers![place]!);
  return {
    address,
    ops: 'tfjs-embeddings',
    memory: memory! < 0 ? null : memory!,
    kernels: { implementation: 'tensorflow', instructionSet, threads: threads! },
  };
}
