/** The files that a graph reads: those of its own folder, and no others. Node only. */
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ValueError, describe, described } from '../../../base/errors.js';
import { isInside } from '../../../io/models/folder_file.js';
import { nodeName, textOf, type GraphOutline, type NodeOutline, type Placed, type Scope } from './graph_outline.js';
import { Asset, type AssetMessage, type MetaGraphMessage } from '../wire/saved_model_messages.js';

/** Ops that read the file of a name that they are given: its place among their inputs. */
export const FILE_READERS: ReadonlyMap<string, number> = new Map([
  ['InitializeTableFromTextFile', 1],
  ['InitializeTableFromTextFileV2', 1],
  ['RestoreV2', 0],
]);

const ASSETS = 'assets';
const OLD_ASSETS = 'saved_model_assets';
/** What the loader runs and no caller. */
const INIT_SIGNATURE = /^__saved_model/;
/** What hands its one input on. */
const HANDS_ON: ReadonlySet<string> = new Set(['Identity', 'PlaceholderWithDefault']);
const CALLS: ReadonlySet<string> = new Set(['PartitionedCall', 'StatefulPartitionedCall']);
/** What may be done with a variable that a name goes through. */
const VARIABLE_USES: ReadonlySet<string> = new Set([
  'AssignVariableOp',
  'ReadVariableOp',
  'VarIsInitializedOp',
  'DestroyResourceOp',
]);

/** Where a name begins, and the nodes of the graph on its way. */
interface Origins {
  readonly nodes: Placed[];
  readonly way: Set<NodeOutline>;
}

/** What is still to be followed. */
type Open = [scope: Scope, input: string | undefined][];

function dataInputs({ inputs = [] }: NodeOutline): readonly string[] {
  return inputs.filter((input) => !input.startsWith('^'));
}

/** TensorFlow takes what is before it for the name of a file system. */
const FILE_SYSTEM = /^[a-z][a-z\d+.-]*:\/\//i;

/** Thrown where it cannot be told which file it is. */
class Unknown extends Error {}

/** Follows names of files to where they begin. */
class Names {
  /** `given`: the nodes of the graph whose value the loader gives. */
  constructor(
    private readonly graph: GraphOutline,
    private readonly given: ReadonlySet<string>,
  ) {}

