/** Progress of training on standard error. */
import { Presets, SingleBar } from 'cli-progress';

/** Shows `format` and, in it, what `update` is given. Nothing is shown before the first of these. */
export class ProgressBar {
  private readonly bar: SingleBar;
  private isStarted = false;

  constructor(
    format: string,
    private readonly total: number,
  ) {
    const quietly = { noTTYOutput: true, notTTYSchedule: 2000, hideCursor: true };
    this.bar = new SingleBar({ format, stream: process.stderr, ...quietly }, Presets.shades_grey);
  }

  update(value: number, shown: object): void {
    if (!this.isStarted) this.bar.start(this.total, 0, shown);
    this.isStarted = true;
    this.bar.update(value, shown);
  }

  stop(): void {
    if (this.isStarted) this.bar.stop();
  }
}
