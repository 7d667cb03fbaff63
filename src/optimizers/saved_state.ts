/** What saved optimizer state must hold: nothing that is missing may be taken for state that never was. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { isRecord } from '../base/options.js';
import { SLOT_NAMES, UPDATE_NAMES, type UpdateName } from '../rules/rules.js';

const ARGUMENT = 'optimizer state';

/** Throws for names that are due and not there; `strangers`: names that are there and stand for nothing. */
export function checkNothingMissing(
  due: readonly string[],
  given: readonly string[],
  strangers: readonly string[] = [],
): void {
  const missing = due.filter((name) => !given.includes(name));
  if (missing.length === 0) return;
  const note = strangers.length === 0 ? undefined : `Unknown names: ${strangers.join(', ')}.`;
  throw new ValueError(ARGUMENT, `${missing.join(', ')}, as it was saved`, described('state without it'), note);
}

/** The names in a saved config: `[{name}]`, because tfjs changes texts under any other key while it loads. */
export function readStateNames(state: unknown): string[] | null {
  if (state === undefined || state === null) return null;
  const isList = Array.isArray(state) && state.every((each) => isRecord(each) && typeof each['name'] === 'string');
  if (!isList) throw new ArgumentTypeError('state', 'a list of {name}', state);
  return (state as { name: string }[]).map(({ name }) => name);
}

const KINDS = new Set(UPDATE_NAMES.flatMap((name) => SLOT_NAMES[name]));

/**
 * The slots that are missing of tables that have some; `updateOf`: the update that steps a table, by its name. Slots that
 * no such update has may be those of another one: then they are looked at as a whole.
 */
export function missingSlots(given: readonly string[], updateOf: (table: string) => UpdateName): string[] {
  const kindsOf = new Map<string, string[]>();
  for (const each of given) {
    const end = each.lastIndexOf('/');
    const kind = each.slice(end + 1);
    if (!KINDS.has(kind)) continue;
    const table = each.slice(0, end);
    kindsOf.set(table, [...(kindsOf.get(table) ?? []), kind]);
  }
  return [...kindsOf].flatMap(([table, kinds]) => {
    const holds = (slots: readonly string[]): boolean => kinds.every((kind) => slots.includes(kind));
    const own = SLOT_NAMES[updateOf(table)];
    const possible = holds(own) ? [own] : Object.values(SLOT_NAMES).filter(holds);
    if (possible.some((slots) => slots.length === kinds.length)) return [];
    return (possible[0] ?? []).filter((slot) => !kinds.includes(slot)).map((slot) => `${table}/${slot}`);
  });
}
