/** What stands for a TensorArray where TensorFlow has a resource. */
import { perProcess } from '../../base/per_process.js';

/** Names an array. Gradients are kept under the name of the forward array, `@` and their source. */
export class TensorArrayHandle {
  constructor(
    /** Unique in the process. */
    readonly name: string,
  ) {}
}

const counter = (): { next: number } => perProcess('names of TensorArrays', () => ({ next: 0 }));

/** A name that no other array of the process has. */
export function uniqueName(name: string): string {
  return `${name}_${counter().next++}`;
}
