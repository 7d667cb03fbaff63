/** The calls of one function of a user, captured where that can be. */
import * as tf from '@tensorflow/tfjs';
import { BACKEND_NAME } from '../../backends/tensorflow/node_backend.js';
import { isRecording, refuseRecording } from '../../backends/recordings.js';
import { RuntimeError, described } from '../../base/errors.js';
import type { CapturedFunctionSteps, FunctionOptions } from '../../base/platform.js';
import { warnOnce } from '../../base/warn_once.js';
import { SparseOptimizer } from '../../optimizers/sparse_optimizer.js';
import type { EagerStep, StepData } from '../../tfjs/training/step_runner.js';
import { CapturedSteps, type Stepping } from '../captured_steps.js';
import type { Recording } from '../recording.js';
import { kindOf, MOST_SIGNATURES, type GraphList } from '../signatures.js';
import type { GraphAddon } from '../step_graph.js';
import { whyNotBackend, whySwitchedOff } from '../steps.js';
import { countingTensors } from './counted_tensors.js';
import { NotedKeys } from './given_keys.js';
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

/** Kinds of calls with keys that are known at a time. */
const MOST_NOTED = 256;

/** The rows of the keys of a call. */
interface FoundKeys {
  readonly noted: NotedKeys;
  readonly rows: readonly tf.Tensor1D[];
}

/** Calls of all kinds count alike: a function may write or not. */
const PURPOSE = 'train';

export class FunctionSteps implements CapturedFunctionSteps {
  readonly #steps: CapturedSteps;
  /** Why calls run op by op whatever their arguments are. */
  #reason: string | null = null;
  /** Why the last call ran op by op for its arguments. */
  #given: string | null = null;
  #isDisposed = false;
  readonly #readsThis: boolean;
  /** What the last recorded call of a kind returned. */
  readonly #returned = new Map<string, Structure>();
  /** Who looks up the keys of a kind of calls. */
  readonly #noted = new Map<string, NotedKeys>();

  constructor(
    private readonly f: Function,
    private readonly options: FunctionOptions,
    private readonly capturing: Capturing,
  ) {
    const stepping: Stepping = {
      comparesAll: options.check === 'always',
      whyNot: () => this.reason,
      changed: () => undefined,
      watched: (_, recording) => ({ watched: watchedBeside(recording), unknown: null }),
      variables: () => [],
      stepped: (_, { stepped }) => stepped.forEach((each) => (each as unknown as Counting).incrementIterations()),
      evicted: () => this.#warnOfKinds(),
      promises: () => true,
      broken: (_, reason) => this.#breakPromise(reason),
    };
    this.#steps = new CapturedSteps(stepping, capturing.addon, capturing.list);
    this.#readsThis = readsThis(f);
  }

