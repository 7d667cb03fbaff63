/** The tables that lie on the servers now, each with its slots. */
import { RuntimeError, described } from '../../../base/errors.js';
import { DeviceTable } from '../../devices/machine/device_table.js';
import type { Machine } from '../../devices/machine/machine.js';

/** A table and its slots. */
export interface TableGroup {
  readonly table: DeviceTable;
  readonly slots: readonly DeviceTable[];
}

/** Throws RuntimeError where there is no table, and where two have one name. */
export function currentTables({ tables }: Machine): TableGroup[] {
  const all = [...tables].filter((each): each is DeviceTable => each instanceof DeviceTable);
  // Who held the values of a table before a step has a copy of them, which was made before the table's own.
  const latest = (found: readonly DeviceTable[]): DeviceTable[] => [
    ...new Map(found.map((each) => [each.name, each])).values(),
  ];
  const byOwner = new Map<object, DeviceTable[]>();
  for (const each of all) byOwner.set(each.owner, [...(byOwner.get(each.owner) ?? []), each]);
  const groups = [...byOwner.values()].flatMap((group): TableGroup[] => {
    const table = latest(group.filter(({ role }) => role === 'tables')).at(-1);
    // An optimizer may outlive its model, and has slots of tables that are gone.
    return table === undefined ? [] : [{ table, slots: latest(group.filter(({ role }) => role === 'slots')) }];
  });
  if (groups.length === 0) throw new RuntimeError('tables', 'tables on the servers: build a model', described('none'));
  const names = groups.flatMap(({ table, slots }) => [table, ...slots]).map(({ name }) => name);
  const twice = names.find((name, place) => names.indexOf(name) < place);
  if (twice === undefined) return groups;
  const note = 'Give layers of embeddings names of their own, and dispose models that are not used any more.';
  throw new RuntimeError('tables', 'tables with names of their own', described(`two called ${twice}`), note);
}
