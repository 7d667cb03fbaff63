/** The prediction of a report on TPUs: the loads of plans, as measured. */
import type { ReportSource } from '../backends/devices/report_source.js';
import { stepLoads, sumOf } from '../partition/step_load.js';
import { predictStep, type DeviceMemoryWanted, type StepPrediction } from './cost_model.js';
import { checkPlanned, plannedSteps } from './planned_steps.js';

export interface Prediction extends StepPrediction {
  /** Whether the plans were made again, because the emulated machine has another number of devices. */
  readonly plannedAgain: boolean;
  /** Samples of a step over all devices, for each plan. */
  readonly batchSizes: readonly number[];
}

/** The step of all plans on `chips` chips of a generation. Throws RuntimeError where there is no plan to predict. */
export function predictionOf(source: ReportSource, generation: string, chips: number): Prediction {
  checkPlanned(source, 'generation');
  const { coresPerChip } = source;
  const wanted = { devices: chips * coresPerChip, argument: 'chips', unit: 'chips', count: chips };
  const { steps, held, plannedAgain, batchSizes, hostBandwidth, assumptions } = plannedSteps(source, wanted);
  const each = steps.map(({ request, plan, perSample }) => stepLoads(request, plan, perSample));
  const loads = held.map((_, device) => sumOf(each.map((ofPlan) => ofPlan[device]!)));
  const memory = held.map(({ tables, slots, host }, device): DeviceMemoryWanted => {
    return { tables, slots, exchange: loads[device]!.exchangeMemory, host: host.tables + host.slots };
  });
  const step = predictStep({ generation, chips, devicesPerChip: coresPerChip, loads, memory, hostBandwidth });
  return { ...step, assumptions: [...assumptions, ...step.assumptions], plannedAgain, batchSizes };
}
