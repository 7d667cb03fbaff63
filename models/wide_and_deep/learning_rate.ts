/** The learning rate: half a cosine, from the full rate down to nothing. */

/** Learning rate at batches of `REFERENCE_BATCH` rows; it follows the root of the batch size. */
const RATE = 0.008;
const REFERENCE_BATCH = 512;

/** Those of Adam. */
const BETA_1 = 0.9;
const BETA_2 = 0.999;

export class LearningRate {
  private readonly full: number;
  private asked = 0;

  /** For `steps` steps in all. */
  constructor(
    batch: number,
    private readonly steps: number,
  ) {
    this.full = RATE * Math.sqrt(batch / REFERENCE_BATCH);
  }

  /** That of a step; the first is 0. */
  at(step: number): number {
    return (this.full * (1 + Math.cos((Math.PI * Math.min(step, this.steps)) / this.steps))) / 2;
  }

  /** That of the next step, for an Adam without bias correction. To be asked once a step. */
  readonly nextCorrected = (): number => {
    const step = this.asked++;
    return (this.at(step) * Math.sqrt(1 - BETA_2 ** (step + 1))) / (1 - BETA_1 ** (step + 1));
  };
}
