/** The learning rates of the step in progress: a function of the user is asked once per step, whoever needs the rate. */
import { learningRateAt, type Settings } from '../lookup/training/optimizer_settings.js';

type Rated = Pick<Settings, 'learningRate'>;

export class StepRates {
  readonly #known = new Map<Rated, { readonly by: Settings['learningRate']; readonly rate: number }>();

  /** The rate after `steps` steps. */
  of(settings: Rated, steps: number): number {
    const known = this.#known.get(settings);
    if (known?.by === settings.learningRate) return known.rate;
    const rate = learningRateAt(settings.learningRate, steps);
    // A function may set another rate, which is that of the next step.
    this.#known.set(settings, { by: settings.learningRate, rate });
    return rate;
  }

  /** Called where a step begins and where it ends. */
  forget(): void {
    this.#known.clear();
  }
}
