/** Graph models are looked at before tfjs-converter reads their weights: unknown ops would fail only when they run. */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { endModel } from './graph_run.js';
import { refusePlainRuns } from './plain_runs.js';

export interface GraphNodeDef {
  readonly name: string;
  readonly op: string;
  readonly input?: readonly string[];
  readonly attr?: Readonly<Record<string, unknown>>;
}

export interface GraphFunctionDef {
  readonly signature: {
    readonly name: string;
    readonly inputArg?: readonly object[];
    readonly outputArg?: readonly object[];
  };
  readonly nodeDef?: readonly GraphNodeDef[];
  readonly ret?: Readonly<Record<string, string>>;
  /** Nodes that must have run when the function ends. */
  readonly controlRet?: Readonly<Record<string, string>>;
}

export interface GraphDef {
  readonly node?: readonly GraphNodeDef[];
  readonly library?: { readonly function?: readonly GraphFunctionDef[] };
}

export interface GraphSignature {
  readonly outputs?: Readonly<Record<string, { readonly name: string }>>;
}

export interface GraphArtifacts {
  readonly modelTopology: GraphDef;
  readonly modelInitializer?: GraphDef;
  readonly weightSpecs?: readonly { readonly name: string; readonly dtype?: string }[];
  readonly signature?: GraphSignature;
  readonly userDefinedMetadata?: { readonly signature?: GraphSignature };
}

type Look = (artifacts: GraphArtifacts) => GraphArtifacts;
type Loader = ((this: unknown, artifacts: GraphArtifacts) => unknown) & { [MARK]?: true };

const MARK = Symbol.for('tfjs-embeddings.graphLoading');
/** Artifacts that are not looked at. */
const PROBE = Symbol.for('tfjs-embeddings.probe');

const state = (): { look: Look | null } => perProcess('graph loading', () => ({ look: null }));

/** Hands the artifacts of every graph model to `look`, which may throw; the model is made of what it returns. */
export function beforeGraphLoads(look: Look): void {
  state().look = look;
  const prototype = tf.GraphModel.prototype as unknown as Record<string, Loader | undefined>;
  // Versions of tfjs without streams load through the first alone.
  for (const name of ['loadSync', 'loadStreaming']) {
    const load = prototype[name];
    if (load === undefined || load[MARK] === true) continue;
    const looking: Loader = function (this: unknown, artifacts) {
      const isProbe = (artifacts as { [PROBE]?: true })[PROBE] === true;
      return load.call(this, isProbe ? artifacts : (state().look?.(artifacts) ?? artifacts));
    };
    looking[MARK] = true;
    prototype[name] = looking;
  }
  watchDispose();
  refusePlainRuns(probe([]));
}

type Dispose = ((this: tf.GraphModel) => void) & { [MARK]?: true };

/** Tells when a model is disposed. */
function watchDispose(): void {
  const prototype = tf.GraphModel.prototype as unknown as { dispose: Dispose };
  const { dispose } = prototype;
  if (dispose[MARK] === true) return;
  const watched: Dispose = function (this: tf.GraphModel) {
    const { weightMap } = (this as unknown as { executor: { weightMap: object } }).executor;
    dispose.call(this);
    endModel(weightMap);
  };
  watched[MARK] = true;
  prototype.dispose = watched;
}

/** A model of a node for each op, without inputs. */
function probe(names: readonly string[]): tf.GraphModel {
  const artifacts = {
    [PROBE]: true,
    modelTopology: { node: names.map((op, i) => ({ name: `n${i}`, op })), versions: { producer: 1, minConsumer: 1 } },
    weightSpecs: [],
    weightData: new ArrayBuffer(0),
  };
  const model = new tf.GraphModel({ load: () => artifacts } as never);
  void model.load();
  return model;
}

/** How tfjs-converter runs each op: a category, 'custom' for registered ones; undefined for unknown ones. */
export function opCategories(ops: readonly string[]): ReadonlyMap<string, string | undefined> {
  const names = [...new Set(ops)];
  const { nodes } = (
    probe(names) as unknown as { executor: { graph: { nodes: Record<string, { category?: string }> } } }
  ).executor.graph;
  return new Map(names.map((op, i) => [op, nodes[`n${i}`]!.category]));
}
