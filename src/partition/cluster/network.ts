/** Clients and servers of a cluster, and the network between them, for which a step is predicted. */
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';

/** The machines of a cluster; every client and every server is one of its own. */
export interface PlanNetworkArgs {
  /** Bytes per second of the link of each machine, in each direction. */
  bandwidth: number;
  /** Seconds that a message takes from one machine to another, one way, beside its bytes. */
  latency: number;
  /** Clients that take steps of `batchSize` samples side by side, none waiting for another; 1 by default. */
  clients?: number | undefined;
  /** How pooled rows and gradients travel: `'float32'` (default) or `'float16'`. */
  exchange?: 'float32' | 'float16' | undefined;
  /**
   * Numbers that the optimizer keeps for each number of a table: 0 (default) for SGD, 1 for Adagrad, 2 for Adam; one for
   * each row is 1 / columns.
   */
  slots?: number | undefined;
  /** Seconds that a client works between the lookup and the step: dense layers, input; 0 by default. */
  denseSeconds?: number | undefined;
  /**
   * Bytes of messages per second that a machine packs or unpacks; by default 0.9e9, measured with TensorFlow 2.21's
   * server on loopback.
   */
  messageBandwidth?: number | undefined;
}

/** The same, complete. */
export interface PlanNetwork {
  bandwidth: number;
  latency: number;
  clients: number;
  exchange: 'float32' | 'float16';
  slots: number;
  denseSeconds: number;
  messageBandwidth: number;
}

export const NETWORK_FIELDS = [
  'bandwidth',
  'latency',
  'clients',
  'exchange',
  'slots',
  'denseSeconds',
  'messageBandwidth',
] as const satisfies readonly (keyof PlanNetworkArgs)[];

export const EXCHANGES: readonly PlanNetwork['exchange'][] = ['float32', 'float16'];
const MOST_CLIENTS = 65536;
/**
 * Measured with 26 tables of 64 columns, batch 4096, 10 ids: 28 to 42 ms of a client's processor for 32 MB of lookups or
 * gradients, about as much of two servers' beside the lookups themselves.
 */
const MESSAGE_BANDWIDTH = 0.9e9;

/** Numbers that need not be whole, and what they are where they are left out. */
const AMOUNTS: Readonly<
  Record<Exclude<keyof PlanNetwork, 'clients' | 'exchange'>, { above0: boolean; fallback?: number }>
> = {
  bandwidth: { above0: true },
  latency: { above0: false },
  slots: { above0: false, fallback: 0 },
  denseSeconds: { above0: false, fallback: 0 },
  messageBandwidth: { above0: true, fallback: MESSAGE_BANDWIDTH },
};

/** Reads a network; `argument` names it in errors. */
export function readNetwork(value: unknown, argument = 'network'): PlanNetwork {
  const given = readOptions<PlanNetworkArgs>(value, NETWORK_FIELDS, argument);
  const amount = (field: keyof typeof AMOUNTS): number => {
    const { above0, fallback } = AMOUNTS[field];
    const received: unknown = given[field] === undefined ? fallback : given[field];
    const expected = `a finite number ${above0 ? 'above 0' : '>= 0'}`;
    if (typeof received !== 'number') throw new ArgumentTypeError(`${argument}.${field}`, expected, received);
    if (!Number.isFinite(received) || received < 0 || (above0 && received === 0)) {
      throw new ValueError(`${argument}.${field}`, expected, received);
    }
    return received;
  };
  return {
    bandwidth: amount('bandwidth'),
    latency: amount('latency'),
    clients: readClients(given.clients, `${argument}.clients`),
    exchange: readExchange(given.exchange, `${argument}.exchange`),
    slots: amount('slots'),
    denseSeconds: amount('denseSeconds'),
    messageBandwidth: amount('messageBandwidth'),
  };
}

function readClients(clients: unknown = 1, argument: string): number {
  const expected = `a whole number from 1 to ${MOST_CLIENTS}`;
  if (typeof clients !== 'number') throw new ArgumentTypeError(argument, expected, clients);
  if (!Number.isInteger(clients) || clients < 1 || clients > MOST_CLIENTS) {
    throw new ValueError(argument, expected, clients);
  }
  return clients;
}

function readExchange(exchange: unknown = 'float32', argument: string): PlanNetwork['exchange'] {
  const expected = `one of ${EXCHANGES.join(', ')}`;
  if (typeof exchange !== 'string') throw new ArgumentTypeError(argument, expected, exchange);
  const found = EXCHANGES.find((name) => name === exchange);
  if (found === undefined) throw new ValueError(argument, expected, exchange);
  return found;
}
