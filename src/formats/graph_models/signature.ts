/** Inputs and outputs of an op, as TensorFlow's definitions of ops have them. */
import { ValueError } from '../../base/errors.js';

/** More tensors of one argument than any graph has; without a limit a number alone could take all memory. */
const MOST_TENSORS = 65_536;
/** Counts that may be 0; of all others TensorFlow wants at least 1. */
const MAY_BE_NONE: readonly string[] = ['RAGGED_RANK', 'OUTPUT_RAGGED_RANK', 'output_ragged_rank'];
/** Lists of types, of which tfjs-converter knows none where they are empty. */
const LISTS = /^(ragged|sparse|dense)_(values_|splits_)?types$/;

/** One argument: a tensor, or as many as an attribute says. */
export interface Argument {
  readonly name: string;
  /** A dtype of TensorFlow, or the attribute that holds it. */
  readonly type: string;
  /** The attribute that holds the number of tensors, or a list of their types; null: one. */
  readonly count: string | null;
}

export interface Signature {
  readonly name: string;
  readonly inputs: readonly Argument[];
  readonly outputs: readonly Argument[];
}

function parseArguments(text: string): Argument[] {
  const items = text.split(',').map((item) => item.trim());
  return items
    .filter((item) => item !== '')
    .map((item) => {
      const [, name, type, , count] = /^(\w+): (\w+)( \* (\w+))?$/.exec(item)!;
      return { name: name!, type: type!, count: count ?? null };
    });
}

/** Reads `Name(input: type, list: type * N) -> output: type`. */
export function parseSignature(text: string): Signature {
  const [, name, inputs, outputs] = /^(\w+)\((.*)\) -> (.*)$/.exec(text)!;
  return { name: name!, inputs: parseArguments(inputs!), outputs: parseArguments(outputs!) };
}

/** How many tensors an argument stands for; a ValueError names the attribute that no op of TensorFlow may have. */
export function countOf({ count }: Argument, attributes: Readonly<Record<string, unknown>>): number {
  if (count === null) return 1;
  const value = attributes[count];
  const isList = LISTS.test(count);
  const number = Array.isArray(value) ? value.length : Number(value ?? (isList ? 0 : NaN));
  const least = isList || MAY_BE_NONE.includes(count) ? 0 : 1;
  if (Number.isInteger(number) && number >= least && number <= MOST_TENSORS) return number;
  throw new ValueError(count, `a whole number in [${least}, ${MOST_TENSORS}]`, value);
}

/** How many tensors some arguments stand for. */
export function totalOf(list: readonly Argument[], attributes: Readonly<Record<string, unknown>>): number {
  return list.reduce((sum, argument) => sum + countOf(argument, attributes), 0);
}
