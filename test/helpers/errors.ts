/** Expectations about the errors of the public API. */
import { ArgumentTypeError, RuntimeError, ValueError } from '../../src/base/errors.js';

export interface Facts {
  readonly argument?: unknown;
  readonly expected?: unknown;
  readonly received?: unknown;
}

/** What a text holds into which something was put that was not there: `one of , `, `[undefined]`. */
const GAPS = /undefined|\[object | {2}|, ?,| \( ?\)|^[ ,.]|[ ,:;]$| [.,;)](?: |$)|``/;

/** A text of an error must read as a whole, where it does not show what was received. */
export function expectWhole(error: Error): void {
  const { expected, received, message } = error as Error & Facts;
  const [line, ...more] = message.split('\n');
  // A list may follow.
  const first = more.length > 0 ? line!.replace(/:$/, '') : line!;
  for (const text of [String(expected), first]) {
    // What came may be anything.
    const own = text
      .replaceAll(String(received), '…')
      .replace('null or undefined', 'none')
      .replace(/"[^"]*"/g, '"…"');
    expect(GAPS.exec(own)?.[0]).withContext(`a gap in the text: ${text}`).toBeUndefined();
  }
}

/** The error must have this name, name this argument, and tell what was expected and received. */
export function expectError(
  run: () => unknown,
  name: 'ValueError' | 'TypeError' | 'RuntimeError',
  argument: string,
  received: string | RegExp = '',
): void {
  let thrown: unknown;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  expect(thrown instanceof Error)
    .withContext(`an error about ${argument}`)
    .toBeTrue();
  if (!(thrown instanceof Error)) return;
  const facts = thrown as Error & Facts;
  expect(facts.name).withContext(facts.message).toBe(name);
  expect(thrown instanceof TypeError)
    .withContext(facts.message)
    .toBe(name === 'TypeError');
  expect(facts.argument).withContext(facts.message).toBe(argument);
  for (const fact of [facts.expected, facts.received]) {
    expect(typeof fact === 'string' && fact !== '')
      .withContext(`${facts.message} | ${String(fact)}`)
      .toBeTrue();
  }
  expectWhole(facts);
  const text = String(facts.received);
  const isTold = typeof received === 'string' ? text.includes(received) : received.test(text);
  expect(isTold)
    .withContext(`${facts.message} (sought: ${String(received)})`)
    .toBeTrue();
}

/** The same for what fails later: a promise that is rejected. */
export async function expectRejection(
  run: () => Promise<unknown>,
  name: 'ValueError' | 'TypeError' | 'RuntimeError',
  argument: string,
  received: string | RegExp = '',
): Promise<void> {
  const outcome = await run().then(
    () => null,
    (error: unknown) => ({ error }),
  );
  const rethrow = (): void => {
    if (outcome !== null) throw outcome.error;
  };
  expectError(rethrow, name, argument, received);
}

/** Errors made since the last call, whoever caught them. */
let made: (Error & Facts)[] = [];

/** From now on, {@link expectAllWhole} knows each error that is made. */
function watchErrors(): void {
  for (const { prototype } of [ValueError, RuntimeError, ArgumentTypeError]) {
    // The constructors set `received` last.
    Object.defineProperty(prototype, 'received', {
      set(this: Error & Facts, value: unknown) {
        Object.defineProperty(this, 'received', { value, enumerable: true, configurable: true, writable: true });
        made.push(this);
      },
    });
  }
}
watchErrors();

/** Every error that was made since the last call names its argument and reads as a whole. */
export function expectAllWhole(): void {
  const errors = made;
  made = [];
  for (const error of errors) {
    expect(error.argument).withContext(`the argument of: ${error.message}`).not.toBe('');
    expectWhole(error);
  }
}
