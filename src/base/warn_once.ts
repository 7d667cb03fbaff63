/** Warnings that are given once. */
import { perProcess } from './per_process.js';

/** Warns in the console, once per process and key. */
export function warnOnce(text: string, key = text): void {
  const said = perProcess('warnings', () => new Set<string>());
  if (said.has(key)) return;
  said.add(key);
  console.warn(`tfjs-embeddings: ${text}`);
}
