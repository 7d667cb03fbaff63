/** A client of a cluster in a process of its own, which does what its parent sends: schedule_client.ts <addresses> */
import '@tensorflow/tfjs-node';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

const [ROWS, DIM] = [12, 2];

/** What a parent asks for. */
export type Order =
  | { readonly op: 'connect'; readonly name: string; readonly tables: 'create' | 'replace' | 'attach' | 'readOnly' }
  | { readonly op: 'step'; readonly rows: readonly number[] }
  | { readonly op: 'assign'; readonly value: number; readonly how: 'setWeights' | 'assign' | 'write' }
  | { readonly op: 'save' | 'restore'; readonly prefix: string }
  | { readonly op: 'look' | 'dispose' | 'reconnect' | 'close' };

/** What it is answered: the table where it was looked up, or the name and the message of an error. */
export interface Answer {
  readonly table?: readonly number[];
  readonly error?: readonly [name: string, message: string];
}

const [, , ps] = process.argv;
let layer: emb.DistributedEmbedding | null = null;
let optimizer: tf.Optimizer | null = null;

function lookUp(rows: readonly number[]): tf.Tensor {
  const ids = tf.tensor2d(
    rows.map((row) => [row]),
    [rows.length, 1],
    'int32',
  );
  return (layer!.apply([ids]) as tf.Tensor[])[0]!;
}

function free(): void {
  layer?.dispose();
  optimizer?.dispose();
  layer = optimizer = null;
}

async function follow(order: Order): Promise<number[] | undefined> {
  switch (order.op) {
    case 'connect': {
      const timeoutMs = 10_000;
      await emb.connectCluster({ ps: ps!.split(','), name: order.name, tables: order.tables, host: 'cpu', timeoutMs });
      if (!(await tf.setBackend('tf-cluster'))) throw new Error('the tf-cluster backend does not start');
      try {
        const embeddingsInitializer = tf.initializers.constant({ value: 0.5 });
        const table = {
          name: 'scheduled',
          inputDim: ROWS,
          outputDim: DIM,
          combiner: 'sum' as const,
          embeddingsInitializer,
        };
        layer = emb.layers.distributedEmbedding({ name: 'scheduled', embeddings: [table], rowSliceThreshold: 1 });
        layer.build([[null, 1]]);
      } catch (error) {
        layer = null;
        emb.cluster().close();
        throw error;
      }
      optimizer = emb.train.adagrad({ learningRate: 0.5, initialAccumulatorValue: 0.25 });
      return;
    }
    case 'step':
      tf.tidy(() => void optimizer!.minimize(() => lookUp(order.rows).sum().neg().asScalar()));
      await layer!.getWeights()[0]!.data(); // it has ended
      return;
    case 'look':
      return tf.tidy(() => Array.from(lookUp(Array.from({ length: ROWS }, (_, row) => row)).dataSync()));
    case 'assign':
      tf.tidy(() => {
        const values = tf.fill([ROWS, DIM], order.value);
        const weight = layer!.weights[0]!;
        if (order.how === 'setWeights') layer!.setWeights([values]);
        else if (order.how === 'write') weight.write(values);
        else (weight.read() as tf.Variable).assign(values);
      });
      return;
    case 'save':
      await emb.cluster().save(order.prefix);
      return;
    case 'restore':
      await emb.cluster().restore(order.prefix);
      return;
    case 'reconnect':
      await emb.cluster().reconnect();
      return;
    case 'dispose':
      free();
      emb.cluster().close();
      return;
    case 'close':
      emb.cluster().close();
      layer = optimizer = null;
      await tf.setBackend('cpu');
      return;
  }
}

process.on('message', (order: Order) => {
  void follow(order).then(
    (table) => process.send!(table === undefined ? {} : { table }),
    (error: unknown) => {
      const { name: kind, message } = error as Error;
      process.send!({ error: [kind, message] } satisfies Answer);
    },
  );
});
process.on('disconnect', () => process.exit());
process.send!({} satisfies Answer);
