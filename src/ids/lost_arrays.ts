/** Typed arrays whose memory was given away: they read as empty ones. */
import { ValueError, described } from '../base/errors.js';

/** Throws ValueError for an array whose memory was transferred, as by `postMessage`, or shrank below it. */
export function checkNotLost(array: ArrayBufferView, argument: string): void {
  if (array.byteLength > 0 || array instanceof DataView) return;
  try {
    (array as Uint8Array).keys(); // as every method, it refuses such an array
  } catch {
    const message = `\`${argument}\` is a detached array: its ArrayBuffer was transferred, or is too small by now.`;
    throw new ValueError(argument, 'an array with its memory', described('a detached array', message));
  }
}