  originsOf({ scope, node }: Placed, place: number): Origins {
    const [nodes, way]: [Placed[], Set<NodeOutline>] = [[], new Set()];
    const seen = new Set<string>();
    const open: Open = [[scope, dataInputs(node)[place]]];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [within, input] = next;
      if (input === undefined) throw new Unknown();
      const name = nodeName(input);
      const key = `${within.function ?? ''}\0${name}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const at = within.nodes.get(name);
      if (at === undefined) {
        open.push(...this.#givenTo(within, name));
        continue;
      }
      way.add(at);
      const { op = '' } = at;
      const isGiven = within.function === null && this.given.has(name);
      if (!isGiven && HANDS_ON.has(op)) open.push([within, dataInputs(at)[0]]);
      else if (!isGiven && op === 'ReadVariableOp') open.push(...this.#writtenInto(within, at, way));
      else nodes.push({ scope: within, node: at });
    }
    return { nodes, way };
  }

  /** What callers of a function give for an argument. */
  #givenTo(scope: Scope, name: string): Open {
    const place = scope.arguments?.indexOf(name) ?? -1;
    if (scope.function === null || place < 0) throw new Unknown();
    return this.graph.callersOf(scope.function).map((caller) => {
      const { op = '' } = caller.node;
      if (!CALLS.has(op) && !this.graph.isFunction(op)) throw new Unknown();
      return [caller.scope, dataInputs(caller.node)[place]];
    });
  }

  /** All that is ever written into the variable that a node reads: it may have no other holders. */
  #writtenInto(scope: Scope, read: NodeOutline, way: Set<NodeOutline>): Open {
    const handle = scope.nodes.get(nodeName(dataInputs(read)[0] ?? ''));
    if (scope.function !== null || handle?.op !== 'VarHandleOp') throw new Unknown();
    const identity = (node: NodeOutline): string => textOf(node, 'shared_name') || (node.name ?? '');
    const handles = this.graph.all.filter(({ node }) => node.op === 'VarHandleOp');
    // Functions that are taken apart give their nodes other names.
    if (handles.some((each) => each.scope.function !== null)) throw new Unknown();
    const same = handles.flatMap(({ node }) => (identity(node) === identity(handle) ? [node] : []));
    const names = new Set(same.map(({ name = '' }) => name));
    for (const node of same) way.add(node);
    const written: Open = [];
    for (const node of this.graph.outer.nodes.values()) {
      const inputs = dataInputs(node).map(nodeName);
      if (!inputs.some((input) => names.has(input))) continue;
      if (!VARIABLE_USES.has(node.op ?? '') || names.has(inputs[1] ?? '')) throw new Unknown();
      if (node.op === 'AssignVariableOp') written.push([scope, dataInputs(node)[1]]);
    }
    return written;
  }
}

/** The files that the loader hands to the graph, by the node that gets the name. */
function assetsOf({ assets = [], collections = {} }: MetaGraphMessage<Uint8Array>): readonly AssetMessage[] {
  if (assets.length > 0) return assets;
  const old = collections[OLD_ASSETS]?.anyList?.value ?? [];
  return old.map(({ value }) => Asset.decode(value ?? new Uint8Array(0)));
}

export class FilesOfGraph {
  readonly #assets: readonly AssetMessage[];
  readonly #fed: ReadonlySet<string>;
  readonly #folder: string;

  constructor(
    private readonly path: string,
    private readonly meta: MetaGraphMessage<Uint8Array>,
    private readonly graph: GraphOutline,
  ) {
    this.#assets = assetsOf(meta);
    this.#fed = new Set(this.#assets.map(({ tensor }) => nodeName(tensor?.name ?? '')));
    this.#folder = real(path) ?? resolve(path);
  }

  /** Throws ValueError, which names the op, where a file may be another than those of the folder. */
  check(): void {
    for (const { filename = '' } of this.#assets) {
      const asset = join(this.path, ASSETS, filename);
      if (!isInside(join(this.path, ASSETS), asset) || !this.#isOurs(asset)) this.#refuse('an asset', filename);
    }
    const { signatures = {}, saver } = this.meta;
    const called = Object.entries(signatures).filter(([name]) => !INIT_SIGNATURE.test(name));
    const asked = called.flatMap(([, { outputs = {} }]) => Object.values(outputs).map(({ name = '' }) => name));
    const byCallers = this.graph.nodesThatRun(asked);
    const initial = Object.entries(signatures).filter(([name]) => INIT_SIGNATURE.test(name));
    const collected = Object.values(this.meta.collections ?? {}).flatMap(({ nodeList }) => nodeList?.value ?? []);
    const byLoader = this.graph.nodesThatRun([
      ...initial.flatMap(([, { outputs = {} }]) => Object.values(outputs).map(({ name = '' }) => name)),
      ...collected,
    ]);
    const prefix = nodeName(saver?.filenameTensorName ?? '');
    const inputs = Object.values(signatures).flatMap((each) => Object.values(each.inputs ?? {}));
    const given = new Set(inputs.map(({ name = '' }) => this.graph.outer.nodes.get(nodeName(name))));
    for (const placed of this.graph.all) {
      const { op = '' } = placed.node;
      const place = FILE_READERS.get(op);
      if (place === undefined || this.graph.isFunction(op)) continue;
      const isCalled = byCallers.has(placed.node);
      // The loader names the variables when it restores them, and at no other time.
      const restores = op === 'RestoreV2';
      if (restores && (isCalled || byLoader.has(placed.node))) this.#refuse(op, 'more than the variables');
      const fed = restores ? new Set([prefix]) : isCalled ? new Set<string>() : this.#fed;
      const { nodes, way } = this.#origins(new Names(this.graph, fed), placed, place);
      // The caller would name the file.
      if ([...way].some((node) => given.has(node))) this.#refuse(op, 'a file that an input names');
      for (const { scope, node } of nodes) {
        const isFed = scope.function === null && fed.has(node.name ?? '');
        if (!isFed && (restores || !this.#isHarmless(scope, node))) this.#refuse(op, told(node));
      }
    }
  }

  #origins(names: Names, placed: Placed, place: number): Origins {
    try {
      return names.originsOf(placed, place);
    } catch (error) {
      if (error instanceof Unknown) return this.#refuse(placed.node.op ?? '', 'a file whose name is computed');
      throw error;
    }
  }

  /** Whether a name that is not fed is that of a file of the folder. */
  #isHarmless(scope: Scope, node: NodeOutline): boolean {
    // An asset that only the loader gives: without it, a placeholder is an error.
    if (node.op === 'Placeholder') return scope.function === null && this.#fed.has(node.name ?? '');
    const names = node.op === 'Const' ? (node.attributes?.['value']?.tensor?.strings ?? []) : [];
    return names.length > 0 && names.every((name) => this.#isPathOfOurs(new TextDecoder().decode(name)));
  }

  #isPathOfOurs(path: string): boolean {
    return !FILE_SYSTEM.test(path) && this.#isOurs(resolve(path));
  }

  /** Whether a file, or what a link leads to, lies in the folder; a file that is not there does no harm. */
  #isOurs(file: string): boolean {
    if (file.includes('\0')) return false;
    const found = real(file);
    return found === null
      ? isInside(resolve(this.path), file) || isInside(this.#folder, file)
      : isInside(this.#folder, found);
  }

  #refuse(op: string, what: string): never {
    const received = described(`${this.path}, whose ${op} reads ${describe(what)}`);
    throw new ValueError('directory', 'a SavedModel that reads the files of its folder', received);
  }
}

function told({ op = '', attributes = {} }: NodeOutline): string {
  const [name] = attributes['value']?.tensor?.strings ?? [];
  return name === undefined ? `what ${op} names` : new TextDecoder().decode(name);
}

function real(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
