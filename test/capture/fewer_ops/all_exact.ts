/** Ops of ours whatever the processor is: which of them round as TensorFlow's do is another matter than what they do. */
import { perProcess } from '../../../src/base/per_process.js';

/** To be called within a suite: its specs take every op for one that has the bits of TensorFlow's. */
export function takeAllForExact(): void {
  beforeEach(() => {
    const known = perProcess('exact ops', () => new Map<string, boolean>());
    spyOn(known, 'get').and.returnValue(true);
    spyOn(known, 'set').and.returnValue(known);
  });
}
