/** Where Keras 3 puts the weights of a layer: paths made of class names and attributes. */

/** As Keras makes them of the names of classes: `MaxPooling2D` is `max_pooling2d`. */
export function snakeCase(className: string): string {
  return className
    .replace(/\W+/g, '')
    .replace(/(.)([A-Z][a-z]+)/g, '$1_$2')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();
}

/** Counts names as Keras does: `dense`, `dense_1`, `dense_2`. */
export class NameCounter {
  readonly #used = new Map<string, number>();

  next(className: string): string {
    const name = snakeCase(className);
    const count = this.#used.get(name) ?? -1;
    this.#used.set(name, count + 1);
    return count < 0 ? name : `${name}_${count + 1}`;
  }
}

const HEADS = ['query', 'key', '_gate', 'value', 'output'];
const CELLS = ['SimpleRNN', 'LSTM', 'GRU'];

/** Paths of so many weights of a layer, below the path of the layer. */
export function weightPaths(className: string, innerClass: string | null, count: number): string[] {
  const paths = attributePaths(className, innerClass);
  const numbered = (path: string, length: number): string[] => Array.from({ length }, (_, i) => `${path}vars/${i}`);
  if (className === 'FeatureCross') {
    // Without a projection there is one matrix, with or without a bias.
    return count === 3 ? [...numbered(paths[0]!, 1), ...numbered(paths[1]!, 2)] : numbered(paths[1]!, count);
  }
  // With and without a gate, and with and without biases.
  const parts =
    className === 'MultiHeadAttention' && count % 5 !== 0 ? paths.filter((path) => !path.startsWith('_gate')) : paths;
  return parts.flatMap((path) => numbered(path, count / parts.length));
}

/** The attributes of a layer that hold its weights, in the order in which TensorFlow.js has these. */
export function attributePaths(className: string, innerClass: string | null): string[] {
  const inner = innerClass === null ? [''] : attributePaths(innerClass, null);
  if (CELLS.includes(className)) return ['cell/'];
  if (className === 'TimeDistributed') return inner.map((path) => `layer/${path}`);
  if (className === 'Bidirectional') {
    return ['forward_layer', 'backward_layer'].flatMap((side) => inner.map((path) => `${side}/${path}`));
  }
  if (className === 'MultiHeadAttention') return HEADS.map((name) => `${name}_dense/`);
  return className === 'FeatureCross' ? ['down_proj_dense/', 'dense/'] : [''];
}
