/** What the page says at its lower edge, and what went wrong at its top. */
import { byId } from './elements.js';

/** Says what goes on; `done` from 0 to 1, null where it is not known, undefined where nothing goes on. */
export function say(what: string, done?: number | null): void {
  byId('status-text').textContent = what;
  const progress = byId<HTMLProgressElement>('progress');
  progress.hidden = done === undefined;
  if (done === undefined || done === null) progress.removeAttribute('value');
  else progress.value = done;
}

export function sayWrong(message: string | null): void {
  const alert = byId('alert');
  alert.hidden = message === null;
  alert.textContent = message ?? '';
  if (message !== null) alert.scrollIntoView({ block: 'nearest' });
}

/** Does something for the visitor, and says what goes wrong. */
export async function attempt(what: string, work: () => Promise<string | void>): Promise<void> {
  sayWrong(null);
  say(what, null);
  try {
    say((await work()) ?? 'Ready');
  } catch (error) {
    say('Ready');
    sayWrong(error instanceof Error ? error.message : String(error));
  }
}
