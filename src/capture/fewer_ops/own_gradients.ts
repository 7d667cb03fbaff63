/**
 * Gradients that tfjs makes of several passes, each as one op of ours with the same numbers: that of relu, and that of
 * categorical cross-entropy through the softmax that made the probabilities.
 */
import { kindsOf, makersOf, usesOf } from '../places.js';
import { bytesOf, type Constant, type RecordedOp, type Recording } from '../recording.js';

const FLOAT = 1;

/** The one number that a constant of floats is full of; null: there are others. */
function numberOf({ type, values }: Constant): number | null {
  if (type !== FLOAT || values.byteLength === 0) return null;
  const bytes = bytesOf(values);
  const floats = new Float32Array(bytes.slice().buffer);
  return floats.every((each) => each === floats[0]) ? floats[0]! : null;
}

class Gradients {
  readonly #makers;
  readonly #uses;
  readonly #kinds;
  readonly #constants;
  readonly #numbers = new Map<string, number | null>();

  constructor(recording: Recording) {
    this.#makers = makersOf(recording.ops);
    this.#uses = usesOf(recording);
    this.#kinds = kindsOf(recording);
    this.#constants = new Map(recording.constants.map((each) => [each.name, each]));
  }

  /** The op of ours that gives what `op` does; `op` itself where there is none. */
  of(op: RecordedOp): RecordedOp {
    return this.#relu(op) ?? this.#softmax(op) ?? op;
  }

  #maker(place: string, name: string): RecordedOp | null {
    const maker = this.#makers.get(place);
    return maker?.name === name ? maker : null;
  }

  /** Whether a tensor is full of one number in every step. */
  #isFullOf(place: string, number: number): boolean {
    const filled = this.#maker(place, 'Fill')?.inputs[1] ?? place;
    const constant = this.#constants.get(filled);
    if (constant === undefined) return false;
    if (!this.#numbers.has(filled)) this.#numbers.set(filled, numberOf(constant));
    return this.#numbers.get(filled) === number;
  }

  #shapeOf(place: string): string | undefined {
    return this.#kinds.get(place)?.shape?.join();
  }

  /** upstream * (x is no number ? x : x > 0 ? 1 : 0) */
  #relu({ node, name, inputs, outputs }: RecordedOp): RecordedOp | null {
    const [out] = outputs;
    if (name !== 'Mul' || out!.type !== FLOAT || out!.shape === null) return null;
    const slope = this.#maker(inputs[1]!, 'Select');
    if (slope === null) return null;
    const [ofNumbers, x, others] = slope.inputs as [string, string, string];
    const step = this.#maker(others, 'Select');
    const isAbove = step === null ? null : this.#maker(step.inputs[0]!, 'Greater');
    const isPlain =
      this.#maker(ofNumbers, 'IsNan')?.inputs[0] === x &&
      isAbove?.inputs[0] === x &&
      this.#isFullOf(isAbove.inputs[1]!, 0) &&
      this.#isFullOf(step!.inputs[1]!, 1) &&
      this.#isFullOf(step!.inputs[2]!, 0);
    const isOneShape = [inputs[0]!, x].every((place) => this.#shapeOf(place) === out!.shape!.join());
    if (!isPlain || !isOneShape) return null;
    return this.#ours(node, 'EmbeddingReluGrad', [inputs[0]!, x], outputs);
  }

  /** The gradient of softmax, of that of the loss by the probabilities, which has no other users. */
  #softmax({ node, name, inputs, outputs }: RecordedOp): RecordedOp | null {
    if (name !== 'EmbeddingSoftmaxGrad' || this.#uses.get(inputs[0]!) !== 1) return null;
    const loss = this.#maker(inputs[0]!, 'EmbeddingCategoricalLossGrad');
    if (loss === null || loss.inputs[1] !== inputs[1]) return null;
    return this.#ours(node, 'EmbeddingCategoricalLossSoftmaxGrad', loss.inputs, outputs);
  }

  #ours(node: string, name: string, inputs: readonly string[], outputs: RecordedOp['outputs']): RecordedOp {
    return { node, name, attributes: [], inputs, inputTypes: inputs.map(() => FLOAT), outputs };
  }
}

/** The same step, to the bit, with such gradients in one op each; the ops that made them are left to `neededOps`. */
export function withOwnGradients(recording: Recording): Recording {
  const gradients = new Gradients(recording);
  return { ...recording, ops: recording.ops.map((op) => gradients.of(op)) };
}
