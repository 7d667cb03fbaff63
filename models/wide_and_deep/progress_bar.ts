/** Progress of training on standard error. */
import { Presets, SingleBar } from 'cli-progress';
import type { Progress } from './training.js';

export interface ProgressBar extends Progress {
  stop(): void;
}

export function progressBar(epochs: number): ProgressBar {
  const bar = new SingleBar(
    {
      format: 'epoch {epoch}/{epochs} [{bar}] {value}/{total} steps, loss {loss}, held-out log loss {heldOut}',
      stream: process.stderr,
      noTTYOutput: true,
      notTTYSchedule: 2000,
      hideCursor: true,
    },
    Presets.shades_grey,
  );
  let isStarted = false;
  return {
    step(epoch, done, steps, loss) {
      const payload = { epoch, epochs, loss: loss.toFixed(4) };
      if (!isStarted) bar.start(epochs * steps, 0, { ...payload, heldOut: '-' });
      isStarted = true;
      bar.update((epoch - 1) * steps + done, payload);
    },
    epoch(epoch, loss, heldOutLoss) {
      bar.update({ epoch, loss: loss.toFixed(4), heldOut: heldOutLoss.toFixed(4) });
    },
    stop() {
      if (isStarted) bar.stop();
    },
  };
}
