/** Devices that fail at any moment of a training, of predictions and of saves. */
import { programAttack } from '../program_attack.js';

export const deviceFaults = programAttack({
  name: 'devices',
  describe: 'lets devices of the emulator fail in trainings that are resumed; a round is a training with three faults',
  file: new URL('../programs/device_faults_program.ts', import.meta.url),
  timeoutMs: 600_000,
});
