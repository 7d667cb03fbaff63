/** Running devices: tables as tensors, lookups and steps on them. */
import { couplesColumns } from '../../rules/rules.js';
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../../base/errors.js';
import { warnOnce } from '../../base/warn_once.js';
import { sameLayout, slotLayout, wholeOn, type TableLayout } from '../../partition/table_layout.js';
import type { BagTensors } from '../bag_tensors.js';
import type { Fill } from '../fill.js';
import { HYPER_FIELDS } from '../../rules/hyper.js';
import type { Codec, Words } from '../../codecs/codec.js';
import { SINGLE_ROW, type BagOptions } from '../kernel_set.js';
import type {
  Devices,
  FollowedPlan,
  LookedUp,
  Lookup,
  LookupGradient,
  Placement,
  RowStore,
  TableRequest,
  TableUpdate,
  WriteRows,
} from '../contract.js';
import { lookUpByKernel } from '../kernel_calls.js';
import type { StackBatch } from '../sparse_core.js';
import { type LastPlace, tableOf } from '../table.js';
import { collectedTable } from '../stores/memory_store.js';
import { asVariable } from '../stores/slots.js';
import type { ServedInput } from './machine/traffic_stats.js';
import { DeviceTable, type TableForm } from './machine/device_table.js';
import type { DeviceTensors, TensorValues } from './host/shared_tensors.js';
import { type DerivedBackend, PooledRoom } from './host/derived_backend.js';
import { IdReader, allRows, type LookupIds, isSplitByColumns } from './exchange/place_ids.js';
import { lookUpAll, type DeviceStackLookup, type HostLookup } from './exchange/pooled_lookup.js';
import { AssignedTables } from './assigned_tables.js';
import { LookAhead, type DevicesBeside, type LookAheadHost } from './look_ahead.js';
import type { Machine } from './machine/machine.js';
import {
  stackRowGradients,
  updateAll,
  type DeviceStackUpdate,
  type DeviceTableUpdate,
  type HostGradient,
  type StackRows,
} from './exchange/table_update.js';
import { weightsGradient } from './exchange/weights_gradient.js';

const ZEROS: Fill = { kind: 'constant', value: 0 };
const CLIP_NORM = HYPER_FIELDS.indexOf('clipNorm');
const CONSTRAINT = HYPER_FIELDS.indexOf('constraint');
const NORM_OF_ROW = 2;

/** Columns of a table or of a slot: a vector has one value per row. */
const columnsOf = (shape: readonly number[]): number => shape[1] ?? 1;

/** A lookup in a stack on SparseCores. */
export interface StackLookup extends Omit<DeviceStackLookup, 'table'> {
  readonly table: tf.Tensor;
}

/** One exact step of a stack. */
export type StackUpdate = Omit<TableUpdate, 'entries' | 'dense'> &
  Pick<DeviceStackUpdate, 'batch' | 'gradient' | 'order'>;

export class DevicesBackend implements Devices, RowStore {
  readonly devices = this;
  private readonly bags: IdReader;
  private readonly lookAhead: LookAhead | null;
  private readonly followed = new Map<object, FollowedPlan>();
  private readonly assigned: AssignedTables;

  constructor(
    readonly machine: Machine,
    private readonly derived: DerivedBackend,
    private readonly tensors: DeviceTensors,
    /** What `backendInfo()` tells of the devices. */
    private readonly describe: () => object,
    /** The same devices for lookups of batches to come; null: there are none. */
    beside: DevicesBeside | null = null,
  ) {
    this.bags = new IdReader(derived.reader, machine.exchange);
    this.assigned = new AssignedTables({
      tableOf: (variable) => this.deviceTable(variable),
      detach: ({ dataId }) => tensors.detach(dataId),
      check: () => machine.form.checkWrites(),
      later: () => this.assignedLater(),
    });
    tensors.afterDisposal = () => this.assigned.sweep();
    this.lookAhead = beside === null ? null : new LookAhead(beside, this.lookAheadHost());
  }

