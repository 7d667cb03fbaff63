/** A number that training is to improve, as callbacks of Keras watch it. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { warnOnce } from '../base/warn_once.js';
import { numberOf, type Logs } from './logs.js';

/** Whether less or more is better; 'auto': what the name of the number says. */
export type MonitorMode = 'auto' | 'min' | 'max';
const MODES: readonly MonitorMode[] = ['auto', 'min', 'max'];

/** Names of losses and metrics, as tfjs and this package write them into logs, in lower case. */
const LESS =
  /(^|_)(loss|logloss|log_loss|mse|mae|mape|msle|rmse|meansquarederror|meanabsoluteerror|meanabsolutepercentageerror|(binary|categorical|sparsecategorical)crossentropy|.*error|.*crossentropy|hinge|logcosh|poisson|kld|kl_divergence)$/;
const MORE =
  /(^|_)(acc|.*accuracy|auc|precision|recall|f1|.*atk|(recall|precision|hitrate|ndcg|dcg|mrr|map)at\d+|mrr|map|ndcg|dcg|.*cosine.*|cosineproximity|r2score)(_\d+)?$/;

export interface MonitorArgs {
  /** The number that is watched, by its name in the logs. Default: 'val_loss'. */
  monitor?: string | undefined;
  /** Whether less or more of it is better. Default: 'auto', by its name. */
  mode?: MonitorMode | undefined;
}

/** A number that is given, or the default. */
export function numberArgument(value: unknown, argument: string, byDefault: number): number {
  if (value === undefined) return byDefault;
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, 'a number', value);
  if (Number.isNaN(value)) throw new ValueError(argument, 'a number', value);
  return value;
}

export function flagArgument(value: unknown, argument: string, byDefault: boolean): boolean {
  if (value === undefined) return byDefault;
  if (typeof value !== 'boolean') throw new ArgumentTypeError(argument, 'true or false', value);
  return value;
}

/** How much a callback prints: 0 or 1, or a truth value. */
export function verboseArgument(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const found = numberArgument(value, 'verbose', 0);
  if (found !== 0 && found !== 1) throw new ValueError('verbose', '0 or 1', value);
  return found === 1;
}

/** Whether more is better. Throws ValueError for a name that does not say. */
function isMoreBetter(mode: MonitorMode, monitor: string): boolean {
  if (mode !== 'auto') return mode === 'max';
  const name = monitor.replace(/^val_/, '').toLowerCase();
  if (LESS.test(name)) return false;
  if (MORE.test(name)) return true;
  const received = described(`'auto' and a number called ${monitor}, of which that is not known`);
  throw new ValueError('mode', "'min' or 'max'", received);
}

export class Monitor {
  readonly name: string;
  readonly #isMore: boolean;
  readonly #minDelta: number;

  /** `owner`: the callback, for its warnings. */
  constructor(
    private readonly owner: string,
    args: MonitorArgs,
    minDelta = 0,
  ) {
    const name: unknown = args.monitor ?? 'val_loss';
    if (typeof name !== 'string') throw new ArgumentTypeError('monitor', "a name such as 'val_loss'", name);
    if (name === '') throw new ValueError('monitor', "a name such as 'val_loss'", name);
    const mode: unknown = args.mode ?? 'auto';
    const expected = `one of ${MODES.join(', ')}`;
    if (typeof mode !== 'string') throw new ArgumentTypeError('mode', expected, mode);
    if (!MODES.includes(mode as MonitorMode)) throw new ValueError('mode', expected, mode);
    this.name = name;
    this.#isMore = isMoreBetter(mode as MonitorMode, name);
    this.#minDelta = Math.abs(minDelta);
  }

  /** The number in some logs; null where they have none, which is said. */
  async valueIn(logs: Logs): Promise<number | null> {
    const value = logs[this.name];
    if (value !== undefined) return numberOf(value);
    const names = Object.keys(logs).filter((name) => name !== 'batch' && name !== 'size');
    const known = names.length === 0 ? 'none' : names.join(', ');
    warnOnce(`${this.owner}: ${this.name} is watched, which training does not tell; it tells ${known}.`);
    return null;
  }

  /** Whether a number is better than another by more than the least difference; than none, any is. */
  improves(value: number, reference: number | null): boolean {
    if (reference === null) return true;
    return this.#isMore ? value - this.#minDelta > reference : value + this.#minDelta < reference;
  }
}
