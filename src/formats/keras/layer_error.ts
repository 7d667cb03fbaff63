/** Errors about a layer of a Keras file: they name the layer and the field. */
import { ValueError, described, describe } from '../../base/errors.js';

/** A layer of a file, as far as errors tell of it. */
export interface NamedLayer {
  readonly className: string;
  readonly name: string;
}

interface Facts {
  readonly argument?: unknown;
  readonly expected?: unknown;
  readonly received?: unknown;
}

/** Makes an error about a field of a layer. */
export function layerError(
  layer: NamedLayer,
  field: string,
  expected: string,
  received: unknown,
  note?: string,
): ValueError {
  const text = note === undefined ? '' : ` ${note}`;
  return new ValueError(
    `${layer.name}.${field}`,
    expected,
    received,
    `The layer ${describe(layer.name)} is a ${layer.className}.${text}`,
  );
}

/** Runs what makes or applies a layer; whatever it throws names the layer. */
export function naming<T>(layer: NamedLayer, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const { argument, expected, received } = error as Facts;
    if (typeof argument === 'string' && argument.startsWith(`${layer.name}.`)) throw error;
    const field = typeof argument === 'string' ? argument : 'config';
    const isOurs = typeof expected === 'string' && typeof received === 'string';
    if (isOurs) throw layerError(layer, field, expected, described(received));
    throw layerError(
      layer,
      field,
      'what TensorFlow.js can build',
      described('a layer that it refuses'),
      String((error as Error).message),
    );
  }
}
