/** What went wrong on a GPU, which tells it later and to nobody: the next call that needs the GPU ends with it. */
import { RuntimeError, described } from '../../base/errors.js';
import type { GpuDevice } from './webgpu_backend.js';

/** How long a read that failed waits to be told why, in milliseconds. */
const PATIENCE = 1000;
/** As Dawn and wgpu put it. */
const CONSEQUENCE = 'invalid';
/** Shaders and pipelines in a message: `[Invalid ComputePipeline "Sum 3"]`, `[ShaderModuleDescriptor ""Sum 3""]`. */
const LABELS = /\[(?:Invalid )?\w+ "+([^"]+)"+\]/g;

/** Gives shaders and pipelines labels of their own, by which errors name them: tfjs has one label for many. */
function labelApart(device: GpuDevice): void {
  let count = 0;
  for (const make of ['createShaderModule', 'createComputePipeline'] as const) {
    const stock = device[make] as GpuDevice[typeof make] | undefined;
    if (stock === undefined) continue;
    device[make] = (descriptor) => {
      return stock.call(device, { ...descriptor, label: `${descriptor.label ?? 'shader'} ${++count}` });
    };
  }
}

export class Faults {
  #lost: string | null = null;
  readonly #whenLost: Promise<void>;
  /** Not told yet. */
  #error: string | null = null;
  /** What consequences without a label are told with: a shader that is broken makes other errors at each of its calls. */
  #cause: string | null = null;
  /** By the label of a shader or pipeline that is broken. */
  readonly #causes = new Map<string, string>();

  constructor(private readonly device: GpuDevice) {
    labelApart(device);
    device.addEventListener('uncapturederror', ({ error }) => this.#note(error.message));
    this.#whenLost = device.lost.then(({ reason, message }) => {
      this.#lost = message === '' ? reason : message;
    });
  }

  #note(message: string): void {
    const labels = [...message.matchAll(LABELS)].map(([, label]) => label!);
    const known = labels.map((label) => this.#causes.get(label)).find((each) => each !== undefined);
    const isConsequence = message.toLowerCase().includes(CONSEQUENCE);
    const cause = isConsequence ? (known ?? (labels.length === 0 ? this.#cause : null)) : null;
    if (cause === null) this.#cause = message;
    for (const label of labels) if (!this.#causes.has(label)) this.#causes.set(label, cause ?? message);
    this.#error ??= cause ?? message;
  }

  /** Resolves when the device has told what went wrong with all that it was given: it answers in order. */
  async settled(): Promise<void> {
    if (this.#lost !== null) return;
    this.device.pushErrorScope('validation');
    await this.device.popErrorScope().catch(() => undefined);
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
