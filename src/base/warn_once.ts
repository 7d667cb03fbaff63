/** Warnings and hints that are given once. */
import { perProcess } from './per_process.js';

/** Whether a text of this key is to be given now. */
function isFirst(key: string): boolean {
  const said = perProcess('warnings', () => new Set<string>());
  if (said.has(key)) return false;
  said.add(key);
  return true;
}

/** Warns in the console, once per process and key. */
export function warnOnce(text: string, key = text): void {
  if (isFirst(key)) console.warn(`tfjs-embeddings: ${text}`);
}

/** Tells in the console what users may want to know, once per process and key. */
export function sayOnce(text: string, key = text): void {
  if (isFirst(key)) console.info(`tfjs-embeddings: ${text}`);
}
