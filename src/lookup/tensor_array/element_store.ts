/**
 * The elements of a TensorArray and the rules by which they are written and read: those of the V3 kernels of
 * TensorFlow 2.21, for forward arrays and for arrays of gradients.
 */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, ValueError, described } from '../../base/errors.js';
import { INT32_MAX } from '../../base/types.js';
import { TensorScope } from '../../tfjs/engine/tensor_scope.js';
import { Elements, FRESH, type Element, type ElementState } from './elements.js';
import { zerosOf, type ReadElements } from './joined_elements.js';
import { isCompatible, isFullyDefined, mergeShapes, showShape, type PartialShape } from './partial_shape.js';
import { isTapeOn, withLazyGradient } from '../../tfjs/lazy_gradient.js';

class TapeFlow {
  /** The last write on a tape; null: none. Tapes know tensors by their ids, so that its value is not needed. */
  private flow: tf.Tensor | null = null;

  /** A value enters the array. */
  wrote(value: tf.Tensor): void {
    if (!isTapeOn()) return;
    const before = this.flow;
    const { shape } = value;
    const inputs: tf.NamedTensorMap = before === null ? { value } : { value, before };
    this.flow = withLazyGradient(
      inputs,
      () => tf.scalar(0),
      (dy) => ({ value: () => tf.zeros(shape), before: () => dy as tf.Tensor }),
    );
    this.flow.dispose();
  }

  /** A value leaves the array; it is freed, what comes back takes its place. */
  read(value: tf.Tensor): tf.Tensor {
    const { flow } = this;
    if (flow === null || !isTapeOn()) return value;
    const tied = withLazyGradient(
      { value, flow },
      () => value.clone(),
      (dy) => ({ value: () => dy as tf.Tensor, flow: () => tf.scalar(0) }),
    );
    value.dispose();
    return tied;
  }
}

export interface StoreSettings {
  /** Unique in the process; errors tell it. */
  readonly name: string;
  readonly dtype: tf.DataType;
  readonly size: number;
  readonly elementShape: PartialShape;
  readonly dynamicSize: boolean;
  readonly clearAfterRead: boolean;
  readonly identicalElementShapes: boolean;
  readonly multipleWritesAggregate: boolean;
  readonly isGradient: boolean;
}

export class ElementStore {
  readonly name: string;
  readonly dtype: tf.DataType;
  readonly isGradient: boolean;
  readonly identicalElementShapes: boolean;
  elementShape: PartialShape;
  private readonly elements: Elements;
  private readonly clearAfterRead: boolean;
  private readonly aggregates: boolean;
  private readonly scope = new TensorScope();
  readonly tapeFlow = new TapeFlow();
  /** How many pieces a split made, which the gradients of the split are joined from; 0: none. */
  pieces = 0;
  private dynamic: boolean;
  private isClosed = false;
  /** Whether some element is the sum of several writes: its gradient would have to go to all of them. */
  private hasSums = false;

  constructor(settings: StoreSettings) {
    this.name = settings.name;
    this.dtype = settings.dtype;
    this.isGradient = settings.isGradient;
    this.identicalElementShapes = settings.identicalElementShapes;
    this.elementShape = settings.elementShape;
    this.clearAfterRead = settings.clearAfterRead;
    this.aggregates = settings.multipleWritesAggregate;
    this.dynamic = settings.dynamicSize;
    this.elements = new Elements(settings.size);
  }

  get isDynamic(): boolean {
    return this.dynamic;
  }

  get closed(): boolean {
    return this.isClosed;
  }

  /** Whether an array of gradients can be made of this one. */
  get allowsGradients(): boolean {
    return !this.hasSums;
  }

  size(): number {
    this.checkUsable();
    return this.elements.size;
  }

  /** No write makes the array longer from now on. */
  freeze(): void {
    this.dynamic = false;
  }

  checkUsable(): void {
    if (this.isClosed)
      throw new ValueError('handle', 'an open TensorArray', described(`${this.name}, which is closed`));
    if (this.scope.isOpen()) return;
    const received = described(`${this.name}, which was made in a tf.tidy that has ended`);
    throw new RuntimeError('handle', 'a TensorArray whose elements still live', received);
  }

  /** Gives a new tensor to the array, which lives as long as its elements may. */
  owned<T extends tf.Tensor>(tensor: T): T {
    return this.scope.adopt(tensor);
  }

  /** Checks that values of this dtype may be written or read. */
  checkDtype(dtype: tf.DataType, argument: string): void {
    if (dtype === this.dtype) return;
    throw new ValueError(
      argument,
      `dtype ${this.dtype}, that of TensorArray ${this.name}`,
      described(`dtype ${dtype}`),
    );
  }

  /** Takes what is known of the shape of all elements. */
  mergeElementShape(shape: PartialShape, argument: string): void {
    this.elementShape = mergeShapes(this.elementShape, shape, argument);
  }

  /** Stores a tensor that has no other holders, and owns it from then on, also where it throws. */
  write(index: number, value: tf.Tensor): void {
    try {
      this.checkUsable();
      this.put(this.elementToWrite(index, value), index, value);
    } catch (error) {
      value.dispose();
      throw error;
    }
  }