  /** What starts lookups before they are asked for; null: there are no other devices for that. */
  get prefetch(): RowStore['prefetch'] {
    const { lookAhead } = this;
    return lookAhead === null ? null : (lookups) => lookAhead.begin(lookups);
  }

  /** Forgets what was started and not asked for: devices have lost it. */
  forgetAhead(): void {
    this.lookAhead?.forget();
  }

  private lookAheadHost(): LookAheadHost {
    return {
      deviceTable: (tensor) => this.deviceTable(tensor),
      read: (bags) => this.bags.readHere(bags),
      make: (rows, shape) => this.derived.pooled.make(rows, shape),
      answered: (lookups, seconds) => {
        const { counters } = this.machine;
        const bags = lookups.reduce((sum, { ids }) => sum + ids.batch.batch, 0);
        const served = lookups.flatMap(({ lookup: { servedInput }, ids }) =>
          servedInput === undefined ? [] : [{ ...servedInput, bags: ids.batch }],
        );
        counters.called('lookUp', bags, seconds);
        counters.served(served, tf.engine().state.gradientDepth > 0);
      },
    };
  }

  get count(): number {
    return this.machine.count;
  }

  get roomOfEach(): number | null {
    const { memory, count } = this.machine;
    const least = Math.min(...Array.from({ length: count }, (_, device) => memory.free(device)));
    return Number.isFinite(least) ? least : null;
  }

  get joins(): boolean {
    return this.machine.form.isShared;
  }

  get deviceMemory(): number | null {
    return this.machine.form.plannedMemory;
  }

  /** Plans that layers follow, in the order in which they came, and who follows them. */
  plans(): (FollowedPlan & { readonly owner: object })[] {
    return [...this.followed].map(([owner, plan]) => ({ ...plan, owner }));
  }

  followPlan(owner: object, plan: FollowedPlan | null): void {
    if (plan === null) this.followed.delete(owner);
    else this.followed.set(owner, plan);
  }

  info(): object {
    return this.describe();
  }

  create({ name, layout, fill }: TableRequest): tf.Tensor2D {
    const form = { name, shape: [layout.rows, layout.columns], layout, role: 'tables' as const, owner: {} };
    return this.tensorOf(DeviceTable.make(this.machine, form, fill)) as tf.Tensor2D;
  }

  createSlot(table: tf.Variable, name: string, shape: readonly number[], value: number): tf.Variable {
    this.place(table);
    const owner = this.deviceTable(table)!;
    const layout = slotLayout(owner.layout, columnsOf(shape));
    const form = { name: slotNameOf(owner, name), shape, layout, role: 'slots' as const, owner: owner.owner };
    const slot = DeviceTable.make(this.machine, form, { kind: 'constant', value });
    const variable = asVariable(this.tensorOf(slot));
    this.remember(variable, form);
    return variable;
  }

  place(variable: tf.Variable, where: Placement = {}): void {
    // Rows that are not plain lie in the memory of the host.
    if (!tableOf(variable).isPlain) return;
    if (where.like !== undefined) this.place(where.like);
    this.settle(variable);
    const known = this.deviceTable(variable);
    const owner = where.like === undefined ? null : this.deviceTable(where.like);
    const last = this.lastPlace(variable);
    const given = where.name ?? known?.name ?? last?.name ?? variable.name;
    const name = owner === null ? given : slotNameOf(owner, given);
    // A table that got more rows is placed anew.
    const hadRoom = last?.layout.rows === variable.shape[0] ? last.layout : undefined;
    const layout = where.layout ?? known?.layout ?? hadRoom ?? this.likeOf(variable, where.like);
    const role = where.like === undefined ? (known?.role ?? 'tables') : 'slots';
    const ofTable = owner?.owner ?? known?.owner ?? last?.owner ?? {};
    const form: TableForm = { name, shape: variable.shape, layout, role, owner: ofTable };
    // What others have made has its values already; what comes later, and slots that users give, count.
    const isJoined = this.machine.form.isShared && last === null && where.like === undefined;
    this.remember(variable, form);
    if (known !== null && sameLayout(known.layout, layout)) return;
    const table = DeviceTable.make(this.machine, form, ZEROS);
    try {
      if (known !== null) table.copyRows(known);
      else if (!isJoined) table.write(0, this.localValues(variable));
    } catch (error) {
      table.free();
      throw error;
    }
    this.assign(variable, table);
  }

