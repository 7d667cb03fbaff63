/** Trains the two tables with TPUEmbedding, then with TPUEmbeddingV2, says what each call does, and compares. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { batch, configs, lossOf, shapesOf } from './model.js';
import type { Options } from './options.mjs';

/** How far the tables of the two may be apart: rows of a step are added up in another order. */
const TOLERANCE = 1e-5;
/** Rows that are printed of each table: those that the batch has. */
const ROWS = 4;
const QUEUE = 'training';
/** In place of a sample: fills the ids for a core up to a multiple of 8. */
const PADDING = 2 ** 31 - 1;

type Tables = Readonly<Record<'video' | 'user', Float32Array>>;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function sayTables(tables: Tables): void {
  for (const [name, dim] of [['video', 4] as const, ['user', 2] as const]) {
    for (let row = 0; row < ROWS; row++) {
      const values = Array.from(tables[name].subarray(row * dim, (row + 1) * dim), (value) => value.toFixed(4));
      say(`  ${name}[${row}] = ${values.join(' ')}`);
    }
  }
}

/** Batches wait in a queue; enqueue runs one ahead, as it does on hardware. */
function trainV1(steps: number): Tables {
  const { video, user, featureConfig, optimizer } = configs();
  const embedding = new emb.tpu.TPUEmbedding({ featureConfig, optimizer });
  let waiting = 0;
  const enqueue = (step: number): void => {
    embedding.enqueue(batch(), null, { name: QUEUE });
    say(`step ${step}: enqueue; the queue ${QUEUE} holds ${++waiting}`);
  };
  say('TPUEmbedding');
  enqueue(1);
  for (let step = 1; step <= steps; step++) {
    if (step < steps) enqueue(step + 1);
    const activations = embedding.dequeue({ name: QUEUE });
    say(`step ${step}: dequeue; the queue ${QUEUE} holds ${--waiting}; ${shapesOf(activations)}`);
    const { loss, gradients } = lossOf(activations);
    embedding.applyGradients(gradients, { name: QUEUE });
    say(`step ${step}: applyGradients; loss ${loss.toFixed(4)}`);
    tf.dispose([activations, gradients]);
  }
  const tables = embedding.embeddingTables;
  const values = { video: valuesOf(tables.get(video)!), user: valuesOf(tables.get(user)!) };
  sayTables(values);
  embedding.dispose();
  return values;
}

/** `enqueue` gives the ids as the cores read them; whoever calls keeps them until their gradients are applied. */
function trainV2(steps: number): Tables {
  const { featureConfig, optimizer, sparseCoreEmbeddingConfig } = configs();
  const embedding = new emb.tpu.TPUEmbeddingV2({ featureConfig, optimizer, sparseCoreEmbeddingConfig });
  say('TPUEmbeddingV2');
  for (const { tableName, stackedTableName, sparseCoreShardRotation } of embedding.embeddingLayouts.values()) {
    say(`table ${tableName} lies in the stack ${stackedTableName}, rotated by ${sparseCoreShardRotation}`);
  }
  for (let step = 1; step <= steps; step++) {
    const partitioned = embedding.enqueue(batch());
    for (const [stack, { rowPointers, sortedSampleIds, sampleCount }] of Object.entries(partitioned)) {
      const ids = sortedSampleIds.filter((sample) => sample !== PADDING).length;
      say(`step ${step}: enqueue; ${stack} has ${ids} ids of ${sampleCount} samples, ${rowPointers.length} pointers`);
    }
    const [activations, preserved] = embedding.dequeue(partitioned);
    say(`step ${step}: dequeue; ${shapesOf(activations)}`);
    const { loss, gradients } = lossOf(activations);
    embedding.applyGradients(gradients, preserved);
    say(`step ${step}: applyGradients; loss ${loss.toFixed(4)}`);
    tf.dispose([activations, gradients]);
  }
  for (const [stack, variable] of embedding.embeddingTables) say(`stack ${stack} [${variable.shape.join(', ')}]`);
  const weights = embedding.getWeights();
  const [video, user] = weights.map(valuesOf) as [Float32Array, Float32Array];
  tf.dispose(weights);
  sayTables({ video, user });
  embedding.dispose();
  return { video, user };
}

const valuesOf = (tensor: tf.Tensor): Float32Array => tensor.dataSync<'float32'>().slice();

function furthest(a: Tables, b: Tables): number {
  const differences = (['video', 'user'] as const).flatMap((name) => {
    return Array.from(a[name], (value, i) => Math.abs(value - b[name][i]!) / (1 + Math.abs(value)));
  });
  return Math.max(...differences);
}

export async function run({ devices, steps }: Options): Promise<void> {
  emb.configureTpuEmulator({ chips: devices, coresPerChip: 1, host: 'cpu' });
  await emb.ready();
  await tf.setBackend('tpu-emulator');
  const apart = furthest(trainV1(steps), trainV2(steps));
  const isSame = apart <= TOLERANCE;
  say(`tables of both: ${isSame ? 'the same' : 'OTHERS'}, at most ${apart.toExponential(1)} apart`);
  if (!isSame) process.exitCode = 1;
  tf.removeBackend('tpu-emulator');
}
