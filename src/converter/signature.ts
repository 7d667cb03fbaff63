/** Inputs and outputs of an op, as TensorFlow's definitions of ops have them. */

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

/** How many tensors an argument stands for. */
export function countOf({ count }: Argument, attributes: Readonly<Record<string, unknown>>): number {
  if (count === null) return 1;
  const value = attributes[count] ?? 0;
  return Array.isArray(value) ? value.length : Number(value);
}
