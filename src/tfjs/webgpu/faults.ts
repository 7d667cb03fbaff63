/** What went wrong on a GPU, which tells it later and to nobody: the next call that needs the GPU ends with it. */
import { RuntimeError, described } from '../../base/errors.js';
import type { GpuDevice } from './webgpu_backend.js';

/** How long a read that failed waits to be told why, in milliseconds. */
const PATIENCE = 1000;
/** As Dawn and wgpu put it. */
const CONSEQUENCE = 'invalid';

export class Faults {
  #lost: string | null = null;
  readonly #whenLost: Promise<void>;
  /** Not told yet. */
  #error: string | null = null;
  /** What consequences are told with: a shader that is broken makes other errors at each of its calls. */
  #cause: string | null = null;

  constructor(device: GpuDevice) {
    device.addEventListener('uncapturederror', ({ error }) => {
      const isConsequence = this.#cause !== null && error.message.includes(CONSEQUENCE);
      if (!isConsequence) this.#cause = error.message;
      this.#error ??= this.#cause;
    });
    this.#whenLost = device.lost.then(({ reason, message }) => {
      this.#lost = message === '' ? reason : message;
    });
  }

  /** Throws what was not told yet. A device that is lost stays lost. */
  check(): void {
    if (this.#lost !== null) {
      const note = 'Its tensors are gone: set the backend up again and load the model.';
      throw new RuntimeError('backend', 'a device that is there', described(`a lost one (${this.#lost})`), note);
    }
    const error = this.#error;
    this.#error = null;
    if (error === null) return;
    const note = 'Tables and results since then may be wrong.';
    throw new RuntimeError('backend', 'commands that the GPU carries out', described(`its error: ${error}`), note);
  }

  /** Waits for a read; where the device was lost meanwhile, that is the error. */
  async during<T>(read: Promise<T>): Promise<T> {
    try {
      return await read;
    } catch (error) {
      // The device tells of its loss after it ends reads, and reads fail for hardly anything else.
      await Promise.race([this.#whenLost, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
      this.check();
      throw error;
    }
  }
}

const known = new WeakMap<GpuDevice, Faults>();

/** The faults of a device, watched from the first call on. */
export function faultsOf(device: GpuDevice): Faults {
  let found = known.get(device);
  if (found === undefined) known.set(device, (found = new Faults(device)));
  return found;
}
