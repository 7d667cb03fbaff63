/** What the commands of a device are on a server: nodes with our ops. `name` is the first node, feeds lie below it. */
import type { NodeMessage } from '../../base/protobuf/graph_messages.js';
import { COMBINERS, OUT_OF_RANGE } from '../../base/types.js';
import { opNames, type UpdateName } from '../../rules/rules.js';
import { areAlike, type UseForm } from '../devices/operands.js';
import { SINGLE_ROW, type BagOptions } from '../kernel_set.js';
import { attribute, constant, FLOAT, HALF, INT32, node, placeholder } from './server_graph.js';
import { NO_FLOATS } from './server_session.js';

/** Where values of a variable are read, and how many rows it has. */
export interface TableNode {
  readonly values: string;
  readonly rows: number;
}

const APPLY = opNames('EmbeddingSparseApply');
const APPLY_MANY = opNames('EmbeddingSparseApplyMany');
const INT = { T: attribute.type(INT32) };

function bagAttributes({
  combiner,
  outOfRange,
  maxNorm,
}: BagOptions): Record<string, ReturnType<typeof attribute.text>> {
  return {
    combiner: attribute.text(combiner),
    out_of_range: attribute.text(outOfRange),
    max_norm: attribute.float(maxNorm),
  };
}

/** `values`, `splits` and, where there are some, `weights`. */
function bagFeeds(name: string, isWeighted: boolean): NodeMessage[] {
  const feeds = [placeholder(`${name}/values`, INT32), placeholder(`${name}/splits`, INT32)];
  return isWeighted ? [...feeds, placeholder(`${name}/weights`, FLOAT)] : feeds;
}

const bagInputs = (name: string, isWeighted: boolean): string[] => [
  `${name}/values`,
  `${name}/splits`,
  isWeighted ? `${name}/weights` : NO_FLOATS,
];

export class CommandNodes {
  /** `isHalf`: pooled rows and gradients travel as float16. */
  constructor(private readonly isHalf: boolean) {}

  /** Fetch what `pooledOf` says. `after`: a step of the table in the same call, whose rows are looked up; null: none. */
  lookup(name: string, table: TableNode, { isWeighted, options }: UseForm, after: string | null): NodeMessage[] {
    const [values, splits, weights] = bagInputs(name, isWeighted) as [string, string, string];
    const waits = after === null ? [] : [node(`${name}/after`, 'AddV2', [splits, `${after}/done`], INT)];
    const inputs = [table.values, values, after === null ? splits : `${name}/after`, weights];
    return [
      ...bagFeeds(name, isWeighted),
      ...waits,
      node(name, 'EmbeddingBag', inputs, bagAttributes(options)),
      node(`${name}/half`, 'Cast', [name], { SrcT: attribute.type(FLOAT), DstT: attribute.type(HALF) }),
    ];
  }

  pooledOf(name: string): string {
    return this.isHalf ? `${name}/half` : name;
  }

  /** Fetch `name`; feed also `gradient`. */
  weightsGradient(name: string, table: TableNode, { options }: UseForm): NodeMessage[] {
    const inputs = [table.values, this.gradientOf(name), ...bagInputs(name, true)];
    return [
      ...bagFeeds(name, true),
      ...this.gradientFeeds(name),
      node(name, 'EmbeddingBagWeightsGrad', inputs, bagAttributes(options)),
    ];
  }

  /** Fetch `name`, the ids, and what `gradientsOf` says, the gradients of their rows; feed also `gradient`. */
  rowGradients(name: string, table: TableNode, use: UseForm): NodeMessage[] {
    return [
      ...bagFeeds(name, use.isWeighted),
      ...this.gradientFeeds(name),
      this.rowGradientNode(name, name, table, use),
      node(`${name}/half`, 'Cast', [`${name}:1`], { SrcT: attribute.type(FLOAT), DstT: attribute.type(HALF) }),
    ];
  }

  gradientsOf(name: string): string {
    return this.isHalf ? `${name}/half` : `${name}:1`;
  }

  read(name: string, { values }: TableNode): NodeMessage[] {
    const inputs = [values, `${name}/first`, `${name}/rows`];
    return [
      placeholder(`${name}/first`, INT32),
      placeholder(`${name}/rows`, INT32),
      node(name, 'EmbeddingReadRows', inputs),
    ];
  }

  write(name: string, { values }: TableNode): NodeMessage[] {
    const inputs = [values, `${name}/rows`, `${name}/first`];
    return [
      placeholder(`${name}/rows`, FLOAT),
      placeholder(`${name}/first`, INT32),
      node(name, 'EmbeddingWriteRows', inputs),
    ];
  }