  private elementToWrite(index: number, value: tf.Tensor): Element {
    const { elements, name, elementShape } = this;
    if (index < 0 || (!this.dynamic && index >= elements.size)) {
      const note = `TensorArray ${name} is not resizeable.`;
      throw new ValueError('index', `an index in [0, ${elements.size})`, index, note);
    }
    checkLast(index);
    this.checkDtype(value.dtype, 'value');
    if (!isCompatible(elementShape, value.shape)) {
      const note = `It is written to index ${index} of TensorArray ${name}.`;
      throw new ValueError('value', `the element shape ${showShape(elementShape)}`, value, note);
    }
    elements.grow(index + 1, FRESH);
    if (this.identicalElementShapes && !isFullyDefined(elementShape)) this.elementShape = value.shape;
    return elements.at(index);
  }

  private put(element: Element, index: number, value: tf.Tensor): void {
    const expected = `an index of TensorArray ${this.name} that has not been`;
    if (element.read) throw new ValueError('index', `${expected} read`, described(`${index}, which has been read`));
    if (element.written && !this.aggregates) {
      throw new ValueError('index', `${expected} written`, described(`${index}, which has been written`));
    }
    if (!element.written) {
      Object.assign(element, { tensor: this.scope.adopt(value), shape: value.shape, written: true });
      return;
    }
    if (!isCompatible(element.shape, value.shape)) {
      const note = `Values at index ${index} of TensorArray ${this.name} are added.`;
      throw new ValueError('value', `the shape ${showShape(element.shape)} of what is there already`, value, note);
    }
    element.tensor = element.tensor === null ? this.scope.adopt(value) : this.sum(element.tensor, value);
  }

  /** Both terms are freed. */
  private sum(stored: tf.Tensor, value: tf.Tensor): tf.Tensor {
    if (this.dtype === 'bool' || this.dtype === 'string') {
      throw new ValueError('value', 'numbers, where values at one index are added', value);
    }
    const sum = this.scope.adopt(tf.add(stored, value));
    stored.dispose();
    value.dispose();
    this.hasSums = true;
    return sum;
  }

  /** Returns an element as a new tensor. Gradients end where the last was written: those behind are zeros. */
  read(index: number): tf.Tensor {
    this.checkUsable();
    const { elements } = this;
    if (!(index >= 0 && (index < elements.size || this.isGradient))) {
      throw new ValueError('index', `an index in [0, ${elements.size})`, index);
    }
    if (index >= elements.size) {
      checkLast(index);
      elements.grow(index + 1, { ...FRESH, shape: this.shapeOf(FRESH, index), written: true });
    }
    const element = elements.at(index);
    this.checkNotCleared(element, index);
    element.shape = this.shapeOf(element, index);
    const value = this.tapeFlow.read(element.tensor?.clone() ?? zerosOf(element.shape, this.dtype));
    element.read = true;
    if (this.clearAfterRead) {
      element.tensor?.dispose();
      Object.assign(element, { tensor: null, cleared: true });
    }
    return value;
  }

  /** Reads all elements below `before` in order into `into`; unwritten ones come as zeros, many at once. */
  readAll(into: ReadElements[], before = Infinity): void {
    this.checkUsable();
    let end = 0;
    try {
      for (const { from, to: last, state, isKept } of [...this.elements.stretches()]) {
        if (from >= before) break;
        const to = Math.min(last, before);
        if (!isKept) this.checkNotCleared(state, from);
        const tensor = isKept ? this.read(from) : null;
        into.push({ index: from, count: to - from, shape: tensor?.shape ?? this.shapeOf(state, from), tensor });
        end = to;
      }
    } finally {
      const cleared = this.clearAfterRead;
      this.elements.changeOthers(end, (state) => ({ ...state, read: true, cleared }));
    }
  }

  private checkNotCleared({ cleared }: ElementState, index: number): void {
    if (!cleared) return;
    const received = described(`${index}, which was cleared when it was read before`);
    throw new ValueError('index', `an unread index of TensorArray ${this.name}`, received, 'See clearAfterRead.');
  }

  /** The shape that an element has, or that its zeros have where it holds no value. */
  private shapeOf({ shape }: ElementState, index: number): readonly number[] {
    const known = shape ?? this.elementShape;
    if (isFullyDefined(known)) return known;
    const note = `It was never written, and the element shape is not fully defined: ${showShape(known)}. Give TensorArray ${this.name} an elementShape to read zeros.`;
    throw new ValueError('index', 'an element that was written', index, note);
  }

  /** Makes every element that is written in `forward` zeros of its shape, behind `prepended`. */
  copyShapes(forward: ElementStore, prepended: readonly number[]): void {
    for (const [index, { written, shape }] of forward.elements.entries()) {
      if (written) Object.assign(this.elements.at(index), { shape: [...prepended, ...shape!], written: true });
    }
  }

  /** Frees all elements; everything that is called afterwards throws. */
  close(): void {
    for (const [, { tensor }] of this.elements.entries()) tensor?.dispose();
    this.elements.clear();
    this.isClosed = true;
  }
}

/** Sizes are int32, as in TensorFlow. */
function checkLast(index: number): void {
  if (index >= INT32_MAX) throw new ValueError('index', 'an index below 2^31 - 1', index);
}
