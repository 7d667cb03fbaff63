// runner: alone
// runner: servers
/**
 * What many steps leave behind on a client and on its servers. `TFJS_EMBEDDINGS_CLUSTER_STEPS=10000` takes more of them,
 * and prints what was measured.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { runningCluster } from '../../../src/backends/cluster/register.js';
import { withCluster } from '../../helpers/servers/cluster.js';
import { PassingPort } from '../../helpers/servers/passing_port.js';
import { figuresOf, listeningPorts, type ProcessFigures } from '../../helpers/servers/process_figures.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';

const STEPS = Number(process.env['TFJS_EMBEDDINGS_CLUSTER_STEPS'] ?? 300);
/** After so many all threads have started and all kinds of calls were made. */
const FIRST = Math.min(1000, STEPS);
const [TABLES, ROWS, DIM, IDS] = [4, 1000, 16, 5] as const;
/** Pages that allocators keep. A row that each step left behind would be more in 10,000 steps. */
const MOST_BYTES = 32 * 2 ** 20;
/** Threads that gRPC has for a while: TensorFlow's server runs each call in a new one. */
const MOST_THREADS = 16;

/** A model, and what one step of it is. */
function trained(batch: number): { step: () => Promise<void>; dispose: () => void } {
  const embeddings = Array.from({ length: TABLES }, () => ({
    inputDim: ROWS,
    outputDim: DIM,
    combiner: 'mean' as const,
  }));
  const inputs = embeddings.map(() => tf.input({ shape: [IDS], dtype: 'int32' }));
  const layer = emb.layers.distributedEmbedding({ embeddings });
  const joined = tf.layers.concatenate().apply(layer.apply(inputs) as tf.SymbolicTensor[]);
  const outputs = tf.layers.dense({ units: 1 }).apply(joined) as tf.SymbolicTensor;
  const model = tf.model({ inputs, outputs });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  const labels = tf.ones([batch, 1]);
  let taken = 0;
  const step = async (): Promise<void> => {
    // As many bags each time, with other ids.
    const first = 7 * taken++;
    const ids = embeddings.map((_, t) =>
      tf.tensor2d(
        Int32Array.from({ length: batch * IDS }, (_each, i) => (first + t + 13 * i) % ROWS),
        [batch, IDS],
        'int32',
      ),
    );
    await model.trainOnBatch(ids, labels);
    tf.dispose(ids);
  };
  const dispose = (): void => {
    model.dispose();
    labels.dispose();
  };
  return { step, dispose };
}

interface Figures {
  readonly graphs: readonly number[];
  readonly tensors: number;
  /** The client, then the servers. */
  readonly processes: readonly ProcessFigures[];
}

describe('Steps on a cluster', () => {
  let servers: ServerProcess[] = [];

  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
  }, 60_000);
  afterAll(() => Promise.all(servers.map((server) => server.end())));

  const figures = (): Figures => {
    runningCluster()!.machine.finish();
    return {
      graphs: runningCluster()!.settings.devices.map(({ session }) => session.graph.size),
      tensors: tf.memory().numTensors,
      processes: [process.pid, ...servers.map(({ pid }) => pid)].map(figuresOf),
    };
  };

  it(
    'leave nothing behind',
    async () => {
      await withCluster(servers, {}, async () => {
        const { step, dispose } = trained(16);
        for (let n = 0; n < FIRST; n++) await step();
        const before = figures();
        for (let n = 0; n < STEPS; n++) await step();
        const after = figures();
        if (STEPS > 300) console.log(JSON.stringify({ steps: STEPS, before, after }, null, 1));
        expect(after.graphs).toEqual(before.graphs);
        expect(after.tensors).toBe(before.tensors);
        after.processes.forEach(({ resident, threads, handles }, i) => {
          const who = i === 0 ? 'client' : `server ${i - 1}`;
          const earlier = before.processes[i]!;
          expect(threads)
            .withContext(`threads of the ${who}`)
            .toBeLessThan(earlier.threads + MOST_THREADS);
          expect(handles).withContext(`handles of the ${who}`).toBeLessThanOrEqual(earlier.handles);
          expect(resident - earlier.resident)
            .withContext(`bytes of the ${who}`)
            .toBeLessThan(MOST_BYTES);
        });
        dispose();
      });
    },
    60_000 + 100 * STEPS,
  );

  it('send what the counters say, and messages add less than a twentieth', async () => {
    const ports = await Promise.all(servers.map(({ port }) => PassingPort.start(port)));
    const bytes = (): number[] => {
      runningCluster()!.machine.finish();
      return ports.flatMap(({ sent, received }) => [sent, received]);
    };
    const counted = (): number[] =>
      emb
        .cluster()
        .counters()
        .servers.flatMap(({ bytesSent, bytesReceived }) => [bytesSent, bytesReceived]);
    try {
      for (const exchange of ['float32', 'float16'] as const) {
        await withCluster(ports, { exchange }, async () => {
          const { step, dispose } = trained(1024);
          await step();
          const [bytesBefore, countedBefore] = [bytes(), counted()];
          for (let n = 0; n < 10; n++) await step();
          const passed = bytes();
          counted().forEach((all, i) => {
            const [ours, onLink] = [all - countedBefore[i]!, passed[i]! - bytesBefore[i]!];
            expect(ours).withContext(exchange).toBeGreaterThan(100_000);
            expect(onLink / ours)
              .withContext(exchange)
              .toBeGreaterThanOrEqual(1);
            expect(onLink / ours)
              .withContext(exchange)
              .toBeLessThan(1.05);
          });
          dispose();
        });
      }
    } finally {
      await Promise.all(ports.map((port) => port.end()));
    }
  }, 60_000);

  it('open no port of the client', async () => {
    await withCluster(servers, {}, async () => {
      const before = listeningPorts(process.pid);
      const { step, dispose } = trained(16);
      await step();
      expect(listeningPorts(process.pid)).toEqual(before);
      dispose();
    });
    for (const { pid, port } of servers) expect(listeningPorts(pid)).toEqual([port]);
  }, 60_000);
});
