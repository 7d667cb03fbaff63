/** Values of Keras RS and TensorFlow (test/goldens/gen_ranking.py). */
import { readFileSync } from 'node:fs';

type Matrix = number[][];

interface ByTargets {
  readonly name: string;
  readonly plain: number;
  readonly masked: number;
  readonly rowWeights: number;
}

export interface RankingGoldens {
  readonly scores: Matrix;
  readonly labels: Matrix;
  readonly mask: Matrix;
  readonly rowWeights: number[];
  readonly itemWeights: Matrix;
  readonly ids: Matrix;
  readonly kerasRsLosses: (ByTargets & { temperature: number; itemWeights: number | null })[];
  readonly sampledLosses: {
    name: string;
    scores: Matrix;
    args: object;
    positivesAlone?: boolean;
    losses: number[];
    gradient: Matrix;
  }[];
  readonly listLosses: { name: string; labels: Matrix; losses: number[]; gradient: Matrix }[];
  readonly metrics: (ByTargets & { k: number | null; isGraded: boolean })[];
}

export function rankingGoldens(): RankingGoldens {
  return JSON.parse(readFileSync(new URL('../goldens/ranking.json', import.meta.url), 'utf8')) as RankingGoldens;
}

export interface ScoreCase {
  readonly labels: number[];
  readonly scores: number[];
  readonly weights: number[];
  readonly auc: number;
  readonly weightedAuc: number;
  readonly logLoss: number;
  readonly weightedLogLoss: number;
}

/** Values of scikit-learn (test/goldens/gen_sklearn_scores.py). */
export function scoreCases(): ScoreCase[] {
  const text = readFileSync(new URL('../goldens/sklearn_scores.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { cases: ScoreCase[] }).cases;
}
