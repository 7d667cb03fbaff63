/** What the package says in the console. */
import { perProcess } from '../../src/per_process.js';

/** Runs a function as if nothing had been said before; returns what it says, which is kept from the console. */
export function warningsOf(body: () => void): string[] {
  const said = perProcess('warnings', () => new Set<string>());
  const before = [...said];
  said.clear();
  const own = console.warn;
  const texts: string[] = [];
  console.warn = (text: unknown) => void texts.push(String(text));
  try {
    body();
  } finally {
    console.warn = own;
    for (const key of before) said.add(key);
  }
  return texts;
}
