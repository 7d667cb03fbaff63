/** What the package says in the console. */
import { perProcess } from '../../src/base/per_process.js';

/** Forgets what was said, and keeps from the console what is said from now on. */
function listen(): { texts: string[]; stop(): void } {
  const said = perProcess('warnings', () => new Set<string>());
  const before = [...said];
  said.clear();
  const own = console.warn;
  const texts: string[] = [];
  console.warn = (text: unknown) => void texts.push(String(text));
  const stop = (): void => {
    console.warn = own;
    for (const key of before) said.add(key);
  };
  return { texts, stop };
}

/** Runs a function as if nothing had been said before; returns what it says, which is kept from the console. */
export function warningsOf(body: () => void): string[] {
  const { texts, stop } = listen();
  try {
    body();
  } finally {
    stop();
  }
  return texts;
}

/** The same for a function that takes its time. */
export async function warningsWhile(body: () => Promise<unknown>): Promise<string[]> {
  const { texts, stop } = listen();
  try {
    await body();
  } finally {
    stop();
  }
  return texts;
}