  /** Others see what was assigned, without another use of the table here. */
  private assignedLater(): void {
    try {
      if (!this.machine.isFaulty) this.placeAssigned();
    } catch {
      // Nobody asked here: a reader is told at its next use, and so are those whose devices have failed.
    }
  }

  /** Brings values that were assigned to variables to their tables. */
  placeAssigned(): void {
    for (const variable of this.assigned.variables()) this.place(variable);
  }

  /** Where a variable got other values its table takes them where it lies. */
  private settle(variable: tf.Variable): void {
    const kept = this.assigned.take(variable);
    if (kept === null) return;
    // A table that got more rows is another one.
    if (!tf.util.arraysEqual([...kept.shape], variable.shape)) return kept.free();
    const given = this.deviceTable(variable);
    try {
      if (given === null) kept.write(0, this.localValues(variable));
      else kept.copyRows(given);
    } catch (error) {
      // The variable is what the table is, whoever asks next.
      this.assign(variable, kept);
      throw error;
    }
    this.assign(variable, kept);
  }

  layoutOf(variable: tf.Tensor): TableLayout | null {
    return this.deviceTable(variable)?.layout ?? null;
  }

  writeRows(variable: tf.Variable, firstRow: number, values: Float32Array): void {
    this.machine.settle();
    this.lookAhead?.drop();
    this.own(variable).write(firstRow, values);
  }

  readRows(variable: tf.Tensor, firstRow: number, rows: number): Float32Array {
    const table = this.deviceTable(variable);
    if (table !== null) return table.read(firstRow, rows);
    const columns = columnsOf(variable.shape);
    return variable.dataSync<'float32'>().slice(firstRow * columns, (firstRow + rows) * columns);
  }

  /** Devices hold plain rows alone. */
  trains(codec: Codec): boolean {
    return codec.isPlain;
  }

  /** On the host, where devices fetch the rows when the table is placed. */
  readonly begin = collectedTable;

  readonly writeAt = null;

  rewrite(variable: tf.Variable): WriteRows<Words> | null {
    if (this.deviceTable(variable) === null) return null;
    return (firstRow, values) => this.writeRows(variable, firstRow, values as Float32Array);
  }

  read(table: tf.Tensor, firstRow: number, into: Float32Array): boolean {
    const found = this.deviceTable(table);
    if (found !== null) into.set(found.read(firstRow, into.length / found.layout.columns));
    return found !== null;
  }

  view(): null {
    return null;
  }

  lookUp(lookups: readonly Lookup[]): LookedUp[] {
    return this.machine.form.again(() => this.lookUpOnce(lookups));
  }

