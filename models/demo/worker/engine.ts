/** What the page asks the worker for. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import type {
  Backend,
  Choices,
  Engine,
  Kept,
  Neighbour,
  Progress,
  Projection,
  Run,
  Schema,
  Settings,
  Understood,
} from '../protocol.js';
import { backends, startBackend } from './backend.js';
import { forget, forgetAll, keep, readKept, type KeptData, type KeptTraining } from './kept.js';
import { artifactsOf, modelOf, packed, unpacked } from './model_file.js';
import { Network, compile, schemaOf, type Features } from './network.js';
import { project } from './projection.js';
import { learn, rowsOf } from './rows.js';
import { understand, type SourceFile } from './source.js';
import { Training } from './training.js';

const NEIGHBOURS = 10;
const KEEP_MS = 15_000;
/** Trainings that are listed. */
const MOST_RUNS = 6;

type OnRun = (run: Run, schema: Schema) => void;

export class WorkerEngine implements Engine {
  #data: KeptData | null = null;
  #runs: readonly Run[] = [];
  #training: { readonly id: number; readonly of: Training; readonly data: KeptData } | null = null;
  /** A training that an earlier visit has left, until it goes on. */
  #left: KeptTraining | null = null;
  #network: Network | null = null;
  #isBusy = false;

  async start(): Promise<Kept> {
    const { data = null, training = null, runs = [], loaded } = await readKept();
    [this.#data, this.#left, this.#runs] = [data, training, runs];
    if (training === null && loaded !== undefined) {
      await startBackend('wasm');
      const { model, schema, name } = loaded;
      this.#network = new Network(await modelOf(model), schema);
      return { understood: data?.understood ?? null, runs, schema, settings: null, name };
    }
    if (training !== null) {
      await startBackend(training.settings.backend);
      this.#network = new Network(await modelOf(training.model), training.schema);
    }
    const { schema = null, settings = null } = training ?? {};
    return { understood: data?.understood ?? null, runs, schema, settings };
  }

  async backends(): Promise<readonly Backend[]> {
    return backends();
  }

  useMadeUp(): Promise<Understood> {
    return this.#use(null);
  }

  useFile(file: File): Promise<Understood> {
    return this.#use(file);
  }

  async #use(file: SourceFile): Promise<Understood> {
    const understood = await understand(file);
    this.#data = { file, understood };
    await keep({ data: this.#data });
    return understood;
  }

  async train(choices: Choices, settings: Settings, onRun: OnRun, say: Progress): Promise<void> {
    await this.#alone(async () => {
      const { file, understood } = this.#data!;
      await startBackend(settings.backend);
      const reading = readingOf(say);
      const rows = await learn(file, choices, reading.onRead);
      this.#data = { file, understood: { ...understood, choices } };
      this.#forgetModel();
      const id = 1 + Math.max(0, ...this.#runs.map((run) => run.id));
      await this.#run(id, new Training(rows, settings), this.#data, reading, onRun);
    });
  }

  async goOn(onRun: OnRun, say: Progress): Promise<void> {
    await this.#alone(async () => {
      if (this.#training !== null) {
        const { id, of, data } = this.#training;
        return this.#run(id, of, data, this.#reading ?? readingOf(say), onRun);
      }
      if (this.#left === null) throw new Error('There is no training to go on with.');
      const { runId, settings, learned, schema, position, model } = this.#left;
      // An earlier version of this page kept no data with a training.
      const data = (this.#left.data as KeptData | undefined) ?? this.#data!;
      await startBackend(settings.backend);
      const reading = readingOf(say);
      const rows = rowsOf(data.file, learned, reading.onRead);
      const again = await modelOf(model);
      compile(again, schema, again.optimizer);
      this.#forgetModel();
      await this.#run(runId, new Training(rows, settings, again, position), data, reading, onRun);
    });
  }

  #reading: Reading | null = null;

  async #run(id: number, training: Training, data: KeptData, reading: Reading, onRun: OnRun): Promise<void> {
    [this.#training, this.#network, this.#left] = [{ id, of: training, data }, training.network, null];
    this.#reading = reading;
    reading.listener = (share) => training.read(share);
    const tell = (summary: Omit<Run, 'id' | 'name'>): void => {
      const run: Run = { id, name: `${data.understood.name}, ${nameOf(training.settings)}`, ...summary };
      this.#runs = [run, ...this.#runs.filter((each) => each.id !== id)].slice(0, MOST_RUNS);
      onRun(run, training.rows.schema);
    };
    let kept = performance.now();
    tell(training.summary());
    await training.run({
      onProgress: async (summary) => {
        tell(summary);
        if (performance.now() - kept < KEEP_MS) return;
        kept = performance.now();
        await this.#keep();
      },
      onEpoch: () => this.#keep(),
    });
    await this.#keep();
  }

  async #keep(): Promise<void> {
    const { id, of, data } = this.#training!;
    const { settings, rows, network, position } = of;
    const { learned, schema } = rows;
    const model = await artifactsOf(network.model, true);
    const training = { runId: id, settings, learned, schema, position, model, data };
    await keep({ data: this.#data!, training, runs: this.#runs, loaded: undefined });
  }

  async pause(): Promise<void> {
    this.#training?.of.pause();
  }

  async forgetRuns(): Promise<void> {
    this.#runs = this.#runs.slice(0, 1);
    await keep({ runs: this.#runs });
  }

  project(column: string, say: Progress): Promise<Projection> {
    return project(this.#trained(), column, say);
  }

  async neighbours(column: string, id: number): Promise<readonly Neighbour[]> {
    const network = this.#trained();
    const names = network.names(column);
    const rows = network.unitRows(column);
    const one = rows.slice([id, 0], [1, -1]) as tf.Tensor2D;
    // Neither the value itself nor the row of unknown ones.
    const exclude = emb.RaggedTensor.fromRows([[0, id]]);
    const found = emb.topK(one, rows, Math.min(NEIGHBOURS, names.length), { exclude });
    const [ids, scores] = [found.indices, found.values].map((each) => Array.from(each.dataSync()));
    tf.dispose([rows, one, found.indices, found.values]);
    return ids!.flatMap((other, i) => (other < 0 ? [] : { id: other, name: names[other]!, score: scores![i]! }));
  }

  async recommend(values: Readonly<Record<string, string>>, count: number): Promise<readonly Neighbour[]> {
    const network = this.#trained();
    const { features, item } = network.schema;
    const row = Object.fromEntries(
      features.map((feature) => [feature.name, feature.name === item ? unknownOf(feature) : valueOf(feature, values)]),
    );
    const inputs = network.model.pipeline!.apply([row]);
    const names = network.names(item);
    const [best] = network.best(inputs as Features, count);
    tf.dispose(Object.values(inputs).filter((each) => each instanceof tf.Tensor));
    return best!.ids.map((id, i) => ({ id, name: names[id]!, score: best!.scores[i]! }));
  }

  download(): Promise<Blob> {
    return packed(this.#trained().model);
  }

  async load(file: File): Promise<Schema> {
    return this.#alone(async () => {
      await startBackend((tf.getBackend() as Backend | undefined) ?? 'wasm');
      const model = await unpacked(file);
      const schema = schemaOf(model);
      this.#forgetModel();
      this.#network = new Network(model, schema);
      this.#left = null;
      await keep({ loaded: { name: file.name, schema, model: await artifactsOf(model, false) } });
      await forget(['training']);
      return schema;
    });
  }

  async forgetAll(): Promise<void> {
    await this.#alone(async () => {
      this.#forgetModel();
      [this.#data, this.#runs, this.#left] = [null, [], null];
      await forgetAll();
    });
  }

  #trained(): Network {
    if (this.#network === null) throw new Error('There is no model yet: train one, or load one.');
    return this.#network;
  }

  #forgetModel(): void {
    this.#network?.dispose();
    [this.#network, this.#training, this.#reading] = [null, null, null];
  }

  /** One training, or change of the model, at a time. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isBusy) throw new Error('A training is running: pause it first.');
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#isBusy = false;
    }
  }
}

/** Where the share of a file that has been read goes: to the page at first, then to the training. */
interface Reading {
  listener: (share: number) => void;
  onRead(share: number): void;
}

function readingOf(say: Progress): Reading {
  const reading: Reading = {
    listener: (share) => say('Learning the columns', share),
    onRead: (share) => reading.listener(share),
  };
  return reading;
}

const nameOf = ({ backend, dim, learningRate, batch }: Settings): string =>
  `${dim} numbers, rate ${learningRate}, batches of ${batch}, ${backend}`;

/** A cell as it was typed. */
function valueOf({ name, kind, isText }: Schema['features'][number], values: Readonly<Record<string, string>>) {
  const text = (values[name] ?? '').trim();
  const parts = text.split('|').flatMap((part) => part.trim() || []);
  const isNumber = kind === 'number' || !isText;
  const bad = isNumber ? parts.find((part) => !Number.isFinite(Number(part))) : undefined;
  if (bad !== undefined) throw new Error(`${name} takes numbers, not "${bad}".`);
  if (kind === 'list') return isNumber ? parts.map(Number) : parts;
  if (!isNumber) return text;
  return text === '' ? (kind === 'number' ? -3e38 : -1) : Number(text);
}

const unknownOf = ({ isText }: Schema['features'][number]): string | number => (isText ? '' : -1);
