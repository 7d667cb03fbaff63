/** The machine that a plan's load is predicted for. */
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { readOptions } from '../base/options.js';

/** Bytes per second of one device. */
export interface PlanMachine {
  /** The device's own memory. */
  memoryBandwidth: number;
  /** The host's memory, where tables lie that the device's memory has no room for. */
  hostBandwidth: number;
  /** What a device can send, and receive at the same time. */
  linkBandwidth: number;
}

/** A data-centre accelerator of 2020 with its neighbours on one board: what TorchRec's planner 1.0 assumes. */
export const DEFAULT_MACHINE: PlanMachine = { memoryBandwidth: 897e9, hostBandwidth: 51e9, linkBandwidth: 600e9 };
/** Samples of a step, over all devices. */
export const DEFAULT_BATCH = 4096;

const FIELDS = ['memoryBandwidth', 'hostBandwidth', 'linkBandwidth'] as const;

/** Reads a machine; what is left out is the default's. */
export function readMachine(value: unknown): PlanMachine {
  if (value === undefined || value === null) return DEFAULT_MACHINE;
  const given = readOptions<PlanMachine>(value, FIELDS, 'machine');
  for (const field of FIELDS) {
    const bandwidth: unknown = given[field];
    if (bandwidth === undefined) continue;
    const argument = `machine.${field}`;
    const expected = 'a finite number of bytes per second above 0';
    if (typeof bandwidth !== 'number') throw new ArgumentTypeError(argument, expected, bandwidth);
    if (!Number.isFinite(bandwidth) || bandwidth <= 0) throw new ValueError(argument, expected, bandwidth);
  }
  return { ...DEFAULT_MACHINE, ...given };
}

export function isDefault(machine: PlanMachine): boolean {
  return FIELDS.every((field) => machine[field] === DEFAULT_MACHINE[field]);
}