  get #name(): string {
    return this.f.name === '' ? 'a captured function' : `the captured function ${this.f.name}`;
  }

  get reason(): string | null {
    return this.#whyNever() ?? this.#steps.refused ?? this.#given;
  }

  /** What speaks against all calls. */
  #whyNever(): string | null {
    if (this.#isDisposed) return 'it was disposed';
    return whySwitchedOff() ?? this.#reason ?? whyNotBackend('');
  }

  get captured(): number {
    return tf.getBackend() === BACKEND_NAME ? this.capturing.list.graphs.size : 0;
  }

  get evictions(): number {
    return this.#steps.evictions;
  }

  run(self: unknown, args: readonly unknown[]): unknown {
    // What a function does not look at makes no other kind of call.
    const all = [this.#readsThis ? self : undefined, ...args];
    if (this.capturing.isObserved()) return this.#plainly(all);
    const never = this.#whyNever();
    if (never !== null) return this.#fallBack(never, all);
    const given = Structure.ofArguments(all);
    this.#given = given.problem === null ? null : `what it is given ${given.problem}`;
    if (this.#given !== null) return this.#fallBack(this.#given, all);
    const kind = `${kindOf(given.tensors)} ${given.kind}`;
    if (given.keys.length > 0) return this.#withKeys(kind, given, all);
    const whyNot = this.#steps.whyNot(PURPOSE, kind);
    return whyNot === null ? this.#captured(kind, given) : this.#fallBack(whyNot, all);
  }

  /** A call with keys of open tables: in the first one of its kind it is noted which tables look them up. */
  #withKeys(kind: string, given: Structure, all: readonly unknown[]): unknown {
    const noted = this.#noted.get(kind);
    if (noted === undefined || !noted.isCurrent) {
      // Tables that are trained now and were not are another kind of calls.
      if (noted !== undefined) this.#steps.drop(PURPOSE);
      if (this.#noted.size >= MOST_NOTED) this.#noted.clear();
      const notes = new NotedKeys();
      this.#noted.set(kind, notes);
      return notes.during(given.keys, () => this.#plainly(all));
    }
    this.#given = noted.problem === null ? null : `what it is given ${noted.problem}`;
    const whyNot = this.#given ?? this.#steps.whyNot(PURPOSE, kind);
    if (whyNot !== null) return this.#fallBack(whyNot, all);
    return noted.withRows(given.keys, (rows) => this.#captured(kind, given, { noted, rows }));
  }

  /** `this` of the call, and its arguments. */
  #plainly([self, ...args]: readonly unknown[]): unknown {
    return this.f.apply(self, args as never[]);
  }

  #fallBack(reason: string, all: readonly unknown[]): unknown {
    this.#checkFallback(reason);
    return this.#plainly(all);
  }

  #checkFallback(reason: string | null): void {
    if (reason === null || !this.options.onlyCaptured) return;
    const received = described(`${this.#name}, which runs op by op, because ${reason}`);
    throw new RuntimeError('onlyCaptured', 'calls that are captured', received);
  }

  #captured(kind: string, given: Structure, keyed: FoundKeys | null = null): unknown {
    const plain: { returned: unknown }[] = [];
    const run: EagerStep = (data) => {
      if (isRecording()) return this.#recorded(given, data, kind);
      const all = given.rebuilt(data) as unknown[];
      const returned = this.#plainly(all);
      if (returned instanceof Promise) this.#reason = 'it is asynchronous';
      this.#checkGiven(given, all, data);
      plain.push({ returned });
      return [];
    };
    const count = given.tensors.length;
    const eager: EagerStep = (data) => {
      if (keyed === null) return run(data);
      return keyed.noted.asFound(given.keys, data.slice(count) as tf.Tensor1D[], () => run(data.slice(0, count)));
    };
    const fed = [...given.tensors, ...(keyed?.rows ?? [])];
    const holds = (): boolean => given.isStill();
    const tensors = this.#steps.run({ purpose: PURPOSE, data: fed, kind, eager, holds });
    if (plain.length > 0) return plain[0]!.returned;
    try {
      this.#checkFallback(this.#reason ?? this.#steps.whyNot(PURPOSE, kind));
    } catch (error) {
      tf.dispose(tensors);
      throw error;
    }
    return this.#returned.get(kind)!.rebuilt(tensors);
  }

  /** A call that is recorded is told by its tensors alone: whatever else it does would be lost when it is repeated. */
  #recorded(given: Structure, data: StepData, kind: string): tf.Tensor[] {
    const all = given.rebuilt(data);
    const { result, made, disposed } = countingTensors((made) => this.#withOwnOps(all as unknown[], made));
    const { tensors, problem } = result;
    if (problem !== null) refuseRecording(`what it returns ${problem}`);
    const before = this.#returned.get(kind);
    if (before !== undefined && before.kind !== result.kind)
      refuseRecording('it returns something else from step to step');
    const results = new Set<unknown>(tensors);
    if (disposed.size > 0) refuseRecording('it disposes tensors that it did not make');
    if ([...made].some((tensor) => !results.has(tensor)))
      refuseRecording('it makes tensors beside those that it returns');
    this.#checkGiven(given, all as unknown[], data);
    if (this.#reason !== null) refuseRecording(this.#reason);
    this.#returned.set(kind, result);
    return [...tensors];
  }

  /** What a function writes into its arguments is lost in calls that are repeated, and makes another kind of call. */
  #checkGiven(given: Structure, all: readonly unknown[], data: StepData): void {
    if (!given.isStill(all, data)) this.#reason ??= 'it writes into what it is given';
  }

  #withOwnOps(all: readonly unknown[], made: ReadonlySet<tf.Tensor>): Structure {
    const structures: Structure[] = [];
    tf.tidy(() =>
      this.capturing.withOwnOps(() => {
        const returned = Structure.ofResults(this.#plainly(all));
        structures.push(returned);
        // What is not known may hold any of them.
        return returned.problem === null
          ? returned.tensors
          : [...made].filter((each) => !(each instanceof tf.Variable));
      }),
    );
    return structures[0]!;
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
    this.#noted.clear();
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

/** Whether the `this` of a call may be a matter of a function: arrows have another one, others tell by their text. */
function readsThis(f: Function): boolean {
  const text = Function.prototype.toString.call(f);
  const isArrow = !Object.hasOwn(f, 'prototype') && /^(\(|[\p{ID_Start}$_][\p{ID_Continue}$]*\s*=>)/u.test(text);
  return !isArrow && /\b(this|super|eval)\b/.test(text);
}

/** What makes another step though no op shows it: which variables are trainable, and the fields of stock optimizers. */
function watchedBeside({ feeds, stepped }: Recording): WatchedFields {
  const watched = new WatchedFields();
  for (const feed of feeds) {
    if (feed.kind !== 'variable') continue;
    const { variable } = feed;
    watched.addField(`variable ${variable.name}`, variable, 'trainable');
  }
  for (const optimizer of new Set(stepped)) {
    if (optimizer instanceof SparseOptimizer) {
      watched.addField('the state of an optimizer', optimizer, 'stateVersion');
      continue;
    }
    const fields = optimizer as unknown as Record<string, unknown>;
    for (const name of Object.keys(fields).filter((each) => each !== 'iterations_')) {
      const [what, slots] = [`the ${name} of an optimizer`, fields[name]];
      watched.addField(what, fields, name);
      if (!Array.isArray(slots)) continue;
      watched.addList(slots, what);
      for (const slot of slots) watched.addObject(slot as object, Object.keys(slot as object), null);
    }
  }
  return watched;
}
