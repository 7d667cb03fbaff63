/**
 * Calls of both versions in random orders, against a model of what a TPU does: the same values, the same refusals, no
 * order that hangs, and nothing left on host or devices. TPU_EMBEDDING_CASES=2000 draws more orders.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { casesOf } from '../forms/forms.js';
import { Random } from '../helpers/random.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';

const { tpu } = emb;

const SEED = 100 * Number(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? 1);
const CASES = casesOf('TPU_EMBEDDING_CASES');
const [ROWS, SAMPLES, CALLS] = [8, 4, 30];
const QUEUES = [null, 'a', 'b'] as const;
const MACHINES = [
  { chips: 1, coresPerChip: 1 },
  { chips: 2, coresPerChip: 2 },
];

interface Step {
  readonly number: number;
  readonly ids: readonly number[];
}

/** Tables of one column, stepped by whole numbers: what they hold is exact. */
class ModelTable {
  rows = Array.from({ length: ROWS }, (_, row) => row);
  private stale: number[] | null = null;
  private pending: (() => void) | null = null;

  lookUp(ids: readonly number[]): number[] {
    const found = ids.map((id) => (this.stale ?? this.rows)[id]!);
    this.stale = null;
    this.finish();
    return found;
  }

  step(ids: readonly number[], gradient: number, isLate: boolean): void {
    const run = (): void => {
      const rows = [...this.rows];
      for (const id of ids) rows[id]! -= gradient;
      this.rows = rows;
    };
    if (isLate) this.pending = run;
    else run();
  }

  /** What somebody sees who looks at the table. */
  seen(): number[] {
    if (this.pending !== null) this.stale = this.rows;
    this.finish();
    return this.rows;
  }

  written(rows: readonly number[]): void {
    this.seen();
    this.rows = [...rows];
    this.stale = null;
  }

  finish(): void {
    this.pending?.();
    this.pending = null;
  }
}

interface ModelQueue {
  readonly waiting: { readonly isTraining: boolean; readonly ids: readonly number[] }[];
  readonly outstanding: Step[];
  /** Parts of cores. */
  readonly parts: number[][][];
}

const table = (): emb.tpu.TableConfig => {
  const initializer = new tpu.RowIdInitializer();
  return new tpu.TableConfig({ vocabularySize: ROWS, dim: 1, combiner: 'sum', initializer, name: 't' });
};
const config = (): emb.tpu.FeatureConfig => new tpu.FeatureConfig({ table: table(), outputShape: [SAMPLES] });
const optimizer = new tpu.SGD({ learningRate: 1 });

/** What a call gives: values, or the name of its error. */
function outcome(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    const { name, argument } = error as Error & { argument?: string };
    if (argument === undefined) throw error;
    return name;
  }
}

function valuesOf(tensor: unknown): number[] {
  const values = [...(tensor as tf.Tensor).dataSync()];
  (tensor as tf.Tensor).dispose();
  return values;
}

function withGradient(value: number, use: (gradient: tf.Tensor) => void): void {
  const gradient = tf.fill([SAMPLES, 1], value);
  try {
    use(gradient);
  } finally {
    gradient.dispose();
  }
}

/** The names of the calls that were made, for the message of a failure. */
type Log = string[];

function runFirst(random: Random, cores: number, log: Log): void {
  const isPipelined = random.chance(0.5);
  const feature = config();
  const embedding = new tpu.TPUEmbedding({
    featureConfig: feature,
    optimizer,
    pipelineExecutionWithTensorCore: isPipelined,
  });
  embedding.build();
  const model = new ModelTable();
  const queues = new Map<string | null, ModelQueue>(
    QUEUES.map((name) => [name, { waiting: [], outstanding: [], parts: Array.from({ length: cores }, () => []) }]),
  );
  let lookUps = 0;
  const draw = (count: number): number[] => Array.from({ length: count }, () => random.whole(0, ROWS));
  for (let i = 0; i < CALLS; i++) {
    const name = random.pick(QUEUES);
    const queue = queues.get(name)!;
    const kind = random.pick([
      'enqueue',
      'enqueue',
      'part',
      'dequeue',
      'dequeue',
      'apply',
      'apply',
      'look',
      'set',
    ] as const);
    log.push(`${kind} ${String(name)}`);
    if (kind === 'enqueue') {
      const [isTraining, ids] = [random.chance(0.7), draw(SAMPLES)];
      embedding.enqueue(ids, null, { name, training: isTraining });
      queue.waiting.push({ isTraining, ids });
    } else if (kind === 'part') {
      for (let n = 0; n < 2 * cores; n++) {
        const [core, ids] = [random.whole(0, cores), draw(SAMPLES / cores)];
        embedding.enqueue(ids, null, { name, device: `/device:TPU:${core}` });
        queue.parts[core]!.push(ids);
        if (queue.parts.some((parts) => parts.length === 0)) continue;
        queue.waiting.push({ isTraining: true, ids: queue.parts.flatMap((parts) => parts.shift()!) });
      }
    } else if (kind === 'dequeue') {
      const head = queue.waiting[0];
      const isRefused = head === undefined || (head.isTraining && queue.outstanding.length > (isPipelined ? 1 : 0));
      let expected: unknown = 'RuntimeError';
      if (!isRefused) {
        expected = model.lookUp(head.ids);
        queue.waiting.shift();
        lookUps++;
        if (head.isTraining) queue.outstanding.push({ number: lookUps, ids: head.ids });
      }
      expect(outcome(() => valuesOf(embedding.dequeue({ name }))))
        .withContext(log.join(', '))
        .toEqual(expected);
    } else if (kind === 'apply') {
      const gradient = random.whole(1, 4);
      const due = queue.outstanding.shift();
      if (due !== undefined) model.step(due.ids, gradient, isPipelined && due.number === lookUps);
      const found = outcome(() => {
        withGradient(gradient, (tensor) => embedding.applyGradients(tensor, { name }));
        return 'done';
      });
      expect(found)
        .withContext(log.join(', '))
        .toBe(due === undefined ? 'RuntimeError' : 'done');
    } else if (kind === 'look') {
      const found = [...embedding.embeddingTables.get(feature.table)!.dataSync()];
      expect(found).withContext(log.join(', ')).toEqual(model.seen());
    } else {
      const rows = draw(ROWS);
      embedding.setWeights([Float32Array.from(rows)]);
      model.written(rows);
    }
  }
  embedding.dispose();
}

