/** Plans that were stored. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkFormatVersion } from '../base/format_version.js';
import { PLAN_VERSION, type EmbeddingPlan, type PlanData } from './plan.js';
import { withMethods } from './plan_methods.js';
import { shapeProblems } from './plan_shape.js';

/**
 * Returns the plan that `toJSON()` or `JSON.stringify` wrote, with its methods. It is a copy: changing one leaves the
 * other alone. Only the shape is looked at here; `checkPlan` says whether the plan is right for given tables.
 *
 *
 * ```ts
 * import { planEmbedding, readPlan } from 'tfjs-embeddings';
 * const plan = planEmbedding({ tables: [{ inputDim: 10, outputDim: 4 }], worldSize: 2 });
 * const again = readPlan(JSON.stringify(plan));
 * console.log(String(again) === String(plan)); // true
 * ```
 *
 * @param stored - JSON text, or what it says.
 * @returns The plan with its methods.
 * @throws TypeError for anything but text or an object; ValueError for text that is no JSON, and for an object that has
 * not the keys of a plan, with everything that is wrong, or was stored by a later release in another form.
 */
export function readPlan(stored: string | PlanData): EmbeddingPlan {
  const data = parsed(stored);
  if (data === null || typeof data !== 'object' || Array.isArray(data)) {
    throw new ArgumentTypeError('stored', 'the JSON text or the data of a plan', data);
  }
  const { version, ...plan } = data as PlanData;
  checkFormatVersion('stored', 'a plan', version, PLAN_VERSION);
  const problems = shapeProblems(plan);
  if (problems.length > 0) throw new ValueError('stored', 'a plan', described(`one where ${problems.join('; ')}`));
  return withMethods(structuredClone(plan));
}

function parsed(stored: unknown): unknown {
  if (typeof stored !== 'string') return stored;
  try {
    return JSON.parse(stored) as unknown;
  } catch (error) {
    throw new ValueError('stored', 'the JSON text of a plan', stored, (error as Error).message);
  }
}