  /**
   * One step over the sum of all uses, whose feeds lie below `name/0`, `name/1` and so on; feed also `name/hyper`.
   * `tables`: the table, then its slots.
   */
  step(name: string, optimizer: UpdateName, tables: readonly TableNode[], uses: readonly UseForm[]): NodeMessage[] {
    const feeds = uses.flatMap(({ isWeighted }, i) => [
      ...bagFeeds(`${name}/${i}`, isWeighted),
      ...this.gradientFeeds(`${name}/${i}`),
    ]);
    const hyper = placeholder(`${name}/hyper`, FLOAT);
    // A 0 that is there when the step is done.
    const zero = constant(`${name}/done`, INT32, [], Int32Array.of(0));
    const done = { ...zero, input: [`^${name}`] };
    const values = tables.map((each) => each.values);
    const [first] = uses as [UseForm];
    if (uses.length === 1 && !first.ofRows) {
      const given = [this.gradientOf(`${name}/0`), ...bagInputs(`${name}/0`, first.isWeighted)];
      return [...feeds, hyper, this.apply(name, optimizer, values, given, first.options), done];
    }
    const work = areAlike(uses)
      ? this.joinedStep(name, optimizer, values, uses)
      : this.unitedStep(name, optimizer, tables, uses);
    return [...feeds, hyper, ...work, done];
  }

  private gradientFeeds(name: string): NodeMessage[] {
    if (!this.isHalf) return [placeholder(`${name}/gradient`, FLOAT)];
    const widen = { SrcT: attribute.type(HALF), DstT: attribute.type(FLOAT) };
    return [placeholder(`${name}/gradient`, HALF), node(`${name}/wide`, 'Cast', [`${name}/gradient`], widen)];
  }

  private gradientOf(name: string): string {
    return this.isHalf ? `${name}/wide` : `${name}/gradient`;
  }

  private rowGradientNode(
    name: string,
    feeds: string,
    table: TableNode,
    { isWeighted, options }: UseForm,
  ): NodeMessage {
    const inputs = [this.gradientOf(feeds), ...bagInputs(feeds, isWeighted), table.values];
    return node(name, 'EmbeddingBagGrad', inputs, { ...bagAttributes(options), rows: attribute.int(table.rows) });
  }

  private apply(
    name: string,
    optimizer: UpdateName,
    values: readonly string[],
    gradientAndBags: readonly string[],
    options: BagOptions,
  ): NodeMessage {
    return node(name, APPLY[optimizer], [...values, ...gradientAndBags, `${name}/hyper`], bagAttributes(options));
  }

  /** Uses that are alike are one batch. */
  private joinedStep(
    name: string,
    optimizer: UpdateName,
    values: readonly string[],
    uses: readonly UseForm[],
  ): NodeMessage[] {
    const [{ options }] = uses as [UseForm];
    const mode = [0, COMBINERS.indexOf(options.combiner), OUT_OF_RANGE.indexOf(options.outOfRange)];
    const modes = Int32Array.from(uses.flatMap(() => mode));
    const names = uses.map((_, i) => `${name}/${i}`);
    const inputs = [
      ...values,
      ...names.map((use) => this.gradientOf(use)),
      ...names.map((use) => `${use}/values`),
      ...names.map((use) => `${use}/splits`),
      ...names.map((use, i) => (uses[i]!.isWeighted ? `${use}/weights` : NO_FLOATS)),
      ...['hyper', 'modes', 'norms'].map((place) => `${name}/${place}`),
    ];
    return [
      constant(`${name}/modes`, INT32, [modes.length], modes),
      constant(`${name}/norms`, FLOAT, [uses.length], new Float32Array(uses.length).fill(options.maxNorm)),
      node(name, APPLY_MANY[optimizer], inputs, { N: attribute.int(1), U: attribute.int(uses.length) }),
    ];
  }

  /** The gradient of each use by row, one use after the other, then a step over single rows. */
  private unitedStep(
    name: string,
    optimizer: UpdateName,
    tables: readonly TableNode[],
    uses: readonly UseForm[],
  ): NodeMessage[] {
    const ids: string[] = [];
    const gradients: string[] = [];
    const ofUses = uses.flatMap((use, i) => {
      const feeds = `${name}/${i}`;
      ids.push(use.ofRows ? `${feeds}/values` : `${feeds}/rows`);
      gradients.push(use.ofRows ? this.gradientOf(feeds) : `${feeds}/rows:1`);
      return use.ofRows ? [] : [this.rowGradientNode(`${feeds}/rows`, feeds, tables[0]!, use)];
    });
    const number = (place: string, value: number): NodeMessage =>
      constant(`${name}/${place}`, INT32, [], Int32Array.of(value));
    const joined = (place: string, type: number, parts: readonly string[]): NodeMessage => {
      const of = { T: attribute.type(type) };
      if (parts.length === 1) return node(`${name}/${place}`, 'Identity', parts, of);
      const count = { N: attribute.int(parts.length), Tidx: attribute.type(INT32) };
      return node(`${name}/${place}`, 'ConcatV2', [...parts, `${name}/zero`], { ...of, ...count });
    };
    const values = tables.map((each) => each.values);
    const single = [`${name}/gradients`, `${name}/ids`, `${name}/splits`, NO_FLOATS];
    return [
      ...ofUses,
      number('zero', 0),
      number('one', 1),
      joined('ids', INT32, ids),
      joined('gradients', FLOAT, gradients),
      node(`${name}/size`, 'Size', [`${name}/ids`], { ...INT, out_type: attribute.type(INT32) }),
      node(`${name}/end`, 'AddV2', [`${name}/size`, `${name}/one`], INT),
      node(`${name}/splits`, 'Range', [`${name}/zero`, `${name}/end`, `${name}/one`], { Tidx: attribute.type(INT32) }),
      this.apply(name, optimizer, values, single, SINGLE_ROW),
    ];
  }
}
