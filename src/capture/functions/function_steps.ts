/** The calls of one function of a user, captured where that can be. */
import * as tf from '@tensorflow/tfjs';
import { BACKEND_NAME } from '../../backends/tensorflow/node_backend.js';
import { isRecording, refuseRecording } from '../../backends/recordings.js';
import { RuntimeError, described } from '../../base/errors.js';
import type { CapturedFunctionSteps, FunctionOptions } from '../../base/platform.js';
import { warnOnce } from '../../base/warn_once.js';
import { SparseOptimizer } from '../../optimizers/sparse_optimizer.js';
import type { EagerStep, StepData } from '../../tfjs/training/model_steps.js';
import { CapturedSteps, type Stepping } from '../captured_steps.js';
import type { Recording } from '../recording.js';
import { kindOf, MOST_SIGNATURES, type GraphList } from '../signatures.js';
import type { GraphAddon } from '../step_graph.js';
import { whySwitchedOff } from '../steps.js';
import { Structure } from './structure.js';
import { WatchedFields } from '../watched_fields.js';

/** What captures for it. */
export interface Capturing {
  readonly addon: GraphAddon;
  readonly list: GraphList;
  /** Runs a step with the ops that its graph will have. */
  withOwnOps(run: () => tf.Tensor[]): tf.Tensor[];
  /** Whether calls must run op by op, as others look at their ops. */
  isObserved(): boolean;
}

type Function = (...args: never[]) => unknown;

/** Calls of all kinds count alike: a function may write or not. */
const PURPOSE = 'train';

export class FunctionSteps implements CapturedFunctionSteps {
  readonly #steps: CapturedSteps;
  /** Why calls run op by op whatever their arguments are. */
  #reason: string | null = null;
  #isDisposed = false;
  /** What the last recorded call of a kind returned. */
  readonly #returned = new Map<string, Structure>();

  constructor(
    private readonly f: Function,
    private readonly options: FunctionOptions,
    private readonly capturing: Capturing,
  ) {
    const stepping: Stepping = {
      comparesAll: options.check === 'always',
      whyNot: () => this.reason,
      changed: () => undefined,
      watched: (_, recording) => watchedBeside(recording),
      variables: () => [],
      stepped: (_, { stepped }) => stepped.forEach((each) => (each as unknown as Counting).incrementIterations()),
      evicted: () => this.#warnOfKinds(),
      promises: () => true,
      broken: (_, reason) => this.#breakPromise(reason),
    };
    this.#steps = new CapturedSteps(stepping, capturing.addon, capturing.list);
  }

