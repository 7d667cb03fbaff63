/** The training: settings, buttons, figures, and the trainings that are compared. */
import type { Backend, Run, Settings } from '../protocol.js';
import { Curves } from './curves.js';
import { COLOURS, byId, element, field, selectOf } from '../../page/elements.js';

const BACKENDS: Readonly<Record<Backend, string>> = { cpu: 'CPU', wasm: 'WebAssembly', webgl: 'GPU (WebGL)' };
const NUMBERS = {
  dim: ['Numbers in a vector', { min: 2, max: 128, step: 1, value: 16 }],
  learningRate: ['Learning rate', { min: 0.0001, max: 10, step: 'any', value: 0.01 }],
  batch: ['Rows in a step', { min: 8, max: 65_536, step: 1, value: 256 }],
  epochs: ['Passes', { min: 1, max: 1000, step: 1, value: 8 }],
} as const;
type NumberName = keyof typeof NUMBERS;
const NAMES = Object.keys(NUMBERS) as NumberName[];
export type TrainState = 'nothing' | 'training' | 'paused' | 'done';
/** Runs that are shown until the visitor chooses. */
const COMPARED = 2;

export class TrainSection {
  readonly #curves = new Curves();
  readonly #inputs: Readonly<Record<NumberName, HTMLInputElement>>;
  readonly #backend = selectOf({ id: 'backend' }, [['wasm', BACKENDS.wasm]], 'wasm');
  #runs: readonly Run[] = [];
  /** What the visitor has chosen, by id. */
  readonly #chosen = new Map<number, boolean>();
  readonly #live = byId<HTMLInputElement>('live');

  constructor(actions: { readonly train: () => void; readonly pause: () => void; readonly goOn: () => void }) {
    const made = NAMES.map((name): [NumberName, HTMLInputElement] => {
      const { value, ...limits } = NUMBERS[name][1];
      return [
        name,
        element('input', { id: name, type: 'number', required: true, value: String(value), ...limitsOf(limits) }),
      ];
    });
    this.#inputs = Object.fromEntries(made) as Record<NumberName, HTMLInputElement>;
    const fields = made.map(([name, input]) => field(NUMBERS[name][0], input));
    byId('settings').replaceChildren(...fields, field('Computes on', this.#backend));
    // By its button, or by the Enter key in a field.
    byId('settings').addEventListener('submit', (event) => {
      event.preventDefault();
      actions.train();
    });
    byId('pause').addEventListener('click', actions.pause);
    byId('go-on').addEventListener('click', actions.goOn);
    this.#live.addEventListener('change', () => this.#draw());
  }

  offer(backends: readonly Backend[]): void {
    const chosen = this.#backend.value;
    this.#backend.replaceChildren(
      ...backends.map((value) => element('option', { value, textContent: BACKENDS[value] })),
    );
    this.#backend.value = chosen;
  }

  get settings(): Settings {
    const numbers = NAMES.map((name) => [name, this.#inputs[name].valueAsNumber]);
    return { ...Object.fromEntries(numbers), backend: this.#backend.value } as Settings;
  }

  set settings(given: Settings) {
    for (const name of NAMES) this.#inputs[name].value = String(given[name]);
    this.#backend.value = given.backend;
  }

  #state: TrainState = 'nothing';

  get state(): TrainState {
    return this.#state;
  }

  /** Which buttons are there. */
  set state(state: TrainState) {
    this.#state = state;
    byId<HTMLButtonElement>('train').disabled = state === 'training';
    byId('pause').hidden = state !== 'training';
    byId('go-on').hidden = state !== 'paused';
  }

  /** The newest first. */
  showAll(runs: readonly Run[]): void {
    this.#runs = runs;
    this.#list();
    this.#draw();
    if (runs.length > 0) this.#tell(runs[0]!);
  }

  show(run: Run): void {
    const isNew = !this.#runs.some(({ id }) => id === run.id);
    this.#runs = [run, ...this.#runs.filter(({ id }) => id !== run.id)];
    if (isNew) this.#list();
    if (this.#live.checked || run.state !== 'training') this.#draw();
    this.#tell(run);
  }

  #isShown({ id }: Run): boolean {
    return this.#chosen.get(id) ?? this.#runs.findIndex((run) => run.id === id) < COMPARED;
  }

  /** A run keeps its colour. */
  #colourOf({ id }: Run): string {
    return COLOURS[(id - 1) % COLOURS.length]!;
  }

  #draw(): void {
    const shown = this.#runs.filter((run) => this.#isShown(run));
    this.#curves.show(shown.map((run) => ({ run, colour: this.#colourOf(run) })));
  }

  #list(): void {
    const rows = this.#runs.map((run) => {
      const input = element('input', { type: 'checkbox', checked: this.#isShown(run) });
      input.addEventListener('change', () => {
        this.#chosen.set(run.id, input.checked);
        this.#draw();
      });
      const swatch = element('span', { className: 'swatch' });
      swatch.style.background = `var(--${this.#colourOf(run)})`;
      return element('label', { className: 'check' }, input, swatch, `Training ${run.id}: ${run.name}`);
    });
    const place = byId('runs');
    place.replaceChildren(place.querySelector('legend')!, ...rows);
    const note = 'Solid: rows that are learned from. Dashed: rows that are held back.';
    place.append(element('p', { className: 'note', textContent: note }));
    place.hidden = rows.length === 0;
  }

  #tell({ epoch, epochs, step, stepsPerSecond, losses, score }: Run): void {
    const loss = losses.at(-1)?.loss;
    const figures: [string, string][] = [
      ['Pass', `${Math.min(epoch + 1, epochs)} of ${epochs}`],
      ['Step', step.toLocaleString('en')],
      ['Loss', loss === undefined ? '–' : loss.toFixed(4)],
      [score?.name ?? 'Score', score === null ? '–' : score.value.toFixed(3)],
      ['Steps a second', stepsPerSecond === 0 ? '–' : stepsPerSecond.toFixed(0)],
    ];
    const place = byId('figures');
    place.hidden = false;
    place.replaceChildren(
      ...figures.map(([dt, dd]) =>
        element('div', {}, element('dt', { textContent: dt }), element('dd', { textContent: dd })),
      ),
    );
  }
}

const limitsOf = (limits: { min: number; max: number; step: number | 'any' }) => ({
  min: String(limits.min),
  max: String(limits.max),
  step: String(limits.step),
});
