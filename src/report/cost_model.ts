/**
 * Predicts the time of the embedding part of one training step on a pod. Phases follow one another and the busiest
 * device or chip decides how long each of them takes: lookup, exchange of ids and pooled rows, exchange of gradients,
 * update. Memory bandwidth is shared evenly by the devices of a chip; messages between devices of a chip use no link.
 */
import { FIGURE_MEANINGS, GENERATIONS, type FigureName } from './generations.js';
import { sumOf, type StepLoad } from '../partition/step_load.js';
import { exchangeSeconds, reduceSeconds, torusOf } from './torus.js';

/** What a device holds, in bytes. */
export interface DeviceMemoryWanted {
  readonly tables: number;
  readonly slots: number;
  readonly exchange: number;
  /** In the memory of the host. */
  readonly host: number;
}

export interface StepArgs {
  /** A name in `GENERATIONS`. */
  readonly generation: string;
  readonly chips: number;
  readonly devicesPerChip: number;
  /** Loads of all devices, those of a chip next to one another. */
  readonly loads: readonly StepLoad[];
  readonly memory: readonly DeviceMemoryWanted[];
  /** Bytes per second of the host's memory, for tables that lie there. */
  readonly hostBandwidth: number;
}

export interface PhasePrediction {
  readonly name: 'lookup' | 'ids' | 'pooled rows' | 'gradients' | 'sums of copies' | 'update';
  /** Which resource the phase waits for. */
  readonly bound: 'memory' | 'links';
  /** null: a figure that is needed is not published. */
  readonly seconds: number | null;
  /** Bytes of the busiest device, or of the busiest chip where links are meant. */
  readonly bytes: number;
  /** Bytes of all devices, or of all chips. */
  readonly totalBytes: number;
  /** Number of that device or chip. */
  readonly busiest: number;
}

/** A device whose memory is too small. */
export interface MemoryLack {
  readonly device: number;
  readonly bytesWanted: number;
  readonly bytesThere: number;
}

export interface StepPrediction {
  readonly generation: string;
  readonly chips: number;
  readonly devices: number;
  /** Sizes of the torus that the chips form. */
  readonly torus: readonly number[];
  readonly phases: readonly PhasePrediction[];
  /** Sums of phases; null: a figure that is needed is not published. */
  readonly lookupSeconds: number | null;
  readonly exchangeForwardSeconds: number | null;
  readonly exchangeBackwardSeconds: number | null;
  readonly updateSeconds: number | null;
  readonly stepSeconds: number | null;
  /** Bytes of a device's memory, its part of the chip's; null: not published. */
  readonly bytesPerDevice: number | null;
  /** The most that a device wants. */
  readonly mostBytesWanted: number;
  /** Devices with too little memory. */
  readonly doesNotFit: readonly MemoryLack[];
  readonly assumptions: readonly string[];
  /** Figures that are not published, and what that means here. */
  readonly lacking: readonly string[];
}

interface Peak {
  readonly most: number;
  readonly at: number;
  readonly total: number;
}

function peakOf(values: readonly number[]): Peak {
  let [at, total] = [0, 0];
  values.forEach((value, place) => {
    total += value;
    if (value > values[at]!) at = place;
  });
  return { most: values[at] ?? 0, at, total };
}

function added(...seconds: (number | null)[]): number | null {
  return seconds.includes(null) ? null : (seconds as number[]).reduce((sum, value) => sum + value, 0);
}

function timesOr(seconds: () => number, ...figures: (number | null)[]): number | null {
  return figures.includes(null) ? null : seconds();
}

