/** The page: what is clicked goes to the worker, and what it answers is shown. */
import { proxy, wrap } from 'comlink';
import 'uplot/dist/uPlot.min.css';
import type { Engine, Run, Schema, Understood } from '../protocol.js';
import { DataSection } from './data_section.js';
import { byId } from '../../page/elements.js';
import { MapSection } from './map_section.js';
import { ModelSection } from './model_section.js';
import { RecommendSection } from './recommend_section.js';
import { attempt, say } from '../../page/status.js';
import '../../page/style.css';
import { TrainSection } from './train_section.js';

const engine = wrap<Engine>(new Worker('worker.js', { type: 'module' }));

const data = new DataSection();
const training = new TrainSection({
  train: () => void train((...listeners) => engine.train(data.choices, training.settings, ...listeners)),
  pause: () => void engine.pause(),
  goOn: () => void train((...listeners) => engine.goOn(...listeners)),
});
const map = new MapSection(
  (column) => void attempt('Drawing the map', async () => map.show(await engine.project(column, proxy(say)))),
  (column, id) => engine.neighbours(column, id),
);
const recommend = new RecommendSection((values, count) =>
  answered('Looking for the best', () => engine.recommend(values, count)),
);
const model = new ModelSection({
  download: () =>
    void attempt('Packing the model', async () => {
      model.give(await engine.download(), 'model.zip');
      return 'The model was downloaded';
    }),
  load: (file) =>
    void attempt(`Reading ${file.name}`, async () => {
      showModel(await engine.load(file));
      training.state = 'nothing';
      return `${file.name} was loaded`;
    }),
  forget: () =>
    void attempt('Forgetting', async () => {
      await engine.forgetAll();
      location.reload();
    }),
});

/** An answer, or none where something went wrong, which has been said. */
function answered<T>(what: string, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve) => void attempt(what, async () => resolve(await work())));
}

function showModel(given: Schema): void {
  map.clear();
  map.offer(given);
  recommend.offer(given);
  model.hasModel = true;
  model.hasAnything = true;
}

function showData(understood: Understood): void {
  data.show(understood);
  byId('training').hidden = false;
  model.hasAnything = true;
}

type Listeners = [onRun: (run: Run, schema: Schema) => void, say: (what: string, done: number | null) => void];

async function train(begin: (...listeners: Listeners) => Promise<void>): Promise<void> {
  let last: Run | null = null;
  const before = training.state;
  await attempt('Training', async () => {
    training.state = 'training';
    const onRun = (run: Run, of: Schema): void => {
      if (last === null) showModel(of);
      last = run;
      training.show(run);
      if (run.state === 'training') say(`Training, pass ${run.epoch + 1} of ${run.epochs}`, run.progress);
    };
    await begin(proxy(onRun), proxy(say));
    return last?.state === 'paused' ? 'Paused' : 'Trained';
  });
  // What was refused before it began leaves what was there.
  training.state = last === null ? before : (last as Run).state === 'done' ? 'done' : 'paused';
}

function use(what: string, read: () => Promise<Understood>): void {
  void attempt(what, async () => {
    showData(await read());
    return 'Ready to train';
  });
}

byId('made-up').addEventListener('click', () => use('Making up rows', () => engine.useMadeUp()));
const file = byId<HTMLInputElement>('file');
file.addEventListener('change', () => {
  const chosen = file.files!.item(0);
  file.value = '';
  if (chosen !== null) use(`Reading ${chosen.name}`, () => engine.useFile(chosen));
});

await attempt('Starting', async () => {
  const kept = await engine.start();
  training.offer(await engine.backends());
  if (kept.understood !== null) showData(kept.understood);
  if (kept.settings !== null) training.settings = kept.settings;
  if (kept.runs.length > 0) training.showAll(kept.runs);
  if (kept.schema === null) return;
  showModel(kept.schema);
  // A model that was loaded has no training to go on with.
  if (kept.settings === null) return `${kept.name ?? 'A model'} was loaded`;
  const isOver = kept.runs[0]?.state === 'done';
  training.state = isOver ? 'done' : 'paused';
  return isOver ? 'Trained' : 'Paused: go on where it stopped';
});