  private lookUpOnce(lookups: readonly Lookup[]): LookedUp[] {
    this.machine.settle();
    const begun = this.lookAhead?.take(lookups) ?? null;
    if (begun !== null) return begun;
    const start = performance.now();
    const results: LookedUp[] = new Array<LookedUp>(lookups.length);
    const onDevices: {
      readonly lookup: Omit<HostLookup, 'target'>;
      readonly ids: LookupIds;
      readonly place: number;
    }[] = [];
    let room: PooledRoom | null = null;
    let inRoom: Map<number, tf.Tensor2D> | undefined;
    const passing: DeviceTable[] = [];
    const served: ServedInput[] = [];
    const { sharedTensors } = this.derived.reader;
    try {
      // Tables that must move do so before any of them is looked at.
      for (const { table, options } of lookups) {
        if (!(table.tensor instanceof tf.Variable) || !table.isPlain) continue;
        this.place(table.variable);
        this.withWholeRows(table.tensor, options, passing);
      }
      lookups.forEach((lookup, place) => {
        const { table, bags, options, idsArePlaced = false, servedInput } = lookup;
        if (this.deviceTable(table.tensor) === null) {
          results[place] = lookUpByKernel(lookup);
          return;
        }
        const ids = this.bags.read(bags);
        const found = this.withWholeRows(table.tensor, options, passing);
        onDevices.push({ lookup: { table: found, bags: ids.batch, options, idsArePlaced }, ids, place });
        if (servedInput !== undefined) served.push({ ...servedInput, bags: ids.batch });
      });
      if (onDevices.length === 0) return results;
      const { backend, columns } = this.derived;
      const shapes = onDevices.map(({ lookup: { table, bags } }) => {
        return table.layout.kind === 'rows' ? null : { batch: bags.batch, columns: table.layout.columns };
      });
      room = columns === null ? null : PooledRoom.take(backend, sharedTensors, columns, shapes);
      sharedTensors.share();
      const targets = room?.targets ?? [];
      const all = lookUpAll(
        this.machine,
        onDevices.map(({ lookup }, i) => ({ ...lookup, target: targets[i] ?? null })),
      );
      inRoom = room?.tensors();
      room = null;
      let bags = 0;
      onDevices.forEach(({ lookup, ids, place }, i) => {
        const { table, options } = lookup;
        const { pooled, kept } = all[i]!;
        if (kept !== null)
          ids.keep(kept, options.outOfRange === 'error' ? table.layout.rows : null, this.machine.exchange);
        const shape: [number, number] = [ids.batch.batch, table.layout.columns];
        const tensor = pooled === null ? inRoom!.get(i)! : this.derived.pooled.make(pooled, shape);
        results[place] = { pooled: tensor, handle: ids };
        bags += ids.batch.batch;
      });
      this.machine.counters.called('lookUp', bags, (performance.now() - start) / 1000);
      this.machine.counters.served(served, tf.engine().state.gradientDepth > 0);
      return results;
    } catch (error) {
      room?.dispose();
      tf.dispose([...(inRoom?.values() ?? [])]);
      for (const result of results) result?.pooled.dispose();
      throw error;
    } finally {
      sharedTensors.release();
      for (const table of passing) table.free();
    }
  }

  /** The activations of all samples of each stack, core after core: [cores x samples, columns]. */
  lookUpStacks(lookups: readonly StackLookup[]): Float32Array[] {
    this.machine.settle();
    const start = performance.now();
    const placed = lookups.map((lookup) => ({ ...lookup, table: this.placed(lookup.table) }));
    const found = lookUpAll(this.machine, placed).map(({ pooled }) => pooled!.values);
    const samples = lookups.reduce((sum, { batch: { csr } }) => sum + csr.cores * csr.samples, 0);
    this.machine.counters.called('lookUp', samples, (performance.now() - start) / 1000);
    return found;
  }

  update(updates: readonly (TableUpdate | StackUpdate)[]): void {
    this.machine.settle();
    const start = performance.now();
    const { sharedTensors } = this.derived.reader;
    try {
      const tables = updates.map((update) => this.prepareTables(update));
      // All that can be refused is read before the first row is written, and ids last: what devices have of them in the
      // exchange memory is still there when it is used.
      const gradients = updates.map((update) => ('batch' in update ? [] : this.gradientsOf(update)));
      const prepared = updates.map((update, place): DeviceTableUpdate | DeviceStackUpdate => {
        const form = { optimizer: update.optimizer, ...tables[place]!, hyper: Array.from(update.hyper) };
        if ('batch' in update) return { ...update, ...form };
        const { entries, dense } = update;
        const { layout } = form.table;
        const found = entries.map((entry, i) => this.hostEntry(entry, layout, gradients[place]![i]!));
        const whole = { bags: allRows(layout.rows), options: SINGLE_ROW, ofRows: true };
        if (dense !== null) found.push({ ...whole, gradient: gradients[place]!.at(-1)! });
        return { ...form, entries: found };
      });
      sharedTensors.share();
      const step = (): void => updateAll(this.machine, prepared, () => sharedTensors.handOver());
      if (this.lookAhead === null) step();
      else this.lookAhead.withStep(step);
    } finally {
      sharedTensors.release();
    }
    this.machine.counters.called('update', 0, (performance.now() - start) / 1000);
  }

