/** Functions of users whose calls run as one op, as users see them. */
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { platform, type CapturedFunctionSteps, type FunctionOptions } from '../../base/platform.js';
import { sentence, type StepInfo } from '../steps.js';

/** How `emb.capture` captures a function. */
export interface CaptureOptions {
  /** Whether a call that cannot be captured is an error instead of running op by op. Default: false. */
  onlyCaptured?: boolean | undefined;
  /**
   * Which calls run op by op and are compared with the recording: `'growing'`, ten of the first 50 of a kind and later
   * about one in 1,000; `'always'`, every one, to find what changes. Default: `'growing'`.
   */
  check?: 'growing' | 'always' | undefined;
}

/** A function whose calls run as one op where they can. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export interface CapturedFunction<Args extends any[], Result> {
  /**
   * Calls the function.
   *
   * @param args - Its arguments.
   * @returns What it returns; the caller disposes of tensors.
   */
  (...args: Args): Result;
  /** How its calls run: whether some kind is captured, why not, how many kinds are, and how many gave way to others. */
  readonly info: StepInfo;
  /**
   * Calls the function once more for each kind of calls that is captured, with the arguments of the last one (zeros in
   * the place of disposed tensors), compares that with the recording, and puts all variables back. Where they do not
   * agree, calls run op by op from then on, and `info.reason` says why.
   *
   * @returns Whether all agree.
   */
  verify(): boolean;
  /** Frees its graphs. Calls run op by op from then on. */
  dispose(): void;
}

const OPTIONS: ReadonlySet<string> = new Set(['onlyCaptured', 'check']);

function readOptions(given: unknown): FunctionOptions {
  if (given === null || typeof given !== 'object') throw new ArgumentTypeError('options', 'an object', given);
  const stranger = Object.keys(given).find((name) => !OPTIONS.has(name));
  if (stranger !== undefined) throw new ValueError('options', 'the fields onlyCaptured and check', stranger);
  const { onlyCaptured = false, check = 'growing' } = given as CaptureOptions;
  if (typeof onlyCaptured !== 'boolean') throw new ArgumentTypeError('onlyCaptured', 'true or false', onlyCaptured);
  if (check !== 'growing' && check !== 'always') throw new ValueError('check', "'growing' or 'always'", check);
  return { onlyCaptured, check };
}

/** Where nothing captures: pages, and Node without native kernels. */
function plainSteps(f: (...args: never[]) => unknown, { onlyCaptured }: FunctionOptions): CapturedFunctionSteps {
  const reason = 'there are no native kernels';
  return {
    run(self, args) {
      if (onlyCaptured)
        throw new RuntimeError(
          'onlyCaptured',
          'calls that are captured',
          described(`calls op by op, because ${reason}`),
        );
      return f.apply(self, args as never[]);
    },
    reason,
    captured: 0,
    evictions: 0,
    verify: () => true,
    dispose: () => undefined,
  };
}

/**
 * Returns a function that does what `f` does, as `tf.function` does in Python: on the `tensorflow` backend with native
 * kernels its calls are recorded and then run as one op, `minimize` of one or several optimizers included. On other
 * backends calls run as they are.
 *
 * Arguments are tensors, lists and objects of them, arrays of keys (BigInt64Array) that open tables look up, whose rows
 * are found before the call, and values that are no tensors, each of which makes a kind of calls of its own, as do the fields of `this`. Results are tensors, null, and lists and objects of those. The 16 kinds that
 * were used last keep their graphs. What `f` returns is the caller's to dispose; other tensors that it makes are freed in calls that are captured.
 *
 * `f` is called while a kind is recorded, the first three times, and for comparisons. Its user promises that it depends
 * on its arguments, on variables and on tensors that stay; numbers of JavaScript that change go in by `emb.live`.
 * Calls that read tensors (`dataSync`, ragged rows), draw random numbers in JavaScript, keep or dispose tensors, write
 * into their arguments, return what is no tensor, or run ops whose sizes the numbers decide run op by op, and
 * `info.reason` says so. The promise is compared with new recordings, see `check` and `verify`: where it does not hold,
 * a warning says since which call results may have been others, and calls run op by op from then on.
 *
 * @param f - The function, which is not asynchronous.
 * @param options - `onlyCaptured`, `check`.
 * @returns The captured function, with `info`, `verify()` and `dispose()`.
 * @throws TypeError for what is no function, and for options of wrong types; ValueError for unknown options.
 * RuntimeError, from calls with `onlyCaptured`, where they run op by op.
 *
 * @example
 * const optimizer = emb.train.adagrad({ learningRate: 0.1 });
 * const step = emb.capture((ids, y) => optimizer.minimize(() => lossOf(ids, y), true));
 * for (const [ids, y] of batches) step(ids, y).dispose();
 * step.info; // {captured: true, reason: null, signatures: 1, evictions: 0}
 */
// Parameters without types are of any type, as in functions of JavaScript.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export function capture<Args extends any[], Result>(
  f: (...args: Args) => Result,
  options: CaptureOptions = {},
): CapturedFunction<Args, Result> {
  if (typeof f !== 'function') throw new ArgumentTypeError('f', 'a function', f);
  const read = readOptions(options);
  const plain = f as (...args: never[]) => unknown;
  const steps = platform().capturer?.functionSteps(plain, read) ?? plainSteps(plain, read);
  const call = function (this: unknown, ...args: Args): Result {
    return steps.run(this, args) as Result;
  };
  const info = {
    get: (): StepInfo => {
      const { reason, captured, evictions } = steps;
      const isCaptured = captured > 0;
      const text = reason === null ? null : sentence(reason, { what: 'Calls', isPartly: isCaptured });
      return { captured: isCaptured, reason: text, signatures: captured, evictions };
    },
    enumerable: true,
  };
  Object.defineProperty(call, 'info', info);
  return Object.assign(call, {
    verify: () => steps.verify(),
    dispose: () => steps.dispose(),
  }) as unknown as CapturedFunction<Args, Result>;
}