function runSecond(random: Random, cores: number, log: Log): void {
  const isPipelined = random.chance(0.5);
  const embedding = new tpu.TPUEmbeddingV2({
    featureConfig: config(),
    optimizer,
    pipelineExecutionWithTensorCore: isPipelined,
  });
  const model = new ModelTable();
  const batches: { readonly ids: number[]; readonly partitioned: emb.tpu.Partitioned }[] = [];
  const draw = (count: number): number[] => Array.from({ length: count }, () => random.whole(0, ROWS));
  let isBuilt = false;
  for (let i = 0; i < CALLS; i++) {
    const kind = random.pick(['enqueue', 'parts', 'dequeue', 'dequeue', 'apply', 'apply', 'look', 'set'] as const);
    log.push(kind);
    if (kind === 'enqueue') {
      const ids = draw(SAMPLES);
      batches.push({ ids, partitioned: embedding.enqueue(ids) });
    } else if (kind === 'parts') {
      // All cores but one, a lookup of which is refused, then the last one.
      const ids = draw(SAMPLES);
      const share = SAMPLES / cores;
      const order = Array.from({ length: cores }, (_, core) => core).sort(() => random.next() - 0.5);
      let partitioned: emb.tpu.Partitioned = {};
      order.forEach((core, place) => {
        const own = ids.slice(core * share, (core + 1) * share);
        partitioned = embedding.enqueue(own, null, { device: `/device:TPU:${core}` });
        if (place + 1 < cores) expect(outcome(() => embedding.dequeue(partitioned))).toBe('RuntimeError');
        isBuilt ||= place + 1 < cores;
      });
      batches.push({ ids, partitioned });
    } else if (kind === 'dequeue' && batches.length > 0) {
      const { ids, partitioned } = random.pick(batches);
      const [activations] = embedding.dequeue(partitioned);
      isBuilt = true;
      expect(valuesOf(activations)).withContext(log.join(', ')).toEqual(model.lookUp(ids));
    } else if (kind === 'apply' && batches.length > 0) {
      const [{ ids, partitioned }, gradient] = [random.pick(batches), random.whole(1, 4)];
      const found = outcome(() => {
        withGradient(gradient, (tensor) => embedding.applyGradients(tensor, partitioned));
        return 'done';
      });
      expect(found)
        .withContext(log.join(', '))
        .toBe(isBuilt ? 'done' : 'RuntimeError');
      if (!isBuilt) continue;
      model.finish();
      model.step(ids, gradient, isPipelined);
    } else if (kind === 'look') {
      const [weights] = embedding.getWeights();
      isBuilt = true;
      expect(valuesOf(weights)).withContext(log.join(', ')).toEqual(model.seen());
    } else if (kind === 'set') {
      const rows = draw(ROWS);
      embedding.setWeights([Float32Array.from(rows)]);
      isBuilt = true;
      model.written(rows);
    }
  }
  embedding.dispose();
}

const held = (): number[] =>
  emb
    .tpuEmulator()
    .counters()
    .devices.map(({ memory }) => memory.tables + memory.slots + memory.host);

for (const [name, run] of [
  ['TPUEmbedding', runFirst],
  ['TPUEmbeddingV2', runSecond],
] as const) {
  describe(`Generated orders of calls of ${name}`, () => {
    for (const machine of MACHINES) {
      const cores = machine.chips * machine.coresPerChip;
      it(
        `give what the model gives, and leave nothing behind, on ${cores} cores`,
        async () => {
          const random = new Random(SEED + cores);
          await withTpuEmulator(machine, () => {
            const [tensors, bytes] = [tf.memory().numTensors, held()];
            for (let i = 0; i < Math.ceil(CASES / 4); i++) {
              run(random, cores, []);
              expect(tf.memory().numTensors).withContext(`order ${i}: tensors`).toBe(tensors);
              expect(held()).withContext(`order ${i}: bytes on devices`).toEqual(bytes);
            }
          });
        },
        Math.max(60_000, CASES * 1_000),
      );
    }
  });
}
