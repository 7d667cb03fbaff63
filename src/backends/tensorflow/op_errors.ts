/** Errors of TensorFlow as errors of this package. */
import { RuntimeError, ValueError, described } from '../../base/errors.js';
import { IdOutOfRange } from '../kernel_set.js';

const PREFIX = /^Invalid TF_Status: (\d+)\s*Message: /;
const OUT_OF_RANGE = /values\[(\d+)\] = (-?\d+) is not in \[0, (\d+)\)/;
/** The form in which our kernels word a bad argument. */
const BAD_ARGUMENT = /^(\w+): expected (.+), received (.+)$/;
/** TF_INVALID_ARGUMENT, TF_RESOURCE_EXHAUSTED. */
const OF_ARGUMENTS = [3, 8];

/** The same failure in the words of this package; errors that are not TensorFlow's come back as they are. */
export function fromTensorFlow(opName: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const prefix = PREFIX.exec(error.message);
  if (prefix === null) return error;
  const text = error.message.slice(prefix[0].length);
  const range = OUT_OF_RANGE.exec(text);
  if (range !== null) return new IdOutOfRange(Number(range[2]), Number(range[1]), Number(range[3]));
  const argument = OF_ARGUMENTS.includes(Number(prefix[1])) ? BAD_ARGUMENT.exec(text) : null;
  if (argument !== null) {
    const [, name, expected, received] = argument as unknown as [string, string, string, string];
    return new ValueError(name, expected, described(received));
  }
  return new RuntimeError(opName, 'to run in TensorFlow', described(text));
}

/** Runs `run`, an op of this name, with its errors translated. */
export function translated<T>(opName: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw fromTensorFlow(opName, error);
  }
}