  get #name(): string {
    return this.f.name === '' ? 'a captured function' : `the captured function ${this.f.name}`;
  }

  get reason(): string | null {
    return this.#whyNever() ?? this.#steps.refused;
  }

  /** What speaks against all calls. */
  #whyNever(): string | null {
    if (this.#isDisposed) return 'it was disposed';
    return (
      whySwitchedOff() ??
      this.#reason ??
      (tf.getBackend() === BACKEND_NAME ? null : `the backend is ${tf.getBackend()}, and only ${BACKEND_NAME} captures`)
    );
  }

  get captured(): number {
    return tf.getBackend() === BACKEND_NAME ? this.capturing.list.graphs.size : 0;
  }

  get evictions(): number {
    return this.#steps.evictions;
  }

  run(args: readonly unknown[]): unknown {
    if (this.capturing.isObserved()) return this.#plainly(args);
    const given = Structure.of(args);
    const reason = this.#whyNever() ?? given.problem;
    if (reason !== null) return this.#fallBack(reason, args);
    const kind = `${kindOf(given.tensors)} ${given.kind}`;
    const whyNot = this.#steps.whyNot(PURPOSE, kind);
    return whyNot === null ? this.#captured(kind, given) : this.#fallBack(whyNot, args);
  }

  #plainly(args: readonly unknown[]): unknown {
    return this.f(...(args as never[]));
  }

  #fallBack(reason: string, args: readonly unknown[]): unknown {
    this.#checkFallback(reason);
    return this.#plainly(args);
  }

  #checkFallback(reason: string | null): void {
    if (reason === null || !this.options.onlyCaptured) return;
    const received = described(`${this.#name}, which runs op by op, because ${reason}`);
    throw new RuntimeError('onlyCaptured', 'calls that are captured', received);
  }

  #captured(kind: string, given: Structure): unknown {
    const plain: { returned: unknown }[] = [];
    const eager: EagerStep = (data) => {
      if (isRecording()) return this.#recorded(given, data, kind);
      const returned = this.#plainly(given.rebuilt(data) as unknown[]);
      if (returned instanceof Promise) this.#reason = 'it is asynchronous';
      plain.push({ returned });
      return [];
    };
    const tensors = this.#steps.run({ purpose: PURPOSE, data: given.tensors, kind, eager });
    if (plain.length > 0) return plain[0]!.returned;
    try {
      this.#checkFallback(this.#reason ?? this.#steps.whyNot(PURPOSE, kind));
    } catch (error) {
      tf.dispose(tensors);
      throw error;
    }
    return this.#returned.get(kind)!.rebuilt(tensors);
  }

  /** A call that is recorded is told by its tensors alone: what it made beside them would be lost when it is repeated. */
  #recorded(given: Structure, data: StepData, kind: string): tf.Tensor[] {
    const before = tf.memory().numTensors;
    const structures: Structure[] = [];
    const tensors = tf.tidy(() =>
      this.capturing.withOwnOps(() => {
        const returned = Structure.of(this.#plainly(given.rebuilt(data) as unknown[]));
        structures.push(returned);
        return returned.tensors;
      }),
    );
    const returned = structures[0]!;
    if (returned.problem !== null) refuseRecording(`what it returns ${returned.problem}`);
    const made = new Set(tensors.filter((tensor) => !data.includes(tensor)));
    if (tf.memory().numTensors !== before + made.size) {
      refuseRecording('it makes or disposes tensors beside those that it returns');
    }
    this.#returned.set(kind, returned);
    return tensors;
  }

  verify(): boolean {
    if (this.#whyNever() !== null) return true;
    const agree = this.#steps.verify(PURPOSE);
    if (!agree) this.#checkFallback(this.#reason);
    return agree;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#steps.forget();
    this.#returned.clear();
  }

  #breakPromise(reason: string): void {
    this.#reason = reason;
    this.#steps.drop(PURPOSE);
    console.warn(`tfjs-embeddings: ${this.#name} runs op by op from now on, because ${reason}.`);
  }

  #warnOfKinds(): void {
    warnOnce(
      `calls of ${this.#name} are of more than ${MOST_SIGNATURES} kinds (shapes, dtypes, and values that are no tensors): ` +
        'the graph that was not used for longest gives way to each further one, whose first calls run op by op. ' +
        'Give numbers that change as tensors, or by emb.live.',
      `kinds of calls of ${this.#name}`,
    );
  }
}

interface Counting {
  incrementIterations(): void;
}

/** What makes another step though no op shows it: which variables are trainable, and the settings of stock optimizers. */
function watchedBeside({ feeds, stepped }: Recording): WatchedFields {
  const watched = new WatchedFields();
  for (const feed of feeds) {
    if (feed.kind !== 'variable') continue;
    const { variable } = feed;
    watched.addAnswer(`variable ${variable.name}`, () => variable.trainable);
  }
  for (const optimizer of new Set(stepped)) {
    if (optimizer instanceof SparseOptimizer) {
      watched.addAnswer('the state of an optimizer', () => optimizer.stateVersion);
      continue;
    }
    const fields = optimizer as unknown as Record<string, unknown>;
    const isSetting = (name: string): boolean => name !== 'iterations_' && typeof fields[name] !== 'object';
    for (const name of Object.keys(fields).filter(isSetting)) {
      watched.addAnswer(`the ${name} of an optimizer`, () => fields[name]);
    }
  }
  return watched;
}
