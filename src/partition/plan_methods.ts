/** The methods of a plan. */
import { planText } from './plan_text.js';
import { PLAN_VERSION, type EmbeddingPlan, type PlanData } from './plan.js';

/** Gives data the methods of a plan. */
export function withMethods(data: PlanData): EmbeddingPlan {
  return Object.defineProperties(data, {
    toString: { value: () => planText(data), enumerable: false },
    toJSON: { value: () => ({ version: PLAN_VERSION, ...structuredClone({ ...data }) }), enumerable: false },
  }) as EmbeddingPlan;
}
