/**
 * The elements of a TensorArray and the rules by which they are written and read: those of the V3 kernels of
 * TensorFlow 2.21, for forward arrays and for arrays of gradients.
 */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, ValueError, described } from '../errors.js';
import { TensorScope } from '../tfjs_patches/engine/tensor_scope.js';
import { TapeFlow } from './tape_flow.js';
import { isCompatible, isFullyDefined, mergeShapes, showShape, type PartialShape } from './partial_shape.js';

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

interface Element {
  /** null: never written, read and cleared, or zeros of `shape`. */
  tensor: tf.Tensor | null;
  /** Of what was written; of the forward element where the array holds gradients; null: unknown. */
  shape: readonly number[] | null;
  written: boolean;
  read: boolean;
  cleared: boolean;
}

const fresh = (): Element => ({ tensor: null, shape: null, written: false, read: false, cleared: false });

export class ElementStore {
  readonly name: string;
  readonly dtype: tf.DataType;
  readonly isGradient: boolean;
  readonly identicalElementShapes: boolean;
  elementShape: PartialShape;
  private readonly elements: Element[];
  private readonly clearAfterRead: boolean;
  private readonly aggregates: boolean;
  private readonly scope = new TensorScope();
  readonly tapeFlow = new TapeFlow(this.scope);
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
    this.elements = Array.from({ length: settings.size }, fresh);
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
    return this.elements.length;
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

  /** Stores a tensor that nobody else uses, and owns it from then on, also where it throws. */
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
    if (index < 0 || (!this.dynamic && index >= elements.length)) {
      const note = `TensorArray ${name} is not resizeable.`;
      throw new ValueError('index', `an index in [0, ${elements.length})`, index, note);
    }
    this.checkDtype(value.dtype, 'value');
    if (!isCompatible(elementShape, value.shape)) {
      const note = `It is written to index ${index} of TensorArray ${name}.`;
      throw new ValueError('value', `the element shape ${showShape(elementShape)}`, value, note);
    }
    while (elements.length <= index) elements.push(fresh());
    if (this.identicalElementShapes && !isFullyDefined(elementShape)) this.elementShape = value.shape;
    return elements[index]!;
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

  /** Returns an element as a new tensor. */
  read(index: number): tf.Tensor {
    this.checkUsable();
    const element = this.elements[index];
    if (element === undefined) {
      throw new ValueError('index', `an index in [0, ${this.elements.length})`, index);
    }
    if (element.cleared) {
      const received = described(`${index}, which was cleared when it was read before`);
      throw new ValueError('index', `an unread index of TensorArray ${this.name}`, received, 'See clearAfterRead.');
    }
    const value = this.tapeFlow.read(element.tensor?.clone() ?? this.zeros(element, index));
    element.read = true;
    if (this.clearAfterRead) {
      element.tensor?.dispose();
      Object.assign(element, { tensor: null, cleared: true });
    }
    return value;
  }

  /** What an element reads as that holds no value: zeros of the shape that is known of it. */
  private zeros(element: Element, index: number): tf.Tensor {
    const shape = element.shape ?? this.elementShape;
    if (!isFullyDefined(shape)) {
      const note = `It was never written, and the element shape is not fully defined: ${showShape(shape)}. Give TensorArray ${this.name} an elementShape to read zeros.`;
      throw new ValueError('index', 'an element that was written', index, note);
    }
    element.shape = shape;
    return this.dtype === 'string' ? tf.fill([...shape], '', 'string') : tf.zeros([...shape], this.dtype);
  }

  /** Makes every element that is written in `forward` zeros of its shape, behind `prepended`. */
  copyShapes(forward: ElementStore, prepended: readonly number[]): void {
    forward.elements.forEach(({ written, shape }, i) => {
      if (written) Object.assign(this.elements[i]!, { shape: [...prepended, ...shape!], written: true });
    });
  }

  /** Frees all elements; everything that is called afterwards throws. */
  close(): void {
    for (const element of this.elements) element.tensor?.dispose();
    this.elements.length = 0;
    this.tapeFlow.dispose();
    this.isClosed = true;
  }
}