  /** The gradient of each row that was looked up in a stack, rows ascending. */
  stackRowGradients(table: tf.Variable, batch: StackBatch, gradient: Float32Array): StackRows {
    return stackRowGradients(this.machine, { table: this.placed(table), batch, gradient });
  }

  /** The kernel EmbeddingBagWeightsGrad on a table that lies on the devices. */
  weightsGradient(table: tf.Tensor, gradient: tf.Tensor2D, bags: BagTensors, options: BagOptions): Float32Array {
    const passing: DeviceTable[] = [];
    try {
      const found = this.withWholeRows(table, options, passing);
      const values = gradient.dataSync<'float32'>();
      // Last, as in a step.
      const checked = this.bags.readChecked(bags, null, found.layout, options);
      return weightsGradient(this.machine, { table: found, gradient: values, bags: checked, options });
    } finally {
      for (const each of passing) each.free();
    }
  }

  /** Table and slots where they are stepped, with no other holders. */
  private prepareTables(update: TableUpdate | StackUpdate): Pick<DeviceTableUpdate, 'table' | 'slots'> {
    const { slots } = update;
    const table = update.table.variable;
    this.place(table);
    if (!('batch' in update)) this.bringTogether(update);
    const owned = this.own(table);
    for (const slot of slots) this.follow(slot, table);
    return { table: owned, slots: slots.map((slot) => this.own(slot)) };
  }

  private gradientsOf({ entries, dense }: TableUpdate): TensorValues<Float32Array>[] {
    const gradients: tf.Tensor2D[] = entries.map(({ gradient }) => gradient);
    if (dense !== null) gradients.push(dense);
    return gradients.map((gradient) => this.derived.reader.floats(gradient));
  }

  private hostEntry(
    { bags, options, handle }: LookupGradient,
    layout: TableLayout,
    gradient: TensorValues<Float32Array>,
  ): HostGradient {
    return { gradient, bags: this.bags.readChecked(bags, handle, layout, options), options, ofRows: false };
  }

  /** The data of a tensor on the devices; null for one that lies on the host. */
  deviceTable(tensor: tf.Tensor): DeviceTable | null {
    return this.tensors.get(tensor.dataId) ?? null;
  }

  /** The data of a tensor that must lie on the devices. */
  placed(tensor: tf.Tensor): DeviceTable {
    const table = this.deviceTable(tensor);
    if (table !== null) return table;
    throw new RuntimeError('table', 'a table on the devices', described('one on the host'));
  }

  /**
   * The table on the devices, with whole rows where the lookup needs their norms: a variable moves, for anything else
   * there is a copy that lives as long as the call, which is added to `passing`.
   */
  private withWholeRows(tensor: tf.Tensor, { maxNorm }: BagOptions, passing: DeviceTable[]): DeviceTable {
    const table = this.deviceTable(tensor)!;
    if (maxNorm === 0 || !isSplitByColumns(table.layout)) return table;
    const layout = this.wholeLayout(table.layout);
    if (tensor instanceof tf.Variable) {
      this.place(tensor, { layout });
      return this.deviceTable(tensor)!;
    }
    const copy = DeviceTable.make(this.machine, { ...table.form, layout }, ZEROS, 'passing');
    passing.push(copy);
    copy.copyRows(table);
    return copy;
  }