/** The prediction for given loads, one for each of `chips * devicesPerChip` devices. */
export function predictStep(args: StepArgs): StepPrediction {
  const { generation, chips, devicesPerChip, loads, memory, hostBandwidth } = args;
  const figures = GENERATIONS[generation]!;
  const value = (name: FigureName): number | null => figures[name].value;
  const [bandwidth, linkBandwidth, links] = [value('hbmBandwidth'), value('linkBandwidth'), value('links')];
  const devices = loads.length;
  const torus = torusOf(chips, links ?? 4);
  const perChip = Array.from({ length: chips }, (_, chip) =>
    sumOf(loads.slice(chip * devicesPerChip, (chip + 1) * devicesPerChip)),
  );
  // Messages go to all other devices alike, some of which are on the same chip.
  const leaves = devices === 1 ? 0 : (devices - devicesPerChip) / (devices - 1);

  const memoryPhase = (name: 'lookup' | 'update', own: 'lookupBytes' | 'updateBytes'): PhasePrediction => {
    const host = own === 'lookupBytes' ? 'lookupHostBytes' : 'updateHostBytes';
    const times = loads.map((load) => (load[own] * devicesPerChip) / (bandwidth ?? 1) + load[host] / hostBandwidth);
    const { most, at } = peakOf(times);
    const bytes = loads.map((load) => load[own] + load[host]);
    const seconds = timesOr(() => most, bandwidth);
    return { name, bound: 'memory', seconds, bytes: bytes[at] ?? 0, totalBytes: peakOf(bytes).total, busiest: at };
  };
  const linkPhase = (
    name: 'ids' | 'pooled rows' | 'gradients',
    out: 'idsOut' | 'pooledOut' | 'pooledIn',
    into: 'idsIn' | 'pooledIn' | 'pooledOut',
  ): PhasePrediction => {
    const busiest = peakOf(perChip.map((load) => Math.max(load[out], load[into]) * leaves));
    const totalBytes = peakOf(perChip.map((load) => load[out] * leaves)).total;
    const seconds = timesOr(
      () => exchangeSeconds(torus, linkBandwidth!, totalBytes / chips, busiest.most),
      linkBandwidth,
      links,
    );
    return { name, bound: 'links', seconds, bytes: busiest.most, totalBytes, busiest: busiest.at };
  };

  const lookup = memoryPhase('lookup', 'lookupBytes');
  const ids = linkPhase('ids', 'idsOut', 'idsIn');
  const pooled = linkPhase('pooled rows', 'pooledOut', 'pooledIn');
  const gradients = linkPhase('gradients', 'pooledIn', 'pooledOut');
  const update = memoryPhase('update', 'updateBytes');
  // Devices of a chip add up their gradients before they pass them on.
  const copiedBytes = (2 * (loads[0]?.copiedBytes ?? 0) * (chips - 1)) / chips;
  const sums: PhasePrediction = {
    name: 'sums of copies',
    bound: 'links',
    seconds: timesOr(() => reduceSeconds(torus, linkBandwidth!, copiedBytes), linkBandwidth, links),
    bytes: copiedBytes,
    totalBytes: copiedBytes * chips,
    busiest: 0,
  };

  const hbm = value('hbmBytes');
  const bytesPerDevice = hbm === null ? null : Math.floor(hbm / devicesPerChip);
  const wanted = memory.map(({ tables, slots, exchange }) => tables + slots + exchange);
  const doesNotFit: MemoryLack[] = [];
  wanted.forEach((bytesWanted, device) => {
    if (bytesPerDevice !== null && bytesWanted > bytesPerDevice) {
      doesNotFit.push({ device, bytesWanted, bytesThere: bytesPerDevice });
    }
  });

  const exchangeForwardSeconds = added(ids.seconds, pooled.seconds);
  const exchangeBackwardSeconds = added(gradients.seconds, sums.seconds);
  return {
    generation,
    chips,
    devices,
    torus: torus.map(({ size }) => size),
    phases: [lookup, ids, pooled, gradients, sums, update],
    lookupSeconds: lookup.seconds,
    exchangeForwardSeconds,
    exchangeBackwardSeconds,
    updateSeconds: update.seconds,
    stepSeconds: added(lookup.seconds, exchangeForwardSeconds, exchangeBackwardSeconds, update.seconds),
    bytesPerDevice,
    mostBytesWanted: peakOf(wanted).most,
    doesNotFit,
    assumptions: assumptionsOf(args, figures.sparseCores.value),
    lacking: lackingOf(generation),
  };
}

function assumptionsOf(
  { chips, devicesPerChip, loads, hostBandwidth }: StepArgs,
  sparseCores: number | null,
): string[] {
  const shared =
    devicesPerChip === 1
      ? 'one device for each chip, as emulated'
      : `${devicesPerChip} devices for each chip, as emulated; they share its memory and bandwidth evenly`;
  const cores = sparseCores === null ? '' : `; the ${sparseCores} SparseCores of a chip are behind them`;
  const found = [
    `${shared}${cores}`,
    'phases follow one another without overlap, and the busiest device or chip decides',
    'bytes over bandwidth is all that is counted: no latency of messages, no dense layers, no input from the host',
    'memory and links reach their published bandwidth, but for rows shorter than 128 columns (penalty 1.15 or 1.75)',
    'a backward pass with its update moves twice the bytes of the lookup',
  ];
  if (chips > 1) found.push('the chips form the most even torus, wrapped around; messages go to all others alike');
  if (loads.some((load) => load.copiedBytes > 0)) found.push('gradients of copied tables are summed as a whole');
  if (loads.some((load) => load.lookupHostBytes > 0)) {
    found.push(`tables in the memory of the host are read at ${hostBandwidth / 1e9} GB/s for each device`);
  }
  return found;
}

function lackingOf(generation: string): string[] {
  const figures = GENERATIONS[generation]!;
  return (Object.keys(FIGURE_MEANINGS) as FigureName[])
    .filter((name) => figures[name].value === null)
    .map((name) => {
      const effect = name === 'sparseCores' ? 'not needed for the time' : 'what depends on it is not predicted';
      return `${FIGURE_MEANINGS[name]}: not published for ${generation}; ${effect}`;
    });
}
