/** What is frozen: hashes by part, key, group and case; and what differs between two records of it. */

/** Hashes of one group by case. */
export type Group = Readonly<Record<string, string>>;
/** Groups that hold on one backend and instruction set. */
export type Groups = Readonly<Record<string, Group>>;
/** By the key of a backend or an entry. */
export type Frozen = Readonly<Record<string, Groups>>;

/** A difference that is meant. */
export interface Deliberate {
  /** `key / group / case`, or the beginning of it. */
  readonly what: string;
  /** The hash that it has now; without it any is taken. */
  readonly now?: string;
  readonly reason: string;
}

export interface Difference {
  readonly what: string;
  readonly was: string | null;
  readonly is: string | null;
}

export interface Comparison {
  readonly compared: number;
  readonly differences: readonly Difference[];
  readonly deliberate: readonly (Difference & { readonly reason: string })[];
  /** What only the new side has: nothing says what it was. */
  readonly added: readonly string[];
  /** Keys, groups and the like that one of the sides lacks as a whole, with why. */
  readonly notCompared: readonly string[];
  /** Entries of the list of meant differences that fit none. */
  readonly unused: readonly Deliberate[];
}

/** What programs write in place of a hash for a case that threw. */
const FAILED = 'failed: ';

function explained({ what, is }: Difference, list: readonly Deliberate[]): Deliberate | undefined {
  return list.find((each) => {
    const covers = what === each.what || what.startsWith(`${each.what} / `);
    return covers && (each.now === undefined || each.now === is);
  });
}

/**
 * Compares what was found with the record. A case that the record has and `found` lacks is a difference, and so is one
 * that failed. A key that the record lacks is not compared; neither is a key that was not run, unless `expected` says
 * that it was due.
 */
export function compare(
  record: Frozen,
  found: Frozen,
  list: readonly Deliberate[] = [],
  expected: (key: string) => boolean = () => true,
): Comparison {
  const [all, added, notCompared]: [Difference[], string[], string[]] = [[], [], []];
  let compared = 0;
  for (const [key, groups] of Object.entries(found)) {
    const known = record[key];
    if (known === undefined) notCompared.push(`${key}: the record has no such key`);
    for (const [group, cases] of Object.entries(groups)) {
      for (const [name, is] of Object.entries(cases)) {
        const was = known?.[group]?.[name] ?? null;
        const what = `${key} / ${group} / ${name}`;
        if (is.startsWith(FAILED)) all.push({ what, was, is });
        else if (known === undefined) continue;
        else if (was === null) added.push(what);
        else if (was === is) compared++;
        else all.push({ what, was, is });
      }
    }
  }
  for (const [key, groups] of Object.entries(record)) {
    if (found[key] === undefined && !expected(key)) {
      notCompared.push(`${key}: was not run here`);
      continue;
    }
    for (const [group, cases] of Object.entries(groups)) {
      for (const [name, was] of Object.entries(cases)) {
        if (found[key]?.[group]?.[name] === undefined) all.push({ what: `${key} / ${group} / ${name}`, was, is: null });
      }
    }
  }
  const used = new Set<Deliberate>();
  const [differences, deliberate]: [Difference[], (Difference & { reason: string })[]] = [[], []];
  for (const difference of all) {
    const entry = explained(difference, list);
    if (entry === undefined) differences.push(difference);
    else {
      used.add(entry);
      deliberate.push({ ...difference, reason: entry.reason });
    }
  }
  return { compared, differences, deliberate, added, notCompared, unused: list.filter((each) => !used.has(each)) };
}

/** The record as text: a line for each group, so that changes can be read. */
export function recordText(frozen: Frozen): string {
  const keys = Object.entries(frozen).map(([key, groups]) => {
    const lines = Object.entries(groups).map(
      ([group, cases]) => `  ${JSON.stringify(group)}: ${JSON.stringify(cases)}`,
    );
    return `${JSON.stringify(key)}: {\n${lines.join(',\n')}\n}`;
  });
  return `{\n${keys.join(',\n')}\n}\n`;
}
