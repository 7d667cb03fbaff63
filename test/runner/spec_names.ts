/** Names of specs at two times, compared: what a change of the tests has lost. */

export interface SpecName {
  readonly file: string;
  readonly name: string;
}

export interface NameChanges {
  readonly gone: readonly SpecName[];
  readonly added: readonly SpecName[];
  /** The same name in another file. */
  readonly moved: readonly { readonly from: string; readonly to: string; readonly name: string }[];
}

/** Two specs may have one name: each counts. */
export function compareNames(before: readonly SpecName[], now: readonly SpecName[]): NameChanges {
  const left = takeEqual(before, now, ({ file, name }) => `${file}\t${name}`);
  const { gone, added, pairs } = takeEqual(left.gone, left.added, ({ name }) => name);
  return { gone, added, moved: pairs.map(([{ file: from, name }, { file: to }]) => ({ from, to, name })) };
}

function takeEqual(before: readonly SpecName[], now: readonly SpecName[], keyOf: (name: SpecName) => string) {
  const waiting = grouped(before, keyOf);
  const added: SpecName[] = [];
  const pairs: [SpecName, SpecName][] = [];
  for (const each of now) {
    const match = waiting.get(keyOf(each))?.shift();
    if (match === undefined) added.push(each);
    else pairs.push([match, each]);
  }
  return { gone: [...waiting.values()].flat(), added, pairs };
}

function grouped(names: readonly SpecName[], keyOf: (name: SpecName) => string): Map<string, SpecName[]> {
  const groups = new Map<string, SpecName[]>();
  for (const name of names) {
    const group = groups.get(keyOf(name));
    if (group === undefined) groups.set(keyOf(name), [name]);
    else group.push(name);
  }
  return groups;
}