  /** Quantities of whole rows, or of the whole gradient, need them on one device: the table moves there. */
  private bringTogether({ optimizer, table: { variable: table }, slots, entries, hyper }: TableUpdate): void {
    const { layout } = this.deviceTable(table)!;
    const couplesRows = hyper[CLIP_NORM]! > 0;
    const needsWholeRows =
      couplesColumns(optimizer) ||
      hyper[CONSTRAINT] === NORM_OF_ROW ||
      entries.some(({ options }) => options.maxNorm > 0);
    const isSplit = layout.kind !== 'replicated' && layout.shards.length > 1;
    if (!isSplit || !(couplesRows || (needsWholeRows && layout.kind === 'columns'))) return;
    const whole = this.wholeLayout(layout);
    if (this.machine.form.keepsAssigned) {
      const { name } = this.deviceTable(table)!;
      const to = this.machine.form.nameOf(whole.shards[0]!.device);
      const why = couplesRows ? 'clipNorm needs its whole gradient' : `${optimizer} needs whole rows`;
      warnOnce(`${name} moves whole to ${to}, as ${why}. Plan it whole, so that other clients find it there.`);
    }
    this.place(table, { layout: whole });
    for (const slot of slots) this.place(slot, { layout: slotLayout(whole, columnsOf(slot.shape)), like: table });
  }

  /** The whole table on the device with most room among those that hold it now. */
  private wholeLayout(layout: TableLayout): TableLayout {
    const roomiest = this.machine.roomiestOf(layout.shards.map(({ device }) => device));
    const whole = wholeOn(roomiest, layout);
    // What lies in the memory of the host stays there: it has no room elsewhere.
    const inHost = layout.shards.some((shard) => shard.inHost);
    return { ...whole, shards: whole.shards.map((shard) => ({ ...shard, inHost })) };
  }

  /** Slots lie as their table does. */
  private follow(slot: tf.Variable, table: tf.Variable): void {
    const layout = slotLayout(this.deviceTable(table)!.layout, columnsOf(slot.shape));
    const known = this.deviceTable(slot);
    if (known === null || !sameLayout(known.layout, layout)) this.place(slot, { layout, like: table });
  }

  /** The data of a variable for writing: a copy where they have other holders. */
  own(variable: tf.Variable): DeviceTable {
    this.place(variable);
    const table = this.deviceTable(variable)!;
    if (table.refCount === 1) return table;
    const own = table.takenOver();
    this.assign(variable, own);
    return own;
  }

  private assign(variable: tf.Variable, table: DeviceTable): void {
    const tensor = this.tensorOf(table);
    this.assigned.without(() => variable.assign(tensor));
    tensor.dispose();
  }

  private tensorOf(table: DeviceTable): tf.Tensor {
    const info: tf.TensorInfo = { dataId: this.tensors.add(table), shape: [...table.shape], dtype: 'float32' };
    return tf.engine().makeTensorFromTensorInfo(info, this.derived.backend);
  }

  private remember(variable: tf.Variable, { layout, name, owner }: TableForm): void {
    if (this.machine.form.keepsAssigned) this.assigned.watch(variable);
    tableOf(variable).lastPlace = { on: this, layout, name, owner };
  }

  /** Where a variable lay last on these devices. */
  private lastPlace(variable: tf.Variable): LastPlace | null {
    const { lastPlace } = tableOf(variable);
    return lastPlace?.on === this ? lastPlace : null;
  }

  private localValues(variable: tf.Variable): Float32Array {
    if (variable.dtype !== 'float32' || variable.rank < 1 || variable.rank > 2) {
      const received = described(`${variable.dtype} [${variable.shape.join(', ')}]`);
      throw new RuntimeError('table', 'a float32 variable of rank 1 or 2', received);
    }
    return variable.dataSync<'float32'>();
  }

  private likeOf(variable: tf.Variable, like: tf.Variable | undefined): TableLayout {
    const columns = columnsOf(variable.shape);
    if (like !== undefined) return slotLayout(this.deviceTable(like)!.layout, columns);
    return wholeOn(this.machine.emptiest(), { rows: variable.shape[0]!, columns });
  }
}

function slotNameOf(owner: DeviceTable, name: string): string {
  return `${owner.name}/${name.slice(name.lastIndexOf('/') + 1)}`;
}
