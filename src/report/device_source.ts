/** What a report of running devices is made of, read from these. */
import type { RunningDevices } from '../backends/devices/device_kernels.js';
import type { Machine, TableOnDevices } from '../backends/devices/machine/machine.js';
import type { ReportSource, ReportedPlan, ReportedTable } from '../backends/devices/report_source.js';

type MachineShape = Pick<ReportSource, 'chips' | 'coresPerChip' | 'hbmBytesPerChip'>;

function reportedTable(
  { name, layout, owner }: TableOnDevices,
  slots: readonly TableOnDevices[],
  { counters }: Machine,
): ReportedTable {
  const own = slots.filter((slot) => slot.owner === owner);
  const described = own.map((slot) => {
    return { name: slot.name.slice(slot.name.lastIndexOf('/') + 1), columns: slot.layout.columns };
  });
  return { name, layout, slots: described, counts: counters.table(owner) };
}

function reportedPlans({ devices, machine, tensors }: RunningDevices, all: readonly TableOnDevices[]): ReportedPlan[] {
  return devices.plans().map(({ owner, name, request, plan, tables }) => {
    const places = tables?.().map(({ dataId }) => {
      const place = all.indexOf(tensors.get(dataId) as TableOnDevices);
      return place < 0 ? null : place;
    });
    const measured = machine.counters.layer(owner);
    return { name, request, plan, measured, ...(places === undefined ? {} : { tables: places }) };
  });
}

/** What a report of devices that run is made of. */
export function sourceOf(found: RunningDevices, shape: MachineShape): ReportSource {
  const { machine, host } = found;
  const { chips, coresPerChip, hbmBytesPerChip } = shape;
  const all = [...machine.tables];
  const [tables, slots] = [all.filter(({ role }) => role === 'tables'), all.filter(({ role }) => role === 'slots')];
  return {
    chips,
    coresPerChip,
    hbmBytesPerChip,
    kind: machine.set.devices[0]!.kind,
    inlineBecause: machine.set.inlineBecause,
    host,
    tables: tables.map((table) => reportedTable(table, slots, machine)),
    plans: reportedPlans(found, tables),
    counters: machine.counters.counters(),
    sparseCores: machine.counters.stacks.counts(),
  };
}
