/**
 * Errors of the public API. Every one names the argument, what was expected and what was received, in one sentence for
 * all or, where that reads badly, in one of its own.
 */
import { brand } from './per_process.js';

/** Extra facts carried by every error of this package. */
export interface ErrorFacts {
  /** Name of the argument at fault, as the caller wrote it. */
  readonly argument: string;
  /** What would have been accepted. */
  readonly expected: string;
  /** What was received, as short text. */
  readonly received: string;
}

function factsOf(argument: string, expected: string, received: unknown): ErrorFacts {
  return { argument, expected, received: describe(received) };
}

function messageOf({ argument, expected, received }: ErrorFacts, given: unknown, note: string | undefined): string {
  if (given instanceof Described && given.message !== undefined) return given.message;
  const text = `\`${argument}\`: expected ${expected}, received ${received}.`;
  return note === undefined ? text : `${text} ${note}`;
}

/** A value of the right type that is not acceptable: rank, range, NaN, row splits, overflow, unknown name. */
export class ValueError extends Error implements ErrorFacts {
  static {
    brand(this, 'ValueError');
  }
  override readonly name = 'ValueError';
  declare readonly argument: string;
  declare readonly expected: string;
  declare readonly received: string;
  /**
   * @param argument - The argument that is wrong.
   * @param expected - What was expected.
   * @param received - What came.
   * @param note - What to do about it.
   */
  constructor(argument: string, expected: string, received: unknown, note?: string) {
    const facts = factsOf(argument, expected, received);
    super(messageOf(facts, received, note));
    Object.assign(this, facts);
  }
}

/** A wrong state or order of calls. */
export class RuntimeError extends Error implements ErrorFacts {
  static {
    brand(this, 'RuntimeError');
  }
  override readonly name = 'RuntimeError';
  declare readonly argument: string;
  declare readonly expected: string;
  declare readonly received: string;
  /**
   * @param argument - The argument that is wrong.
   * @param expected - What was expected.
   * @param received - What came.
   * @param note - What to do about it.
   */
  constructor(argument: string, expected: string, received: unknown, note?: string) {
    const facts = factsOf(argument, expected, received);
    super(messageOf(facts, received, note));
    Object.assign(this, facts);
  }
}

/** A missing argument, a wrong type or a wrong dtype. Is a global `TypeError` too. */
export class ArgumentTypeError extends TypeError implements ErrorFacts {
  static {
    brand(this, 'TypeError');
  }
  override readonly name = 'TypeError';
  declare readonly argument: string;
  declare readonly expected: string;
  declare readonly received: string;
  /**
   * @param argument - The argument that is wrong.
   * @param expected - What was expected.
   * @param received - What came.
   * @param note - What to do about it.
   */
  constructor(argument: string, expected: string, received: unknown, note?: string) {
    const facts = factsOf(argument, expected, received);
    super(messageOf(facts, received, note));
    Object.assign(this, facts);
  }
}

/** A value that is already a description; `describe` leaves it as it is. */
export class Described {
  static {
    brand(this, 'Described');
  }
  constructor(
    readonly text: string,
    readonly message?: string,
  ) {}
}

/**
 * Marks text as a finished description of what was received, so that it is not quoted. `message`: that of the error, in
 * place of the one made of argument, expected and received.
 */
export function described(text: string, message?: string): Described {
  return new Described(text, message);
}

const LONGEST = 80;

/**
 * Short text for a received value: its kind and, where it is small, its content.
 * Never throws, whatever it is given.
 */
export function describe(value: unknown): string {
  try {
    return describeUnsafe(value);
  } catch {
    return typeof value === 'object' ? 'an object that cannot be shown' : `a ${typeof value} that cannot be shown`;
  }
}

function describeUnsafe(value: unknown): string {
  if (value instanceof Described) return value.text;
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'string') return clip(JSON.stringify(value));
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`;
  if (typeof value === 'symbol') return String(value);
  const record = value as { shape?: unknown; dtype?: unknown; dataId?: unknown };
  if (Array.isArray(record.shape) && typeof record.dtype === 'string' && record.dataId !== undefined) {
    return `a ${record.dtype} tensor of shape [${record.shape.join(', ')}]`;
  }
  if (ArrayBuffer.isView(value)) {
    const { length } = value as unknown as { length?: number };
    return `${value.constructor.name} of length ${length ?? value.byteLength}`;
  }
  if (Array.isArray(value)) {
    const shown = value.slice(0, 8).map((item) => describe(item));
    if (value.length > shown.length) shown.push(`… ${value.length} items in all`);
    return clip(`[${shown.join(', ')}]`);
  }
  const name = (value as object).constructor?.name;
  if (name !== undefined && name !== 'Object') return `an instance of ${name}`;
  return clip(JSON.stringify(value));
}

function clip(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
