/** What runs, wherever the memory is. */
import type { KernelInfo } from '../kernel_set.js';
import { INSTRUCTION_SET } from './kernels_wasm.js';
import type { Team } from './threads/team.js';

/**
 * `asked`: the threads that were asked for; `team`: null where no call has been made yet, or where `alone` says why the
 * memory is not shared.
 */
export function wasmInfo(asked: number, team: Team | null, alone: string | null): KernelInfo {
  const why = asked === 1 ? null : (alone ?? team?.oneThreadBecause ?? null);
  const threads = why === null ? asked : 1;
  const info = { implementation: 'wasm', instructionSet: INSTRUCTION_SET, threads } as const;
  return why === null ? info : { ...info, oneThreadBecause: why };
}
