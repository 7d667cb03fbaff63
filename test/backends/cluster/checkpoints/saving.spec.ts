// runner: servers
/** Saves on servers: block by block, one at a time for a prefix, and without what earlier ones have left. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadAddon } from '../../../../src/backends/native/addon.js';
import { savingCall } from '../../../../src/backends/cluster/checkpoints/saving_call.js';
import { blocksOf, sliceText } from '../../../../src/backends/cluster/checkpoints/slices.js';
import { ServerCall } from '../../../../src/backends/cluster/server_call.js';
import {
  attribute,
  constant,
  FLOAT,
  node,
  OF_FLOATS,
  placeholder,
  STRING,
} from '../../../../src/backends/cluster/server_graph.js';
import { ServerSession } from '../../../../src/backends/cluster/server_session.js';
import { withCluster } from '../../../helpers/servers/cluster.js';
import { ServerProcess } from '../../../helpers/servers/server_process.js';
import { CheckpointModel } from '../checkpoint_model.js';

const [ROWS, WIDTH] = [11, 3];

describe('A save on a server', () => {
  let server: ServerProcess;
  let session: ServerSession;
  let folder = '';

  beforeAll(async () => {
    server = await ServerProcess.start();
    folder = mkdtempSync(join(tmpdir(), 'saving-'));
    await import('@tensorflow/tfjs-node');
    loadAddon().registerTensorFlow();
    const place = { host: '127.0.0.1', port: server.port, job: 'ps', task: 0, timeoutMs: 20_000 };
    session = new ServerSession(loadAddon(), place);
  }, 60_000);
  afterAll(async () => {
    session.close();
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A variable of this client, with these values. */
  function variable(name: string, columns: number, values: Float32Array) {
    const n = session.graph.once(name, (m) => [
      node(m, 'VarHandleOp', [], {
        container: attribute.text('saving'),
        shared_name: attribute.text(name),
        dtype: attribute.type(FLOAT),
        shape: attribute.shape([ROWS, columns]),
      }),
      node(`${m}/values`, 'ReadVariableOp', [m], OF_FLOATS),
      constant(`${m}/first`, FLOAT, [ROWS, columns], values),
      node(`${m}/assign`, 'AssignVariableOp', [m, `${m}/first`], OF_FLOATS),
    ]);
    const call = new ServerCall();
    call.target(`${n}/assign`);
    session.call(call);
    return { node: n, values: `${n}/values`, name, rows: ROWS, columns, known: null, gate: null };
  }

  for (const isStock of [false, true]) {
    for (const atOnce of [4, ROWS]) {
      it(`writes all blocks of ${atOnce} rows of a table and its slots${isStock ? ', by stock ops' : ''}`, () => {
        const sizes = [WIDTH, WIDTH, 1];
        const values = sizes.map((columns, i) => Float32Array.from({ length: ROWS * columns }, (_, k) => 100 * i + k));
        const names = sizes.map((_, i) => `t${i}${isStock}${atOnce}`);
        const variables = sizes.map((columns, i) => variable(names[i]!, columns, values[i]!));
        const blocks = blocksOf(variables[0]!, atOnce);
        const pieces = variables.map((each, i) => {
          const { columns } = each;
          const slices = blocks.map((block) => sliceText({ rows: ROWS, columns }, block, [0, columns]));
          return { variable: each, name: names[i]!, slices };
        });
        const prefixes = blocks.map((_, i) => join(folder, `${isStock}-${atOnce}-${i}`));
        expect(blocks.length).toBe(Math.ceil(ROWS / atOnce));
        session.call(savingCall(session, isStock, { device: 0, blocks, pieces }, 'saving', prefixes));
        const read = session.graph.once('read', (m) => [
          ...['prefix', 'names', 'slices'].map((feed) => placeholder(`${m}/${feed}`, STRING)),
          node(m, 'RestoreV2', [`${m}/prefix`, `${m}/names`, `${m}/slices`], {
            dtypes: attribute.types([FLOAT, FLOAT, FLOAT]),
          }),
        ]);
        blocks.forEach(({ first, count }, i) => {
          const call = new ServerCall();
          call.feed(`${read}/prefix`, [prefixes[i]!], []);
          call.feed(`${read}/names`, names, [3]);
          call.feed(`${read}/slices`, pieces.map(({ slices }) => slices[i]!), [3]); // prettier-ignore
          const found: Float32Array[] = [];
          sizes.forEach((_, k) => call.fetch(`${read}:${k}`, (part: Float32Array) => (found[k] = part)));
          session.call(call);
          const wanted = sizes.map((columns, k) => values[k]!.slice(first * columns, (first + count) * columns));
          expect(found).withContext(`block ${i}`).toEqual(wanted);
        });
      });
    }
  }

  it('removes what a killed server has left of the same prefix, and nothing else', async () => {
    const prefix = join(folder, 'killed');
    const [own, other] = [`${prefix}_temp`, join(folder, 'other_temp')];
    for (const place of [own, other]) {
      mkdirSync(place);
      writeFileSync(join(place, '7.data-00000-of-00001.tempstate9876543210'), 'half a table');
      writeFileSync(join(place, '7.index'), 'of an earlier save');
    }
    await withCluster([server], {}, async () => {
      const model = new CheckpointModel('modulo', 'adagrad');
      await model.train(1, 2);
      await emb.cluster().save(prefix);
      expect(existsSync(own)).toBeFalse();
      expect(readdirSync(other).length).toBe(2);
      writeFileSync(join(folder, 'killed_tempx'), 'of somebody');
      await emb.cluster().restore(prefix);
      expect(existsSync(join(folder, 'killed_tempx'))).toBeTrue();
      model.dispose();
    });
  }, 60_000);

  it('is refused while another one writes to its prefix', async () => {
    const prefix = join(folder, 'twice');
    const one = Float32Array.of(1);
    const n = session.graph.once('a save that waits', (m) => [
      placeholder(`${m}/purpose`, STRING),
      constant(`${m}/table`, FLOAT, [1, 1], one),
      node(`${m}/queue`, 'FIFOQueueV2', [], {
        component_types: attribute.types([FLOAT]),
        container: attribute.text('saving'),
        shared_name: attribute.text('waits'),
      }),
      node(`${m}/snapshot`, 'EmbeddingSnapshot', [`${m}/purpose`, `${m}/table`], { N: attribute.int(1) }),
      node(`${m}/went`, 'QueueDequeueV2', [`${m}/queue`, `^${m}/snapshot`], {
        component_types: attribute.types([FLOAT]),
      }),
      constant(`${m}/first`, 3, [], Int32Array.of(0)),
      node(m, 'EmbeddingSnapshotRows', [`${m}/snapshot`, `${m}/first`, `${m}/first`, `^${m}/went`], {
        N: attribute.int(1),
      }),
    ]);
    const waiting = new ServerCall();
    waiting.feed(`${n}/purpose`, [prefix], []);
    waiting.target(n);
    session.start([waiting], waiting);
    const beside = new ServerSession(loadAddon(), session.place);
    await withCluster([server], {}, async () => {
      const before = tf.memory().numTensors;
      const model = new CheckpointModel('modulo', 'adagrad');
      await model.train(1);
      await expectAsync(emb.cluster().save(prefix)).toBeRejectedWithError(
        emb.RuntimeError,
        /`prefix`: expected a prefix that nobody saves to, received .*twice, where server 127.0.0.1:\d+ still writes/,
      );
      expect(existsSync(`${prefix}.index`)).toBeFalse();
      await emb.cluster().save(`${prefix}-other`);
      const go = new ServerCall();
      const m = beside.graph.once('go', (k) => [
        constant(`${k}/table`, FLOAT, [1, 1], one),
        node(`${k}/queue`, 'FIFOQueueV2', [], {
          component_types: attribute.types([FLOAT]),
          container: attribute.text('saving'),
          shared_name: attribute.text('waits'),
        }),
        node(k, 'QueueEnqueueV2', [`${k}/queue`, `${k}/table`], { Tcomponents: attribute.types([FLOAT]) }),
      ]);
      go.target(m);
      beside.call(go);
      session.finish(waiting);
      await emb.cluster().save(prefix);
      expect(existsSync(`${prefix}.index`)).toBeTrue();
      model.dispose();
      expect(tf.memory().numTensors).toBe(before);
    });
    beside.close();
  }, 60_000);
});
