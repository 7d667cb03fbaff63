/**
 * Makes a spec's luck the same in every run: what is drawn without a seed (a layer's start values, say) comes from
 * `Math.random`, which starts anew for each spec from the spec's name and the run's seed.
 */
import { Random } from '../helpers/random.js';

/** FNV-1a, so that a spec's draws do not hang on the specs before it. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

export class SeededRandom {
  constructor(private readonly seed: string = process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? '1') {}

  suiteStarted(suite: { readonly fullName: string }): void {
    this.startFor(suite.fullName);
  }

  specStarted(spec: { readonly fullName: string }): void {
    this.startFor(spec.fullName);
  }

  startFor(name: string): void {
    const random = new Random(hashOf(`${this.seed} ${name}`));
    Math.random = () => random.next();
  }
}
